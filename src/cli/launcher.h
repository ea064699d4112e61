#pragma once

// What a launcher of many processes (Slurm, MPI, Kubernetes) tells this one of itself.

#include <optional>
#include <string>

#include "base/result.h"
#include "job/plan.h"

namespace assay {

// Nothing where it is not set.
std::optional<std::string> environment_value(const char* name);

// How many tasks the launcher started in this step; 1 where there is none.
uint64_t tasks_of_step(const LauncherVariables& value);

// For verbs that write one answer: fails where this process is one of several tasks of a step,
// which would all do the same and write over each other.
Status refuse_several_tasks(const std::string& verb, const LauncherVariables& value);

}  // namespace assay
