#pragma once

// What the host does, or waits for, in the pauses that lead a verdict: its name, from all tables.

#include <string>
#include <string_view>

#include "flow/answer.h"

namespace assay {

// Before the name of what the profiler itself does.
constexpr std::string_view kProfilers = "the profiler's ";

// The name of stalls in which the host touches managed memory.
constexpr std::string_view kPageFaults = "CPU page faults";

// What the host does in its pauses: a name, or the label around them; empty where nothing tells.
std::string pause_name(const FlowAnswer& answer);
// Whether one name, or silence, holds nearly all of the pauses.
bool pauses_in_one(const LeadingPauses& pauses);
// Whether it waits in them, for another thread or for what is outside.
bool waits_in_pauses(const FlowAnswer& answer);
// What another thread of the process does for most of the longest pause, where the host waits in
// it, or is in a call: the driver lets one thread make some of its calls at a time. Empty where
// nothing tells.
std::string pause_holder(const FlowAnswer& answer);
// The same of the longest slice of one contributor, whatever it is.
std::string held_by_thread(const Trace& trace, const Contributor& who);

// A function that another thread of the process runs in most stalls of the launching thread, which records nothing
// in them or is in one Python function. That thread may hold the GIL. Empty if no row shows it.
std::string runs_in_pauses(const FlowAnswer& answer);

}  // namespace assay
