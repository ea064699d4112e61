# Assay as WebAssembly (cmake --preset wasm): the distribution's emscripten, and the libraries that tools/wasm_deps.sh made.
set(ASSAY_WASM_DEPS ${CMAKE_CURRENT_LIST_DIR}/../build/wasm-deps CACHE PATH "what tools/wasm_deps.sh made")
# As tools/emscripten_env.sh has it, for a build that is started by hand.
set(ENV{EM_CACHE} ${ASSAY_WASM_DEPS}/emscripten-cache)
include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/wasm)
set(Eigen3_DIR ${CMAKE_CURRENT_LIST_DIR}/wasm/eigen CACHE PATH "")
set(XXHASH_INCLUDE_DIR ${ASSAY_WASM_DEPS}/include CACHE PATH "")
set(ASSAY_PLATFORM wasm CACHE STRING "")
