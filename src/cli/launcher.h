#pragma once

// Rank and number of processes, from the environment of a launcher (Slurm, MPI, Kubernetes).

#include <optional>
#include <string>

#include "base/result.h"
#include "job/plan.h"

namespace assay {

// Value of an environment variable; nullopt if it is not set.
std::optional<std::string> environment_value(const char* name);

// Number of tasks that the launcher started in this step; 1 without a launcher.
uint64_t tasks_of_step(const LauncherVariables& value);

// For verbs that write one answer: fails if this process is one of several tasks of a step, which
// would all do the same work and overwrite each other's output.
Status refuse_several_tasks(const std::string& verb, const LauncherVariables& value);

}  // namespace assay
