#pragma once

// From the dependency graph to the words that a report opens with, and to its tables of causes.

#include <string>
#include <vector>

#include "flow/verdict.h"
#include "kernels/book.h"
#include "report/document/document.h"
#include "trace/trace.h"

namespace assay {

// A way to make the run faster and what it can give at most, by a replay without what it removes.
struct Lever {
  std::string key;   // stable: "cheaper_host", "device_work", ...
  std::string what;  // one sentence: what to do
  int64_t at_most_ns = 0;
  double share_of_window = 0;
  std::string basis;  // which measured number bounds it
};

// What the causes of a run are told with.
struct FlowAnswer {
  const Trace& trace;
  const FlowReport& report;
  const FlowVerdict& verdict;
  const KernelBook& kernels;
};

// The answer in at most three sentences: what bounds the run and who does it; what is uncertain
// about that; of a cold start what bounds the rest.
std::vector<std::string> flow_words(const FlowAnswer& answer);
// The lever on the leading cause first, then by what they can give. None where the answer is
// undecided, or where the model explains too little of the run to replay it.
std::vector<Lever> flow_levers(const FlowAnswer& answer);
std::string levers_text(const std::vector<Lever>& levers);

// Top level "cause", "device_idle_share", "flow", "causes", "contributors" and "levers".
Section flow_section(const FlowAnswer& answer, const std::vector<Lever>& levers);

}  // namespace assay
