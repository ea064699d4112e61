#pragma once

// The run on other GPUs: sentences and tables.

#include <string>
#include <vector>

#include "flow/other_gpu.h"
#include "flow/run_cost.h"
#include "records/frozen_run.h"
#include "report/document/document.h"

namespace assay {

struct OtherGpuAnswer {
  const FlowReport& report;
  const OtherGpus& found;
  std::vector<RunCost> costs = {};
};

// The first sentence is the headline.
std::vector<std::string> other_gpu_words(const OtherGpuAnswer& answer);
// "whatif": on, on.gpus, on.families, on.costs.
Section other_gpu_section(const OtherGpuAnswer& answer);
// The same with the sentences, for a document with another headline. Shown with the short answer.
Section other_gpu_section_with_words(const OtherGpuAnswer& answer);
// The key numbers, for a table that compares traces.
std::vector<Item> other_gpu_overview(const OtherGpus& found);

// A saved prediction and the recording made on one of its GPUs.
struct RunScoreAnswer {
  const FrozenRun& prediction;
  const FrozenGpu& gpu;  // of the prediction: the GPU of the recording
  const RunScore& score;
  bool program_known = false;  // the operators show that both recordings are of one program
};
std::vector<std::string> run_score_words(const RunScoreAnswer& answer);
// "score": the prediction, the measurement, and their difference.
Section run_score_section(const RunScoreAnswer& answer);

}  // namespace assay
