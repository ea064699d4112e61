#include "report/throughput/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/stats.h"
#include "report/document/units.h"
#include "report/throughput/charts.h"
#include "throughput/dataset.h"
#include "throughput/reference_results.h"

namespace assay {
namespace {

// Errors go from a hundredth of a percent to a thousand: three digits, and no more than two
// decimals.
std::string error_text(double share) {
  const double value = 100 * share;
  if (!std::isfinite(value)) return "-";
  if (value >= 1e6) return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string pair_text(double median, double p90) {
  return std::isfinite(median) ? error_text(median) + " / " + error_text(p90) : "-";
}

Table splits_table(const ThroughputEvaluation& evaluation) {
  const bool known = is_llm_inference_bench(evaluation.data);
  Table table{.key = "splits",
              .columns = {{.key = "name", .title = "split", .unit = Unit::kText},
                          {.key = "question", .title = "question", .unit = Unit::kText},
                          {.key = "method", .title = "method", .unit = Unit::kText},
                          {.key = "folds", .title = "folds", .unit = Unit::kCount},
                          {.key = "n", .title = "n", .unit = Unit::kCount},
                          {.key = "unanswered", .title = "no answer", .unit = Unit::kCount},
                          {.key = "impossible", .title = "impossible", .unit = Unit::kCount},
                          {.key = "outside", .title = "outside", .unit = Unit::kCount},
                          {.key = "p10_ape", .title = "p10", .unit = Unit::kShare},
                          {.key = "p25_ape", .title = "p25", .unit = Unit::kShare},
                          {.key = "median_ape", .title = "median", .unit = Unit::kShare},
                          {.key = "p75_ape", .title = "p75", .unit = Unit::kShare},
                          {.key = "p90_ape", .title = "p90", .unit = Unit::kShare},
                          {.key = "mean_ape", .title = "mean", .unit = Unit::kShare},
                          {.key = "coverage90", .title = "coverage", .unit = Unit::kShare},
                          {.key = "half_width90", .title = "half-width", .unit = Unit::kShare},
                          {.key = "reference_median_ape", .title = "", .unit = Unit::kShare},
                          {.key = "reference_p90_ape", .title = "", .unit = Unit::kShare}},
              .terminal_limit = 0,
              .show = Show::kDataOnly};
  for (const SplitErrors& e : evaluation.errors) {
    const ErrorSummary& s = e.summary;
    const auto reference = known ? reference_error(e.split, e.method) : std::nullopt;
    std::set<size_t> folds;
    for (const TestedRow& row : e.rows) folds.insert(row.fold);
    table.rows.push_back({e.split, e.label, e.method, folds.size(), s.answered, s.rows - s.answered,
                          s.impossible, s.outside, finite_value(s.p10_ape), finite_value(s.p25_ape),
                          finite_value(s.median_ape), finite_value(s.p75_ape),
                          finite_value(s.p90_ape), finite_value(s.mean_ape),
                          finite_value(s.coverage90), finite_value(s.half_width90),
                          reference ? Value(reference->median_ape) : Value(),
                          reference ? Value(reference->p90_ape) : Value()});
  }
  return table;
}

// Median and 90th percentile in one cell: what a reader compares.
Table readers_table(const ThroughputEvaluation& evaluation) {
  const bool known = is_llm_inference_bench(evaluation.data);
  Table table{
      .title = "Absolute percentage error, median / 90th percentile",
      .columns =
          {{.key = "name", .title = "split", .unit = Unit::kText},
           {.key = "question", .title = "question", .unit = Unit::kText, .elastic = true},
           {.key = "method", .title = "method", .unit = Unit::kText},
           {.key = "n", .title = "n", .unit = Unit::kCount},
           {.key = "error", .title = "error %", .unit = Unit::kText, .align = Align::kRight}},
      .terminal_limit = 0,
      .show = Show::kReadersOnly};
  if (known) {
    table.columns.push_back(
        {.key = "reference", .title = "prototype %", .unit = Unit::kText, .align = Align::kRight});
  }
  const bool intervals =
      std::any_of(evaluation.errors.begin(), evaluation.errors.end(),
                  [](const SplitErrors& e) { return std::isfinite(e.summary.coverage90); });
  if (intervals) {
    table.columns.push_back({.key = "coverage", .title = "in 90 %", .unit = Unit::kShare});
    table.columns.push_back({.key = "half_width", .title = "\u00b1 median", .unit = Unit::kShare});
  }
  std::string last;
  for (const SplitErrors& e : evaluation.errors) {
    const ErrorSummary& s = e.summary;
    Row row = {e.split == last ? "" : e.split, e.split == last ? "" : e.label, e.method, s.answered,
               pair_text(s.median_ape, s.p90_ape)};
    if (known) {
      const auto reference = reference_error(e.split, e.method);
      row.push_back(reference ? pair_text(reference->median_ape, reference->p90_ape) : "-");
    }
    if (intervals) {
      row.push_back(finite_value(s.coverage90));
      row.push_back(finite_value(s.half_width90));
    }
    table.rows.push_back(std::move(row));
    last = e.split;
  }
  return table;
}

Table folds_table(const ThroughputEvaluation& evaluation) {
  Table table{.key = "folds",
              .columns = {{.key = "split", .title = "split", .unit = Unit::kText},
                          {.key = "fold", .title = "fold", .unit = Unit::kText},
                          {.key = "train_rows", .title = "train", .unit = Unit::kCount},
                          {.key = "test_rows", .title = "test", .unit = Unit::kCount}},
              .show = Show::kDataOnly};
  for (const Split& split : evaluation.splits) {
    for (const SplitFold& fold : split.folds) {
      table.rows.push_back({split.name, fold.name, fold.train.size(), fold.test.size()});
    }
  }
  return table;
}

// Figure 8 of the paper: the errors of the first split by model. Readers see the first method.
std::vector<Block> model_blocks(const ThroughputEvaluation& evaluation) {
  if (evaluation.errors.empty()) return {};
  Table data{.key = "by_model",
             .title = "By model, " + evaluation.errors.front().split + ", " +
                      evaluation.errors.front().method,
             .columns = {{.key = "model", .title = "model", .unit = Unit::kText, .elastic = true},
                         {.key = "method",
                          .title = "method",
                          .unit = Unit::kText,
                          .show = Show::kDataOnly},
                         {.key = "n", .title = "n", .unit = Unit::kCount},
                         {.key = "p10_ape", .title = "p10", .unit = Unit::kShare},
                         {.key = "median_ape", .title = "median", .unit = Unit::kShare},
                         {.key = "p90_ape", .title = "p90", .unit = Unit::kShare}},
             .terminal_limit = 0,
             .show = Show::kDataOnly};
  Table readers = data;
  readers.show = Show::kReadersOnly;
  for (const SplitErrors& e : evaluation.errors) {
    if (e.split != evaluation.errors.front().split) continue;
    for (const NamedErrors& named : errors_by(evaluation.data, e, &BenchRow::model)) {
      const ErrorSummary& s = named.summary;
      data.rows.push_back({named.name, e.method, s.answered, finite_value(s.p10_ape),
                           finite_value(s.median_ape), finite_value(s.p90_ape)});
      if (&e == &evaluation.errors.front()) readers.rows.push_back(data.rows.back());
    }
  }
  return {std::move(readers), std::move(data)};
}

// A share of fewer rows than this is mostly chance: 90 % of 20 is 77 to 100 %.
constexpr size_t kFewRows = 20;

// What 90 % over all rows is for each hardware and framework. Readers see one method, a column a
// split.
std::vector<Block> pair_blocks(const ThroughputEvaluation& evaluation) {
  Table data{.key = "by_pair",
             .columns = {{.key = "split", .title = "split", .unit = Unit::kText},
                         {.key = "method", .title = "method", .unit = Unit::kText},
                         {.key = "group", .title = "hardware|framework", .unit = Unit::kText},
                         {.key = "n", .title = "n", .unit = Unit::kCount},
                         {.key = "median_ape", .title = "median", .unit = Unit::kShare},
                         {.key = "p90_ape", .title = "p90", .unit = Unit::kShare},
                         {.key = "coverage90", .title = "coverage", .unit = Unit::kShare},
                         {.key = "half_width90", .title = "half-width", .unit = Unit::kShare}},
             .show = Show::kDataOnly};
  Table readers{
      .title =
          fmt::format("In the interval of 90 %, where at least {} rows were asked for", kFewRows),
      .columns =
          {{.key = "group", .title = "hardware|framework", .unit = Unit::kText, .elastic = true}},
      .terminal_limit = 0,
      .show = Show::kReadersOnly};
  std::map<std::string, Row> cells;
  std::string shown;
  for (const SplitErrors& e : evaluation.errors) {
    if (!std::isfinite(e.summary.coverage90)) continue;
    if (shown.empty()) shown = e.method;
    if (shown == e.method)
      readers.columns.push_back({.key = e.split, .title = e.split, .unit = Unit::kShare});
    for (const NamedErrors& named : errors_by(evaluation.data, e, pair_name)) {
      const ErrorSummary& s = named.summary;
      data.rows.push_back({e.split, e.method, named.name, s.answered, finite_value(s.median_ape),
                           finite_value(s.p90_ape), finite_value(s.coverage90),
                           finite_value(s.half_width90)});
      if (shown != e.method) continue;
      Row& row = cells[named.name];
      row.resize(readers.columns.size() - 1);
      if (s.answered >= kFewRows) row.back() = finite_value(s.coverage90);
    }
  }
  for (auto& [name, row] : cells) {
    row.resize(readers.columns.size() - 1);
    row.insert(row.begin(), name);
    readers.rows.push_back(std::move(row));
  }
  if (data.rows.empty()) return {};
  return {std::move(readers), std::move(data)};
}

}  // namespace

std::vector<Block> saturation_blocks(const ThroughputData& data,
                                     const std::vector<GroupFit>& fits) {
  if (fits.empty()) return {};
  Table table{.key = "fits",
              .columns = {{.key = "group", .title = "group", .unit = Unit::kText},
                          {.key = "points", .title = "points", .unit = Unit::kCount},
                          {.key = "a", .title = "A"},
                          {.key = "b", .title = "B"},
                          {.key = "c", .title = "C"},
                          {.key = "median_ape", .title = "median", .unit = Unit::kShare}},
              .show = Show::kDataOnly};
  std::map<uint32_t, std::vector<double>> by_config;
  std::vector<uint32_t> config_of(data.group_names.size(), 0);
  for (size_t i = 0; i < data.rows.size(); ++i) {
    config_of[data.group[i]] = data.config[i];
  }
  for (const GroupFit& fit : fits) {
    table.rows.push_back({data.group_names[fit.group], fit.points, fit.curve.a, fit.curve.b,
                          fit.curve.c, fit.median_ape});
    by_config[config_of[fit.group]].push_back(fit.median_ape);
  }
  std::vector<double> medians;
  for (auto& [config, errors] : by_config) medians.push_back(median(std::move(errors)));
  std::sort(medians.begin(), medians.end());
  Facts facts{
      .title = "Saturation curves (ALA, Algorithm 2)",
      .items = {{"fitted_groups", "groups fitted", fits.size(), Unit::kCount},
                {"fit_median_ape", "error on their own points, median of configurations",
                 quantile_sorted(medians, 0.5), Unit::kShare},
                {"fit_p90_ape", "90th percentile", quantile_sorted(medians, 0.9), Unit::kShare}}};
  return {std::move(facts), std::move(table)};
}

std::vector<BenchOddity> all_oddities(const BenchTable& table, const ThroughputData& data) {
  std::vector<BenchOddity> oddities = table.oddities;
  oddities.insert(oddities.end(), data.oddities.begin(), data.oddities.end());
  return oddities;
}

std::vector<std::string> bench_warning_words(const std::vector<BenchOddity>& oddities) {
  std::vector<std::string> words;
  for (const BenchOddity& o : oddities) {
    if (o.weight != OddityWeight::kWarning) continue;
    words.push_back(fmt::format("Warning, {} ({}): {}.", o.code,
                                o.rows == 1 ? "1 row" : fmt::format("{} rows", o.rows), o.effect));
  }
  return words;
}

TrustNotes bench_trust(const std::vector<BenchOddity>& oddities) {
  NoteList notes;
  for (const BenchOddity& o : oddities) {
    if (o.code == "infeasible") {
      notes.add(o.code, o.rows, 0, "splits,fits", o.effect);
    } else if (o.weight == OddityWeight::kWarning) {
      notes.add(o.code, o.rows, 0, "tokens_per_s,low90,high90", o.effect);
    } else if (o.dropped > 0) {
      notes.add(o.code, o.dropped, 0, "rows", o.effect);
    }
  }
  return notes.take();
}

std::vector<ImportNote> bench_import_notes(const BenchTable& table, const ThroughputData& data) {
  std::vector<ImportNote> notes;
  for (const BenchOddity& o : all_oddities(table, data)) {
    const std::string from = o.first_line > 0 ? fmt::format(" (first: line {})", o.first_line) : "";
    notes.push_back({o.code, o.loses_rows() ? "data_loss" : "info", o.rows, o.effect + from, -1});
  }
  return notes;
}

namespace {

// Rows of the file, each of which is used, dropped or merged into one that is.
uint64_t rows_in_file(const BenchTable& table, const ThroughputData& data) {
  uint64_t rows = data.rows.size();
  for (const BenchOddity& o : all_oddities(table, data)) rows += o.dropped + o.merged;
  return rows;
}

// What the rows become: "of 2610 in the file: 723 dropped, 68 merged with repeats".
std::string rows_note(const BenchTable& table, const ThroughputData& data) {
  uint64_t dropped = 0, merged = 0;
  for (const BenchOddity& o : all_oddities(table, data)) {
    dropped += o.dropped;
    merged += o.merged;
  }
  std::string text = fmt::format("of {} in the file", rows_in_file(table, data));
  if (dropped > 0) text += fmt::format("; {} dropped", dropped);
  if (merged > 0) text += fmt::format("; {} merged with repeats", merged);
  return text;
}

std::string infeasible_note(const BenchTable& table, const ThroughputData& data) {
  std::string text = "faster than reading the weights once per token";
  for (const BenchOddity& o : all_oddities(table, data)) {
    if (o.code != "feasibility_unchecked") continue;
    text += fmt::format("; {} rows could not be checked", o.rows);
  }
  return text;
}

Value line_value(int64_t line) { return line > 0 ? Value(line) : Value(); }

}  // namespace

std::vector<Block> bench_table_blocks(const BenchTable& table, const ThroughputData& data) {
  const auto infeasible = std::count(data.infeasible.begin(), data.infeasible.end(), true);
  Facts facts{
      .title = "Table",
      .items = {
          {"format", "format", table.format, Unit::kText},
          {"rows", "rows used", data.rows.size(), Unit::kCount, rows_note(table, data)},
          {"file_rows", "rows in the file", static_cast<int64_t>(rows_in_file(table, data)),
           Unit::kCount, "", Show::kDataOnly},
          {"configs", "configurations", data.config_names.size(), Unit::kCount},
          {"groups", "groups (configuration and lengths)", data.group_names.size(), Unit::kCount},
          {"infeasible", "infeasible rows", static_cast<int64_t>(infeasible), Unit::kCount,
           infeasible_note(table, data)}}};
  Facts dropped{.key = "dropped", .show = Show::kDataOnly};
  Table odd{.key = "oddities",
            .columns = {{.key = "code", .title = "code", .unit = Unit::kText},
                        {.key = "rows", .title = "rows", .unit = Unit::kCount},
                        {.key = "dropped", .title = "dropped", .unit = Unit::kCount},
                        {.key = "merged", .title = "merged", .unit = Unit::kCount},
                        {.key = "first_line", .title = "first line"},
                        {.key = "weight", .title = "weight", .unit = Unit::kText},
                        {.key = "effect", .title = "effect", .unit = Unit::kText, .elastic = true}},
            .show = Show::kDataOnly};
  for (const BenchOddity& o : all_oddities(table, data)) {
    if (o.dropped > 0) dropped.items.push_back({o.code, o.code, o.dropped, Unit::kCount});
    odd.rows.push_back({o.code, o.rows, o.dropped, o.merged, line_value(o.first_line),
                        oddity_weight_name(o.weight), o.effect});
  }
  return {std::move(facts), std::move(dropped), std::move(odd)};
}

Section throughput_evaluation_section(const ThroughputEvaluation& evaluation) {
  Section section{.key = "throughput", .title = "Throughput of configurations held out"};
  std::vector<std::string> methods;
  for (const SplitErrors& e : evaluation.errors) {
    if (std::find(methods.begin(), methods.end(), e.method) == methods.end()) {
      methods.push_back(e.method);
    }
  }
  section.blocks.push_back(
      Facts{.items = {{"method", "method", methods.size() == 1 ? Value(methods[0]) : Value(methods),
                       Unit::kText},
                      {"interrupted", "interrupted", evaluation.interrupted}},
            .show = Show::kDataOnly});
  section.blocks.push_back(readers_table(evaluation));
  section.blocks.push_back(splits_table(evaluation));
  section.blocks.push_back(folds_table(evaluation));
  for (Block& block : evaluation_charts(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : pair_blocks(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : model_blocks(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : saturation_blocks(evaluation.data, evaluation.fits))
    section.blocks.push_back(std::move(block));
  for (Block& block : bench_table_blocks(evaluation.table, evaluation.data)) {
    section.blocks.push_back(std::move(block));
  }
  return section;
}

namespace {

// The worst and the best pair, where there are several: what the mean over all rows hides.
std::string coverage_of_pairs(const ThroughputData& data, const SplitErrors& errors) {
  double least = 1, most = 0;
  size_t pairs = 0;
  for (const NamedErrors& named : errors_by(data, errors, pair_name)) {
    const ErrorSummary& s = named.summary;
    if (s.answered < kFewRows || !std::isfinite(s.coverage90)) continue;
    ++pairs;
    least = std::min(least, s.coverage90);
    most = std::max(most, s.coverage90);
  }
  if (pairs < 2) return "";
  return fmt::format(", by hardware and framework {} to {}", format_share(least),
                     format_share(most));
}

}  // namespace

std::vector<std::string> throughput_evaluation_words(const ThroughputEvaluation& evaluation) {
  std::vector<std::string> words;
  const std::string& first =
      evaluation.errors.empty() ? std::string() : evaluation.errors.front().method;
  const bool several = std::any_of(evaluation.errors.begin(), evaluation.errors.end(),
                                   [&first](const SplitErrors& e) { return e.method != first; });
  for (const SplitErrors& e : evaluation.errors) {
    if (e.method != first) continue;
    const ErrorSummary& s = e.summary;
    if (s.answered == 0) {
      words.push_back(fmt::format("{} ({}): {} has no answer.", e.label, e.split, e.method));
      continue;
    }
    std::string text = fmt::format(
        "{} ({}{}): half of {} unseen rows are predicted within {} %, nine of ten within {} %",
        e.label, e.split, several ? ", " + e.method : "",
        format_count(static_cast<int64_t>(s.answered)), error_text(s.median_ape),
        error_text(s.p90_ape));
    if (std::isfinite(s.coverage90)) {
      text += fmt::format("; the 90 % intervals hold {}", format_share(s.coverage90)) +
              coverage_of_pairs(evaluation.data, e);
    }
    words.push_back(text + ".");
  }
  std::string impossible;
  for (const Split& split : evaluation.splits) {
    if (split.folds.empty()) impossible += (impossible.empty() ? "" : ", ") + split.name;
  }
  if (!impossible.empty()) {
    words.push_back(impossible +
                    ": this table has no rows for both the training and the test side.");
  }
  if (evaluation.interrupted) words.push_back("Interrupted: folds that were not run are missing.");
  return words;
}

}  // namespace assay
