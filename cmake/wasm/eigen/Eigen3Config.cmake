include(${CMAKE_CURRENT_LIST_DIR}/../imported.cmake)
assay_wasm_library(Eigen3::Eigen "" ${ASSAY_WASM_DEPS}/include/eigen3)
