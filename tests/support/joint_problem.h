#pragma once

// The joint fit's problem of a made-up job and what a log of it shows.

#include <vector>

#include "power/joint/fit.h"
#include "support/power_jobs.h"

namespace assay::testing {

inline JointProblem problem_of(const PowerJob& job, const std::vector<TimedPower>& updates) {
  JointProblem problem;
  problem.prior.two_ramps = true;
  problem.prior.most_kept = 0.85;
  problem.classes.resize(PowerJob::kKinds);
  for (const PowerJob::Call& c : job.calls) {
    problem.classes[c.kind].push_back({c.start_s, c.end_s});
  }
  for (const TimedPower& u : updates) {
    if (u.t_s > 1.5 && u.t_s < job.end_s() - 0.3) problem.updates.push_back(u);
  }
  return problem;
}

inline JointFit fit_of(const PowerJob& job, const std::vector<TimedPower>& log) {
  return fit_jointly(problem_of(job, find_updates(log).updates));
}

}  // namespace assay::testing
