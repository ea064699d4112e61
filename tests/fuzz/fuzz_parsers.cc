// One parser under libFuzzer: ASSAY_FUZZ_TARGET names it (parsers.cc). Half of the changes are
// libFuzzer's, the others stay inside of the format (changes.h).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "changes.h"
#include "parsers.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  assay::fuzz::Random random(seed);
  if (random.below(2) == 0) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (assay::fuzz::change_inside(bytes, random) && bytes.size() <= most) {
      std::copy(bytes.begin(), bytes.end(), data);
      return bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}

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
  static assay::fuzz::InputFile file;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (file.put(bytes)) target->parse(bytes, file.path());
  return 0;
}
