#pragma once

// Names what the host does or waits for during leading stalls, from all tables.

#include <string>
#include <string_view>

#include "flow/answer.h"

namespace assay {

// Prefix of names of the profiler's own overhead.
constexpr std::string_view kProfilers = "the profiler's ";

// The name of stalls in which the host touches managed memory.
constexpr std::string_view kPageFaults = "CPU page faults";

// What the host does during its stalls: a name, or the label around them; empty if unknown.
std::string pause_name(const FlowAnswer& answer);
// True if one name, or unattributed time, has at least 80 % of the stalls.
bool pauses_in_one(const LeadingPauses& pauses);
// True if the host waits during them, for another thread or for external input.
bool waits_in_pauses(const FlowAnswer& answer);
// What another thread of the process does for most of the longest stall, if the host waits in it or
// is in an API call (the driver serializes some calls across threads). Empty if unknown.
std::string pause_holder(const FlowAnswer& answer);
// The same for a contributor's longest slice, whether or not it waits.
std::string held_by_thread(const Trace& trace, const Contributor& who);

// A function that another thread of the process runs during most stalls of the launching thread, if
// that thread records nothing or one Python function in them. That thread may hold the GIL. Empty
// if none is found.
std::string runs_in_pauses(const FlowAnswer& answer);

}  // namespace assay
