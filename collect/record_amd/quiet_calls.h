#pragma once

// Frequent HIP calls without information: the HIP equivalents of collect/record/quiet_calls.h.

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::record_amd {

constexpr std::array<std::string_view, 10> kQuietCalls = {"hipGetDevice",
                                                          "hipSetDevice",
                                                          "hipGetLastError",
                                                          "hipExtGetLastError",
                                                          "hipPeekAtLastError",
                                                          "hipEventCreate",
                                                          "hipEventCreateWithFlags",
                                                          "hipEventDestroy",
                                                          "hipCtxGetCurrent",
                                                          "hipDevicePrimaryCtxGetState"};

inline bool is_quiet(std::string_view name) {
  return std::find(kQuietCalls.begin(), kQuietCalls.end(), name) != kQuietCalls.end();
}

}  // namespace assay::record_amd
