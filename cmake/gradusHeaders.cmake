# gradus_headers(TARGET FOLDERS...): the target's headers are included as "gradus/core/tensor.h" wherever they
# stand: for each header of the source tree the build tree gets a file of that name that includes it. Those directly
# in one of FOLDERS are public and installed, all others are not. Sets GRADUS_PUBLIC_FOLDERS for the tests.
function(gradus_headers target)
  set(GRADUS_PUBLIC_FOLDERS ${ARGN} PARENT_SCOPE)
  set(include ${PROJECT_BINARY_DIR}/include)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} core/*.h ops/*.h nn/*.h optim/*.h data/*.h)
  file(GLOB_RECURSE gone RELATIVE ${include}/gradus ${include}/gradus/*.h)
  list(REMOVE_ITEM gone ${headers})
  list(TRANSFORM gone PREPEND ${include}/gradus/)
  if(gone)
    file(REMOVE ${gone})
  endif()
  foreach(header ${headers})
    file(CONFIGURE OUTPUT ${include}/gradus/${header} CONTENT "#include \"@PROJECT_SOURCE_DIR@/@header@\"\n" @ONLY)
  endforeach()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${include}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

  install(FILES ${PROJECT_SOURCE_DIR}/include/gradus/gradus.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradus)
  foreach(folder ${ARGN})
    file(GLOB public CONFIGURE_DEPENDS ${folder}/*.h)
    install(FILES ${public} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gradus/${folder})
  endforeach()
endfunction()
