# Defines the imported target gradus::csv, libcsv, if it is found: it has neither a CMake package nor a pkg-config file.
# Read by the build and, for the component kit, by the installed package.
find_path(GRADUS_CSV_INCLUDE csv.h)
find_library(GRADUS_CSV_LIBRARY csv)
mark_as_advanced(GRADUS_CSV_INCLUDE GRADUS_CSV_LIBRARY)
if(NOT TARGET gradus::csv AND GRADUS_CSV_INCLUDE AND GRADUS_CSV_LIBRARY)
  add_library(gradus::csv UNKNOWN IMPORTED GLOBAL)
  set_target_properties(gradus::csv PROPERTIES
    IMPORTED_LOCATION "${GRADUS_CSV_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${GRADUS_CSV_INCLUDE}")
endif()
