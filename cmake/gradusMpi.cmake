# GRADUS_HAS_MPI: whether gradus::distributed gets ranks of MPI, linked as MPI::MPI_CXX. Its C++ bindings, which MPI no longer
# has, are not used.
set(GRADUS_HAS_MPI FALSE)
if(GRADUS_MPI AND NOT CMAKE_CROSSCOMPILING)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  if(NOT TARGET MPI::MPI_CXX)
    find_package(MPI QUIET COMPONENTS CXX)
    if(TARGET MPI::MPI_CXX)
      set_target_properties(MPI::MPI_CXX PROPERTIES IMPORTED_GLOBAL TRUE)
    endif()
  endif()
  if(TARGET MPI::MPI_CXX)
    set(GRADUS_HAS_MPI TRUE)
  else()
    message(STATUS "gradus::distributed has no ranks of MPI, which was not found. "
                   "On Debian and Ubuntu: apt install libopenmpi-dev openmpi-bin")
  endif()
endif()
