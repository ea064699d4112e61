#pragma once

// Several processes started together for one `job`: the leader computes the answer; the others
// summarize the traces that it assigns to them.

#include <functional>

#include "answers/job/summarize.h"
#include "base/result.h"

namespace assay {

class Verb;  // cli/options.h

struct FleetTeam {
  bool leads = true;
  // Set for the leader: replaces summarize_traces.
  std::function<Result<Summarized>(const SummarizeRequest&)> lead = {};
  // Loop of the other processes, until all work is done. The request has the input options.
  std::function<void(const SummarizeRequest&)> follow = {};
};

// As add_job_verb(app, exit_code), for a team of processes. team must outlive the app.
void add_job_verb(Verb& app, int& exit_code, const FleetTeam* team);

}  // namespace assay
