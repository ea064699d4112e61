#pragma once

// Options of kernel chain mining, shared by `fusion` and `report`.

#include <string>
#include <vector>

#include "launch/fusion.h"

namespace assay {

class Verb;  // cli/options.h

struct FusionFlags {
  std::vector<uint32_t> lengths = {2, 4, 8, 16, 32, 64, 128, 256};
  double threshold = 1;
  std::string segment = "sync";
  std::string identity = "name";
  uint32_t min_count = 2;
  size_t top = 10;
};

void add_fusion_flags(Verb& verb, FusionFlags& flags);
FusionOptions fusion_options(const FusionFlags& flags);

}  // namespace assay
