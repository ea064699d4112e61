include(${CMAKE_CURRENT_LIST_DIR}/imported.cmake)
assay_wasm_library(simdjson::simdjson simdjson)
set(simdjson_FOUND TRUE)
