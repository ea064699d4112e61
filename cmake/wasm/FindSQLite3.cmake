include(${CMAKE_CURRENT_LIST_DIR}/imported.cmake)
assay_wasm_library(SQLite::SQLite3 sqlite3)
assay_wasm_library(csv csv)
set(SQLite3_FOUND TRUE)
