# Builds for 64-bit ARM Linux on another machine, by Debian's cross compiler; programs and tests run in QEMU. ./run arm
# uses it (preset arm64). GRADUS_ARM64_ROOT is the folder with ARM's libraries, laid out like the root of an ARM system.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT DEFINED GRADUS_ARM64_ROOT)
  set(GRADUS_ARM64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root)
endif()
cmake_path(ABSOLUTE_PATH GRADUS_ARM64_ROOT NORMALIZE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GRADUS_ARM64_ROOT)
if(NOT IS_DIRECTORY ${GRADUS_ARM64_ROOT})
  message(FATAL_ERROR "There is no ${GRADUS_ARM64_ROOT} with ARM's libraries: ./run arm fetches them, "
                      "or name a folder with -DGRADUS_ARM64_ROOT=...")
endif()

set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSROOT ${GRADUS_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${GRADUS_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${GRADUS_ARM64_ROOT})
