#include "flow/serving.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "flow/run.h"
#include "records/facts.h"
#include "roof/calls.h"
#include "roof/peaks.h"
#include "roof/utilisation.h"

namespace assay {
namespace {

// The labels of steps, the outermost ones with the numbers of inner ones, in order. A label that overlaps an earlier one
// without being inside it is of another process, and is left out.
std::vector<ServingStep> labelled(const Trace& trace) {
  std::vector<ServingStep> found;
  const auto& labels = trace.annotations;
  for (size_t i = 0; i < labels.size(); ++i) {
    const int64_t start_ns = labels.start_ns[i];
    if (labels.dur_ns[i] <= 0) continue;
    const auto told = read_step_label(trace.text(labels.name[i]));
    if (!told) continue;
    found.push_back({.told = *told, .host = {start_ns, start_ns + labels.dur_ns[i]}, .device = {}});
  }
  std::stable_sort(found.begin(), found.end(), [](const ServingStep& a, const ServingStep& b) {
    return a.host.start_ns != b.host.start_ns ? a.host.start_ns < b.host.start_ns
                                              : a.host.end_ns > b.host.end_ns;
  });
  std::vector<ServingStep> steps;
  for (const ServingStep& step : found) {
    if (!steps.empty() && step.host.start_ns < steps.back().host.end_ns) {
      if (step.host.end_ns <= steps.back().host.end_ns) add_told(step.told, steps.back().told);
      continue;
    }
    steps.push_back(step);
  }
  return steps;
}

// Gives each GPU activity in `window` to its step; steps without any are left out. `of_steps`: per activity.
void add_work(const FlowRun& run, Interval window, std::vector<ServingStep>& steps,
              std::vector<bool>& of_steps) {
  std::vector<std::vector<Interval>> busy(steps.size());
  for (const FlowWork& work : run.works) {
    const bool inside = work.start_ns >= window.start_ns && work.start_ns < window.end_ns;
    if (work.call == kNoFlowRow || !inside) continue;
    const FlowCall& call = run.calls[work.call];
    auto at = std::upper_bound(
        steps.begin(), steps.end(), call.start_ns,
        [](int64_t ns, const ServingStep& step) { return ns < step.host.start_ns; });
    if (at == steps.begin()) continue;
    --at;
    if (call.start_ns >= at->host.end_ns) continue;
    const auto s = static_cast<size_t>(at - steps.begin());
    busy[s].push_back({work.start_ns, work.end_ns});
    at->launch_ns = std::max(at->launch_ns, call.end_ns - at->host.start_ns);
    of_steps[work.activity.index()] = true;
  }
  std::vector<ServingStep> kept;
  for (size_t s = 0; s < steps.size(); ++s) {
    if (busy[s].empty()) continue;
    const std::vector<Interval> merged = merge_intervals(std::move(busy[s]));
    steps[s].device = {merged.front().start_ns, merged.back().end_ns};
    steps[s].busy_ns = length_ns(merged);
    if (!kept.empty()) steps[s].period_ns = steps[s].device.end_ns - kept.back().device.end_ns;
    kept.push_back(steps[s]);
  }
  steps = std::move(kept);
}

int64_t quantile(const std::vector<int64_t>& sorted, double q) {
  const auto place = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::min(std::max<size_t>(place, 1), sorted.size()) - 1];
}

double per_second(uint64_t count, int64_t ns) {
  return ns > 0 ? static_cast<double>(count) * 1e9 / static_cast<double>(ns) : Serving::kUntold;
}

bool decodes(const ServingStep& step) {
  return step.told.kind == StepKind::kDecode || step.told.kind == StepKind::kMixed;
}
bool prefills(const ServingStep& step) {
  return step.told.kind == StepKind::kPrefill || step.told.kind == StepKind::kMixed;
}

void add_latencies(Serving& serving) {
  std::vector<int64_t> periods;
  std::vector<int64_t> first;
  uint64_t sequences = 0;  // of steps with a period
  int64_t periods_ns = 0;
  bool all_told = true;
  const ServingStep* alone = nullptr;
  for (const ServingStep& step : serving.steps) {
    if (prefills(step)) first.push_back(step.device.end_ns - step.host.start_ns);
    if (!decodes(step)) continue;
    alone = &step;
    if (step.period_ns <= 0) continue;
    periods.push_back(step.period_ns);
    periods_ns += step.period_ns;
    all_told = all_told && step.told.decoding.has_value();
    sequences += step.told.decoding.value_or(0);
  }
  std::sort(first.begin(), first.end());
  if (!first.empty()) serving.ttft_low_ns = quantile(first, 0.5);
  if (periods.empty()) {
    if (alone == nullptr) return;
    serving.itl_at_least = true;
    serving.itl_p50_ns = serving.tpot_ns = alone->device.end_ns - alone->device.start_ns;
    return;
  }
  std::sort(periods.begin(), periods.end());
  serving.itl_p50_ns = quantile(periods, 0.5);
  serving.itl_p90_ns = quantile(periods, 0.9);
  serving.itl_p99_ns = quantile(periods, 0.99);
  serving.tpot_ns = periods_ns / static_cast<int64_t>(periods.size());
  if (all_told) serving.new_tokens_per_s = per_second(sequences, periods_ns);
}

// Sums over steps; a number that one step lacks stays unknown.
void add_tokens(Serving& serving) {
  std::vector<Interval> spans;
  uint64_t batches = 0;
  uint64_t sequences = 0;
  uint64_t computed = 0;
  bool tokens_told = true;
  bool batch_told = true;
  bool padding_told = true;
  for (const ServingStep& step : serving.steps) {
    const StepLabel& told = step.told;
    spans.push_back(step.device);
    serving.prefill_steps += told.kind == StepKind::kPrefill;
    serving.decode_steps += told.kind == StepKind::kDecode;
    serving.mixed_steps += told.kind == StepKind::kMixed;
    serving.prompt_tokens += told.prompt_tokens.value_or(0);
    serving.decode_tokens += told.decode_tokens.value_or(0);
    computed += told.computed.value_or(0);
    tokens_told = tokens_told && told.prompt_tokens && told.decode_tokens;
    padding_told = padding_told && told.computed.value_or(0) > 0;
    if (!decodes(step)) continue;
    ++batches;
    batch_told = batch_told && told.decoding;
    sequences += told.decoding.value_or(0);
  }
  serving.span_ns = length_ns(merge_intervals(std::move(spans)));
  const uint64_t asked = serving.prompt_tokens + serving.decode_tokens;
  if (tokens_told) serving.tokens_per_s = per_second(asked, serving.span_ns);
  if (batch_told && batches > 0) {
    serving.batch = static_cast<double>(sequences) / static_cast<double>(batches);
  }
  if (tokens_told && padding_told && computed >= asked) {
    serving.padding = 1 - static_cast<double>(asked) / static_cast<double>(computed);
  }
}

// FLOP and bytes of the steps, over those that the devices offer in span_ns.
void add_utilization(const FlowRun& run, const std::vector<bool>& of_steps, Serving& serving) {
  const Trace& trace = *run.trace;
  const RoofCalls found = find_roof_calls(trace, *run.links, *run.kernels);
  std::vector<char> counted(found.calls.size(), 0);
  int64_t kernels_ns = 0;
  int64_t known_ns = 0;
  ProductSums sums;
  DeviceRoof roof;
  for (const FlowWork& work : run.works) {
    const size_t a = work.activity.index();
    if (!of_steps[a] || work.kind != WorkKind::kCompute) continue;
    const int64_t ns = work.end_ns - work.start_ns;
    kernels_ns += ns;
    const uint32_t call = found.call[a];
    if (call == kNoCallWork) continue;
    if (roof.flop_per_s.empty()) {
      const int64_t device = trace.streams[trace.activities.stream[a].index()].device;
      roof = trace_roof(FactBook::built_in(), trace, device);
      if (!roof.exists()) break;
    }
    known_ns += ns;
    if (counted[call] != 0) continue;
    counted[call] = 1;
    sums.add(found.calls[call].work, false, roof);
  }
  serving.known_share = share(known_ns, kernels_ns);
  if (known_ns == 0 || serving.span_ns == 0 || !roof.exists()) return;
  const double offered_s =
      static_cast<double>(serving.span_ns) / 1e9 * static_cast<double>(run.devices.size());
  serving.hfu = sums.peak_s / offered_s;
  if (std::isfinite(serving.padding)) serving.mfu = serving.hfu * (1 - serving.padding);
  if (roof.memory_bytes_per_s > 0) {
    serving.mbu = sums.weight_bytes / roof.memory_bytes_per_s / offered_s;
  }
}

}  // namespace

Serving serving_of(const FlowRun& run, Interval window) {
  Serving serving{.steps = labelled(*run.trace)};
  if (serving.steps.empty()) return serving;
  std::vector<bool> of_steps(run.trace->activities.size(), false);
  add_work(run, window, serving.steps, of_steps);
  if (serving.steps.empty()) return serving;
  add_tokens(serving);
  add_latencies(serving);
  add_utilization(run, of_steps, serving);
  return serving;
}

}  // namespace assay
