#include "report/throughput/charts.h"
#include "base/numbers.h"
#include "report/throughput/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/stats.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

constexpr int kQuantileSteps = 20;

std::vector<std::string> methods_of(const std::vector<SplitErrors>& errors) {
  std::vector<std::string> methods;
  for (const SplitErrors& e : errors) {
    if (std::find(methods.begin(), methods.end(), e.method) == methods.end())
      methods.push_back(e.method);
  }
  return methods;
}

std::vector<std::string> splits_of(const std::vector<SplitErrors>& errors) {
  std::vector<std::string> splits;
  for (const SplitErrors& e : errors) {
    if (std::find(splits.begin(), splits.end(), e.split) == splits.end()) splits.push_back(e.split);
  }
  return splits;
}

const SplitErrors* find(const std::vector<SplitErrors>& errors, const std::string& split,
                        const std::string& method) {
  const auto at = std::find_if(errors.begin(), errors.end(), [&](const SplitErrors& e) {
    return e.split == split && e.method == method;
  });
  return at == errors.end() ? nullptr : &*at;
}

// Median with whiskers from the 10th to the 90th percentile.
void add_summary(const ErrorSummary* summary, Series& series) {
  series.y.push_back(summary != nullptr ? summary->median_ape : kNan);
  series.low.push_back(summary != nullptr ? summary->p10_ape : kNan);
  series.high.push_back(summary != nullptr ? summary->p90_ape : kNan);
}

Chart by_split_chart(const std::vector<SplitErrors>& errors) {
  Chart chart{.key = "errors_by_split",
              .title = "Absolute percentage error by split and method",
              .caption = "Medians, whiskers from the 10th to the 90th percentile",
              .y = {"error", Unit::kShare, true},
              .categories = splits_of(errors)};
  for (const std::string& method : methods_of(errors)) {
    Series series{.name = method, .mark = Mark::kBars};
    for (const std::string& split : chart.categories) {
      const SplitErrors* e = find(errors, split, method);
      add_summary(e != nullptr ? &e->summary : nullptr, series);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// Errors of feasible rows with a prediction, ascending.
std::vector<double> sorted_errors(const ThroughputData& data, const SplitErrors& errors) {
  std::vector<double> sorted;
  for (const TestedRow& row : errors.rows) {
    if (!data.infeasible[row.row] && !data.rows[row.row].unsteady && std::isfinite(row.ape))
      sorted.push_back(row.ape);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool is_training_set(const std::string& split) { return split.size() == 2 && split[0] == 'E'; }

// A chart with one curve per method of a split, or per training set of a method.
Chart distribution_chart(std::string key, std::string title) {
  return Chart{.key = std::move(key),
               .title = std::move(title),
               .x = {"absolute percentage error", Unit::kShare, true},
               .y = {"rows with no greater error", Unit::kShare}};
}

void add_distribution(const ThroughputEvaluation& evaluation, std::vector<Block>& blocks) {
  struct Quantile {
    const SplitErrors& of;
    double share;
    double ape;
  };
  std::vector<Quantile> quantiles;
  std::map<std::string, Chart> charts;
  std::vector<std::string> order;
  for (const SplitErrors& e : evaluation.errors) {
    const std::vector<double> sorted = sorted_errors(evaluation.data, e);
    if (sorted.empty()) continue;
    const bool six = is_training_set(e.split);
    const std::string key = "distribution_" + (six ? e.method : e.split);
    const auto [at, is_new] = charts.try_emplace(
        key, distribution_chart(
                 key, six ? fmt::format("Errors by training set, {} (ALA, Figure 6)", e.method)
                          : fmt::format("Errors by method, {} (ALA, Figure 7a)", e.split)));
    if (is_new) order.push_back(key);
    Series series{.name = six ? e.split : e.method};
    for (int k = 0; k <= kQuantileSteps; ++k) {
      const double share = static_cast<double>(k) / kQuantileSteps;
      series.x.push_back(quantile_sorted(sorted, share));
      series.y.push_back(share);
      quantiles.push_back({e, share, series.x.back()});
    }
    at->second.series.push_back(std::move(series));
  }
  TableOf table(quantiles, {.key = "distribution",
                            .title = "Distribution of the errors (ALA, Figures 6 and 7a)",
                            .show = Show::kDataOnly});
  table.add(keys::split, [](const Quantile& q) { return q.of.split; })
      .add(keys::method, [](const Quantile& q) { return q.of.method; })
      .add(keys::rows_share, &Quantile::share)
      .add(keys::ape, [](const Quantile& q) { return finite_value(q.ape); });
  blocks.push_back(std::move(table));
  for (const std::string& key : order) blocks.push_back(std::move(charts.at(key)));
}

// The paper states one number of Figure 6 and none of Figures 7 and 8.
void add_training_sets(const ThroughputEvaluation& evaluation, std::vector<Block>& blocks) {
  using Errors = SplitErrors;
  std::vector<Errors> sets;
  for (const Errors& e : evaluation.errors) {
    if (is_training_set(e.split)) sets.push_back(e);
  }
  if (sets.empty()) return;
  TableOf table(sets, {.key = "training_sets",
                       .title = "Training sets of four shapes (ALA, Figure 6)",
                       .terminal_limit = 0});
  table.add(keys::name, &Errors::split)
      .add(keys::training, &Errors::label, elastic())
      .add(keys::method, &Errors::method)
      .add(keys::median_ape, [](const Errors& e) { return finite_value(e.summary.median_ape); })
      .add(keys::paper_median_ape, [](const Errors& e) {
        return e.split == "E1" && e.method == "ala" ? Value(0.04) : Value();
      });
  blocks.push_back(std::move(table));
}

void add_models(const ThroughputEvaluation& evaluation, std::vector<Block>& blocks) {
  const std::string& split = evaluation.errors.front().split;
  Chart chart{.key = "by_model",
              .title = fmt::format("Errors by model, {} (ALA, Figure 8)", split),
              .caption = "Medians, whiskers from the 10th to the 90th percentile",
              .y = {"error", Unit::kShare, true},
              .horizontal = true};
  std::map<std::string, std::map<std::string, ErrorSummary>> by_method;
  std::set<std::string> models;
  for (const SplitErrors& e : evaluation.errors) {
    if (e.split != split) continue;
    for (NamedErrors& named : errors_by(evaluation.data, e, &BenchRow::model)) {
      models.insert(named.name);
      by_method[e.method][named.name] = named.summary;
    }
  }
  chart.categories.assign(models.begin(), models.end());
  for (const std::string& method : methods_of(evaluation.errors)) {
    Series series{.name = method, .mark = Mark::kBars};
    for (const std::string& model : models) {
      const auto at = by_method[method].find(model);
      add_summary(at != by_method[method].end() ? &at->second : nullptr, series);
    }
    chart.series.push_back(std::move(series));
  }
  blocks.push_back(std::move(chart));
}

void add_timing(const ThroughputEvaluation& evaluation, std::vector<Block>& blocks) {
  if (evaluation.times.empty()) return;
  TableOf table(evaluation.times,
                {.key = "timing",
                 .title = "Time to learn and answer, by fold (ALA, Figures 7c and 7d)",
                 .terminal_limit = 40});
  table.add(keys::split, &FoldTime::split)
      .add(keys::method, &FoldTime::method)
      .add(keys::fold, &FoldTime::fold)
      .add(keys::train_rows, &FoldTime::train_rows)
      .add(keys::train_configs, &FoldTime::train_configs)
      .add(keys::time_ns, &FoldTime::time_ns);
  std::map<std::string, std::vector<double>> by_method;
  std::map<std::string, Series> points;
  for (const FoldTime& time : evaluation.times) {
    by_method[time.method].push_back(static_cast<double>(time.time_ns));
    Series& series = points[time.method];
    series.name = time.method;
    series.mark = Mark::kPoints;
    series.x.push_back(static_cast<double>(time.train_rows));
    series.y.push_back(static_cast<double>(time.time_ns));
    series.labels.push_back(time.split + ", " + time.fold);
  }
  blocks.push_back(std::move(table));
  Chart spread{.key = "time_by_method",
               .title = "Time to learn and answer a fold (ALA, Figure 7c)",
               .caption = "Medians, whiskers from the least to the greatest fold",
               .y = {"time", Unit::kNanoseconds, true}};
  Series bars{.name = "time", .mark = Mark::kBars};
  Chart rows{.key = "time_by_rows",
             .title = "Time by the number of training rows (ALA, Figure 7d)",
             .x = {"training rows", Unit::kCount},
             .y = {"time", Unit::kNanoseconds, true}};
  for (auto& [method, times] : by_method) {
    std::sort(times.begin(), times.end());
    spread.categories.push_back(method);
    bars.y.push_back(quantile_sorted(times, 0.5));
    bars.low.push_back(times.front());
    bars.high.push_back(times.back());
    rows.series.push_back(std::move(points[method]));
  }
  spread.series.push_back(std::move(bars));
  blocks.push_back(std::move(spread));
  blocks.push_back(std::move(rows));
}

std::string curve_name(const BenchRow& row) {
  const std::string config = config_text(row);
  return config + (config.empty() ? "" : ", ") + length_text(row);
}

// Legend labels from the differences between configurations: "2 × Nvidia H100 GPU", or "n=2" if
// there is only one GPU model. Empty if they are equal.
std::vector<std::string> what_differs(const std::vector<BenchRow>& rows) {
  const auto differs = [&](auto BenchRow::* field) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const BenchRow& row) { return !(row.*field == rows.front().*field); });
  };
  std::vector<std::string> out;
  for (const BenchRow& row : rows) {
    std::string text;
    const auto add = [&text](bool wanted, const std::string& part) {
      if (wanted && !part.empty()) text += (text.empty() ? "" : ", ") + part;
    };
    const bool counts = differs(&BenchRow::devices);
    const std::string many = fmt::format("{:g}", row.devices);
    if (differs(&BenchRow::hardware)) {
      add(true, counts ? many + " × " + row.hardware : row.hardware);
    } else {
      add(counts, "n=" + many);
    }
    add(differs(&BenchRow::framework), row.framework);
    add(differs(&BenchRow::model), row.model);
    add(differs(&BenchRow::variant), row.variant.text());
    out.push_back(text);
  }
  return out;
}

template <typename P>
std::vector<BenchRow> rows_of(const std::vector<P>& points) {
  std::vector<BenchRow> rows;
  for (const P& p : points) rows.push_back(p.point);
  return rows;
}

using Points = std::vector<const PredictedPoint*>;
// The curves of one chart: one configuration and lengths, by GPU.
struct Curves {
  std::vector<std::string> order;  // GPUs as requested
  std::map<std::string, Points> by_gpu;
};

BenchRow on_any_gpu(BenchRow row) {
  row.hardware.clear();
  return row;
}

std::vector<Curves> curves_of(const ThroughputAnswers& answers) {
  std::map<std::string, size_t> place;
  std::vector<Curves> out;
  for (const PredictedPoint& p : answers.points) {
    const auto [at, is_new] = place.emplace(group_name(on_any_gpu(p.point)), out.size());
    if (is_new) out.emplace_back();
    Curves& curves = out[at->second];
    Points& points = curves.by_gpu[p.point.hardware];
    if (points.empty()) curves.order.push_back(p.point.hardware);
    points.push_back(&p);
  }
  for (Curves& curves : out) {
    for (auto& gpu_and_points : curves.by_gpu) {
      std::sort(gpu_and_points.second.begin(), gpu_and_points.second.end(),
                [](const PredictedPoint* a, const PredictedPoint* b) {
                  return a->point.batch < b->point.batch;
                });
    }
  }
  return out;
}

Series curve_line(const Points& points, bool has_intervals) {
  Series line{.name = "predicted"};
  for (const PredictedPoint* p : points) {
    const Prediction& prediction = p->explained.prediction;
    line.x.push_back(p->point.batch);
    line.y.push_back(prediction.tokens_per_s);
    if (has_intervals) {
      line.low.push_back(prediction.low90);
      line.high.push_back(prediction.high90);
    }
    line.labels.emplace_back(prediction_status_name(prediction.status));
  }
  return line;
}

Series measured_marks(const std::vector<const BenchRow*>& rows) {
  Series marks{.name = "measured", .mark = Mark::kPoints};
  for (const BenchRow* row : rows) {
    marks.x.push_back(row->batch);
    marks.y.push_back(row->tokens_per_s);
  }
  return marks;
}

}  // namespace

std::vector<Block> curve_charts(const ThroughputAnswers& curve) {
  std::map<std::string, std::vector<const BenchRow*>> measured;
  for (const BenchRow& row : curve.rows) measured[group_name(row)].push_back(&row);
  const bool has_intervals = curve.fit.method != "ala";
  std::vector<Block> blocks;
  for (const Curves& curves : curves_of(curve)) {
    if (blocks.size() == kCurveCharts) break;
    const BenchRow& first = curves.by_gpu.at(curves.order.front()).front()->point;
    const bool several = curves.order.size() > 1;
    Chart chart{
        .key = fmt::format("curve_{}", blocks.size() + 1),
        .title = "Throughput over batch: " + curve_name(several ? on_any_gpu(first) : first) +
                 " (ALA, Figure 2)",
        .caption = has_intervals ? "Band: 90 % interval of one measurement" : "ALA has no interval",
        .x = {"batch", Unit::kNone, true},
        .y = {"tokens per second", Unit::kPerSecond, true}};
    for (const std::string& gpu : curves.order) {
      const Points& points = curves.by_gpu.at(gpu);
      Series line = curve_line(points, has_intervals);
      const auto rows = measured.find(group_name(points.front()->point));
      if (several) line.name = gpu + (rows == measured.end() ? ", not measured" : "");
      chart.series.push_back(std::move(line));
      if (rows == measured.end()) continue;
      Series marks = measured_marks(rows->second);
      if (several) marks.name = gpu + ", measured";
      chart.series.push_back(std::move(marks));
    }
    blocks.push_back(std::move(chart));
  }
  return blocks;
}

std::vector<Block> goal_charts(const Goal& goal, const std::vector<GoalPoint>& points) {
  Chart chart{.key = "goal_chart",
              .title = "Candidates: what one GPU gives against how long a request takes",
              .caption = "Bands: tokens/s per GPU, 90 % interval",
              .x = {"latency, ms", Unit::kCount, true},
              .y = {"tokens/s per GPU", Unit::kCount, true}};
  std::map<std::string, std::vector<const GoalPoint*>> by_config;
  const std::vector<std::string> names = what_differs(rows_of(points));
  for (size_t i = 0; i < points.size(); ++i) {
    if (std::isfinite(points[i].explained.prediction.tokens_per_s))
      by_config[names[i]].push_back(&points[i]);
  }
  for (auto& [name, of] : by_config) {
    std::sort(of.begin(), of.end(),
              [](const GoalPoint* a, const GoalPoint* b) { return a->latency_ms < b->latency_ms; });
    Series series{.name = name.empty() ? config_text(of.front()->point) : name};
    for (const GoalPoint* p : of) {
      const Prediction& told = p->explained.prediction;
      series.x.push_back(p->latency_ms);
      series.y.push_back(told.tokens_per_s / p->point.devices);
      series.low.push_back(told.low90 / p->point.devices);
      series.high.push_back(told.high90 / p->point.devices);
      series.labels.push_back(fmt::format("batch {:g}, {}: {}", p->point.batch,
                                          length_text(p->point), goal_verdict_name(p->verdict)));
    }
    chart.series.push_back(std::move(series));
  }
  if (goal.latency_ms) chart.guides.push_back({Guide::Across::kX, *goal.latency_ms, "asked for"});
  if (chart.series.empty()) return {};
  std::vector<Block> blocks;
  blocks.emplace_back(std::move(chart));
  return blocks;
}

std::vector<Block> measure_charts(const MeasureNext& next) {
  if (next.suggestions.empty()) return {};
  Chart chart{.key = "suggestions_chart",
              .title = "How much narrower each measurement makes the least certain point",
              .caption = "Batch × prompt + answer, and what else differs",
              .y = {"narrower", Unit::kShare},
              .horizontal = true};
  Series bars{.name = "narrower", .mark = Mark::kBars};
  const std::vector<std::string> names = what_differs(rows_of(next.suggestions));
  for (size_t i = 0; i < names.size(); ++i) {
    const BenchRow& point = next.suggestions[i].point;
    chart.categories.push_back(fmt::format("{:g} × {:g}+{:g}{}{}", point.batch, point.in_len,
                                           point.out_len, names[i].empty() ? "" : ", ", names[i]));
    bars.y.push_back(next.suggestions[i].narrower_share);
  }
  chart.series.push_back(std::move(bars));
  std::vector<Block> blocks;
  blocks.emplace_back(std::move(chart));
  return blocks;
}

std::vector<Block> confidence_charts(const std::vector<ConfidenceBin>& bins) {
  const Axis told{"predicted half-width, median", Unit::kShare, true};
  Chart missed{
      .key = "confidence",
      .title = "Predicted width against true error",
      .caption = "Rows from sure to unsure, in five equal parts, each length pair left out",
      .x = told,
      .y = {"error, median", Unit::kShare, true}};
  Chart held{.key = "confidence_coverage",
             .title = "Predicted width against coverage",
             .caption = "The same parts: measurements inside their 90 % interval",
             .x = told,
             .y = {"inside", Unit::kShare}};
  Series error{};
  Series inside{};
  for (const ConfidenceBin& bin : bins) {
    for (Series* series : {&error, &inside}) series->x.push_back(bin.half_width90);
    error.y.push_back(bin.median_ape);
    inside.y.push_back(bin.coverage90);
  }
  missed.series = {std::move(error)};
  held.series = {std::move(inside)};
  held.guides.push_back({Guide::Across::kY, 0.9, "90 %"});
  std::vector<Block> blocks;
  blocks.emplace_back(std::move(missed));
  blocks.emplace_back(std::move(held));
  return blocks;
}

std::vector<Block> evaluation_charts(const ThroughputEvaluation& evaluation) {
  std::vector<Block> blocks;
  if (evaluation.errors.empty()) return blocks;
  blocks.push_back(by_split_chart(evaluation.errors));
  add_training_sets(evaluation, blocks);
  add_distribution(evaluation, blocks);
  add_models(evaluation, blocks);
  add_timing(evaluation, blocks);
  return blocks;
}

std::vector<Block> annealing_charts(const AnnealingReport& report) {
  Chart by_step{.key = "error_by_step",
                .title = "Error over annealing steps (ALA, Figure 7b)",
                .x = {"step", Unit::kNone},
                .y = {"median error", Unit::kShare, true}};
  Chart by_rows{.key = "error_by_rows",
                .title = "Error by the number of training rows (ALA, Figure 7b)",
                .x = {"training rows", Unit::kCount},
                .y = {"median error", Unit::kShare, true}};
  for (const auto& seed_and_run : report.runs) {
    const auto seed = seed_and_run.first;
    const auto& run = seed_and_run.second;
    const auto add = [&](std::string name, const std::vector<double>& errors) {
      Series steps{.name = name};
      Series rows{.name = std::move(name), .mark = Mark::kPoints};
      for (size_t i = 0; i < errors.size(); ++i) {
        steps.x.push_back(static_cast<double>(i));
        rows.x.push_back(static_cast<double>(run.log[i].rows));
        steps.y.push_back(errors[i]);
        rows.y.push_back(errors[i]);
      }
      by_step.series.push_back(std::move(steps));
      by_rows.series.push_back(std::move(rows));
    };
    std::vector<double> errors;
    for (const AnnealingStep& step : run.log) errors.push_back(step.error);
    add(fmt::format("ala, seed {}", seed), errors);
    for (const AnnealingBaseline& baseline : report.baselines) {
      if (baseline.seed == seed)
        add(fmt::format("{}, seed {}", baseline.method, seed), baseline.errors);
    }
  }
  if (by_step.series.empty()) return {};
  std::vector<Block> blocks;
  blocks.push_back(std::move(by_step));
  blocks.push_back(std::move(by_rows));
  if (report.targets.empty()) return blocks;
  Chart judged{.key = "confidence_error",
               .title = "Confidence against error (ALA, Table I)",
               .x = {"confidence, throughput included", Unit::kRatio},
               .y = {"error", Unit::kShare}};
  Series predicted{.name = "predicted", .mark = Mark::kPoints};
  Series actual{.name = "actual", .mark = Mark::kPoints};
  for (const AnnealingTarget& target : report.targets) {
    for (const TargetJudgement& j : target.by_seed) {
      for (Series* series : {&predicted, &actual}) {
        series->x.push_back(j.confidence_with_throughput);
        series->labels.push_back(target.name);
      }
      predicted.y.push_back(j.predicted_error);
      actual.y.push_back(j.actual_error);
    }
  }
  judged.series = {std::move(predicted), std::move(actual)};
  blocks.push_back(std::move(judged));
  return blocks;
}

}  // namespace assay
