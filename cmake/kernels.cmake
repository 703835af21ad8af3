# gn_kernels(FILE...) - mark C files that hold kernels. They are written in the common subset of C and
# CUDA C: with GN_CUDA nvcc compiles them for both machines, else the C compiler for the cpu machine.
function(gn_kernels)
  if(GN_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  else()
    gn_sources(${ARGN})
  endif()
endfunction()
