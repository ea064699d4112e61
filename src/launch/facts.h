#pragma once

// Small properties of a trace that several analyses of this module use.

#include <cstdint>
#include <limits>
#include <vector>

#include "base/intervals.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Placeholder for kernels without a launch+queue time: no call, or not the first of its call.
constexpr int64_t kNoLaunchTime = std::numeric_limits<int64_t>::min();
// A kernel that starts this long before its launch call, or longer, is not explained by clock
// jitter and is dropped (spec 2).
constexpr int64_t kDroppedLaunchTimeNs = -10'000;

// t_l (SKIP Eq. 1) per activity as recorded, negative ones too: device start of the first kernel of
// a call minus start of the call. Later kernels of the call (graph replay, shared correlation) have
// none.
std::vector<int64_t> raw_launch_times(const Trace& trace, const Links& links);

inline bool is_dropped(int64_t raw_ns) {
  return raw_ns != kNoLaunchTime && raw_ns <= kDroppedLaunchTimeNs;
}
inline bool is_clamped(int64_t raw_ns) { return raw_ns > kDroppedLaunchTimeNs && raw_ns < 0; }
inline bool has_launch_time(int64_t raw_ns) { return raw_ns > kDroppedLaunchTimeNs; }
// Counted launch time: negative times are 0. Only if has_launch_time.
inline int64_t launch_time(int64_t raw_ns) { return raw_ns < 0 ? 0 : raw_ns; }

// Per activity, the window of its launch call's start; without a call, of its start on the device.
std::vector<int32_t> activity_windows(const Trace& trace, const Links& links,
                                      const Windows& windows);

// Per op, its outermost enclosing operator. Old profilers record ProfilerStep#n as an operator. It
// is a window and not an operation, so it is the root of no op and its own root is kNone.
std::vector<OpId> root_ops(const Trace& trace, const Links& links);

// True if the activity copies from device to host, by its name ("Memcpy DtoH (Device -> Pageable)",
// "CopyDeviceToHost").
bool is_device_to_host(const Trace& trace, ActivityId activity);
// True if the call launches such a copy.
bool copies_to_host(const Trace& trace, const Links& links, ApiCallId call);

bool is_kernel(const Trace& trace, ActivityId activity);
bool is_graph_kernel(const Trace& trace, const Links& links, ActivityId activity);
Interval interval_of(const Trace& trace, ActivityId activity);

// The thread with the most launches in these per-thread counts. Ties go to the smaller id; kNone if
// all are 0.
ThreadId busiest_thread(const std::vector<uint64_t>& launches_per_thread);

}  // namespace assay
