# What Grapnel builds on; every name is a package of Debian and Ubuntu.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBURING REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash) # its header alone

# Boost.Context's context switch is plain assembly behind a C interface; no Boost header is used.
find_library(BOOST_CONTEXT_LIBRARY boost_context REQUIRED)

if(GN_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# MPI_C_COMPILER=mpicc.mpich, say, names another than the system's own. Whether an MPI was found is said by MPI_C_FOUND
# alone: CMake's module leaves a target MPI::MPI_C that cannot be linked where there is none.
if(GN_MPI STREQUAL AUTO)
  find_package(MPI QUIET COMPONENTS C)
elseif(GN_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()
