#pragma once

// What a trace says of the processes that its threads and devices belong to. Kept as metadata
// entries, "process_name 4711", so that they go wherever those go.

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
// 0 where the trace does not tell.
int64_t profiler_span_ns(const Trace& trace);

// The key of the entry. pid as written in the input; a device's number for its process.
std::string process_fact_key(std::string_view fact, std::string_view pid);

// Empty where the trace does not tell.
std::string_view process_fact(const Trace& trace, std::string_view fact, std::string_view pid);

// What to call each thread of the trace: its name, else its id. Threads of one process that have
// one name are told apart by their ids.
std::vector<std::string> thread_labels(const Trace& trace);

}  // namespace assay
