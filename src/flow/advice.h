#pragma once

// Decisions that follow from the causes of a run and from its replays.

#include <cstddef>
#include <initializer_list>
#include <string>

#include "flow/answer.h"

namespace assay {

// What takes the host off the path.
enum class HostAdvice {
  kGraphs,         // fewer, larger launches: graphs
  kFewerLaunches,  // the same where graphs cannot be: iterations run different kernels
  kMoveToDevice,   // the host computes itself
  kLessHost,       // graphs would leave most of what the host does
  kBetweenGraphs,  // most work is in graphs already
  kShortenOne,     // one thing holds the host up (FlowVerdict::pauses)
  kRecordHost,     // nothing tells what holds it up
  kSteadyHost,     // pauses in one thing or another
};
HostAdvice host_advice(const FlowAnswer& answer);

// The first lever of one of these kinds that was tried and not refused; null = none.
const TriedLever* find_tried(const FlowAnswer& answer, std::initializer_list<EditKind> kinds);
// What a lever gives lies in few of many iterations: nothing in the usual one.
bool in_few_iterations(const TriedLever& tried);
// The row with most of the host time if Python leads it; null for none.
const Contributor* most_of_host(const FlowAnswer& answer);
// The shortest label around most of the host's idle time, where it is around far less of the run
// and no row is most of it; empty where there is none.
std::string label_of_host(const FlowAnswer& answer);
// Most of the time that the host waits goes to copies to pageable memory.
bool waits_for_pageable(const FlowAnswer& answer);

}  // namespace assay
