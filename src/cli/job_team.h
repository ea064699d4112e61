#pragma once

// Several processes that were started together for one `job`: one of them leads and answers, the
// others make records of the traces that it hands them.

#include <functional>

#include "answers/job/summarize.h"
#include "base/result.h"

namespace assay {

class Verb;  // cli/options.h

struct FleetTeam {
  bool leads = true;
  // Of who leads: SummarizeRequest as summarize_traces takes it.
  std::function<Result<Summarized>(const SummarizeRequest&)> lead = {};
  // Loop of the other processes, until all work is done. The request has the options for reading.
  std::function<void(const SummarizeRequest&)> follow = {};
};

// As add_job_verb(app, exit_code), for a team of processes. team: outlives the app.
void add_job_verb(Verb& app, int& exit_code, const FleetTeam* team);

}  // namespace assay
