#pragma once

// Names that a rule takes from the program: who prepares the next kernel, and which contributors have a name.

#include <string>
#include <vector>

#include "flow/facts.h"

namespace assay::findings {

// "PyTorch dispatch", "Python", "CUDA calls", of a part of the host's time.
std::string host_part_name(const RunFacts& f, FlowCause part);
// Whether the second largest part of the host's time is large enough to be named.
bool names_second_part(const RunFacts& f);
std::vector<FlowCause> shown_host_parts(const RunFacts& f);  // one or two
std::vector<std::string> host_part_names(const RunFacts& f);  // without launch latency

// The first that is not empty; empty where all are.
std::string first_name(const std::vector<TimeByName>& contributors);
// Those that are not empty, each once, the first two; `otherwise` where none is.
std::vector<std::string> names_or(const std::vector<TimeByName>& contributors, std::string otherwise);

// "the host", "kernels", of a resource of the table of gains.
std::string resource_name(GainGroup group);

bool pytorch(const RunFacts& f);
// Calls are recorded and their replay is the run, so that gains by it may be shown.
bool replay_holds(const RunFacts& f);
// The user of an engine neither idles it nor edits its loop or model.
bool uses_engine(const RunFacts& f);
bool edits_pytorch(const RunFacts& f);  // PyTorch, without an engine

// There is not enough data for a diagnosis.
bool insufficient(const RunFacts& f);

}  // namespace assay::findings
