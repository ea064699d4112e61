#pragma once

// Advice derived from the causes of idle time and from replays.

#include <cstddef>
#include <initializer_list>
#include <string>

#include "flow/answer.h"

namespace assay {

// What would take the host off the critical path.
enum class HostAdvice {
  kGraphs,         // CUDA/HIP graphs: fewer, larger launches
  kFewerLaunches,  // graphs do not apply (e.g. kernels vary over iterations)
  kMoveToDevice,   // tensor operators compute on the CPU
  kLessHost,       // graphs would leave most of the host's time
  kBetweenGraphs,  // most device work is in graphs already
  kShortenOne,     // one activity stalls the host (FlowVerdict::pauses)
  kRecordHost,     // no event shows what stalls the host
  kSteadyHost,     // stalls that are not tied to one activity
};
HostAdvice host_advice(const FlowAnswer& answer);

// The first tried edit of one of these kinds that was not refused; null if there is none.
const TriedLever* find_tried(const FlowAnswer& answer, std::initializer_list<EditKind> kinds);
// True if few of at least five iterations hold most of the gain: the median iteration saves little.
bool in_few_iterations(const TriedLever& tried);
// The Python function with at least half of the host's idle time; null if there is none or host
// stalls lead.
const Contributor* most_of_host(const FlowAnswer& answer);
// The shortest label that covers at least 80 % of the time in which devices wait for the host, and
// clearly more than its share of the window. Empty if there is none, if host stalls lead, or if the
// trace has too many labels.
std::string label_of_host(const FlowAnswer& answer);
// True if copies to pageable host memory take more than half of the idle time of kSync. False if
// launches block.
bool waits_for_pageable(const FlowAnswer& answer);

}  // namespace assay
