# assay_embed(FUNCTION FILE): a function that returns the file's text, which travels in the binary.
function(assay_embed function file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
  file(READ ${CMAKE_SOURCE_DIR}/${file} ASSAY_EMBED_TEXT)
  set(ASSAY_EMBED_SOURCE ${file})
  set(ASSAY_EMBED_FUNCTION ${function})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_text.cc.in ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc @ONLY)
endfunction()
