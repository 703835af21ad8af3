# Which GPUs the device code of a build is compiled for.

# gn_architectures(LISTED RESULT) - every GPU from sm_80 up, of what `nvcc --list-gpu-code` says: code for the first of each major
# number, which the others of that number run too. The oldest and the newest have PTX beside it, from which the driver makes code
# for what is not listed: GPUs of modules such as Orin (sm_87), which run no code of others, and later ones.
function(gn_architectures listed result)
  string(REGEX MATCHALL "sm_[0-9]+" numbers "${listed}")
  list(TRANSFORM numbers REPLACE "sm_" "")
  list(SORT numbers COMPARE NATURAL)
  set(majors "")
  set(chosen "")
  foreach(number ${numbers})
    math(EXPR major "${number} / 10")
    if(number GREATER_EQUAL 80 AND NOT major IN_LIST majors)
      list(APPEND majors ${major})
      list(APPEND chosen ${number}-real)
    endif()
  endforeach()
  if(NOT chosen)
    message(FATAL_ERROR "nvcc supports no architecture from sm_80 up, but Grapnel needs one; use a newer CUDA toolkit (nvcc lists: ${listed})")
  endif()
  string(REGEX REPLACE "^([0-9]+)-real" "\\1" chosen "${chosen}")
  string(REGEX REPLACE "-real$" "" chosen "${chosen}")
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()

# gn_refuse_old_architectures(ARCHITECTURE...) - no more than a message, where the compiler would give a page of them.
function(gn_refuse_old_architectures)
  foreach(architecture ${ARGN})
    if(architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80)
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has ${architecture}, but device code of Grapnel needs 80 or later; give 80 or later")
    endif()
  endforeach()
endfunction()
