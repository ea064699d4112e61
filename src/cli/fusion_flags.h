#pragma once

// The flags of chain mining, shared by `fuse` and `report`.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common.h"
#include "launch/fuse.h"

namespace CLI {
class App;
}

namespace assay {

struct FusionFlags {
  std::vector<uint32_t> lengths = {2, 4, 8, 16, 32, 64, 128, 256};
  double threshold = 1;
  std::string segment = "sync";
  std::string identity = "name";
  uint32_t min_count = 2;
  size_t top = 10;
};

void add_fusion_flags(CLI::App& verb, FusionFlags& flags);
// floor: as typed with --floor.
FusionOptions fusion_options(const FusionFlags& flags, const FloorChoice& floor,
                             const LoadedTrace& loaded);

}  // namespace assay
