# Target man: grapnel(1) from the command's help, and a page of section 3 for every function and type from the headers'
# comments. Without Python there are none.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  return()
endif()
string(TIMESTAMP man_date "%Y-%m-%d" UTC) # SOURCE_DATE_EPOCH, where that is set
set(man_dir ${PROJECT_BINARY_DIR}/man)
file(GLOB_RECURSE man_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/grapnel/*.h)

# gn_man(SECTION WHAT SOURCE DEPENDENCY...) - the pages of a section, in a folder that holds no others.
function(gn_man section what source)
  add_custom_command(OUTPUT ${man_dir}/man${section}.made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${man_dir}/man${section}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/man.py
            ${what} ${source} ${man_dir}/man${section} ${PROJECT_VERSION} ${man_date}
    COMMAND ${CMAKE_COMMAND} -E touch ${man_dir}/man${section}.made
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/man.py ${ARGN} VERBATIM)
  if(GN_INSTALL)
    install(DIRECTORY ${man_dir}/man${section} DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
  endif()
endfunction()

gn_man(3 functions ${PROJECT_SOURCE_DIR}/include ${man_headers})
set(man_made ${man_dir}/man3.made)
# The command is asked, so it must run here.
if(TARGET grapnel_tool AND NOT CMAKE_CROSSCOMPILING)
  gn_man(1 command $<TARGET_FILE:grapnel_tool> grapnel_tool)
  list(APPEND man_made ${man_dir}/man1.made)
endif()
add_custom_target(man ALL DEPENDS ${man_made})
