#pragma once

// Several jobs in one set of traces, as two engines that number their ranks alike.

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
  std::vector<size_t> places;  // into the traces
  std::vector<int64_t> ranks;
  std::string verdict = {};  // its first sentence
};

// The jobs, in the order of their first traces. Files of one folder are a job, or else files with one
// name apart from numbers, whichever gives each job every rank once. None where all ranks differ or
// a trace has no rank.
std::vector<JobOfSet> jobs_of_set(const std::vector<RankFile>& traces);

// "2 jobs: prefill (ranks 0-7) and decode (ranks 0-7).", then each job's headline.
std::vector<std::string> jobs_words(const std::vector<JobOfSet>& jobs);
Section jobs_section(const std::vector<JobOfSet>& jobs);

}  // namespace assay
