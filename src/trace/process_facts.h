#pragma once

// Properties of the processes of a trace's threads and devices. Stored as metadata entries,
// "process_name 4711", so that they are copied with those.

#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace assay {

// Named as in the Chrome trace format; values are as the file has them.
constexpr std::string_view kProcessName = "process_name";
constexpr std::string_view kProcessLabels = "process_labels";
constexpr std::string_view kProcessSortIndex = "process_sort_index";
constexpr std::string_view kProcessFacts[] = {kProcessName, kProcessLabels, kProcessSortIndex};

// How long PyTorch's profiler was on, in a trace in which it saw neither operators nor work of a
// device; its entry is a number of nanoseconds.
constexpr std::string_view kProfilerSpanNs = "profiler_span_ns";
// 0 if the trace lacks it.
int64_t profiler_span_ns(const Trace& trace);

// The key of the entry. pid as written in the input; a device's number for its process.
std::string process_fact_key(std::string_view fact, std::string_view pid);

// Empty if the trace lacks it.
std::string_view process_fact(const Trace& trace, std::string_view fact, std::string_view pid);

// Display name of each thread of the trace: its name, else its id. Threads of one process with
// equal names get their ids as well.
std::vector<std::string> thread_labels(const Trace& trace);

}  // namespace assay
