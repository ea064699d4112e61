#pragma once

// The answer about a job of any number of ranks: from its traces, or from records made of them.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/job/summarize.h"
#include "base/result.h"

namespace assay {

struct FleetRequest {
  SummarizeRequest map = {};  // inputs: traces; none if records are given. out: empty = not kept
  std::vector<std::string> from = {};  // files or folders of records
  std::string hosts = {};              // file that says which ranks share a node
  double least_ranks = 0.5;  // share of the job's ranks below which there is no conclusion
  std::string parquet = {};            // folder of tables to make (tables.h); empty = none
  // Temporary records are next to this path. If empty, they are in the system's temporary folder,
  // which other machines cannot read.
  std::string scratch_beside = {};
  // Makes records of the traces: in this process alone, or in several that it leads.
  std::function<Result<Summarized>(const SummarizeRequest&)> summarize = summarize_traces;
};
// Errors: nothing readable. Fewer ranks than required give an answer without a conclusion.
Result<Answer> answer_job(const FleetRequest& request);

}  // namespace assay
