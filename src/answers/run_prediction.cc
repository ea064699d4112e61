#include "answers/run_prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "answers/host_calls.h"
#include "report/flow/whatif.h"
#include "text/units.h"

namespace assay {
namespace {

int64_t count_iterations(const Windows& iterations) {
  const bool none = iterations.source == WindowSource::kWholeTrace;
  return none ? 0 : static_cast<int64_t>(iterations.windows.size());
}

// Operators only: launch calls have other names on GPUs of another maker.
DiffRun operators_of(const LoadedTrace& loaded, const Windows& iterations) {
  const bool whole = iterations.source == WindowSource::kWholeTrace;
  const std::vector<Interval> spans =
      whole ? std::vector<Interval>{{INT64_MIN, INT64_MAX}} : iteration_spans(iterations);
  DiffRun run;
  run.host_calls = host_calls(loaded.trace, loaded.links, spans, false);
  run.host_iterations = spans.size();
  return run;
}

DiffRun operators_of(const FrozenRun& prediction) {
  DiffRun run;
  for (const FrozenOperator& of : prediction.operators) {
    run.host_calls.push_back({of.name, of.calls, static_cast<double>(of.typical_ns)});
  }
  run.host_iterations = static_cast<uint64_t>(std::max<int64_t>(prediction.iterations, 1));
  return run;
}

Error refused(std::string why, const LoadedTrace& loaded) {
  return {ErrorCode::kInvalidArgument, "--check-prediction: " + std::move(why), loaded.trace.source,
          -1};
}

std::string gpu_words(const std::string& card, const std::string& part) {
  return part.empty() ? card : card + ", " + part;
}

Result<FrozenGpu> gpu_of(const FrozenRun& prediction, const DeviceRoof& recorded,
                         const LoadedTrace& loaded) {
  if (recorded.card.empty()) {
    return refused(
        "the trace does not name its GPU, or it is not in the specifications: --peaks "
        "names it",
        loaded);
  }
  std::string predicted;
  for (const FrozenGpu& gpu : prediction.gpus) {
    if (gpu.card == recorded.card && gpu.part == recorded.part) return gpu;
    predicted += (predicted.empty() ? "" : "; ") + gpu_words(gpu.card, gpu.part);
  }
  return refused("recorded on " + gpu_words(recorded.card, recorded.part) +
                     ", and the prediction is of " + predicted,
                 loaded);
}

Status check_counts(const FrozenRun& prediction, int64_t iterations, int64_t gpus,
                    const LoadedTrace& loaded) {
  const auto differ = [&](int64_t count, const char* one, const char* many, int64_t predicted) {
    return refused(format_counted(static_cast<uint64_t>(count), one, many) +
                       " here, and the prediction is of " + std::to_string(predicted),
                   loaded);
  };
  if (gpus != prediction.gpu_count) return differ(gpus, "GPU", "GPUs", prediction.gpu_count);
  if (iterations == prediction.iterations) return Ok{};
  return differ(iterations, "iteration", "iterations", prediction.iterations);
}

MeasuredRun without_profiler(const Ends90& ns) {
  return {std::llround(ns.low), std::llround(ns.middle), std::llround(ns.high)};
}

}  // namespace

Result<FrozenRun> run_prediction(const OtherGpuRequest& request, const OtherGpus& found,
                                 const LoadedTrace& loaded, const Windows& iterations) {
  FrozenRun prediction{.tool_version = ASSAY_VERSION,
                       .trace = loaded.trace.source,
                       .as_recorded = request.as_recorded,
                       .gpu_count = found.gpu_count,
                       .iterations = count_iterations(iterations)};
  for (const std::string& name : request.gpus) {
    const auto gpu = std::find_if(found.gpus.begin(), found.gpus.end(),
                                  [&](const RunOnGpu& one) { return one.gpu.name == name; });
    if (gpu == found.gpus.end() || !gpu->has_time()) {
      return Error{ErrorCode::kUnsupported,
                   "no prediction of " + name +
                       ": no time is known there (without "
                       "--save-prediction the answer says why)",
                   "", -1};
    }
    prediction.gpus.push_back({.card = gpu->roof.card,
                               .part = gpu->roof.part,
                               .run_ns = gpu->has_middle ? std::llround(gpu->run_ns.middle) : 0,
                               .low_ns = std::llround(gpu->run_ns.low),
                               .high_ns = std::llround(gpu->run_ns.high)});
  }
  for (const DiffHostCalls& of : operators_of(loaded, iterations).host_calls) {
    prediction.operators.push_back({of.name, of.calls, std::llround(of.typical_ns)});
  }
  return prediction;
}

Result<ScoredRun> score_prediction(const FrozenRun& prediction, const RoofSources& sources,
                                   const LoadedTrace& loaded, const FlowModel& model,
                                   const JudgedRun& judged, const Untraced& untraced) {
  OtherGpuOptions options{.roof = sources};
  if (!prediction.as_recorded) options.row_cost_ns = profiler_row_cost(judged, untraced);
  const OtherGpus here = explore_gpus(model, judged.iterations, judged.report, options);
  ScoredRun scored;
  ASSAY_TRY_ASSIGN(scored.prediction, gpu_of(prediction, here.recorded, loaded));
  // The operators of small programs are too few to recognize even the same recording.
  const std::vector<DiffRun> before = {operators_of(prediction)};
  scored.program_known = compare_pace(before, before).names >= kLeastPaceNames;
  if (scored.program_known) {
    const PaceChange pace = compare_pace(before, {operators_of(loaded, judged.iterations)});
    std::string why = why_other_program(pace, prediction.trace, "operators");
    if (!why.empty()) return refused(std::move(why), loaded);
  }
  ASSAY_TRY(check_counts(prediction, count_iterations(judged.iterations), here.gpu_count, loaded));
  MeasuredRun measured{here.recorded_ns, here.recorded_ns, here.recorded_ns};
  if (!prediction.as_recorded) {
    if (here.refusal != EditRefusal::kNone) {
      Edit edit;
      edit.refusal = here.refusal;
      return refused(
          "no replay without the profiler's overhead: " + refusal_words(edit, judged.report),
          loaded);
    }
    measured = without_profiler(here.now_ns);
  }
  scored.score = score_run(scored.prediction, measured);
  return scored;
}

}  // namespace assay
