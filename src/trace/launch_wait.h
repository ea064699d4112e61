#pragma once

#include <cstdint>

namespace assay {

// A launch call that takes longer than this waits for space in the launch queue or for code to be
// loaded (spec/launch 2). The time beyond it counts as waiting, not launching.
constexpr int64_t kLaunchBackPressureNs = 100'000;

}  // namespace assay
