# Language levels, warnings and sanitizers of every target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(gn_warnings -Wall -Wextra -Wshadow -Wundef -Wvla -Wwrite-strings -Wpointer-arith
    -Wmissing-declarations -Wno-missing-field-initializers)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  # A guess across inlined calls that differs with every release of gcc; valgrind finds the real ones.
  list(APPEND gn_warnings -Wno-maybe-uninitialized)
endif()
set(gn_c_warnings -Wstrict-prototypes -Wmissing-prototypes)
if(GN_WERROR)
  list(APPEND gn_warnings -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${gn_warnings}>" "$<$<COMPILE_LANGUAGE:C>:${gn_c_warnings}>")
add_compile_definitions(_GNU_SOURCE)

# Python loads its library late (detail/simt/base.h), and CUDA's runtime alone has a page of variables of each thread.
if(GN_PYTHON)
  add_compile_definitions(SIMT__TLS_MODEL="global-dynamic")
endif()

if(GN_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GN_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  # In C an enum holds any int, so a function may look whether it was given a word that is none: as C++ it must not be stopped.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=enum>")
  add_link_options(-fsanitize=${GN_SANITIZE})
endif()

if(GN_CUDA)
  include(cmake/architectures.cmake)
  if(CMAKE_CUDA_ARCHITECTURES OR NOT "$ENV{CUDAARCHS}" STREQUAL "")
    enable_language(CUDA)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80) # to try the compiler, which then says what there is
    enable_language(CUDA)
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE gn_listed)
    gn_architectures("${gn_listed}" CMAKE_CUDA_ARCHITECTURES)
  endif()
  gn_refuse_old_architectures(${CMAKE_CUDA_ARCHITECTURES})
  message(STATUS "Device code for: ${CMAKE_CUDA_ARCHITECTURES}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER sh ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Wno-deprecated-gpu-targets;-Xcompiler=-Wall,-Wextra,-Wno-unused-function,-Wno-missing-field-initializers,-Wno-maybe-uninitialized>")
  if(GN_WERROR)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
  endif()
endif()

# gn_sources(FILE...) - C files that must also be valid C++: the presets asan and cxx compile them so.
function(gn_sources)
  if(GN_CXX)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)
  endif()
endfunction()
