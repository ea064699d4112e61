#include "answers/analyses.h"

#include <utility>

namespace assay {

FlowFindings find_flow(const LoadedTrace& loaded, const std::vector<EditRequest>& more) {
  FlowFindings found;
  const FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  found.report = make_flow_report(model, {});
  found.verdict = judge_flow(loaded.trace, found.report, {});
  std::vector<EditRequest> edits = report_edits(found.report, found.verdict);
  edits.insert(edits.end(), more.begin(), more.end());
  found.tried =
      explore_edits(model, loaded.windows, found.report, {.edits = edits, .joint = false});
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
  const auto& [trace, links, windows, kernels] = loaded;
  AnalysesOptions asked = options;
  asked.launch.kernels = asked.fusion.kernels = kernels;
  asked.tax.kernels = asked.levels.kernels = kernels;
  Analyses found;
  ASSAY_TRY_ASSIGN(found.launch, analyze_launch(trace, links, windows, asked.launch));
  ASSAY_TRY_ASSIGN(found.fusion, analyze_fusion(trace, links, windows, asked.fusion));
  ASSAY_TRY_ASSIGN(found.tax, analyze_tax(trace, links, windows, asked.tax));
  ASSAY_TRY_ASSIGN(found.levels, analyze_levels(trace, links, windows, asked.levels));
  FlowFindings flow = find_flow(loaded, chain_edits(found.fusion));
  found.flow = std::move(flow.report);
  found.verdict = std::move(flow.verdict);
  found.tried = std::move(flow.tried);
  return found;
}

}  // namespace assay
