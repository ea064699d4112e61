#include "report/throughput/anneal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/stats.h"
#include "text/units.h"
#include "report/throughput/charts.h"
#include "report/throughput/results.h"

namespace assay {
namespace {

// The paper's Table I, measured on private data: compare the pattern, not the values.
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

// An exhaustive search uses no random numbers.
Value seed_of(uint64_t seed, const AnnealingRun& run) {
  return run.exhaustive ? Value() : Value(seed);
}

double mean_error(const AnnealingRun& run) {
  double sum = 0;
  for (const AnnealingStep& step : run.log) sum += step.error;
  return sum / static_cast<double>(run.log.size());
}

Value accepted_of(const AnnealingRun& run) {
  if (run.exhaustive) return {};
  return std::count_if(run.log.begin() + 1, run.log.end(),
                       [](const AnnealingStep& step) { return step.accepted; });
}

Table runs_table(const AnnealingReport& report) {
  struct SeededRun {
    uint64_t seed;
    const AnnealingRun& is;
    const AnnealingStep& best;
  };
  std::vector<SeededRun> runs;
  for (const auto& [seed, run] : report.runs) runs.push_back({seed, run, best_of(run)});
  TableOf table(runs,
                {.key = "runs", .title = "Searches for a training subset", .terminal_limit = 0});
  table.add(keys::seed, [](const SeededRun& r) { return seed_of(r.seed, r.is); })
      .add(keys::steps,
           [](const SeededRun& r) { return r.is.log.size() - (r.is.exhaustive ? 0 : 1); })
      .add(keys::accepted, [](const SeededRun& r) { return accepted_of(r.is); })
      .add(keys::mean_error, [](const SeededRun& r) { return mean_error(r.is); })
      .add(keys::best_error, [](const SeededRun& r) { return r.best.error; })
      .add(keys::best_rows, [](const SeededRun& r) { return r.best.rows; })
      .add(keys::best_in_len,
           [](const SeededRun& r) { return values_text(r.is.values.in_len, r.best.subset.in_len); })
      .add(keys::best_batch,
           [](const SeededRun& r) { return values_text(r.is.values.batch, r.best.subset.batch); })
      .add(keys::interrupted, [](const SeededRun& r) { return r.is.interrupted; });
  return table;
}

// Figure 7(b): the error of every evaluated subset.
Table log_table(const AnnealingReport& report) {
  struct Step {
    uint64_t seed;
    const AnnealingRun& run;
    size_t at;
    const AnnealingStep& is;
  };
  std::vector<Step> steps;
  for (const auto& [seed, run] : report.runs) {
    for (size_t i = 0; i < run.log.size(); ++i) steps.push_back({seed, run, i, run.log[i]});
  }
  const auto if_walked = [](const Step& s, Value value) {
    return s.run.exhaustive ? Value() : std::move(value);
  };
  TableOf table(steps, {.key = "steps", .show = Show::kDataOnly});
  table.add(keys::seed, [](const Step& s) { return seed_of(s.seed, s.run); })
      .add(keys::step, &Step::at)
      .add(keys::train_rows, [](const Step& s) { return s.is.rows; })
      .add(keys::in_len,
           [](const Step& s) { return values_text(s.run.values.in_len, s.is.subset.in_len); })
      .add(keys::batch,
           [](const Step& s) { return values_text(s.run.values.batch, s.is.subset.batch); })
      .add(keys::out_len,
           [](const Step& s) { return values_text(s.run.values.out_len, s.is.subset.out_len); })
      .add(keys::median_ape, [](const Step& s) { return s.is.error; })
      .add(keys::temperature, [&](const Step& s) { return if_walked(s, s.is.temperature); })
      .add(keys::accepted, [&](const Step& s) { return if_walked(s, s.is.accepted); });
  return table;
}

// Figure 7(b): plain regressors on the same subsets.
Table baselines_table(const AnnealingReport& report) {
  struct Step {
    const AnnealingBaseline& of;
    size_t at;
  };
  std::vector<Step> steps;
  for (const AnnealingBaseline& baseline : report.baselines) {
    for (size_t i = 0; i < baseline.errors.size(); ++i) steps.push_back({baseline, i});
  }
  TableOf table(steps, {.key = "baseline_steps", .show = Show::kDataOnly});
  table.add(keys::seed, [](const Step& s) { return s.of.seed; })
      .add(keys::method, [](const Step& s) { return s.of.method; })
      .add(keys::step, &Step::at)
      .add(keys::median_ape, [](const Step& s) { return s.of.errors[s.at]; });
  return table;
}

// For readers: distribution over the steps of a run.
Table spread_table(const AnnealingReport& report) {
  struct Spread {
    Value seed;
    std::string method;
    std::vector<double> errors;  // sorted
  };
  std::vector<Spread> spreads;
  const auto add = [&spreads](Value seed, const std::string& method, std::vector<double> errors) {
    std::erase_if(errors, [](double e) { return !std::isfinite(e); });
    if (errors.empty()) return;
    std::sort(errors.begin(), errors.end());
    spreads.push_back({std::move(seed), method, std::move(errors)});
  };
  for (const auto& [seed, run] : report.runs) {
    std::vector<double> errors;
    for (const AnnealingStep& step : run.log) errors.push_back(step.error);
    add(seed_of(seed, run), "ala", std::move(errors));
    for (const AnnealingBaseline& baseline : report.baselines) {
      if (baseline.seed == seed) add(seed_of(seed, run), baseline.method, baseline.errors);
    }
  }
  TableOf table(spreads, {.key = "step_errors",
                          .title = "Errors over the subsets that were tried (ALA, Figure 7b)",
                          .terminal_limit = 0});
  table.add(keys::seed, &Spread::seed)
      .add(keys::method, &Spread::method)
      .add(keys::min_ape, [](const Spread& s) { return s.errors.front(); })
      .add(keys::median_ape, [](const Spread& s) { return quantile_sorted(s.errors, 0.5); })
      .add(keys::max_ape, [](const Spread& s) { return s.errors.back(); });
  return table;
}

// Mean over the runs that have the value.
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

// A row of Table I: one of these targets, or one of the paper's.
struct TargetRow {
  std::string name;
  TargetJudgement mean = {};  // over seeds
  Value n = {};
  Value low = {};
  Value high = {};
  Value unknown_rows = {};
};

TargetRow row_of(const AnnealingTarget& target) {
  const std::vector<TargetJudgement>& judged = target.by_seed;
  const auto [low, high] = std::minmax_element(
      judged.begin(), judged.end(),
      [](const auto& x, const auto& y) { return x.predicted_error < y.predicted_error; });
  TargetRow row{.name = target.name,
                .n = target.rows.rows.size(),
                .low = low->predicted_error,
                .high = high->predicted_error,
                .unknown_rows = judged.front().unknown_rows};
  for (const auto field :
       {&TargetJudgement::predicted_error, &TargetJudgement::confidence,
        &TargetJudgement::actual_error, &TargetJudgement::predicted_error_subsets,
        &TargetJudgement::confidence_with_throughput}) {
    row.mean.*field = mean(judged, field);
  }
  return row;
}

Table targets_table(const AnnealingReport& report) {
  std::vector<TargetRow> targets;
  for (const AnnealingTarget& target : report.targets) {
    if (!target.by_seed.empty()) targets.push_back(row_of(target));
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (const PaperRow& row : kTableOne) {
    TargetRow paper{.name = row.name};
    paper.mean.predicted_error = row.predicted;
    paper.mean.predicted_error_subsets = kNone;
    paper.mean.confidence = row.confidence;
    paper.mean.confidence_with_throughput = kNone;
    paper.mean.actual_error = row.actual;
    targets.push_back(std::move(paper));
  }
  const auto of = [](double TargetJudgement::* field) {
    return [field](const TargetRow& row) { return row.mean.*field; };
  };
  constexpr Show kData = Show::kDataOnly;
  TableOf table(targets, {.key = "targets",
                          .title = "Predicted error, confidence and actual error (ALA, Table I)",
                          .terminal_limit = 0});
  table.add(keys::target, &TargetRow::name, elastic())
      .add(keys::n, &TargetRow::n, kData)
      .add(keys::predicted_error, of(&TargetJudgement::predicted_error))
      .add(keys::predicted_error_low, &TargetRow::low, kData)
      .add(keys::predicted_error_high, &TargetRow::high, kData)
      .add(keys::confidence, of(&TargetJudgement::confidence))
      .add(keys::actual_error, of(&TargetJudgement::actual_error))
      .add(keys::predicted_error_subsets, of(&TargetJudgement::predicted_error_subsets))
      .add(keys::confidence_with_throughput, of(&TargetJudgement::confidence_with_throughput))
      .add(keys::unknown_rows, &TargetRow::unknown_rows, kData);
  return table;
}

// Meaning and limits of the columns.
Prose targets_prose(const AnnealingReport& report) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  prose.paragraphs.push_back(
      "predicted: the error of ALA trained on the lengths and batch sizes of each configuration "
      "(Algorithm 8).");
  prose.paragraphs.push_back("actual and predicted: means over the subsets tried.");
  prose.paragraphs.push_back("confidence with throughput: histograms include throughput.");
  const auto same_values = [&](const AnnealingTarget& a, const AnnealingTarget& b) {
    return a.by_seed.front().predicted_error == b.by_seed.front().predicted_error;
  };
  for (size_t i = 1; i < report.targets.size(); ++i) {
    const AnnealingTarget& target = report.targets[i];
    if (target.by_seed.empty() || !same_values(target, report.targets[i - 1])) continue;
    prose.paragraphs.push_back(
        "Rows with the same lengths and batch sizes get the same prediction: the predictor of "
        "Algorithm 7 uses these values only, not models and devices.");
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
  section.blocks.push_back(
      Facts{.items = {data_fact(keys::method, "ala"),
                      fact(keys::trained_on,
                           report.source.empty() ? std::string("all rows") : report.source),
                      fact(keys::rows, report.source_rows)}});
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
