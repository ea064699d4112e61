#pragma once

#include <cstdint>

namespace assay {

// A launch call that has not returned after this long waits for room in the launch queue, or for
// code to be loaded (spec/launch 2): from here on the host does not launch, it waits.
constexpr int64_t kLaunchBackPressureNs = 100'000;

}  // namespace assay
