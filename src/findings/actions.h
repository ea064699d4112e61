#pragma once

// What would make the run shorter: each action is one simulated change with its gain, a title and how to carry it out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "flow/facts.h"

namespace assay::findings {

struct Action {
  std::string_view key;  // stable: "cuda_graph", "cheaper_host", "device_work", "input", ...
  Finding title = {};
  std::optional<Finding> how = {};
  std::string_view basis;  // what the replay leaves out
  int64_t gain_ns = 0;
  double share = 0;        // of the window
  bool predicted = false;  // else an upper bound
  std::string edit = {};        // as `assay whatif --edit` takes it; empty where nothing was replayed
  // Where on the timeline it acts: keys of causes that it shortens, or kernels of a kind, or one kernel. All empty:
  // nowhere in particular.
  std::vector<std::string> causes = {};
  std::string kernel_kind = {};
  std::string kernel_name = {};
};

// How a gain is known, by Action::predicted: "simulated" with the change made, or "up to", the change made at no cost.
std::string_view gain_grade(bool predicted);

// Those that gain 1 % of the window, the largest gain first; before them the one on a narrow bottleneck (input,
// synchronization, allocation) that gains half of the largest. None where the diagnosis is undetermined.
std::vector<Action> actions_of(const RunFacts& facts);

}  // namespace assay::findings
