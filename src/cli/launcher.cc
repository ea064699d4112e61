#include "cli/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace assay {

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

uint64_t tasks_of_step(const LauncherVariables& value) {
  uint64_t tasks = std::max(number_in(value, "OMPI_COMM_WORLD_SIZE").value_or(1),
                            number_in(value, "PMI_SIZE").value_or(1));
  // A Slurm batch script also has the number of tasks, but runs once. Only processes of a step,
  // started by srun, also have a process number.
  if (value("SLURM_STEP_ID") && value("SLURM_PROCID")) {
    tasks = std::max(tasks, number_in(value, "SLURM_NTASKS").value_or(1));
  }
  return tasks;
}

Status refuse_several_tasks(const std::string& verb, const LauncherVariables& value) {
  const uint64_t tasks = tasks_of_step(value);
  if (tasks <= 1) return Ok{};
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("{} tasks would all write the same answer: start assay-job. Else run assay "
                  "summarize DIR --shard auto -o RECORDS in each, then once assay {} --summaries "
                  "RECORDS",
                  tasks, verb),
      "", -1};
}

}  // namespace assay
