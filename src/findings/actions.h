#pragma once

// Actions that would make the run shorter. Each is one simulated change with its gain, a title and
// how to carry it out.

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
  std::string_view basis;  // what the replay does not model
  int64_t gain_ns = 0;
  double share = 0;        // of the window
  bool predicted = false;  // true = simulated, false = upper bound
  std::string edit = {};        // argument of `assay whatif --edit`; empty if not replayed
  // Effect of the action on the timeline: the causes that it shortens (keys), kernels of one kind,
  // or one kernel. All empty: no particular place.
  std::vector<std::string> causes = {};
  std::string kernel_kind = {};
  std::string kernel_name = {};
};

// How the gain is known: "simulated" if predicted, else "up to", the gain of a change without any
// cost.
std::string_view gain_grade(bool predicted);

// Actions that gain at least 1 % of the window, largest gain first. An action on a narrow
// bottleneck (input, synchronization, allocation) comes first if it gains at least half of the
// largest. Empty if the diagnosis is undetermined.
std::vector<Action> actions_of(const RunFacts& facts);

}  // namespace assay::findings
