# Writes reader_stamp.cc: the first 64 bits of a hash over SOURCES, in their order.
set(all "")
foreach(source ${SOURCES})
  file(SHA256 ${source} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 stamp "${all}")
string(SUBSTRING ${stamp} 0 16 stamp)
file(WRITE ${OUT} "#include \"ingest/columnar/layout.h\"

namespace assay::columnar {

uint64_t reader_stamp() { return 0x${stamp}; }

}  // namespace assay::columnar
")
