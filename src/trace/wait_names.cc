#include "trace/wait_names.h"

#include <array>
#include <cstddef>

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kNames = {
    "Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};

}  // namespace

std::string_view wait_name(WaitKind kind) { return kNames[static_cast<size_t>(kind)]; }

WaitKind wait_kind_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<WaitKind>(i);
  }
  return WaitKind::kUnknown;
}

WaitKind wait_kind_of(int64_t cupti_type) {
  const bool known = cupti_type >= 0 && cupti_type < static_cast<int64_t>(kNames.size());
  return known ? static_cast<WaitKind>(cupti_type) : WaitKind::kUnknown;
}

}  // namespace assay
