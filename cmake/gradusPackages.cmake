# gradus_package(NAME TARGET DEBIAN_PACKAGE): find_package whose target a parent project can link to as well,
# and whose absence is reported with the package to install.
function(gradus_package name target debian_package)
  if(TARGET ${target})
    return()
  endif()
  find_package(${name} QUIET)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "gradus needs ${name} and did not find it. "
                        "On Debian and Ubuntu: apt install ${debian_package}")
  endif()
  set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
endfunction()
