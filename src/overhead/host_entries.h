#pragma once

// For every call that launched GPU activities: the operator that dispatched it, and the operators
// and frames around that operator.

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct HostEntry {
  OpId op;             // dispatch entry (see extract_overhead_rows)
  AnnotationId range;  // dispatch entry if ranges replace operators
  int64_t start_ns = 0;
  std::optional<int64_t> torch_ns;  // where T_Py starts
  int64_t before_ns = INT64_MIN;    // latest end of earlier outermost operators on the thread
  bool engine = false;         // torch_ns is where the framework's own engine took over, not Python
  int64_t root_ns = 0;         // start of the outermost operator or frame; of the call, if none
  bool single_launch = false;  // no other call under the entry launched GPU activities

  bool found() const { return op || range; }
};

class HostEntries {
 public:
  HostEntries(const Trace& trace, const Links& links);

  // The entry of a call; !found() for a call without GPU activities.
  const HostEntry& of(ApiCallId call) const { return entries_[slots_[call.index()]]; }
  bool ranges_as_ops() const { return ranges_as_ops_; }

 private:
  bool ranges_as_ops_ = false;
  std::vector<uint32_t> slots_;  // per call, into entries_; 0 = none
  std::vector<HostEntry> entries_;
};

}  // namespace assay
