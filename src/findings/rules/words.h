#pragma once

// Program-specific names for rules: who prepares the next kernel, and which contributors have a
// name.

#include <string>
#include <vector>

#include "flow/facts.h"

namespace assay::findings {

// "PyTorch dispatch", "Python", "CUDA calls": the name of a part of host time.
std::string host_part_name(const RunFacts& f, FlowCause part);
// True if the second largest part of host time is large enough to be named.
bool names_second_part(const RunFacts& f);
std::vector<FlowCause> shown_host_parts(const RunFacts& f);  // one or two
std::vector<std::string> host_part_names(const RunFacts& f);  // without launch latency

// The first name that is not empty; empty if all are.
std::string first_name(const std::vector<TimeByName>& contributors);
// The first two distinct non-empty names; `otherwise` if there are none.
std::vector<std::string> names_or(const std::vector<TimeByName>& contributors, std::string otherwise);

// "the host", "kernels": the resource of a gain group.
std::string resource_name(GainGroup group);

bool pytorch(const RunFacts& f);
// True if API calls were recorded and linked and the replay reproduces the run: its gains may be
// shown.
bool replay_holds(const RunFacts& f);
// True if the user runs an engine. Such users cannot change its loop or model.
bool uses_engine(const RunFacts& f);
bool edits_pytorch(const RunFacts& f);  // PyTorch, without an engine

// True if there is too little data for a diagnosis.
bool insufficient(const RunFacts& f);

}  // namespace assay::findings
