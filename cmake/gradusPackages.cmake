# gradus_package(NAME TARGET DEBIAN_PACKAGE [MISSING]): find_package whose target a parent project can link to as well.
# Its absence is an error that names the package to install; with MISSING, the package joins the list of that name.
function(gradus_package name target debian_package)
  if(TARGET ${target})
    return()
  endif()
  find_package(${name} QUIET)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
  elseif(ARGC GREATER 3)
    set(${ARGV3} ${${ARGV3}} ${debian_package} PARENT_SCOPE)
  else()
    message(FATAL_ERROR "gradus needs ${name} and did not find it. "
                        "On Debian and Ubuntu: apt install ${debian_package}")
  endif()
endfunction()
