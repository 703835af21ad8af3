# Unit and model tests of src/simt. They run the cpu machine; C only, as cmocka's header is.
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
get_filename_component(simt_tests ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# simt_test(FOLDER WHAT) - the cmocka program FOLDER/test_WHAT.c as test FOLDER_WHAT.
function(simt_test folder what)
  add_executable(test_${what} ${simt_tests}/${folder}/test_${what}.c)
  target_link_libraries(test_${what} PRIVATE grapnel::grapnel ${CMOCKA_LIBRARY})
  add_test(NAME ${folder}_${what} COMMAND test_${what})
  set_tests_properties(${folder}_${what} PROPERTIES TIMEOUT ${gn_patience} LABELS ${folder})
endfunction()

simt_test(unit simt_launch)
simt_test(unit simt_stream)
simt_test(unit simt_block)
simt_test(unit simt_stack)
set_tests_properties(unit_simt_stack PROPERTIES SKIP_RETURN_CODE 77)
simt_test(unit simt_export)
simt_test(unit simt_warp)
simt_test(unit simt_reduce)
simt_test(unit simt_worker)
target_include_directories(test_simt_worker PRIVATE ${PROJECT_SOURCE_DIR}/src)
simt_test(model simt_explore)
