#pragma once

// Iteration windows, the repeated unit of work: from ProfilerStep#n annotations, else from
// repeating root operators or labels, else from a period in the kernel names, else one window for
// the whole trace. The user may also select windows by label (trace/label_windows.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kernel_periods.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

enum class WindowSource : uint8_t {
  kProfilerStep,
  kRepeatedRoot,
  kKernelPeriod,
  kLabel,
  kWholeTrace
};
std::string_view window_source_name(WindowSource source);

struct Window {
  std::string name;  // "ProfilerStep#3", "model_inference [2]", "whole trace"
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // host events that start in [start_ns, end_ns) belong to it
};

struct Windows {
  WindowSource source = WindowSource::kWholeTrace;
  std::vector<Window> windows;  // sorted by start, disjoint, nonempty unless the trace is empty
  uint64_t overlaps_cut = 0;    // windows that overlapped the next one and were cut at its start
  // For kKernelPeriod, the evidence for iterations; for kWholeTrace, why periods that were found
  // are not iterations; else empty.
  std::string evidence = {};
};

// Finds the iterations of a trace. A launch belongs to the window in which its host call starts, on
// any thread; an activity without a call, to the window in which it starts on the device. roles: by
// StringId of activity names; names beyond its end are kPlain. Copies need no role.
Windows find_iterations(const Trace& trace, const Links& links,
                        const std::vector<WorkRole>& roles = {});

// Display number per window: n of ProfilerStep#n, else the position, starting at 1.
std::vector<int32_t> iteration_numbers(const Windows& windows);

// Index of the window that contains time_ns (half-open); -1 if there is none.
int32_t window_at(const Windows& windows, int64_t time_ns);

}  // namespace assay
