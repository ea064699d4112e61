#pragma once

// The table of causes and bottlenecks: data key, name in a sentence, name in a chart legend,
// meaning and remedy. Terminal, page, Python, `explain`, `diff` and `whatif` use these names.
// Sources of the definitions: docs/metrics.md, Flow.

#include <cstdint>
#include <span>
#include <string_view>

#include "flow/cause.h"

namespace assay {
enum class BoundBy : uint8_t;  // flow/verdict.h
}  // namespace assay

namespace assay::findings {

// A cause that device time is attributed to. The sum over all causes is window times number of
// devices.
struct CauseInfo {
  std::string_view key;     // in JSON and SQL: "dispatch"
  std::string_view name;    // in a sentence: "operator dispatch"
  std::string_view legend;  // in charts and tables
  std::string_view sentence;
  std::string_view what_to_do;
  bool host = false;  // CPU work that prepares the next launch
};
std::span<const CauseInfo> all_causes();
// Null for an unknown key.
const CauseInfo* find_cause(std::string_view key);
// The name in a sentence and in a legend; an unknown key is returned unchanged.
std::string_view cause_name(std::string_view key);
std::string_view cause_legend(std::string_view key);
std::string_view cause_name(FlowCause cause);
std::string_view cause_legend(FlowCause cause);

// What limits a run.
struct BottleneckInfo {
  std::string_view key;   // in JSON: "host"
  std::string_view name;  // "Host-bound"
  std::string_view within;  // within a sentence: "host-bound"
  std::string_view meaning;
};
std::span<const BottleneckInfo> all_bottlenecks();
const BottleneckInfo* find_bottleneck(std::string_view key);
// BottleneckInfo::within.
std::string_view bottleneck_word(BoundBy bound);

}  // namespace assay::findings
