#include "report/breakdown/figures_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"

namespace assay::breakdown_figures {

double ratio(double value, double to) { return to > 0 ? value / to : kNan; }

std::string name_of(const FigureOpName& op) {
  const bool told = op.op.rfind("b_", 0) == 0 || op.phase == LevelPhase::kForward;
  return told ? op.op : fmt::format("{} ({})", op.op, level_phase_name(op.phase));
}

std::vector<std::string> names_of(const Configs& configs) {
  std::vector<std::string> names;
  for (const ConfigFigures& config : configs) names.push_back(config.name);
  return names;
}

const FigureOp* find_op(const ConfigFigures& config, const FigureOpName& name) {
  const auto at = std::find_if(config.ops.begin(), config.ops.end(),
                               [&name](const FigureOp& op) { return op.name == name; });
  return at == config.ops.end() ? nullptr : &*at;
}

std::set<LevelPhase> phases_of(const Configs& configs) {
  std::set<LevelPhase> phases;
  for (const ConfigFigures& config : configs) {
    for (const FigureOp& op : config.ops) phases.insert(op.name.phase);
  }
  return phases;
}

}  // namespace assay::breakdown_figures
