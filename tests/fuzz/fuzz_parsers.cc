// One parser under libFuzzer: ASSAY_FUZZ_TARGET names it (parsers.cc).

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parsers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const assay::fuzz::ParserTarget* const target = [] {
    const char* name = std::getenv("ASSAY_FUZZ_TARGET");
    const auto* found = assay::fuzz::find_target(name == nullptr ? "" : name);
    if (found == nullptr) {
      std::fprintf(stderr, "ASSAY_FUZZ_TARGET names no parser\n");
      std::exit(2);
    }
    return found;
  }();
  static assay::fuzz::MemoryFile file;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (file.put(bytes)) target->parse(bytes, file.path());
  return 0;
}
