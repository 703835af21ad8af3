# gn_kernels(FILE...) - mark C files that hold kernels. They are written in the common subset of C and
# CUDA C: with GN_CUDA nvcc compiles them for both machines, else the C compiler for the cpu machine.
function(gn_kernels)
  if(GN_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  else()
    gn_sources(${ARGN})
  endif()
endfunction()

# Sources whose lanes are observed (src/simt/observe.h). The thread sanitizer takes the same calls for itself.
set(GN_OBSERVE ON)
if(GN_SANITIZE MATCHES thread)
  set(GN_OBSERVE OFF)
endif()

# gn_observed(FILE...) - compile kernels for the cpu machine so that what their lanes do is observed: always optimised, and
# with blocks in the order of the source, so that a build's options change nothing about it.
function(gn_observed)
  gn_sources(${ARGN})
  set(flags -O2 -fno-sanitize=all -fsanitize=thread -fsanitize-coverage=trace-pc)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    list(APPEND flags -fno-reorder-blocks -fno-reorder-blocks-and-partition)
  else() # clang asks after it has optimised: lanes in a loop of their own length would go on from different copies of it
    list(APPEND flags -fno-unroll-loops -fno-vectorize)
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${flags})
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS simt__copy=simt__observed_copy
    simt__warp_copy=simt__observed_warp_copy simt__block_sync=simt__observed_block_sync)
endfunction()
