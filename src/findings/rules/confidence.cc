// Rules for the confidence of the diagnosis. The first rule that holds gives grade and reason; all
// remarks that hold are appended.

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "findings/causes.h"
#include "findings/rules/rule.h"
#include "findings/rules/words.h"

namespace assay::findings {
namespace {

// Excludes migration of managed-memory pages, which has a known cause.
int64_t unattributed_ns(const RunFacts& f) { return f.idle(FlowCause::kHostGap) - f.page_moves_ns; }
int64_t unexplained_ns(const RunFacts& f) {
  return f.idle(FlowCause::kUnseen) + f.idle(FlowCause::kNoEvidence);
}
bool too_little(const RunFacts& f) {
  return f.bottleneck == BoundBy::kTooLittle || f.bottleneck == BoundBy::kNoGpu;
}

// Gains of the two largest resources, if another model of unexplained time reverses their order.
void fill_range(const RunFacts& f, Finding& out) {
  const GainTable& table = f.decision.table;
  const GroupGain& first = table.of(f.decision.word);
  out.text("first", resource_name(f.decision.word))
      .fraction("low", share(first.low_ns, table.window_ns()))
      .fraction("high", share(first.high_ns, table.window_ns()))
      .text("second", resource_name(f.decision.second))
      .fraction("gain", share(table.of(f.decision.second).gain_ns, table.window_ns()))
      .ns("at_stake", first.high_ns - first.low_ns);
}

void fill_untraced(const RunFacts& f, Finding& out) {
  const Untraced& untraced = *f.untraced;
  const double taken = share(untraced.recorded_iteration_ns - untraced.iteration_ns,
                             untraced.recorded_iteration_ns);
  out.ns("iteration", untraced.iteration_ns)
      .ns("low", untraced.low_ns)
      .ns("high", untraced.high_ns)
      .ns("recorded", untraced.recorded_iteration_ns)
      .ns("at_stake",
          static_cast<int64_t>(std::max(taken, 0.0) * static_cast<double>(f.total_ns)))
      .text("word", std::string(bottleneck_word(*untraced.turned)));
}

constexpr double kUnexplained = 0.2;
constexpr double kUnattributed = 0.3;
constexpr double kSmallError = 0.02;
constexpr uint64_t kIterations = 3;

const RunRule kReasons[] = {
    ASSAY_RULE(kConfidenceClockSkew,
               f.bottleneck != BoundBy::kNoGpu && f.clock_gap.ns > 0 && !f.clock_gap.device_late,
               out.ns("skew", f.clock_gap.ns).ns("at_stake", f.clock_gap.ns)),
    ASSAY_RULE(kConfidenceClockSkewLate,
               f.bottleneck != BoundBy::kNoGpu && f.clock_gap.ns > 0 && f.clock_gap.device_late,
               out.ns("skew", f.clock_gap.ns).ns("at_stake", f.clock_gap.ns)),
    ASSAY_RULE(kConfidenceNone, too_little(f)),
    ASSAY_RULE(kConfidenceCounters, f.counter_ranges),
    ASSAY_RULE(kConfidenceNoHostEvents, f.bottleneck == BoundBy::kNoHost && f.unread_rows > 0,
               out.count("events", f.unread_rows)),
    ASSAY_RULE(kConfidenceNoHostRows, f.bottleneck == BoundBy::kNoHost && f.unread_rows == 0),
    ASSAY_RULE(kConfidenceUnexplained, share(unexplained_ns(f), f.total_ns) >= kUnexplained,
               out.share("unexplained", unexplained_ns(f))),
    ASSAY_RULE(kConfidenceDataLost, f.reading.data_lost),
    ASSAY_RULE(kConfidenceReplayError, f.misfit == Misfit::kModelError,
               out.fraction("error", f.replay_error)),
    ASSAY_RULE(kConfidenceUnexplainedPath, f.misfit == Misfit::kUnexplained,
               out.fraction("unexplained", f.unexplained_path)),
    ASSAY_RULE(kConfidenceUnattributedHost,
               share(unattributed_ns(f), f.total_ns) >= kUnattributed && f.stalls.name.empty(),
               out.share("unattributed", unattributed_ns(f)).ns("at_stake", unattributed_ns(f))),
    ASSAY_RULE(kConfidenceUnlinked, f.linked_share < kLeastLinked,
               out.fraction("linked", f.linked_share)
                   .ns("at_stake", f.evidence.work_ns - f.evidence.linked_ns)),
    ASSAY_RULE(kConfidenceProfilerOverhead, f.untraced.has_value(), fill_untraced(f, out)),
    ASSAY_RULE(kConfidenceBorderline,
               f.borderline == Borderline::kAtBound && f.bottleneck != BoundBy::kNoHost &&
                   f.evidence.calls,
               fill_range(f, out)),
    ASSAY_RULE(kConfidenceNearLimit, f.borderline == Borderline::kAtBound),
    ASSAY_RULE(kConfidenceInferred, f.borderline == Borderline::kInferred),
    ASSAY_RULE(kConfidenceReplayOff,
               f.misfit == Misfit::kNone && std::abs(f.replay_error) > kSmallError,
               out.fraction("error", f.replay_error)),
    ASSAY_RULE(kConfidenceOneIteration, f.reading.iterations <= 1),
    ASSAY_RULE(kConfidenceTwoIterations, f.reading.iterations > 1 && f.reading.iterations < kIterations),
    ASSAY_RULE(kConfidenceHighByNames, f.reading.by_kernel_names,
               out.fraction("error", f.replay_error).count("iterations", f.reading.iterations)),
    ASSAY_RULE(kConfidenceHigh, true,
               out.fraction("error", f.replay_error).count("iterations", f.reading.iterations)),
};

const RunRule kRemarks[] = {
    ASSAY_RULE(kConfidencePythonStacks,
               f.reading.iterations < kIterations && f.python_stacks &&
                   f.idle(FlowCause::kPython) * 10 >= f.total_ns),
    ASSAY_RULE(kConfidenceUnrecorded, f.unrecorded_ns > 0,
               out.ns("time", f.unrecorded_ns).count("windows", f.unrecorded_gaps + 1)),
    ASSAY_RULE(kConfidenceUnevenDrift, f.uneven && f.uneven->drift,
               out.count("iteration", f.uneven->first + 2).ratio("factor", f.uneven->times)),
    ASSAY_RULE(kConfidenceUnevenFrom, f.uneven && !f.uneven->drift && f.uneven->from_one_on,
               out.count("iteration", f.uneven->first + 2).ratio("factor", f.uneven->times)),
    ASSAY_RULE(kConfidenceUnevenStretch,
               f.uneven && !f.uneven->drift && !f.uneven->from_one_on && f.uneven->stretch,
               out.count("first", f.uneven->first + 2)
                   .count("last", f.uneven->first + 1 + f.uneven->count)
                   .ratio("factor", f.uneven->times)),
    ASSAY_RULE(kConfidenceUnevenOne,
               f.uneven && !f.uneven->drift && !f.uneven->from_one_on && !f.uneven->stretch &&
                   f.uneven->count == 1,
               out.count("iteration", f.uneven->first + 2).ratio("factor", f.uneven->times)),
    ASSAY_RULE(kConfidenceUnevenSome,
               f.uneven && !f.uneven->drift && !f.uneven->from_one_on && !f.uneven->stretch &&
                   f.uneven->count > 1,
               out.count("slow", f.uneven->count)
                   .count("iterations", f.reading.iterations)
                   .ratio("factor", f.uneven->times)),
    ASSAY_RULE(kConfidenceSlowKernelRuns, f.slow_runs.has_value(),
               out.count("slow", f.slow_runs->slow)
                   .count("runs", f.slow_runs->runs)
                   .named("kernel", SubjectKind::kKernel, f.slow_kernel)
                   .ratio("factor", f.slow_runs->times)),
    ASSAY_RULE(kConfidenceSlowLaunchPath, f.launch_path_ns > 0,
               out.ns("latency", f.launch_path_ns)),
};

}  // namespace

std::span<const RunRule> confidence_rules() { return kReasons; }
std::span<const RunRule> confidence_remark_rules() { return kRemarks; }

}  // namespace assay::findings
