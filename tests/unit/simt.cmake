# Unit and model tests of src/simt. They run the cpu machine; C only, as cmocka's header is.
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
get_filename_component(simt_tests ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)

# simt_test(FILE...) - one cmocka program named after its first file.
function(simt_test file)
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${simt_tests}/${file} ${ARGN})
  target_link_libraries(${name} PRIVATE grapnel::grapnel ${CMOCKA_LIBRARY})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

simt_test(unit/test_simt_launch.c)
simt_test(model/test_simt_explore.c)
simt_test(unit/test_simt_warp.c)
simt_test(unit/test_simt_block.c)
