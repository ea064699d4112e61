#include "trace/process_facts.h"

#include <map>
#include <utility>

#include "base/decimal.h"

namespace assay {

std::string process_fact_key(std::string_view fact, std::string_view pid) {
  std::string key(fact);
  key += ' ';
  key += pid;
  return key;
}

std::string_view process_fact(const Trace& trace, std::string_view fact, std::string_view pid) {
  const std::string key = process_fact_key(fact, pid);
  for (const MetadataEntry& entry : trace.metadata) {
    if (entry.key == key) return entry.value;
  }
  return {};
}

int64_t profiler_span_ns(const Trace& trace) {
  for (const MetadataEntry& entry : trace.metadata) {
    int64_t span_ns = 0;
    if (entry.key == kProfilerSpanNs && parse_int64(entry.value, span_ns)) return span_ns;
  }
  return 0;
}

std::vector<std::string> thread_labels(const Trace& trace) {
  std::map<std::pair<std::string_view, std::string_view>, size_t> namesakes;
  for (const Thread& thread : trace.threads) ++namesakes[{thread.pid, thread.name}];
  std::vector<std::string> labels;
  for (const Thread& thread : trace.threads) {
    std::string label = thread.name.empty() ? "thread " + thread.tid : thread.name;
    if (!thread.name.empty() && namesakes[{thread.pid, thread.name}] > 1) {
      label += " [" + thread.tid + "]";
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace assay
