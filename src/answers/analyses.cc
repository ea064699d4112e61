#include "answers/analyses.h"

namespace assay {

Result<Analyses> analyze_trace(const LoadedTrace& loaded, const AnalysesOptions& options) {
  const auto& [trace, links, windows] = loaded;
  Analyses found;
  ASSAY_TRY_ASSIGN(found.launch, analyze_launch(trace, links, windows, options.launch));
  ASSAY_TRY_ASSIGN(found.fusion, analyze_fusion(trace, links, windows, options.fusion));
  ASSAY_TRY_ASSIGN(found.tax, analyze_tax(trace, links, windows, options.tax));
  ASSAY_TRY_ASSIGN(found.levels, analyze_levels(trace, links, windows, options.levels));
  return found;
}

}  // namespace assay
