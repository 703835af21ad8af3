# The cache and the arrays on it. Not for the thread sanitizer: the trial's own notes are shared by threads that only the
# schedule keeps apart.
if(NOT GN_SANITIZE MATCHES thread)
  gn_model(cache)
endif()
if(TEST model_cache_exhaustive)
  gn_slow(46 model_cache_exhaustive)
endif()

if(NOT GN_SANITIZE AND NOT GN_CXX AND NOT GN_CUDA)
  add_test(NAME model_mutants_cache COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/mutants_cache.sh ${PROJECT_SOURCE_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/mutants_cache ${CMAKE_C_COMPILER} $<TARGET_FILE:grapnel> ${BOOST_CONTEXT_LIBRARY}
    -lpthread -lm)
  set_tests_properties(model_mutants_cache PROPERTIES TIMEOUT ${gn_patience})
  gn_slow(110 model_mutants_cache)
endif()
