#pragma once

// For every call that made device work: the operator that dispatched it and what encloses that.

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct HostEntry {
  OpId op;             // dispatch entry (see extract_overhead_rows)
  AnnotationId range;  // the same if ranges replace operators
  int64_t start_ns = 0;
  std::optional<int64_t> torch_ns;  // where T_Py starts
  int64_t before_ns = INT64_MIN;    // end of the outermost operators before the entry's own
  bool engine = false;         // torch_ns is where the framework's own engine took over, not Python
  int64_t root_ns = 0;         // start of the outermost operator or frame; of the call, if none
  bool single_launch = false;  // no other call under the entry made device work

  bool found() const { return op || range; }
};

class HostEntries {
 public:
  HostEntries(const Trace& trace, const Links& links);

  // Only for calls with device work; others have no entry.
  const HostEntry& of(ApiCallId call) const { return entries_[slots_[call.index()]]; }
  bool ranges_as_ops() const { return ranges_as_ops_; }

 private:
  bool ranges_as_ops_ = false;
  std::vector<uint32_t> slots_;  // per call, into entries_; 0 = none
  std::vector<HostEntry> entries_;
};

}  // namespace assay
