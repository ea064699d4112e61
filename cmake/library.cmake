# The library for other programs: find_package(assay) and assay::answers (docs/embedding.md). It stands on the
# libraries of the system that it was built on; a release has none of it.
get_property(modules GLOBAL PROPERTY ASSAY_MODULES)
set_target_properties(assay_answers PROPERTIES EXPORT_NAME answers)
list(REMOVE_ITEM modules assay_cli assay_serve)
set(parts ${modules} assay_options assay_matrices assay_factorisations)
if(TARGET assay_blas)
  list(APPEND parts assay_blas)
endif()
install(TARGETS ${parts} EXPORT assayTargets ARCHIVE DESTINATION ${ASSAY_PRIVATE})
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION lib/cmake/assay)
install(DIRECTORY src/ DESTINATION include/assay FILES_MATCHING PATTERN "*.h")
# Headers that the build makes.
install(FILES ${CMAKE_BINARY_DIR}/src/findings/codes/findings/codes.h DESTINATION include/assay/findings)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(assayConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES cmake/assayConfig.cmake ${CMAKE_BINARY_DIR}/assayConfigVersion.cmake DESTINATION lib/cmake/assay)
