#include <cmath>
#include <string>

#include "report/launch/charts.h"
#include "report/launch/results.h"
#include "report/launch/section.h"
#include "text/units.h"

namespace assay {
namespace {

// Not rounded, because a sweep may come from a table of means.
Value raw_ns(double ns) { return finite_value(ns); }

Value raw_ns(const std::optional<double>& ns) { return ns ? raw_ns(*ns) : Value(); }

Table points_table(const BoundReport& report) {
  TableOf table(report.points, {.key = "points", .title = "Batches", .terminal_limit = 0});
  table.add(keys::batch, &BoundPoint::batch)
      .add(keys::bound, [](const BoundPoint& p) { return p.gpu_bound ? "GPU" : "CPU"; })
      .add(keys::tklqt_ns, [](const BoundPoint& p) { return raw_ns(p.tklqt_ns); })
      .add(keys::launches, &BoundPoint::launches)
      .add(keys::tklqt_per_launch_ns, [](const BoundPoint& p) { return raw_ns(p.q_ns); })
      .add(keys::queue_share, &BoundPoint::queue_share)
      .add(keys::latency_ns, [](const BoundPoint& p) { return raw_ns(p.latency_ns); })
      .add(keys::gpu_idle_share, &BoundPoint::gpu_idle_share)
      .add(keys::cpu_idle_share, &BoundPoint::cpu_idle_share)
      .add(keys::balanced, &BoundPoint::balanced);
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
          fact(keys::verdict, std::string(bound_verdict_name(r.verdict)), r.reason),
          data_fact(keys::reason, r.reason), fact(keys::plateau_ns, raw_ns(r.plateau_ns)),
          fact(keys::plateau_points, r.plateau_points),
          fact(keys::last_cpu_batch, r.last_cpu_batch),
          fact(keys::first_gpu_batch, r.first_gpu_batch),
          fact(keys::inflection_batch, r.inflection_batch,
               coarse ? "coarse: geometric mean of the bracket" : ""),
          data_fact(keys::coarse, r.coarse),
          fact(keys::inflection_low, r.low_batch,
               std::string(interval_source_name(r.interval_source))),
          fact(keys::inflection_high, r.high_batch),
          data_fact(keys::interval_source, std::string(interval_source_name(r.interval_source))),
          fact(keys::tau, r.tau), fact(keys::rho, r.rho),
          fact(keys::balanced_region,
               r.balanced_regions.empty() ? Value() : Value(regions_text(r.balanced_regions)),
               "both idle shares below " + format_share(r.balanced_share))}});
  section.blocks.push_back(points_table(r));
  return section;
}

Section crossover_section(const std::vector<PlatformBound>& platforms, const Crossover& crossover) {
  const PlatformBound& below = platforms[crossover.a_faster_below ? 0 : 1];
  const Value none;
  Section section{.key = "crossover", .title = "Crossover"};
  section.blocks.push_back(Facts{
      .items = {
          fact(keys::found, crossover.found),
          fact(keys::batch, crossover.found ? Value(crossover.batch) : none),
          fact(keys::previous_batch, crossover.found ? Value(crossover.previous_batch) : none),
          fact(keys::interpolated, crossover.found ? Value(crossover.interpolated) : none),
          fact(keys::faster_below, crossover.found ? Value(below.name) : none)}});
  TableOf table(crossover.ratio_by_batch,
                {.key = "ratios",
                 .title = "Latency of " + platforms[0].name + " over " + platforms[1].name,
                 .terminal_limit = 0});
  table.add(keys::batch, &std::pair<double, double>::first)
      .add(keys::ratio, &std::pair<double, double>::second);
  section.blocks.push_back(std::move(table));
  return section;
}

// A GPU with this idle share is not the bottleneck, whatever its TKLQT. Same limit as for the
// headline of a single trace.
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
      return name + "GPU-bound at every batch size; fewer launches save nothing.";
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
                  " above it (interpolated: " + number_text(crossover->interpolated) + ").");
  return words;
}

}  // namespace assay
