#pragma once

// Reads a kernel database (docs/formats/kernel_db.md), writes the job of assay-replay
// (collect/replay/job.h), and reads its output lines.

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

// The text of a job with the given entries of the plan. An entry's number is its index in the plan.
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
  // The entry that was begun and has no result: the program ended in it.
  std::optional<size_t> unfinished;
};

// Ignores an incomplete last line. A missing file has no results. entries: number of entries in the
// plan.
Result<ReplayAnswers> read_replay_answers(const std::string& path, size_t entries);

// Output of `assay-replay --about`.
struct ReplayProgram {
  std::string torch;
  std::string device;  // "cuda" or "cpu"
  GpuIdentity gpu;
  std::string driver;
  bool labels = false;  // it can mark ranges for a tracer
};
Result<ReplayProgram> parse_replay_program(const std::string& text);

}  // namespace assay
