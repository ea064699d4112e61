#include "cli/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/decimal.h"

namespace assay {
namespace {

uint64_t number_of(const LauncherVariables& value, const char* name) {
  const auto text = value(name);
  uint64_t number = 0;
  return text && parse_uint64(*text, number) ? number : 0;
}

}  // namespace

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Status refuse_several_tasks(const std::string& verb, const LauncherVariables& value) {
  uint64_t tasks = std::max(number_of(value, "OMPI_COMM_WORLD_SIZE"), number_of(value, "PMI_SIZE"));
  // A batch script has the number of tasks, too, and runs once: only srun makes a step, whose
  // processes have a number beside it.
  if (value("SLURM_STEP_ID") && value("SLURM_PROCID")) {
    tasks = std::max(tasks, number_of(value, "SLURM_NTASKS"));
  }
  if (tasks <= 1) return Ok{};
  return Error{
      ErrorCode::kInvalidArgument,
      fmt::format("this is one of {} tasks, and all would write the same answer. Share the "
                  "reading out: assay summarize DIR --shard auto --out RECORDS in this "
                  "step; then once: assay {} --from RECORDS",
                  tasks, verb),
      "", -1};
}

}  // namespace assay
