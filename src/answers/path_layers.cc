#include "answers/path_layers.h"

#include <string>
#include <utility>

#include "breakdown/breakdown.h"

namespace assay {
namespace {

// Assigns an operator to a layer if all GPU activities below it are in that layer. Stops at an
// operator with a known layer.
void note_below(const Links& links, OpId op, int32_t layer, std::vector<int32_t>& of_op) {
  for (; op; op = links.op_parent[op.index()]) {
    int32_t& told = of_op[op.index()];
    if (told == layer || told == kPathLayerMixed) return;
    told = told == kPathLayerNotTold ? layer : kPathLayerMixed;
  }
}

LayerOfRows layer_of_rows(const Trace& trace, const Links& links,
                          const BreakdownReport& breakdown) {
  LayerOfRows of{std::vector<int32_t>(trace.activities.size(), kPathLayerNotTold),
                 std::vector<int32_t>(trace.ops.size(), kPathLayerNotTold)};
  for (const KernelLevel& row : breakdown.rows) {
    const int32_t layer = row.layer == kNoLayer ? kPathLayerOutside : row.layer;
    of.activity[row.activity.index()] = layer;
    note_below(links, links.activity_op[row.activity.index()], layer, of.op);
  }
  return of;
}

std::string name_of(const BreakdownReport& breakdown, int32_t layer) {
  if (layer < 0) return "";
  const int32_t stack = stack_of(breakdown.stacks, layer);
  return stack == kNoStack ? "" : breakdown.stacks[static_cast<size_t>(stack)].name;
}

}  // namespace

Result<std::vector<NamedPathLayer>> path_layers(const LoadedTrace& loaded, const FlowReport& report,
                                                const std::vector<PathSlice>& slices) {
  ASSAY_TRY_ASSIGN(
      const BreakdownReport breakdown,
      analyze_breakdown(
          loaded.trace, loaded.links, loaded.windows,
          {.kernels = loaded.kernels, .flow = &report.devices, .replays = &report.replays}));
  std::vector<NamedPathLayer> named;
  if (breakdown.placement.layers == 0) return named;
  const LayerOfRows of = layer_of_rows(loaded.trace, loaded.links, breakdown);
  for (const PathLayer& layer : sum_by_layer(slices, of)) {
    named.push_back({layer, name_of(breakdown, layer.layer)});
  }
  return named;
}

}  // namespace assay
