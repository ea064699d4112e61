#include "report/job/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "report/document/columns.h"
#include "report/job/results.h"
#include "text/units.h"

namespace assay {
namespace {

struct HeatRow {
  std::string name;
  std::vector<uint32_t> ranks;
  std::vector<int64_t> cells_ns;  // maximum over the row's ranks; -1 = not recorded
  std::vector<uint32_t> worst;    // rank with the maximum, per cell
};

std::vector<HeatRow> rows_of_sets(const FleetView& view, const std::string& kind) {
  std::vector<HeatRow> rows;
  size_t placed = 0;
  for (const FleetSet& set : view.sets.sets) {
    if (set.kind != kind) continue;
    rows.push_back({fmt::format("{} {}", kind, set.name), set.ranks, {}, {}});
    placed += set.ranks.size();
  }
  // Show no map if it would omit ranks.
  if (placed != view.job.ranks.size() || rows.size() > kHeatRows) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const HeatRow& a, const HeatRow& b) {
    return a.ranks.front() < b.ranks.front();
  });
  return rows;
}

std::vector<HeatRow> runs_of_ranks(const FleetJob& job, size_t length) {
  std::vector<HeatRow> rows;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    if (r % length == 0) rows.emplace_back();
    rows.back().ranks.push_back(r);
  }
  for (HeatRow& row : rows) {
    const int64_t first = job.ranks[row.ranks.front()].number;
    const int64_t last = job.ranks[row.ranks.back()].number;
    row.name =
        length == 1 ? fmt::format("rank {}", first) : fmt::format("ranks {} to {}", first, last);
  }
  return rows;
}

std::vector<HeatRow> heat_rows(const FleetView& view) {
  const size_t ranks = view.job.ranks.size();
  if (ranks <= kHeatRows) return runs_of_ranks(view.job, 1);
  for (const char* kind : {"node", "rack", "pod"}) {
    std::vector<HeatRow> rows = rows_of_sets(view, kind);
    if (rows.size() > 1) return rows;
  }
  return runs_of_ranks(view.job, (ranks + kHeatRows - 1) / kHeatRows);
}

void fill_cells(const FleetView& view, size_t step, std::vector<HeatRow>& rows) {
  const size_t columns = view.job.columns.size();
  for (HeatRow& row : rows) {
    row.cells_ns.assign((columns + step - 1) / step, -1);
    row.worst.assign(row.cells_ns.size(), row.ranks.front());
    for (const uint32_t r : row.ranks) {
      for (size_t c = 0; c < columns; ++c) {
        const int64_t ns = view.found.cells_ns[r * columns + c];
        if (ns <= row.cells_ns[c / step]) continue;
        row.cells_ns[c / step] = ns;
        row.worst[c / step] = r;
      }
    }
  }
}

std::string cells_text(const HeatRow& row, int64_t iteration_ns) {
  std::string text;
  for (const int64_t ns : row.cells_ns) text += fmt::format("{:02x}", heat_byte(ns, iteration_ns));
  return text;
}

// "rank 500", and the row of which it is the maximum.
std::string cell_name(const FleetJob& job, const HeatRow& row, size_t cell) {
  std::string name = fmt::format("rank {}", job.ranks[row.worst[cell]].number);
  if (row.ranks.size() > 1) name += ", the worst of " + row.name;
  return name;
}

// Notable cells as points in four sizes of excess, over all ranks.
Chart heat_chart(const FleetView& view, const std::vector<HeatRow>& rows, size_t step) {
  constexpr std::array<double, 4> kFrom = {0.02, 0.05, 0.20, 1.0};
  constexpr std::array<const char*, 4> kNames = {"2 to 5 %", "5 to 20 %", "20 to 100 %",
                                                 "an iteration and more"};
  Chart chart{.key = "heat",
              .title = "Local compute above typical, by iteration and rank",
              .caption = fmt::format("A point is {} in {}, its colour a share of the iteration.",
                                     rows.front().ranks.size() == 1
                                         ? "a rank"
                                         : "the worst rank of a node, or of a run of ranks,",
                                     step == 1 ? "an iteration" : "a run of iterations"),
              .x = {.title = "iteration"},
              .y = {.title = "rank"}};
  for (const char* name : kNames) chart.series.push_back({.name = name, .mark = Mark::kPoints});
  const auto iteration_ns = static_cast<double>(std::max<int64_t>(view.found.iteration_ns, 1));
  for (const HeatRow& row : rows) {
    for (size_t c = 0; c < row.cells_ns.size(); ++c) {
      const double share = static_cast<double>(row.cells_ns[c]) / iteration_ns;
      const auto above = std::upper_bound(kFrom.begin(), kFrom.end(), share);
      if (above == kFrom.begin()) continue;
      Series& series = chart.series[static_cast<size_t>(above - kFrom.begin()) - 1];
      series.x.push_back(view.job.columns[c * step]);
      series.y.push_back(static_cast<double>(view.job.ranks[row.worst[c]].number));
      series.labels.push_back(fmt::format("{}: {} above typical", cell_name(view.job, row, c),
                                          format_ns(row.cells_ns[c])));
    }
  }
  std::erase_if(chart.series, [](const Series& series) { return series.x.empty(); });
  const int64_t last = view.job.ranks.back().number;
  chart.guides.push_back({Guide::Across::kY, static_cast<double>(last),
                          fmt::format("rank {}, the last", format_count(last))});
  return chart;
}

}  // namespace

uint8_t heat_byte(int64_t excess_ns, int64_t iteration_ns) {
  constexpr double kLeast = 0.001;  // relative to an iteration
  constexpr double kPerDecade = 50;
  if (excess_ns < 0) return 0xFF;
  const double share =
      static_cast<double>(excess_ns) / static_cast<double>(std::max<int64_t>(iteration_ns, 1));
  if (share < kLeast) return 0;
  return static_cast<uint8_t>(
      std::min(1 + std::floor(kPerDecade * std::log10(share / kLeast)), 254.0));
}

std::vector<Block> heat_blocks(const FleetView& view) {
  const size_t columns = view.job.columns.size();
  if (columns == 0) return {};
  const size_t step = (columns + kHeatColumns - 1) / kHeatColumns;
  std::vector<HeatRow> rows = heat_rows(view);
  fill_cells(view, step, rows);
  std::vector<Block> blocks;
  blocks.push_back(Facts{.key = "heat",
                         .items = {fact(keys::heat_columns, rows.front().cells_ns.size()),
                                   fact(keys::heat_from, rows.front().ranks.size() == 1
                                                             ? std::string("a rank")
                                                             : std::string("several ranks"))},
                         .show = Show::kDataOnly});
  TableOf table(rows, {.key = "heat_rows",
                       .title = "Local compute above typical, by rank and iteration",
                       .show = Show::kDataOnly});
  table.add(keys::heat_row, &HeatRow::name)
      .add(keys::heat_ranks, [](const HeatRow& row) { return row.ranks.size(); })
      .add(keys::heat_cells,
           [&](const HeatRow& row) { return cells_text(row, view.found.iteration_ns); });
  blocks.push_back(std::move(table));
  Chart chart = heat_chart(view, rows, step);
  if (!chart.series.empty()) blocks.push_back(std::move(chart));
  return blocks;
}

}  // namespace assay
