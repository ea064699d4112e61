#pragma once

// Connects a kernel database with the program that replays it: reads the database
// (docs/formats/kernel_db.md), writes the job of assay-replay (collect/replay/job.h), and reads its
// output lines.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

// Errors name the entry and the field.
Result<ReplayPlan> read_kernel_database(const std::string& path);

struct ReplayJobOptions {
  uint64_t warmups = 50;
  uint64_t runs = 150;
  double entry_seconds = 20;
  std::string device = "cpu";
};

// The job for those entries of the plan; each is numbered by its place in the plan.
std::string replay_job_text(const ReplayPlan& plan, const std::vector<size_t>& entries,
                            const ReplayJobOptions& options);

// Output of assay-replay for one entry.
struct ReplayAnswer {
  size_t entry = 0;
  ReplayStatus status = ReplayStatus::kFailed;
  std::string reason;
  std::string call;
  std::vector<std::string> assumed;
  std::vector<int64_t> host_ns;
};

struct ReplayAnswers {
  std::vector<ReplayAnswer> answers;
  // The entry that was begun and never answered: what the program ended in.
  std::optional<size_t> unfinished;
};

// A last line that is cut off does not count. entries: of the plan.
Result<ReplayAnswers> read_replay_answers(const std::string& path, size_t entries);

// `assay-replay --about`.
struct ReplayProgram {
  std::string torch;
  std::string device;  // "cuda" or "cpu"
  GpuIdentity gpu;
  std::string driver;
  bool labels = false;  // it can make ranges for a tracer
};
Result<ReplayProgram> parse_replay_program(const std::string& text);

}  // namespace assay
