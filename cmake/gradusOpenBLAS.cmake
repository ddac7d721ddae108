# Defines the imported target gradus::openblas: asks pkg-config first, then looks in the usual places.
# Read by the build and by the installed package.
if(TARGET gradus::openblas)
  return()
endif()

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(GRADUS_OPENBLAS QUIET openblas)
endif()
if(GRADUS_OPENBLAS_FOUND)
  set(gradus_openblas_includes ${GRADUS_OPENBLAS_INCLUDE_DIRS})
  set(gradus_openblas_libraries ${GRADUS_OPENBLAS_LINK_LIBRARIES})
else()
  find_path(GRADUS_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas openblas-pthread)
  find_library(GRADUS_OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread)
  set(gradus_openblas_includes ${GRADUS_OPENBLAS_INCLUDE})
  set(gradus_openblas_libraries ${GRADUS_OPENBLAS_LIBRARY})
  if(NOT GRADUS_OPENBLAS_INCLUDE OR NOT GRADUS_OPENBLAS_LIBRARY)
    message(FATAL_ERROR "gradus needs OpenBLAS and found neither a pkg-config file nor cblas.h and the library. "
                        "On Debian and Ubuntu: apt install libopenblas-dev pkg-config")
  endif()
endif()

add_library(gradus::openblas INTERFACE IMPORTED GLOBAL)
set_target_properties(gradus::openblas PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${gradus_openblas_includes}"
  INTERFACE_LINK_LIBRARIES "${gradus_openblas_libraries}")
