# Toolchain file: WebAssembly, by Debian's emscripten. The presets `wasm` and `wasm-scalar` use it; see docs/browser.md.
find_program(GRADUS_EM_CONFIG em-config)
find_program(GRADUS_NODE NAMES node nodejs)
if(NOT GRADUS_EM_CONFIG OR NOT GRADUS_NODE)
  message(FATAL_ERROR "WebAssembly is built by emscripten and tested by node. "
                      "On Debian and Ubuntu: apt install --no-install-recommends emscripten node-acorn nodejs")
endif()
set(EMSCRIPTEN_SYSTEM_PROCESSOR wasm32)
set(CMAKE_BUILD_TYPE_INIT Release) # without optimization a page is five times as large and ten times as slow
execute_process(COMMAND ${GRADUS_EM_CONFIG} EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${emscripten}/cmake/Modules/Platform/Emscripten.cmake)
# The linker parses its JavaScript with acorn, which Debian installs where only its own node finds it.
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
set(CMAKE_CROSSCOMPILING_EMULATOR ${GRADUS_NODE})
