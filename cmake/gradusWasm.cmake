# Settings of a build for WebAssembly (cmake/wasm.cmake): one thread, gradus's own matrix products, header-only packages,
# WebAssembly's C++ exceptions.
option(GRADUS_WASM_SIMD "Kernels of 128-bit vectors beside the scalar ones" ON)
set(GRADUS_OPENBLAS OFF)
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
set(GRADUS_BUILD_KIT OFF)
set(GRADUS_BUILD_TEXT OFF)
set(GRADUS_BUILD_EXAMPLES OFF)

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_options(-fwasm-exceptions)
add_link_options(-fwasm-exceptions -sALLOW_MEMORY_GROWTH -sWASM_BIGINT)

# This system's headers of these packages, and no other header of this system.
set(packages ${PROJECT_BINARY_DIR}/packages)
file(MAKE_DIRECTORY ${packages})
function(gradus_wasm_package target header debian_package)
  cmake_path(GET header PARENT_PATH folder)
  find_path(GRADUS_WASM_${folder} ${header} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(GRADUS_WASM_${folder})
  if(NOT GRADUS_WASM_${folder})
    message(FATAL_ERROR "gradus needs ${header} and did not find it. On Debian and Ubuntu: apt install ${debian_package}")
  endif()
  file(CREATE_LINK ${GRADUS_WASM_${folder}}/${folder} ${packages}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${packages})
endfunction()
gradus_wasm_package(fmt::fmt fmt/format.h libfmt-dev)
gradus_wasm_package(nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann-json3-dev)
if(GRADUS_BUILD_TESTS)
  gradus_wasm_package(doctest::doctest doctest/doctest.h doctest-dev)
endif()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
add_library(Threads::Threads INTERFACE IMPORTED GLOBAL)

# Options that a program outside this folder also needs.
function(gradus_wasm_options)
  target_compile_options(gradus INTERFACE -fwasm-exceptions)
  target_link_options(gradus INTERFACE -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sWASM_BIGINT)
endfunction()

# There fmt is compiled with every file that includes it, which most do: so all folders are compiled as one file each,
# their subfolders with them but for those of core, nn and ops.
function(gradus_wasm_groups)
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
    if(NOT group MATCHES "ops/kernels/|version.cpp")
      string(REGEX REPLACE "^((core|nn|ops)/[a-z]+|[a-z]+)/.*$" "\\1" group ${group})
      string(MAKE_C_IDENTIFIER ${group} group)
      set_source_files_properties(${source} TARGET_DIRECTORY gradus PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
