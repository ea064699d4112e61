#pragma once

// Compares configurations: the figures of Chopper's evaluation as tables and charts.

#include <string>
#include <vector>

#include "breakdown/figures.h"
#include "breakdown/insights.h"
#include "report/document/document.h"

namespace assay {

struct FiguresView {
  size_t top = 2;                        // operations per phase and type in Figure 7
  std::vector<std::string> detail = {};  // configurations in Figures 7 to 9; empty = all
};
// Section "figures". insights: those found for `configs`.
Section breakdown_figures_section(const std::vector<ConfigFigures>& configs,
                                  const std::vector<Insight>& insights, const FiguresView& view);
// Sentences: the fastest configuration, where its time goes, and how launch overhead and overlap
// change.
std::vector<std::string> breakdown_figures_words(const std::vector<ConfigFigures>& configs,
                                                 const std::vector<Insight>& insights);

}  // namespace assay
