#pragma once

// Properties of the processes of a trace's threads and devices. Stored as metadata entries such as
// "process_name 4711", so that they are copied with them.

#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace assay {

// Names as in the Chrome trace format; values as in the file.
constexpr std::string_view kProcessName = "process_name";
constexpr std::string_view kProcessLabels = "process_labels";
constexpr std::string_view kProcessSortIndex = "process_sort_index";
constexpr std::string_view kProcessFacts[] = {kProcessName, kProcessLabels, kProcessSortIndex};

// Key of the recording time of PyTorch's profiler in nanoseconds, in a trace without operators and
// GPU activities.
constexpr std::string_view kProfilerSpanNs = "profiler_span_ns";
// Operators that an execution trace gave inputs, and those that have none there either.
constexpr std::string_view kInputsJoined = "execution_trace inputs_joined";
constexpr std::string_view kInputsUnjoined = "execution_trace inputs_unjoined";
// 0 if the trace lacks it.
int64_t profiler_span_ns(const Trace& trace);

// The key of a metadata entry. pid: as written in the input; for a device, its number.
std::string process_fact_key(std::string_view fact, std::string_view pid);

// Empty if the trace lacks it.
std::string_view process_fact(const Trace& trace, std::string_view fact, std::string_view pid);

// Display name per thread of the trace: its name, else its id. Threads of one process with equal
// names also get their ids.
std::vector<std::string> thread_labels(const Trace& trace);

}  // namespace assay
