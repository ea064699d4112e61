include(${CMAKE_CURRENT_LIST_DIR}/imported.cmake)
assay_wasm_library(CLI11::CLI11 "")
set(CLI11_FOUND TRUE)
