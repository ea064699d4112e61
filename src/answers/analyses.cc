#include "answers/analyses.h"

#include <utility>

namespace assay {

FlowFindings find_flow(const LoadedTrace& loaded) {
  FlowFindings found;
  const FlowModel model = make_flow_model(loaded.trace, loaded.links, loaded.kernels);
  found.report = make_flow_report(model, {});
  found.verdict = judge_flow(loaded.trace, found.report, {});
  found.tried = explore_edits(model, loaded.windows, found.report,
                              {.edits = report_edits(found.report, found.verdict), .joint = false});
  return found;
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
  FlowFindings flow = find_flow(loaded);
  found.flow = std::move(flow.report);
  found.verdict = std::move(flow.verdict);
  found.tried = std::move(flow.tried);
  return found;
}

}  // namespace assay
