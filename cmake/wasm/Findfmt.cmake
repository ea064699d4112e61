include(${CMAKE_CURRENT_LIST_DIR}/imported.cmake)
assay_wasm_library(fmt::fmt fmt)
assay_wasm_library(fmt::fmt-header-only "")
set(fmt_FOUND TRUE)
