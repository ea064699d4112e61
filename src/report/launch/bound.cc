#include <cmath>
#include <string>

#include "report/document/units.h"
#include "report/launch/charts.h"
#include "report/sections.h"

namespace assay {
namespace {

// A sweep may come from a table of means: its numbers are published as they are, unrounded.
Value raw_ns(double ns) { return finite_value(ns); }

Value raw_ns(const std::optional<double>& ns) { return ns ? raw_ns(*ns) : Value(); }

Table points_table(const BoundReport& report) {
  Table table{
      .key = "points",
      .title = "Batches",
      .columns = {{.key = "batch", .title = "batch"},
                  {.key = "bound", .title = "bound", .unit = Unit::kText},
                  {.key = "tklqt_ns", .title = "TKLQT", .unit = Unit::kNanoseconds},
                  {.key = "launches", .title = "launches", .unit = Unit::kNone},
                  {.key = "tklqt_per_launch_ns", .title = "per launch", .unit = Unit::kNanoseconds},
                  {.key = "queue_share", .title = "queueing", .unit = Unit::kShare},
                  {.key = "latency_ns", .title = "latency", .unit = Unit::kNanoseconds},
                  {.key = "gpu_idle_share", .title = "GPU idle", .unit = Unit::kShare},
                  {.key = "cpu_idle_share", .title = "CPU idle", .unit = Unit::kShare},
                  {.key = "balanced", .title = "balanced"}},
      .terminal_limit = 0};
  for (const BoundPoint& p : report.points) {
    table.rows.push_back({p.batch, p.gpu_bound ? "GPU" : "CPU", raw_ns(p.tklqt_ns), p.launches,
                          raw_ns(p.q_ns), p.queue_share, raw_ns(p.latency_ns), p.gpu_idle_share,
                          p.cpu_idle_share, p.balanced});
  }
  return table;
}

std::string regions_text(const std::vector<BatchRange>& regions) {
  std::string text;
  for (const BatchRange& region : regions) {
    if (!text.empty()) text += ", ";
    text += number_text(region.from);
    if (region.to != region.from) text += "–" + number_text(region.to);
  }
  return text;
}

Section platform_section(const PlatformBound& platform) {
  const BoundReport& r = platform.report;
  const bool coarse = r.coarse;
  Section section{.key = platform.name, .title = platform.name};
  section.blocks.push_back(Facts{
      .items = {
          {"verdict", "verdict", std::string(bound_verdict_name(r.verdict)), Unit::kText, r.reason},
          {"reason", "reason", r.reason, Unit::kText, "", Show::kDataOnly},
          {"plateau_ns", "plateau c, per launch", raw_ns(r.plateau_ns), Unit::kNanoseconds},
          {"plateau_points", "plateau batches", r.plateau_points, Unit::kCount},
          {"last_cpu_batch", "last CPU-bound batch b_c", r.last_cpu_batch, Unit::kRatio},
          {"first_gpu_batch", "first GPU-bound batch b_g", r.first_gpu_batch, Unit::kRatio},
          {"inflection_batch", "inflection b*", r.inflection_batch, Unit::kRatio,
           coarse ? "coarse: geometric mean of the bracket" : ""},
          {"coarse", "coarse", r.coarse, Unit::kNone, "", Show::kDataOnly},
          {"inflection_low", "interval from", r.low_batch, Unit::kRatio,
           std::string(interval_source_name(r.interval_source))},
          {"inflection_high", "interval to", r.high_batch, Unit::kRatio},
          {"interval_source", "interval source",
           std::string(interval_source_name(r.interval_source)), Unit::kText, "", Show::kDataOnly},
          {"tau", "τ", r.tau, Unit::kRatio},
          {"rho", "ρ", r.rho, Unit::kRatio},
          {"balanced_region", "balanced batches",
           r.balanced_regions.empty() ? Value() : Value(regions_text(r.balanced_regions)),
           Unit::kText, "both idle shares below " + format_share(r.balanced_share)}}});
  section.blocks.push_back(points_table(r));
  return section;
}

Section crossover_section(const std::vector<PlatformBound>& platforms, const Crossover& crossover) {
  const PlatformBound& below = platforms[crossover.a_faster_below ? 0 : 1];
  const Value none;
  Section section{.key = "crossover", .title = "Crossover"};
  section.blocks.push_back(Facts{
      .items = {
          {"found", "found", crossover.found},
          {"batch", "from batch", crossover.found ? Value(crossover.batch) : none, Unit::kRatio},
          {"previous_batch", "not yet at", crossover.found ? Value(crossover.previous_batch) : none,
           Unit::kRatio},
          {"interpolated", "interpolated", crossover.found ? Value(crossover.interpolated) : none,
           Unit::kRatio},
          {"faster_below", "faster below", crossover.found ? Value(below.name) : none,
           Unit::kText}}});
  Table table{.key = "ratios",
              .title = "Latency of " + platforms[0].name + " over " + platforms[1].name,
              .columns = {{.key = "batch", .title = "batch"},
                          {.key = "ratio", .title = "ratio", .unit = Unit::kRatio}},
              .terminal_limit = 0};
  for (const auto& [batch, ratio] : crossover.ratio_by_batch) table.rows.push_back({batch, ratio});
  section.blocks.push_back(std::move(table));
  return section;
}

// A GPU that idles this much is not the limit, whatever TKLQT says (the bound of the one-trace
// verdict).
constexpr double kIdleContradicts = 0.3;

std::string verdict_sentence(const PlatformBound& platform) {
  const BoundReport& r = platform.report;
  const std::string name = platform.name + ": ";
  switch (r.verdict) {
    case BoundVerdict::kCpuBoundThroughout:
      return name +
             "CPU-bound at every batch of the sweep; kernels never queue. Fewer or cheaper "
             "launches help, a faster GPU does not.";
    case BoundVerdict::kGpuBoundAtMin:
      if (r.points.front().gpu_idle_share.value_or(0) > kIdleContradicts) {
        return name +
               "undecided. TKLQT per launch has no plateau, which reads as GPU-bound, but the "
               "GPU idles " +
               format_share(*r.points.front().gpu_idle_share) + " at batch " +
               number_text(r.points.front().batch) +
               ": the sweep has too few batches, or they are different programs.";
      }
      return name + "GPU-bound from the smallest batch on; saving launches gains nothing.";
    case BoundVerdict::kTransition:
      break;
  }
  return name + "CPU-bound up to batch " + number_text(r.last_cpu_batch) +
         ", GPU-bound from batch " + number_text(r.first_gpu_batch) +
         "; the change lies at about " + number_text(r.inflection_batch) + " (" +
         number_text(r.low_batch) + " to " + number_text(r.high_batch) +
         (r.coarse ? ", coarse" : "") + ").";
}

}  // namespace

std::vector<Section> bound_sections(const std::vector<PlatformBound>& platforms,
                                    const Crossover* crossover) {
  std::vector<Section> sections;
  for (const PlatformBound& platform : platforms) sections.push_back(platform_section(platform));
  sections.push_back(bound_charts_section(platforms));
  if (crossover != nullptr) sections.push_back(crossover_section(platforms, *crossover));
  return sections;
}

std::vector<std::string> bound_verdict_words(const std::vector<PlatformBound>& platforms,
                                             const Crossover* crossover) {
  std::vector<std::string> words;
  for (const PlatformBound& platform : platforms) words.push_back(verdict_sentence(platform));
  if (crossover == nullptr) return words;
  if (!crossover->found) {
    words.push_back("The platforms do not change places at the batches they share.");
    return words;
  }
  const PlatformBound& below = platforms[crossover->a_faster_below ? 0 : 1];
  const PlatformBound& above = platforms[crossover->a_faster_below ? 1 : 0];
  words.push_back(below.name + " is faster below batch " + number_text(crossover->batch) + ", " +
                  above.name +
                  " from there on (interpolated: " + number_text(crossover->interpolated) + ").");
  return words;
}

}  // namespace assay
