#pragma once

// Shared by the files of the figures section: names, columns and cells of configurations and
// operations, and the groups of figures that figures.cc combines.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "breakdown/figures.h"
#include "report/breakdown/figures.h"
#include "report/breakdown/results.h"
#include "report/document/columns.h"

namespace assay::breakdown_figures {

using Configs = std::vector<ConfigFigures>;

// NaN if `to` is 0.
double ratio(double value, double to);
// The operation name, with the phase unless the name contains it.
std::string name_of(const FigureOpName& op);
std::vector<std::string> names_of(const Configs& configs);
// Adds the columns config, phase, op and op_type. R needs the members `config` (ConfigFigures) and
// `name` (FigureOpName).
template <typename R>
void add_op_columns(TableOf<R>& table) {
  table.add(keys::config, [](const R& row) { return row.config.name; })
      .add(keys::phase, [](const R& row) { return level_phase_name(row.name.phase); })
      .add(
          keys::op, [](const R& row) { return row.name.op; }, elastic())
      .add(keys::op_type, [](const R& row) { return op_type_name(row.name.type); });
}
// A value of a configuration with the operation that it belongs to: an operation, an execution, a
// layer.
template <typename T>
struct OfConfig {
  const ConfigFigures& config;
  const FigureOpName& name;
  const T& is;
};
// nullptr if the configuration has no such operation.
const FigureOp* find_op(const ConfigFigures& config, const FigureOpName& name);
std::set<LevelPhase> phases_of(const Configs& configs);

// ---- durations and launches (figures_durations.cc): Figures 4, 5, 6, 11 ----
void add_breakdown(const Configs& configs, Section& section);
void add_operations(const Configs& configs, Section& section);
void add_communication(const Configs& configs, Section& section);
void add_launch(const Configs& configs, Section& section);

// ---- overlap (figures_overlap.cc): Figures 7, 8, 9 ----
void add_overlap(const Configs& configs, const FiguresView& view, Section& section);
void add_curve(const Configs& configs, const FiguresView& view, Section& section);

// ---- hardware (figures_hardware.cc): Figures 13, 14, 15 ----
void add_cores(const Configs& configs, Section& section);
void add_telemetry(const Configs& configs, Section& section);
void add_waterfalls(const Configs& configs, Section& section);

}  // namespace assay::breakdown_figures
