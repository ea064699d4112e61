#include "report/throughput/anneal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/stats.h"
#include "report/document/units.h"
#include "report/throughput/charts.h"

namespace assay {
namespace {

// Table I of the paper, whose data is not public: shown for the pattern, not for the level.
struct PaperRow {
  const char* name;
  double predicted;
  double confidence;
  double actual;
};
constexpr PaperRow kTableOne[] = {{"paper: Llama subset", 0.1534, 0.99, 0.1503},
                                  {"paper: Mistral-7B", 0.2268, 0.96, 0.2877},
                                  {"paper: Qwen2-7B, other hardware", 0.2031, 0.67, 0.3988}};

std::string values_text(const std::vector<double>& values, const std::vector<bool>& in) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (in[i]) text += (text.empty() ? "" : " ") + fmt::format("{}", values[i]);
  }
  return text;
}

const AnnealingStep& best_of(const AnnealingRun& run) {
  return *std::min_element(
      run.log.begin(), run.log.end(),
      [](const AnnealingStep& x, const AnnealingStep& y) { return x.error < y.error; });
}

// A search through all subsets draws nothing.
Value seed_of(uint64_t seed, const AnnealingRun& run) {
  return run.exhaustive ? Value() : Value(seed);
}

Table runs_table(const AnnealingReport& report) {
  Table table{.key = "runs",
              .title = "Searches for a training subset",
              .columns = {{.key = "seed", .title = "seed"},
                          {.key = "steps", .title = "steps", .unit = Unit::kCount},
                          {.key = "accepted", .title = "accepted", .unit = Unit::kCount},
                          {.key = "mean_error", .title = "mean error", .unit = Unit::kShare},
                          {.key = "best_error", .title = "best error", .unit = Unit::kShare},
                          {.key = "best_rows", .title = "rows", .unit = Unit::kCount},
                          {.key = "best_in_len", .title = "lengths", .unit = Unit::kText},
                          {.key = "best_batch", .title = "batch sizes", .unit = Unit::kText},
                          {.key = "interrupted", .title = "interrupted"}},
              .terminal_limit = 0};
  for (const auto& [seed, run] : report.runs) {
    const AnnealingStep& best = best_of(run);
    double sum = 0;
    for (const AnnealingStep& step : run.log) sum += step.error;
    const auto accepted = std::count_if(run.log.begin() + 1, run.log.end(),
                                        [](const AnnealingStep& step) { return step.accepted; });
    const Value walked = run.exhaustive ? Value() : Value(static_cast<int64_t>(accepted));
    const size_t steps = run.exhaustive ? run.log.size() : run.log.size() - 1;
    table.rows.push_back({seed_of(seed, run), steps, walked,
                          sum / static_cast<double>(run.log.size()), best.error, best.rows,
                          values_text(run.values.in_len, best.subset.in_len),
                          values_text(run.values.batch, best.subset.batch), run.interrupted});
  }
  return table;
}

// Figure 7(b): the error of every subset that was tried.
Table log_table(const AnnealingReport& report) {
  Table table{.key = "steps",
              .columns = {{.key = "seed", .title = "seed"},
                          {.key = "step", .title = "step"},
                          {.key = "train_rows", .title = "rows", .unit = Unit::kCount},
                          {.key = "in_len", .title = "ii", .unit = Unit::kText},
                          {.key = "batch", .title = "bb", .unit = Unit::kText},
                          {.key = "out_len", .title = "oo", .unit = Unit::kText},
                          {.key = "median_ape", .title = "error", .unit = Unit::kShare},
                          {.key = "temperature", .title = "T"},
                          {.key = "accepted", .title = "accepted"}},
              .show = Show::kDataOnly};
  for (const auto& [seed, run] : report.runs) {
    for (size_t i = 0; i < run.log.size(); ++i) {
      const AnnealingStep& step = run.log[i];
      table.rows.push_back({seed_of(seed, run), i, step.rows,
                            values_text(run.values.in_len, step.subset.in_len),
                            values_text(run.values.batch, step.subset.batch),
                            values_text(run.values.out_len, step.subset.out_len), step.error,
                            run.exhaustive ? Value() : Value(step.temperature),
                            run.exhaustive ? Value() : Value(step.accepted)});
    }
  }
  return table;
}

// Figure 7(b): plain regressors on the same subsets.
Table baselines_table(const AnnealingReport& report) {
  Table table{.key = "baseline_steps",
              .columns = {{.key = "seed", .title = "seed"},
                          {.key = "method", .title = "method", .unit = Unit::kText},
                          {.key = "step", .title = "step"},
                          {.key = "median_ape", .title = "error", .unit = Unit::kShare}},
              .show = Show::kDataOnly};
  for (const AnnealingBaseline& baseline : report.baselines) {
    for (size_t i = 0; i < baseline.errors.size(); ++i)
      table.rows.push_back({baseline.seed, baseline.method, i, baseline.errors[i]});
  }
  return table;
}

// For readers: the spread over the steps of a run.
Table spread_table(const AnnealingReport& report) {
  Table table{.key = "step_errors",
              .title = "Errors over the subsets that were tried (ALA, Figure 7b)",
              .columns = {{.key = "seed", .title = "seed"},
                          {.key = "method", .title = "method", .unit = Unit::kText},
                          {.key = "min_ape", .title = "least", .unit = Unit::kShare},
                          {.key = "median_ape", .title = "median", .unit = Unit::kShare},
                          {.key = "max_ape", .title = "greatest", .unit = Unit::kShare}},
              .terminal_limit = 0};
  const auto add = [&table](Value seed, const std::string& method, std::vector<double> errors) {
    std::erase_if(errors, [](double e) { return !std::isfinite(e); });
    if (errors.empty()) return;
    std::sort(errors.begin(), errors.end());
    table.rows.push_back(
        {seed, method, errors.front(), quantile_sorted(errors, 0.5), errors.back()});
  };
  for (const auto& [seed, run] : report.runs) {
    std::vector<double> errors;
    for (const AnnealingStep& step : run.log) errors.push_back(step.error);
    add(seed_of(seed, run), "ala", std::move(errors));
    for (const AnnealingBaseline& baseline : report.baselines) {
      if (baseline.seed == seed) add(seed_of(seed, run), baseline.method, baseline.errors);
    }
  }
  return table;
}

// Over the runs that have the value.
double mean(const std::vector<TargetJudgement>& judged, double TargetJudgement::* field) {
  double sum = 0;
  size_t count = 0;
  for (const TargetJudgement& j : judged) {
    if (!std::isfinite(j.*field)) continue;
    sum += j.*field;
    ++count;
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

Table targets_table(const AnnealingReport& report) {
  const auto data_only = [](const char* key, Unit unit) {
    return Column{.key = key, .title = key, .unit = unit, .show = Show::kDataOnly};
  };
  Table table{
      .key = "targets",
      .title = "Predicted error, confidence and actual error (ALA, Table I)",
      .columns =
          {{.key = "target", .title = "rows", .unit = Unit::kText, .elastic = true},
           data_only("n", Unit::kCount),
           {.key = "predicted_error", .title = "pred.", .unit = Unit::kShare},
           data_only("predicted_error_low", Unit::kShare),
           data_only("predicted_error_high", Unit::kShare),
           {.key = "confidence", .title = "conf.", .unit = Unit::kRatio},
           {.key = "actual_error", .title = "actual", .unit = Unit::kShare},
           {.key = "predicted_error_subsets", .title = "pred. subsets", .unit = Unit::kShare},
           {.key = "confidence_with_throughput", .title = "conf. +tput", .unit = Unit::kRatio},
           data_only("unknown_rows", Unit::kCount)},
      .terminal_limit = 0};
  for (const AnnealingTarget& target : report.targets) {
    if (target.by_seed.empty()) continue;
    const auto [low, high] = std::minmax_element(
        target.by_seed.begin(), target.by_seed.end(),
        [](const auto& x, const auto& y) { return x.predicted_error < y.predicted_error; });
    table.rows.push_back({target.name, target.rows.rows.size(),
                          mean(target.by_seed, &TargetJudgement::predicted_error),
                          low->predicted_error, high->predicted_error,
                          mean(target.by_seed, &TargetJudgement::confidence),
                          mean(target.by_seed, &TargetJudgement::actual_error),
                          mean(target.by_seed, &TargetJudgement::predicted_error_subsets),
                          mean(target.by_seed, &TargetJudgement::confidence_with_throughput),
                          target.by_seed.front().unknown_rows});
  }
  for (const PaperRow& row : kTableOne) {
    table.rows.push_back({row.name, Value(), row.predicted, Value(), Value(), row.confidence,
                          row.actual, Value(), Value(), Value()});
  }
  return table;
}

// What the columns mean, and what they cannot tell.
Prose targets_prose(const AnnealingReport& report) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  prose.paragraphs.push_back(
      "pred.: the error of ALA taught with the lengths and batch sizes that each configuration has "
      "(Algorithm 8). actual and pred. subsets: means over the subsets tried, measured and "
      "predicted. conf. +tput: with throughput among the histograms.");
  const auto same_values = [&](const AnnealingTarget& a, const AnnealingTarget& b) {
    return a.by_seed.front().predicted_error == b.by_seed.front().predicted_error;
  };
  for (size_t i = 1; i < report.targets.size(); ++i) {
    const AnnealingTarget& target = report.targets[i];
    if (target.by_seed.empty() || !same_values(target, report.targets[i - 1])) continue;
    prose.paragraphs.push_back(
        "Rows with the same lengths and batch sizes get the same prediction: the predictor of "
        "Algorithm 7 sees which values are there, and nothing of models and devices.");
    break;
  }
  for (const AnnealingTarget& target : report.targets) {
    if (target.by_seed.empty() || target.by_seed.front().unknown_rows == 0) continue;
    prose.paragraphs.push_back(
        fmt::format("{}: {} of {} rows have a length or batch size that was not learned from; it "
                    "has no place in the encoding.",
                    target.name, target.by_seed.front().unknown_rows, target.rows.rows.size()));
  }
  return prose;
}

}  // namespace

Section annealing_section(const AnnealingReport& report) {
  Section section{.key = "throughput", .title = "Simulated annealing over training subsets"};
  section.blocks.push_back(Facts{
      .items = {{"method", "method", "ala", Unit::kText, "", Show::kDataOnly},
                {"learned_from", "learned from",
                 report.source.empty() ? std::string("all rows") : report.source, Unit::kText},
                {"rows", "rows", report.source_rows, Unit::kCount}}});
  if (!report.targets.empty() && !report.runs.empty()) {
    section.blocks.push_back(targets_table(report));
    section.blocks.push_back(targets_prose(report));
  }
  if (!report.runs.empty()) {
    section.blocks.push_back(runs_table(report));
    section.blocks.push_back(spread_table(report));
  }
  section.blocks.push_back(log_table(report));
  section.blocks.push_back(baselines_table(report));
  for (Block& block : annealing_charts(report)) section.blocks.push_back(std::move(block));
  return section;
}

std::vector<std::string> annealing_words(const AnnealingReport& report) {
  if (report.runs.empty()) return {"Interrupted before the first step."};
  std::vector<std::string> words;
  const auto best =
      std::min_element(report.runs.begin(), report.runs.end(), [](const auto& x, const auto& y) {
        return best_of(x.second).error < best_of(y.second).error;
      });
  const AnnealingStep& step = best_of(best->second);
  words.push_back(fmt::format(
      "{} has {} of {} rows (lengths {}, batch sizes {}) and predicts "
      "the others with a median error of {}.",
      best->second.exhaustive
          ? fmt::format("The best of all {} training subsets", best->second.log.size())
          : std::string("The best training subset found"),
      step.rows, report.source_rows, values_text(best->second.values.in_len, step.subset.in_len),
      values_text(best->second.values.batch, step.subset.batch), format_share(step.error)));
  for (const AnnealingTarget& target : report.targets) {
    if (target.by_seed.empty()) continue;
    words.push_back(fmt::format(
        "{}: error predicted {}, actual {}, confidence {:.2f} ({:.2f} with throughput).",
        target.name, format_share(mean(target.by_seed, &TargetJudgement::predicted_error)),
        format_share(mean(target.by_seed, &TargetJudgement::actual_error)),
        mean(target.by_seed, &TargetJudgement::confidence),
        mean(target.by_seed, &TargetJudgement::confidence_with_throughput)));
  }
  const bool interrupted = std::any_of(report.runs.begin(), report.runs.end(),
                                       [](const auto& run) { return run.second.interrupted; });
  if (interrupted) words.push_back("Interrupted: this is what was found until then.");
  return words;
}

}  // namespace assay
