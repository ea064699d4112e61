#pragma once

// Iteration windows: the repeated unit of work. Taken from ProfilerStep#n annotations, else from
// repeating root operators, else from what repeats in the names of kernels, else the trace is one
// window. A person may also pick them by label (trace/label_windows.h).

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
  int64_t end_ns = 0;  // host work that starts in [start_ns, end_ns) belongs to the window
};

struct Windows {
  WindowSource source = WindowSource::kWholeTrace;
  std::vector<Window> windows;  // ordered by start, disjoint, none empty but that of an empty trace
  uint64_t overlaps_cut = 0;    // windows that reached into the next one and were cut at its start
  // In words: for kKernelPeriod, the evidence for iterations; for kWholeTrace, the reason why
  // periods that were found are not iterations; else empty.
  std::string evidence = {};
};

// A launch belongs to the window in which its host call starts, on any thread. An activity without
// a call belongs to the window in which it starts on the device. `roles`: role by the names of
// activities, by StringId; it may be shorter than the names, which are then plain. Copies need
// none.
Windows find_iterations(const Trace& trace, const Links& links,
                        const std::vector<WorkRole>& roles = {});

// Numbers for display: n of ProfilerStep#n, else the position, starting at 1.
std::vector<int32_t> iteration_numbers(const Windows& windows);

// Index of the window that holds time_ns, its start included and its end not; -1 when none does.
int32_t window_at(const Windows& windows, int64_t time_ns);

}  // namespace assay
