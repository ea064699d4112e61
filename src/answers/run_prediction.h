#pragma once

// Predictions of a run on other GPUs: what is saved of one, and its comparison with a recording
// made on one of these GPUs.

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "answers/other_gpu.h"
#include "base/result.h"
#include "records/frozen_run.h"

namespace assay {

// found: of the loaded trace. Errors: a GPU without a predicted time.
Result<FrozenRun> run_prediction(const OtherGpuRequest& request, const OtherGpus& found,
                                 const LoadedTrace& loaded, const Windows& iterations);

struct ScoredRun {
  FrozenGpu prediction;  // of the GPU that the trace was recorded on
  RunScore score;
  bool program_known = false;  // the operators show that both recordings are of one program
};
// sources: specifications, and the user's name of the trace's GPU. Errors (invalid argument): the
// trace is of another GPU or program, or has another number of iterations or GPUs.
Result<ScoredRun> score_prediction(const FrozenRun& prediction, const RoofSources& sources,
                                   const LoadedTrace& loaded, const FlowModel& model,
                                   const JudgedRun& judged, const Untraced& untraced);

}  // namespace assay
