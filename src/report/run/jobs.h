#pragma once

// Several jobs in one set of traces, as two engines that number their ranks alike.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.h"

namespace assay {

// A trace of a rank, as far as it tells jobs apart.
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

// The jobs, in the order of their first traces: by the folders of the files, else by their names
// without numbers, whichever leaves each job every rank once. None where all ranks differ, where
// some trace tells no rank, or where neither tells the jobs apart.
std::vector<JobOfSet> jobs_of_set(const std::vector<RankFile>& traces);

// "2 jobs: prefill (ranks 0-7) and decode (ranks 0-7).", then each job's verdict.
std::vector<std::string> jobs_words(const std::vector<JobOfSet>& jobs);
Section jobs_section(const std::vector<JobOfSet>& jobs);

}  // namespace assay
