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
  SummarizeRequest map = {};  // inputs: traces; none where records are given. out: empty = not kept
  std::vector<std::string> from = {};  // files or folders of records
  std::string hosts = {};              // file that says which ranks share a node
  double least_ranks = 0.5;            // share of the job's ranks below which there is no verdict
  std::string parquet = {};            // folder of tables to make (tables.h); empty = none
  // Records that are not kept lie beside this path meanwhile; empty: where the system keeps what is
  // temporary, which other machines do not see.
  std::string scratch_beside = {};
  // Who makes records of the traces: this process alone, or several that it leads.
  std::function<Result<Summarized>(const SummarizeRequest&)> summarize = summarize_traces;
};
// Errors: nothing readable; fewer ranks than asked for are an answer without a verdict.
Result<Answer> answer_job(const FleetRequest& request);

}  // namespace assay
