# The program under node, and the same for a browser's worker: one set of objects, two file systems of emscripten.
# build/wasm/assay.{js,wasm} reads the files of the machine; assay_web.{js,wasm} reads those that a page was given.
# ASSAY_WASM_LINK: -O1 links in seconds; -O2 takes minutes, and makes a module a quarter smaller.
set(ASSAY_WASM_LINK -O1 CACHE STRING "optimisation of the WebAssembly modules when they are linked")
# Four gigabytes are what 32 bits address. The stack is that of a thread on Linux.
set(common ${ASSAY_WASM_LINK} -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB
           -sMODULARIZE=1 -sEXPORT_NAME=Assay -sEXIT_RUNTIME=1 -sINVOKE_RUN=0)
target_link_options(assay PRIVATE ${common} -sENVIRONMENT=node -sNODERAWFS=1 -sEXPORTED_RUNTIME_METHODS=callMain)
add_executable(assay_web src/cli/main.cc)
target_link_libraries(assay_web PRIVATE assay_cli)
# Found before the C++ library's own __cxa_demangle.
foreach(program assay assay_web)
  target_link_libraries(${program} PRIVATE ${ASSAY_WASM_DEPS}/libdemangle.a)
endforeach()
target_link_options(assay_web PRIVATE ${common} -sENVIRONMENT=web,worker,node -lworkerfs.js
                                      -sEXPORTED_RUNTIME_METHODS=callMain,FS,WORKERFS)
