#include "cli/throughput_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "ingest/csv_table.h"
#include "throughput/points.h"

namespace assay {
namespace {

// Iterations of the search for parameters: the posterior hardly changes afterwards.
constexpr int kSearchIterations = 60;

void show_search(const char* process, int iteration, double objective) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\033[K{}: parameters, step {} of at most {}, objective {:.1f}", process,
             iteration, kSearchIterations, objective);
  std::fflush(stderr);
}

Status search_parameters(const ThroughputFit& fit, bool physics, std::vector<double>& parameters) {
  std::vector<BenchRow> rows;
  for (size_t i = 0; i < fit.data.rows.size(); ++i) {
    if (!fit.data.infeasible[i]) rows.push_back(fit.data.rows[i]);
  }
  const KernelTable table = kernel_table(rows, fit.facts, physics);
  if (table.points.empty()) return Ok{};
  const KernelSpec& spec = physics ? physics_kernel() : plain_kernel();
  const char* process = physics ? "gp on physics" : "gp without physics";
  GpSearch search;
  search.max_iterations = kSearchIterations;
  search.progress = [process](int iteration, double objective) {
    show_search(process, iteration, objective);
    return true;
  };
  auto found = find_parameters(spec, spec.defaults, table.points, table.residual, search);
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  if (!found) return found.take_error();
  parameters = std::move(found->parameters);
  return Ok{};
}

Result<FittedModel> make_predictor(ThroughputFit fit) {
  ASSAY_TRY_ASSIGN(std::unique_ptr<Predictor> predictor,
                   Predictor::fit(fit.data, fit.facts, fit.options));
  return FittedModel{std::move(fit), std::move(predictor)};
}

}  // namespace

void add_fit_options(CLI::App& verb, FitFlags& flags) {
  verb.add_flag("--no-physics", flags.no_physics,
                "use no facts about models and devices: lengths, batch and devices only");
  verb.add_flag("--refit", flags.refit,
                "search for the kernel's parameters on this table instead of taking those found on "
                "public data");
  verb.add_option("--outside", flags.outside,
                  "a point is outside when its batch, length or devices are beyond the data by "
                  "more than this factor")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
}

Result<FittedModel> fit_table(const BenchFlags& bench, const FitFlags& flags) {
  ASSAY_TRY_ASSIGN(LoadedBench loaded, load_bench(bench));
  ThroughputFit fit{loaded.table.source,
                    loaded.table.format,
                    std::move(loaded.data),
                    std::move(loaded.facts),
                    {}};
  std::vector<BenchOddity>& oddities = fit.data.oddities;
  oddities.insert(oddities.begin(), loaded.table.oddities.begin(), loaded.table.oddities.end());
  fit.options.physics = !flags.no_physics;
  fit.options.outside_factor = flags.outside;
  if (flags.refit && !flags.no_physics) {
    ASSAY_TRY(search_parameters(fit, true, fit.options.physics_parameters));
  }
  if (flags.refit && flags.no_physics) {
    ASSAY_TRY(search_parameters(fit, false, fit.options.plain_parameters));
  }
  return make_predictor(std::move(fit));
}

Result<FittedModel> load_model(const BenchFlags& bench, const FitFlags& flags) {
  // Standard input can be read once: a table.
  if (bench.table == "-") return fit_table(bench, flags);
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(bench.table));
  if (!looks_like_model(text)) return fit_table(bench, flags);
  ASSAY_TRY_ASSIGN(ThroughputFit fit, read_model(text, bench.table));
  if (!bench.facts.empty()) {
    ASSAY_TRY_ASSIGN(const std::string facts, read_text_file(bench.facts));
    ASSAY_TRY(fit.facts.add(facts, bench.facts));
  }
  return make_predictor(std::move(fit));
}

void add_point_options(CLI::App& verb, PointFlags& flags) {
  verb.add_option("--at", flags.at,
                  "one point: 'bb=96,ii=1024,oo=256,hw=H100,model=...,fw=vLLM,n=1'; what all rows "
                  "agree on may be left out")
      ->type_name("POINT");
  verb.add_option("--grid", flags.grid,
                  "all combinations: 'bb=1..256*2,len=128:1024:2048,hw=A100|H100,...'")
      ->type_name("GRID");
}

Result<std::vector<BenchRow>> read_points(const PointFlags& flags, const FittedModel& model) {
  std::vector<BenchRow> points;
  const std::vector<BenchRow>& rows = model.predictor->rows();
  for (const std::string& text : flags.at) {
    ASSAY_TRY_ASSIGN(points.emplace_back(), parse_point(text, rows, model.fit.facts));
  }
  for (const std::string& text : flags.grid) {
    ASSAY_TRY_ASSIGN(const std::vector<BenchRow> grid, parse_grid(text, rows, model.fit.facts));
    points.insert(points.end(), grid.begin(), grid.end());
  }
  return points;
}

}  // namespace assay
