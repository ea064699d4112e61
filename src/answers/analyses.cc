#include "answers/analyses.h"

namespace assay {

Result<Analyses> analyze_trace(const LoadedTrace& loaded, const AnalysesOptions& options) {
  const auto& [trace, links, windows, kernels] = loaded;
  AnalysesOptions asked = options;
  asked.launch.kernels = asked.fusion.kernels = kernels;
  asked.tax.kernels = asked.levels.kernels = kernels;
  Analyses found;
  found.flow =
      make_flow_report(trace, links, {.rank_graph = options.rank_graph, .kernels = kernels});
  found.verdict = judge_flow(trace, found.flow, {});
  asked.launch.flow = &found.flow.all_devices();
  ASSAY_TRY_ASSIGN(found.launch, analyze_launch(trace, links, windows, asked.launch));
  ASSAY_TRY_ASSIGN(found.fusion, analyze_fusion(trace, links, windows, asked.fusion));
  ASSAY_TRY_ASSIGN(found.tax, analyze_tax(trace, links, windows, asked.tax));
  ASSAY_TRY_ASSIGN(found.levels, analyze_levels(trace, links, windows, asked.levels));
  return found;
}

}  // namespace assay
