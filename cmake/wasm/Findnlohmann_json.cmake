include(${CMAKE_CURRENT_LIST_DIR}/imported.cmake)
assay_wasm_library(nlohmann_json::nlohmann_json "")
set(nlohmann_json_FOUND TRUE)
