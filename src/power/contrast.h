#pragma once

// Benefit of each FinGraV strategy: the same recording profiled without it (Figures 5a and 5b), or
// from its first runs alone (Figure 5c).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "power/profile.h"
#include "power/report.h"

namespace assay {

enum class Strategy : uint8_t { kClockSync, kGoldenRuns };  // S2, S3

// `with` is the profile with all strategies, made with `options` and over_run. There is no
// comparison if the strategy does nothing for this recording or if the kernel is refused without
// it; `no_comparison` then says why.
struct ContrastResult {
  StrategyContrast contrast = {};
  std::optional<ProfileComparison> comparison = {};
  std::string no_comparison = {};
};
ContrastResult contrast_strategy(const PowerRecording& recording, const ProfileOptions& options,
                                 const KernelProfile& with, Strategy strategy);
ContrastResult contrast_fewer_runs(const PowerRecording& recording, const ProfileOptions& options,
                                   const KernelProfile& with, uint32_t runs);

}  // namespace assay
