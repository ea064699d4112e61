#pragma once

// Every gap of LaunchMetrics::gpu_idle_union_ns of the whole trace, cut where the host's doing
// changes: IdleBlame slice by slice.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "base/result.h"
#include "launch/metrics.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

enum class IdleCause : uint8_t {
  kHostBusy,
  kHostBlocked,
  kHostInput,
  kHostGapShort,
  kHostGapLong,
  kUnknown,  // no thread launched anything: LaunchMetrics::cpu_idle_known is false
};
std::string_view idle_cause_name(IdleCause cause);

struct IdleSlice {
  Interval span;
  IdleCause cause = IdleCause::kUnknown;
  uint32_t gap = 0;         // slices of one gap follow each other
  bool after_sync = false;  // the gap began while the launching threads waited for the device
};

// In order of time. Their lengths sum, cause by cause, to LaunchReport::whole.idle_blame of the
// same options, and those after a wait to gpu_idle_after_sync_ns.
std::vector<IdleSlice> idle_slices(const Trace& trace, const Links& links, bool count_copies);

}  // namespace assay
