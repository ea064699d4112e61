#pragma once

// The answer about a job of any number of ranks, from traces or from rank records.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/job/summarize.h"
#include "base/result.h"

namespace assay {

struct FleetRequest {
  SummarizeRequest map = {};  // inputs: traces; none if records are given. out: empty = not kept
  std::vector<std::string> from = {};  // files or folders of rank records
  std::string hosts = {};              // file that maps ranks to nodes
  double least_ranks = 0;  // share of the job's ranks that a conclusion needs
  std::string parquet = {};            // folder for Parquet tables (tables.h); empty = none
  // Temporary records are written next to this path. If empty, they are in the system's temporary
  // folder, which other machines cannot read.
  std::string scratch_beside = {};
  // Makes records of the traces, in this process or distributed over several.
  std::function<Result<Summarized>(const SummarizeRequest&)> summarize = summarize_traces;
};
// Errors: no readable input. Fewer ranks than least_ranks give an answer without a conclusion.
Result<Answer> answer_job(const FleetRequest& request);

}  // namespace assay
