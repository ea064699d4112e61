#pragma once

// Detects several jobs in one set of traces, for example two engines with the same rank numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

// File and rank of a trace.
struct RankFile {
  std::string file;
  std::optional<int64_t> rank;
};

struct JobOfSet {
  std::string name;
  std::vector<size_t> places;  // indices into the traces
  std::vector<int64_t> ranks;
  std::string verdict = {};  // its first sentence
};

// The jobs in order of their first traces. Files form a job by folder, or by equal names apart from
// numbers, whichever gives each job every rank once. Empty if all ranks differ or a trace has no
// rank.
std::vector<JobOfSet> jobs_of_set(const std::vector<RankFile>& traces);

// "2 jobs: prefill (ranks 0-7) and decode (ranks 0-7).", then the headline of each job.
std::vector<std::string> jobs_words(const std::vector<JobOfSet>& jobs);
Section jobs_section(const std::vector<JobOfSet>& jobs);

}  // namespace assay
