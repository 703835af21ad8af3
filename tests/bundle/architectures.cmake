# The GPUs that a build without a choice is for, of what nvcc lists. Usage: cmake -DSOURCE=FOLDER -P architectures.cmake
cmake_minimum_required(VERSION 3.22)
include(${SOURCE}/cmake/architectures.cmake)

# expect(WANTED NAME...) - of these names.
function(expect wanted)
  string(JOIN "\n" listed ${ARGN})
  gn_architectures("${listed}\n" got)
  if(NOT got STREQUAL wanted)
    message(SEND_ERROR "of ${ARGN}: \"${got}\" instead of \"${wanted}\"")
  endif()
endfunction()

# As nvcc 11.8, 12.9 and 13.0 list them, not in order.
expect("80;90" sm_35 sm_50 sm_70 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90)
expect("80;90-real;100-real;120" sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_100 sm_101 sm_103 sm_120 sm_121)
expect("80;90-real;100-real;110-real;120" sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_100 sm_110 sm_103 sm_120 sm_121)
expect("80" sm_75 sm_80)
expect("90" sm_90a sm_90)

# refuses(CODE WORDS) - it ends with an error that says so.
function(refuses code words)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/architectures_refused.cmake)
  file(WRITE ${file} "cmake_minimum_required(VERSION 3.22)\ninclude(${SOURCE}/cmake/architectures.cmake)\n${code}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -P ${file} RESULT_VARIABLE status ERROR_VARIABLE said)
  if(status EQUAL 0 OR NOT said MATCHES "${words}")
    message(SEND_ERROR "${code}: status ${status}, said \"${said}\"")
  endif()
endfunction()

refuses("gn_architectures(\"sm_70 sm_75\" got)" "no architecture from sm_80 up")
refuses("gn_refuse_old_architectures(90 75-real)" "75-real")
gn_refuse_old_architectures(80 90-real 100-virtual native)
