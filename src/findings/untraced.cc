#include "findings/untraced.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace assay::findings {
namespace {

// Caveats that limit a diagnosis less than another possible bottleneck.
bool is_weaker(Code code) {
  return code == Code::kConfidenceBorderline || code == Code::kConfidenceNearLimit ||
         code == Code::kConfidenceInferred || code == Code::kConfidenceReplayOff ||
         code == Code::kConfidenceOneIteration || code == Code::kConfidenceTwoIterations;
}

}  // namespace

std::string_view bottleneck_word(BoundBy bound) {
  switch (bound) {
    case BoundBy::kGpu:
      return "GPU-bound";
    case BoundBy::kHost:
      return "host-bound";
    case BoundBy::kInput:
      return "input-bound";
    case BoundBy::kSync:
      return "bound by synchronization";
    case BoundBy::kAlloc:
      return "bound by memory allocation";
    case BoundBy::kCopy:
      return "copy-bound";
    case BoundBy::kMigration:
      return "bound by page migration";
    case BoundBy::kCollectiveWait:
    case BoundBy::kCommunication:
      return "bound by communication";
    case BoundBy::kColdStart:
      return "without a steady state";
    default:
      return "undetermined";
  }
}

void add_untraced(const Untraced& untraced, Diagnosis& diagnosis) {
  if (untraced.source != UntracedSource::kEstimate || !untraced.turned) return;
  if (diagnosis.confidence == Confidence::kNone) return;
  Finding caveat{.code = Code::kConfidenceProfilerOverhead, .window = diagnosis.headline.window};
  const double taken = share(untraced.recorded_iteration_ns - untraced.iteration_ns,
                             untraced.recorded_iteration_ns);
  caveat.ns("iteration", untraced.iteration_ns)
      .ns("low", untraced.low_ns)
      .ns("high", untraced.high_ns)
      .ns("recorded", untraced.recorded_iteration_ns)
      .ns("at_stake", static_cast<int64_t>(std::max(taken, 0.0) *
                                           static_cast<double>(caveat.window.total_ns)));
  caveat.text("word", std::string(bottleneck_word(*untraced.turned)));
  const auto place = std::find_if(diagnosis.caveats.begin(), diagnosis.caveats.end(),
                                  [](const Finding& one) { return is_weaker(one.code); });
  diagnosis.caveats.insert(place, std::move(caveat));
  diagnosis.reason = diagnosis.caveats.front();
  if (diagnosis.confidence == Confidence::kHigh) diagnosis.confidence = Confidence::kMedium;
}

}  // namespace assay::findings
