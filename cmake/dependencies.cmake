# What Grapnel builds on; every name is a package of Debian and Ubuntu. Targets that a user of the library links, too, are
# global: a project that Grapnel is a part of sees them where it links.
find_package(PkgConfig REQUIRED)
if(NOT TARGET Threads::Threads)
  find_package(Threads REQUIRED)
  set_target_properties(Threads::Threads PROPERTIES IMPORTED_GLOBAL TRUE)
endif()
pkg_check_modules(LIBURING REQUIRED IMPORTED_TARGET GLOBAL liburing)
pkg_check_modules(XXHASH REQUIRED libxxhash) # its header alone

# The rdma: store. Without these libraries it refuses to open.
set(GN_RDMA_FOUND OFF)
if(GN_RDMA)
  set(gn_rdma_need QUIET)
  if(NOT GN_RDMA STREQUAL AUTO)
    set(gn_rdma_need REQUIRED)
  endif()
  pkg_check_modules(RDMA ${gn_rdma_need} IMPORTED_TARGET GLOBAL librdmacm libibverbs)
  set(GN_RDMA_FOUND ${RDMA_FOUND})
  pkg_check_modules(MLX5 QUIET IMPORTED_TARGET GLOBAL libmlx5) # kernels that post to the device (src/store/rdma/direct.h)
endif()

# Boost.Context's context switch is plain assembly behind a C interface; no Boost header is used.
find_library(BOOST_CONTEXT_LIBRARY boost_context REQUIRED)

if(GN_CUDA AND NOT TARGET CUDA::cudart_static)
  find_package(CUDAToolkit REQUIRED)
  set_target_properties(CUDA::cudart_static PROPERTIES IMPORTED_GLOBAL TRUE)
endif()

# MPI_C_COMPILER=mpicc.mpich, say, names another than the system's own. Whether an MPI was found is said by MPI_C_FOUND
# alone: CMake's module leaves a target MPI::MPI_C that cannot be linked where there is none.
if(GN_MPI STREQUAL AUTO)
  find_package(MPI QUIET COMPONENTS C)
elseif(GN_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

if(NOT GN_LIBRARY_ONLY)
  find_package(OpenMP REQUIRED COMPONENTS C)
  find_package(ZLIB REQUIRED)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  if(GN_ARROW)
    include(cmake/arrow.cmake)
  endif()
endif()
