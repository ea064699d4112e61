#include "answers/analyses.h"

#include <utility>

#include "answers/inputs/recordings.h"
#include "base/beside.h"
#include "flow/unasked.h"
#include "flow/work_scales.h"
#include "report/run/section.h"

namespace assay {
namespace {

// Activities. In smaller traces, simulating the actions takes less time than starting a thread.
constexpr size_t kWorthAThread = 1'000;

WhatIf try_levers(const FlowModel& model, const Windows& windows, const FlowReport& report,
                  const FlowVerdict& verdict, const std::vector<EditRequest>& more,
                  const AnalysesOptions& options = {}) {
  std::vector<EditRequest> alone = work_edits(*model.run.trace, verdict);
  alone.insert(alone.end(), more.begin(), more.end());
  return explore_edits(model, windows, report,
                       {.edits = {},
                        .alone = alone,
                        .joint = false,
                        .reach = options.reach,
                        .together = options.together,
                        .points = options.points});
}

// Adds the roofline distance of the leading kernel kind. Kernels of unknown kind have nothing in
// common and are skipped.
void add_roof(const FlowModel& model, const FlowReport& report, FlowVerdict& verdict) {
  if (verdict.bound != BoundBy::kGpu || verdict.kinds.empty()) return;
  if (verdict.kinds.front().kind == KernelKind::kOther) return;
  RoofSources sources;
  if (report.replays.joined > 0) sources.replays = &report.replays;
  add_roof(model.run, report.window, sources, verdict.kinds.front());
}

ReadingEvidence reading_of(const LoadedTrace& loaded) {
  const bool whole = loaded.windows.source == WindowSource::kWholeTrace;
  return {.data_lost = loaded.trace.log.data_lost(),
          .iterations = whole ? 1 : loaded.windows.windows.size(),
          .by_kernel_names = loaded.windows.source == WindowSource::kKernelPeriod};
}

}  // namespace

Result<FlowFindings> find_flow(const LoadedTrace& loaded, const std::string& part,
                               const std::vector<EditRequest>& more) {
  FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  return find_flow(model, loaded, part, more);
}

Result<FlowFindings> find_flow(FlowModel& model, const LoadedTrace& loaded, const std::string& part,
                               const std::vector<EditRequest>& more) {
  ASSAY_TRY_ASSIGN(JudgedRun judged, judge_run(model, loaded.windows, {}, part));
  FlowFindings found{std::move(judged.report), std::move(judged.verdict), {}};
  add_roof(model, found.report, found.verdict);
  found.tried = try_levers(model, judged.iterations, found.report, found.verdict, more);
  return found;
}

std::vector<EditRequest> chain_edits(const FusionReport& fusion) {
  std::vector<EditRequest> edits;
  for (const RecommendedChain& chain : fusion.recommended) {
    edits.push_back({.kind = EditKind::kFuse, .chain = chain.kernels});
  }
  return edits;
}

std::vector<std::optional<int64_t>> chain_gains(const WhatIf& tried) {
  std::vector<std::optional<int64_t>> gains;
  for (const TriedLever& lever : tried.levers) {
    if (lever.edit.request.kind != EditKind::kFuse) continue;
    const bool told = lever.edit.refusal == EditRefusal::kNone;
    gains.push_back(told ? std::optional(lever.alone.run_ns) : std::nullopt);
  }
  return gains;
}

Result<Analyses> analyze_trace(const LoadedTrace& loaded, const AnalysesOptions& options) {
  const Trace& trace = loaded.trace;
  const Links& links = loaded.links;
  const Windows& windows = loaded.windows;
  const auto& kernels = loaded.kernels;
  AnalysesOptions asked = options;
  asked.launch.kernels = asked.fusion.kernels = kernels;
  asked.overhead.kernels = asked.breakdown.kernels = kernels;
  Analyses found;
  FlowModel model = make_flow_model(trace, links, kernels);
  if (options.on_model) ASSAY_TRY(options.on_model(model));
  if (options.requests != nullptr) {
    const std::vector<ServingStep> steps = engine_steps(model.run, {INT64_MIN, INT64_MAX});
    found.requests = join_requests(*options.requests, steps, options.request_options);
    leave_unasked(found.requests.without_requests, model);
  }
  if (options.fold != nullptr) *options.fold = fold_rank(model.run, &windows);
  ASSAY_TRY_ASSIGN(JudgedRun judged, judge_run(model, windows,
                                               {.captures = options.captures,
                                                .rank_graph = options.rank_graph,
                                                .windows = &windows},
                                               options.part));
  if (options.on_judged) ASSAY_TRY(options.on_judged(model, judged));
  found.flow = std::move(judged.report);
  found.verdict = std::move(judged.verdict);
  if (found.flow.replays.joined > 0)
    found.flow.replays = placed_replays(loaded, model.run, options.captures);
  add_roof(model, found.flow, found.verdict);
  asked.launch.flow = &found.flow.all_devices();
  asked.breakdown.flow = &found.flow.devices;
  asked.breakdown.replays = &found.flow.replays;
  if (options.modules) {
    ASSAY_TRY_ASSIGN(found.launch, analyze_launch(trace, links, windows, asked.launch));
    ASSAY_TRY_ASSIGN(found.fusion, analyze_fusion(trace, links, windows, asked.fusion));
  }
  // The input is complete and must not change until the result is taken.
  Beside<WhatIf> tried(
      [&, chains = chain_edits(found.fusion)](const std::atomic<bool>&) {
        return try_levers(model, judged.iterations, found.flow, found.verdict, chains, options);
      },
      options.levers && options.in_thread && trace.activities.size() >= kWorthAThread);
  if (options.modules) {
    ASSAY_TRY_ASSIGN(found.overhead, analyze_overhead(trace, links, windows, asked.overhead));
  }
  if (options.modules || found.verdict.bound == BoundBy::kGpu) {
    ASSAY_TRY_ASSIGN(found.breakdown, analyze_breakdown(trace, links, windows, asked.breakdown));
  }
  if (options.meanwhile) ASSAY_TRY(options.meanwhile(found));
  if (options.levers) found.tried = tried.take();
  if (options.path) found.path = path_slices(model.run, model.graph, found.flow.path);
  return found;
}

findings::Diagnosis diagnosis_of(const LoadedTrace& loaded, const FlowAnswer& answer) {
  return findings::diagnose(RunFacts(answer, reading_of(loaded)));
}

std::vector<findings::RuleState> rules_of(const LoadedTrace& loaded, const FlowAnswer& answer) {
  return findings::rule_states(RunFacts(answer, reading_of(loaded)));
}

TrustNotes flow_trust(const LoadedTrace& loaded, const findings::Diagnosis& diagnosis) {
  TrustNotes notes = caveat_notes(diagnosis);
  for (TrustNote& note : kernel_notes(loaded.trace, *loaded.kernels)) {
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace assay
