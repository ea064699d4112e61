#pragma once

// Rank and size of this process from the environment of a launcher (Slurm, MPI, Kubernetes).

#include <optional>
#include <string>

#include "base/result.h"
#include "job/plan.h"

namespace assay {

// Nothing where it is not set.
std::optional<std::string> environment_value(const char* name);

// How many tasks the launcher started in this step; 1 where there is none.
uint64_t tasks_of_step(const LauncherVariables& value);

// For verbs that write one answer: fails if this process is one of several tasks of a step. They
// would all do the same and overwrite each other's output.
Status refuse_several_tasks(const std::string& verb, const LauncherVariables& value);

}  // namespace assay
