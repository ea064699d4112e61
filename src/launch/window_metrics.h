#pragma once

// LaunchMetrics of one window of a trace, the whole trace being the widest one.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/interval_index.h"
#include "base/intervals.h"
#include "launch/host_time.h"
#include "launch/idle.h"
#include "launch/metrics.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Rows of one window. Ids ascend.
struct WindowRows {
  Window window;
  std::vector<ActivityId> kernels;
  std::vector<ActivityId> copies;  // memcpy and memset; left empty unless they count as busy
  OpId earliest_root;  // outermost operator of the window that starts first; kNone = none
};

// Computes the metrics of the windows of one trace; data that they share is computed once.
class WindowMeter {
 public:
  // device_busy: merged intervals in which anything that counts as busy ran, in the whole trace.
  WindowMeter(const Trace& trace, const Links& links, const LaunchFloor& floor,
              const std::vector<int64_t>& raw_launch_times, const std::vector<OpId>& roots,
              std::vector<Interval> device_busy);

  // flow: joint_flow of all devices; must outlive the meter. Without it, idle time has no causes.
  void explain_by(const DeviceFlow& flow) { idle_.emplace(flow); }
  LaunchMetrics measure(const WindowRows& rows);
  // GPU idle intervals of the last measured window.
  const std::vector<Interval>& idle_gaps() const { return idle_gaps_; }

 private:
  void count_launches(const WindowRows& rows, LaunchMetrics& metrics) const;
  void sum_kernels(const WindowRows& rows, LaunchMetrics& metrics) const;
  void find_origin(const WindowRows& rows, LaunchMetrics& metrics) const;
  void measure_gpu(const WindowRows& rows, LaunchMetrics& metrics);
  void measure_cpu(LaunchMetrics& metrics);
  void explain_idle(LaunchMetrics& metrics) const;
  void bracket_launches(const WindowRows& rows, LaunchMetrics& metrics) const;
  void bracket_idle(const WindowRows& rows, LaunchMetrics& metrics) const;
  const HostTimeline& timeline_of(ThreadId thread);
  // From p_1 to the last kernel's end. Its length is IL plus the unrecorded time in it.
  static Interval span_of(const LaunchMetrics& metrics);

  const Trace& trace_;
  const Links& links_;
  const LaunchFloor& floor_;
  const std::vector<int64_t>& raw_;
  const std::vector<OpId>& roots_;
  const IntervalIndex device_busy_;
  std::map<ThreadId, HostTimeline> timelines_;
  std::optional<IdleView> idle_;
  std::vector<Interval> idle_gaps_;  // of the window being measured
};

}  // namespace assay
