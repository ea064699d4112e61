# What `cpack` makes of the installed files: a .deb. tools/release.sh runs it over the build that needs the C library
# alone, so that one package serves Debian 12 and Ubuntu 22.04 and what came after them.
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "the Assay authors")
set(CPACK_PACKAGE_CONTACT "the Assay authors <assay@example.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "takes a GPU run apart: where its time went, what would change it")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libxgboost0, libxlsxwriter4, libmuparser2v5")
set(CPACK_PACKAGE_DESCRIPTION
    "Reads traces of PyTorch's profiler, Nsight Systems, rocprofv3 and its own\nrecorder, and says what bound the run, where its time and energy went,\nwhat a change would give, and how sure that is.")
include(CPack)
