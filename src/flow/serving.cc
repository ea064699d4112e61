#include "flow/serving.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/stats.h"
#include "flow/run.h"
#include "records/facts.h"
#include "roof/calls.h"
#include "roof/peaks.h"
#include "roof/utilisation.h"

namespace assay {
namespace {

// Outermost step labels in order, with the numbers of nested ones. A label that overlaps an earlier
// one without being inside it belongs to another process and is left out.
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

// Assigns each GPU activity in `window` to its step and drops steps without any. of_steps: per
// activity, true if assigned.
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

double per_second(uint64_t count, int64_t ns) {
  return ns > 0 ? static_cast<double>(count) * 1e9 / static_cast<double>(ns) : Serving::kUntold;
}

// True if some steps verify proposed tokens: then other decoding steps yield no new ones.
bool has_checks(const std::vector<ServingStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const ServingStep& step) { return step.told.verifies; });
}
bool has_new_tokens(const ServingStep& step, bool checks) {
  return step.decodes() && (checks ? step.told.verifies : !step.told.drafts);
}

// A step's sequences had their previous token at the end of the last step with new tokens; prefill
// in between is part of their wait. If all of them may come from prompts since then, it was the end
// of that prefill.
void add_token_gaps(std::vector<ServingStep>& steps) {
  const bool checks = has_checks(steps);
  std::optional<int64_t> last_ns;
  std::optional<int64_t> prefill_ns;
  std::optional<uint64_t> prompts = 0;
  for (ServingStep& step : steps) {
    const StepLabel& told = step.told;
    if (has_new_tokens(step, checks)) {
      const bool all_new = told.decoding && prompts && *told.decoding <= *prompts;
      const std::optional<int64_t> before_ns = all_new ? prefill_ns : last_ns;
      if (before_ns) step.token_gap_ns = step.device.end_ns - *before_ns;
      last_ns = step.device.end_ns;
      prompts = 0;
    } else if (step.prefills()) {
      prefill_ns = step.device.end_ns;
      prompts = prompts && told.prompts ? std::optional(*prompts + *told.prompts) : std::nullopt;
    }
  }
}

// Parts of the time between two tokens.
struct TokenGap {
  int64_t ns = 0;
  int64_t own_ns = 0;      // span of the step that ends the gap
  int64_t prefill_ns = 0;  // pure prefill steps in between
  int64_t none_ns = 0;     // without any step
  uint64_t prompt_tokens = 0;  // of that step and of those in between
  bool mixed = false;
};

// The parts of each step's token gap, in order of steps.
std::vector<TokenGap> parts_of_gaps(const std::vector<ServingStep>& steps) {
  std::vector<TokenGap> gaps;
  for (size_t s = 0; s < steps.size(); ++s) {
    const ServingStep& step = steps[s];
    if (step.token_gap_ns <= 0) continue;
    const int64_t begin_ns = step.device.end_ns - step.token_gap_ns;
    const auto inside_ns = [&](const ServingStep& one, int64_t until_ns) {
      return std::max<int64_t>(std::min(one.device.end_ns, until_ns) - std::max(one.device.start_ns, begin_ns), 0);
    };
    TokenGap gap{.ns = step.token_gap_ns, .own_ns = inside_ns(step, step.device.end_ns),
                 .prompt_tokens = step.told.prompt_tokens.value_or(0), .mixed = step.told.kind == StepKind::kMixed};
    int64_t others_ns = 0;
    for (size_t b = s; b > 0 && steps[b - 1].device.end_ns > begin_ns; --b) {
      const ServingStep& before = steps[b - 1];
      const int64_t ns = inside_ns(before, step.device.start_ns);
      others_ns += ns;
      if (before.told.kind != StepKind::kPrefill) continue;
      gap.prefill_ns += ns;
      gap.prompt_tokens += before.told.prompt_tokens.value_or(0);
    }
    gap.none_ns = std::max<int64_t>(gap.ns - gap.own_ns - others_ns, 0);
    gaps.push_back(gap);
  }
  return gaps;
}

int64_t median_of(const std::vector<TokenGap>& gaps, int64_t TokenGap::*field) {
  std::vector<int64_t> ns;
  for (const TokenGap& gap : gaps) ns.push_back(gap.*field);
  std::sort(ns.begin(), ns.end());
  return nearest_rank(ns, 0.5);
}

// The part with the largest excess over the median, of the gap of length ns.
SlowToken slow_token_of(const std::vector<TokenGap>& gaps, int64_t ns) {
  const auto slow = std::find_if(gaps.begin(), gaps.end(), [ns](const TokenGap& gap) { return gap.ns == ns; });
  SlowToken found;
  if (slow == gaps.end()) return found;
  int64_t most_ns = 0;
  const auto offer = [&](SlowToken::What what, int64_t TokenGap::*field, uint64_t prompt_tokens) {
    const int64_t excess_ns = (*slow).*field - median_of(gaps, field);
    if (excess_ns <= most_ns) return;
    most_ns = excess_ns;
    found = {what, (*slow).*field, prompt_tokens};
  };
  offer(slow->mixed ? SlowToken::What::kPrefillInStep : SlowToken::What::kLongStep, &TokenGap::own_ns,
        slow->mixed ? slow->prompt_tokens : 0);
  offer(SlowToken::What::kPrefillBetween, &TokenGap::prefill_ns, slow->prompt_tokens);
  offer(SlowToken::What::kHost, &TokenGap::none_ns, 0);
  return found;
}

void add_latencies(Serving& serving) {
  std::vector<int64_t> gaps;
  std::vector<int64_t> first;
  uint64_t sequences = 0;  // of steps with a period
  int64_t gaps_ns = 0;
  int64_t periods_ns = 0;
  bool all_told = true;
  const ServingStep* alone = nullptr;
  const bool checks = has_checks(serving.steps);
  serving.speculates = checks;
  for (const ServingStep& step : serving.steps) {
    if (step.prefills()) first.push_back(step.device.end_ns - step.host.start_ns);
    periods_ns += step.period_ns;
    if (!has_new_tokens(step, checks)) continue;
    alone = &step;
    const StepLabel& told = step.told;
    serving.speculates |= told.decoding && told.decode_tokens && *told.decode_tokens > *told.decoding;
    if (step.period_ns > 0) {
      all_told = all_told && told.decoding.has_value();
      sequences += told.decoding.value_or(0);
    }
    if (step.token_gap_ns <= 0) continue;
    gaps.push_back(step.token_gap_ns);
    gaps_ns += step.token_gap_ns;
  }
  std::sort(first.begin(), first.end());
  if (!first.empty()) serving.ttft_low_ns = nearest_rank(first, 0.5);
  if (all_told && sequences > 0) serving.new_tokens_per_s = per_second(sequences, periods_ns);
  if (gaps.empty()) {
    if (alone == nullptr) return;
    serving.itl_at_least = true;
    serving.itl_p50_ns = serving.tpot_ns = alone->device.end_ns - alone->device.start_ns;
    return;
  }
  std::sort(gaps.begin(), gaps.end());
  serving.itl_p50_ns = nearest_rank(gaps, 0.5);
  serving.itl_p90_ns = nearest_rank(gaps, 0.9);
  serving.itl_p99_ns = nearest_rank(gaps, 0.99);
  serving.tpot_ns = gaps_ns / static_cast<int64_t>(gaps.size());
  serving.slow_token = slow_token_of(parts_of_gaps(serving.steps), serving.itl_p99_ns);
}

// Sums over steps; a metric stays unknown if one step lacks its number.
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
    if (!step.decodes()) continue;
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

// FLOP and bytes of the steps divided by what the devices offer in span_ns.
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

std::vector<ServingStep> steps_with_work(const FlowRun& run, Interval window, std::vector<bool>& of_steps) {
  std::vector<ServingStep> steps = labelled(*run.trace);
  of_steps.assign(run.trace->activities.size(), false);
  if (!steps.empty()) add_work(run, window, steps, of_steps);
  add_token_gaps(steps);
  return steps;
}

}  // namespace

std::vector<ServingStep> engine_steps(const FlowRun& run, Interval window) {
  std::vector<bool> of_steps;
  return steps_with_work(run, window, of_steps);
}

std::optional<OutputTokens> output_tokens(const std::vector<ServingStep>& steps) {
  OutputTokens tokens;
  for (const ServingStep& step : steps) {
    const StepLabel& told = step.told;
    if (!told.decoding || !told.prompts || told.verifies || told.drafts ||
        told.decode_tokens.value_or(*told.decoding) != *told.decoding) {
      return std::nullopt;
    }
    tokens.least += *told.decoding;
    tokens.most += *told.decoding + *told.prompts;
  }
  return tokens.least > 0 ? std::optional(tokens) : std::nullopt;
}

Serving serving_of(const FlowRun& run, Interval window) {
  std::vector<bool> of_steps;
  Serving serving{.steps = steps_with_work(run, window, of_steps)};
  if (serving.steps.empty()) return serving;
  add_tokens(serving);
  add_latencies(serving);
  add_utilization(run, of_steps, serving);
  return serving;
}

}  // namespace assay
