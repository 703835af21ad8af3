# What `cmake --install` puts down: headers, the libraries, the command where it is built, and the descriptions by which
# CMake (find_package(grapnel)) and pkg-config (grapnel.pc) find them.
include(CMakePackageConfigHelpers)

set(grapnel_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/grapnel)

install(TARGETS grapnel EXPORT grapnel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET grapnel_shared)
  install(TARGETS grapnel_shared EXPORT grapnel LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/grapnel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT grapnel NAMESPACE grapnel:: DESTINATION ${grapnel_package_dir} FILE grapnel-targets.cmake)

if(TARGET grapnel_tool)
  install(TARGETS grapnel_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME grapnel)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/sim/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/grapnel/sim)
endif()

if(TARGET grapnel_mpi)
  install(TARGETS grapnel_mpi grapnel_shmem EXPORT grapnel-mpi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/grapnel-shmem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT grapnel-mpi NAMESPACE grapnel:: DESTINATION ${grapnel_package_dir} FILE grapnel-mpi-targets.cmake)
endif()

set(grapnel_cuda_architectures "")
if(GN_CUDA)
  set(grapnel_cuda_architectures "${CMAKE_CUDA_ARCHITECTURES}")
endif()
configure_package_config_file(cmake/grapnel-config.cmake.in grapnel-config.cmake
  INSTALL_DESTINATION ${grapnel_package_dir})
write_basic_package_version_file(grapnel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/grapnel-config.cmake ${PROJECT_BINARY_DIR}/grapnel-config-version.cmake
        DESTINATION ${grapnel_package_dir})

# Whoever links the static library links what it needs, too; pkg-config keeps that apart where there is a shared one.
set(grapnel_pc_static_libs "-lboost_context -lpthread -lm")
if(GN_CUDA)
  string(APPEND grapnel_pc_static_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ -ldl -lrt")
endif()
set(grapnel_pc_requires_all liburing)
if(GN_RDMA_FOUND)
  string(APPEND grapnel_pc_requires_all " librdmacm libibverbs")
endif()
set(kind "")
if(TARGET grapnel_shared)
  set(kind _private)
endif()
set(grapnel_pc_requires${kind} ${grapnel_pc_requires_all})
set(grapnel_pc_libs${kind} ${grapnel_pc_static_libs})
# Relative to where the file lies, so that --prefix may be chosen when installing.
file(RELATIVE_PATH grapnel_pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/grapnel.pc.in grapnel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/grapnel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET grapnel_mpi)
  list(JOIN MPI_C_LIBRARIES " " grapnel_pc_mpi_libs)
  foreach(name mpi shmem)
    configure_file(cmake/grapnel-${name}.pc.in grapnel-${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/grapnel-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
