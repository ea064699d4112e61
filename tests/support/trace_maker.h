#pragma once

// Traces by hand, for tests: add rows in any order, then build() interns the names and sorts every
// table as trace/trace.h promises (lane, start, longer first, input order). Lanes get their ids in
// the order in which rows first name them. Times are nanoseconds; thread, device and stream are any
// numbers. Ids of rows are only known after sorting: ask for them by name (op_id, call_id, ...).
//
//   Trace trace = TraceMaker()
//                     .op(1, "aten::mm", 0, 100)
//                     .call(1, "cudaLaunchKernel", 10, 20, 7)
//                     .kernel(0, 7, "gemm", 50, 500, 7)
//                     .build();
//   OpId mm = op_id(trace, "aten::mm");

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace assay::testing {

class TraceMaker {
 public:
  TraceMaker& op(int64_t thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                 uint32_t external_id = 0) {
    trace_.ops.push_back({.start_ns = start_ns,
                          .dur_ns = dur_ns,
                          .name = intern(name),
                          .thread = thread_id(thread),
                          .external_id = external_id});
    return *this;
  }

  TraceMaker& frame(int64_t thread, std::string_view name, int64_t start_ns, int64_t dur_ns) {
    trace_.frames.push_back({.start_ns = start_ns,
                             .dur_ns = dur_ns,
                             .name = intern(name),
                             .thread = thread_id(thread)});
    return *this;
  }

  TraceMaker& annotation(int64_t thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                         uint32_t external_id = 0) {
    trace_.annotations.push_back({.start_ns = start_ns,
                                  .dur_ns = dur_ns,
                                  .name = intern(name),
                                  .thread = thread_id(thread),
                                  .external_id = external_id});
    return *this;
  }

  // A runtime API call.
  TraceMaker& call(int64_t thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                   uint32_t correlation, uint32_t external_id = 0) {
    return api_call(ApiKind::kRuntime, thread, name, start_ns, dur_ns, correlation, external_id);
  }

  TraceMaker& driver_call(int64_t thread, std::string_view name, int64_t start_ns, int64_t dur_ns,
                          uint32_t correlation, uint32_t external_id = 0) {
    return api_call(ApiKind::kDriver, thread, name, start_ns, dur_ns, correlation, external_id);
  }

  TraceMaker& kernel(int64_t device, int64_t stream, std::string_view name, int64_t start_ns,
                     int64_t dur_ns, uint32_t correlation, uint32_t external_id = 0) {
    return activity(ActivityKind::kKernel, device, stream, name, start_ns, dur_ns, correlation,
                    external_id);
  }

  TraceMaker& copy(int64_t device, int64_t stream, std::string_view name, int64_t start_ns,
                   int64_t dur_ns, uint32_t correlation, uint32_t external_id = 0) {
    return activity(ActivityKind::kMemcpy, device, stream, name, start_ns, dur_ns, correlation,
                    external_id);
  }

  TraceMaker& memset(int64_t device, int64_t stream, std::string_view name, int64_t start_ns,
                     int64_t dur_ns, uint32_t correlation, uint32_t external_id = 0) {
    return activity(ActivityKind::kMemset, device, stream, name, start_ns, dur_ns, correlation,
                    external_id);
  }

  // Any device row, e.g. kSync or kOther.
  TraceMaker& activity(ActivityKind kind, int64_t device, int64_t stream, std::string_view name,
                       int64_t start_ns, int64_t dur_ns, uint32_t correlation,
                       uint32_t external_id = 0) {
    trace_.activities.push_back({.start_ns = start_ns,
                                 .dur_ns = dur_ns,
                                 .name = intern(name),
                                 .stream = stream_id(device, stream),
                                 .correlation = correlation,
                                 .external_id = external_id,
                                 .kind = kind});
    return *this;
  }

  TraceMaker& gpu_annotation(int64_t device, int64_t stream, std::string_view name,
                             int64_t start_ns, int64_t dur_ns) {
    trace_.gpu_annotations.push_back({.start_ns = start_ns,
                                      .dur_ns = dur_ns,
                                      .name = intern(name),
                                      .stream = stream_id(device, stream)});
    return *this;
  }

  // Marks the trace as one whose times are whole microseconds.
  TraceMaker& whole_microseconds() {
    trace_.whole_microseconds = true;
    return *this;
  }

  // The trace so far, tables sorted. The maker is used up.
  Trace build() {
    sort_table(trace_.ops, trace_.ops.thread);
    sort_table(trace_.frames, trace_.frames.thread);
    sort_table(trace_.annotations, trace_.annotations.thread);
    sort_table(trace_.api_calls, trace_.api_calls.thread);
    sort_table(trace_.activities, trace_.activities.stream);
    sort_table(trace_.gpu_annotations, trace_.gpu_annotations.stream);
    return std::move(trace_);
  }

 private:
  StringId intern(std::string_view text) { return trace_.strings.intern(text); }

  TraceMaker& api_call(ApiKind kind, int64_t thread, std::string_view name, int64_t start_ns,
                       int64_t dur_ns, uint32_t correlation, uint32_t external_id) {
    trace_.api_calls.push_back({.start_ns = start_ns,
                                .dur_ns = dur_ns,
                                .name = intern(name),
                                .thread = thread_id(thread),
                                .correlation = correlation,
                                .external_id = external_id,
                                .kind = kind});
    return *this;
  }

  ThreadId thread_id(int64_t thread) {
    const std::string tid = std::to_string(thread);
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      if (trace_.threads[i].tid == tid) return ThreadId(i);
    }
    trace_.threads.push_back({.pid = "1", .tid = tid, .name = ""});
    return ThreadId(trace_.threads.size() - 1);
  }

  StreamId stream_id(int64_t device, int64_t stream) {
    for (size_t i = 0; i < trace_.streams.size(); ++i) {
      if (trace_.streams[i].device == device && trace_.streams[i].stream == stream) {
        return StreamId(i);
      }
    }
    trace_.streams.push_back({.device = device, .stream = stream, .name = ""});
    return StreamId(trace_.streams.size() - 1);
  }

  template <typename Table, typename Lane>
  static void sort_table(Table& table, const std::vector<Lane>& lane) {
    std::vector<size_t> order(table.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      if (lane[a] != lane[b]) return lane[a] < lane[b];
      if (table.start_ns[a] != table.start_ns[b]) return table.start_ns[a] < table.start_ns[b];
      return table.dur_ns[a] > table.dur_ns[b];
    });
    Table sorted;
    sorted.reserve(table.size());
    for (size_t row : order) sorted.push_back(table.row(row));
    table = std::move(sorted);
  }

  Trace trace_;
};

// Row of the nth (from 0, in table order) entry called `name`; row count of the table if none.
inline size_t row_named(const Trace& trace, const std::vector<StringId>& names,
                        std::string_view name, size_t nth = 0) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (trace.text(names[i]) == name && nth-- == 0) return i;
  }
  return names.size();
}
inline OpId op_id(const Trace& trace, std::string_view name, size_t nth = 0) {
  return OpId(row_named(trace, trace.ops.name, name, nth));
}
inline ApiCallId call_id(const Trace& trace, std::string_view name, size_t nth = 0) {
  return ApiCallId(row_named(trace, trace.api_calls.name, name, nth));
}
inline ActivityId activity_id(const Trace& trace, std::string_view name, size_t nth = 0) {
  return ActivityId(row_named(trace, trace.activities.name, name, nth));
}
inline AnnotationId annotation_id(const Trace& trace, std::string_view name, size_t nth = 0) {
  return AnnotationId(row_named(trace, trace.annotations.name, name, nth));
}

}  // namespace assay::testing
