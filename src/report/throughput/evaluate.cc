#include "report/throughput/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/stats.h"
#include "report/throughput/charts.h"
#include "report/throughput/results.h"
#include "throughput/dataset.h"
#include "throughput/reference_results.h"

namespace assay {
namespace {

// Errors range from 0.01 % to 1000 %: three significant digits, at most two decimals.
std::string error_text(double share) {
  const double value = 100 * share;
  if (!std::isfinite(value)) return "-";
  if (value >= 1e6) return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string pair_text(double median, double p90) {
  return std::isfinite(median) ? error_text(median) + " / " + error_text(p90) : "-";
}

// An error of a summary; missing without predictions.
auto summary_of(double ErrorSummary::* field) {
  return [field](const auto& row) { return finite_value(row.summary.*field); };
}

// The result of the reference prototype; nullopt for other tables.
using ReferenceOf = std::function<std::optional<ReferenceError>(const SplitErrors&)>;

ReferenceOf references(const ThroughputEvaluation& evaluation) {
  if (!is_llm_inference_bench(evaluation.data))
    return [](const SplitErrors&) { return std::nullopt; };
  return [](const SplitErrors& e) { return reference_error(e.split, e.method); };
}

size_t folds_of(const SplitErrors& errors) {
  std::set<size_t> folds;
  for (const TestedRow& row : errors.rows) folds.insert(row.fold);
  return folds.size();
}

Table splits_table(const ThroughputEvaluation& evaluation) {
  using Errors = SplitErrors;
  const ReferenceOf reference = references(evaluation);
  const auto prototype = [&reference](double ReferenceError::* field) {
    return [&reference, field](const Errors& e) {
      const auto found = reference(e);
      return found ? Value(found.value().*field) : Value();
    };
  };
  TableOf table(evaluation.errors, {.key = "splits", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::name, &Errors::split)
      .add(keys::question, &Errors::label)
      .add(keys::method, &Errors::method)
      .add(keys::folds, folds_of)
      .add(keys::n, [](const Errors& e) { return e.summary.answered; })
      .add(keys::unanswered, [](const Errors& e) { return e.summary.rows - e.summary.answered; })
      .add(keys::impossible, [](const Errors& e) { return e.summary.impossible; })
      .add(keys::outside, [](const Errors& e) { return e.summary.outside; })
      .add(keys::p10_ape, summary_of(&ErrorSummary::p10_ape))
      .add(keys::p25_ape, summary_of(&ErrorSummary::p25_ape))
      .add(keys::median_ape, summary_of(&ErrorSummary::median_ape))
      .add(keys::p75_ape, summary_of(&ErrorSummary::p75_ape))
      .add(keys::p90_ape, summary_of(&ErrorSummary::p90_ape))
      .add(keys::mean_ape, summary_of(&ErrorSummary::mean_ape))
      .add(keys::coverage90, summary_of(&ErrorSummary::coverage90))
      .add(keys::half_width90, summary_of(&ErrorSummary::half_width90))
      .add(keys::reference_median_ape, prototype(&ReferenceError::median_ape))
      .add(keys::reference_p90_ape, prototype(&ReferenceError::p90_ape));
  return table;
}

// Median and 90th percentile in one cell, which is what readers compare.
Table readers_table(const ThroughputEvaluation& evaluation) {
  using Errors = SplitErrors;
  const std::vector<Errors>& errors = evaluation.errors;
  const auto first_of_split = [&errors](const Errors& e) {
    return &e == &errors.front() || (&e - 1)->split != e.split;
  };
  const Look right(Show::kEverywhere, false, Align::kRight);
  TableOf table(errors, {.title = "Absolute percentage error, median / 90th percentile",
                         .terminal_limit = 0,
                         .show = Show::kReadersOnly});
  table.add(keys::name, [&](const Errors& e) { return first_of_split(e) ? e.split : ""; })
      .add(
          keys::question, [&](const Errors& e) { return first_of_split(e) ? e.label : ""; },
          elastic())
      .add(keys::method, &Errors::method)
      .add(keys::n, [](const Errors& e) { return e.summary.answered; })
      .add(
          keys::error,
          [](const Errors& e) { return pair_text(e.summary.median_ape, e.summary.p90_ape); },
          right);
  if (is_llm_inference_bench(evaluation.data)) {
    const auto prototype = [](const Errors& e) {
      const auto found = reference_error(e.split, e.method);
      return found ? pair_text(found->median_ape, found->p90_ape) : "-";
    };
    table.add(keys::reference, prototype, right);
  }
  const bool intervals = std::any_of(errors.begin(), errors.end(), [](const Errors& e) {
    return std::isfinite(e.summary.coverage90);
  });
  if (intervals) {
    table.add(keys::coverage90, summary_of(&ErrorSummary::coverage90))
        .add(keys::half_width90, summary_of(&ErrorSummary::half_width90));
  }
  return table;
}

Table folds_table(const ThroughputEvaluation& evaluation) {
  struct Fold {
    const std::string& split;
    const SplitFold& is;
  };
  std::vector<Fold> folds;
  for (const Split& split : evaluation.splits) {
    for (const SplitFold& fold : split.folds) folds.push_back({split.name, fold});
  }
  TableOf table(folds, {.key = "folds", .show = Show::kDataOnly});
  table.add(keys::split, [](const Fold& f) { return f.split; })
      .add(keys::fold, [](const Fold& f) { return f.is.name; })
      .add(keys::train_rows, [](const Fold& f) { return f.is.train.size(); })
      .add(keys::test_rows, [](const Fold& f) { return f.is.test.size(); });
  return table;
}

// Errors of a method on a split, restricted to some rows.
struct PartErrors {
  const SplitErrors& of;
  std::string name;
  ErrorSummary summary;
};

std::vector<PartErrors> parts_of(const ThroughputData& data, const SplitErrors& errors,
                                 const std::function<std::string(const BenchRow&)>& name_of) {
  std::vector<PartErrors> parts;
  for (NamedErrors& named : errors_by(data, errors, name_of)) {
    parts.push_back({errors, std::move(named.name), named.summary});
  }
  return parts;
}

Table by_model_table(const std::vector<PartErrors>& models, const Table& head) {
  TableOf table(models, head);
  table.add(keys::model, &PartErrors::name, elastic())
      .add(
          keys::method, [](const PartErrors& p) { return p.of.method; }, Show::kDataOnly)
      .add(keys::n, [](const PartErrors& p) { return p.summary.answered; })
      .add(keys::p10_ape, summary_of(&ErrorSummary::p10_ape))
      .add(keys::median_ape, summary_of(&ErrorSummary::median_ape))
      .add(keys::p90_ape, summary_of(&ErrorSummary::p90_ape));
  return table;
}

// Figure 8 of the paper: errors of the first split by model. Readers see the first method only.
std::vector<Block> model_blocks(const ThroughputEvaluation& evaluation) {
  if (evaluation.errors.empty()) return {};
  const SplitErrors& first = evaluation.errors.front();
  std::vector<PartErrors> models;
  for (const SplitErrors& e : evaluation.errors) {
    if (e.split != first.split) continue;
    for (PartErrors& part : parts_of(evaluation.data, e, &BenchRow::model)) {
      models.push_back(std::move(part));
    }
  }
  Table head{.key = "by_model",
             .title = "By model, " + first.split + ", " + first.method,
             .terminal_limit = 0,
             .show = Show::kReadersOnly};
  Table readers = by_model_table(parts_of(evaluation.data, first, &BenchRow::model), head);
  head.show = Show::kDataOnly;
  return {std::move(readers), by_model_table(models, head)};
}

// With fewer rows, the coverage is mostly chance: 90 % of 20 rows has an interval of 77 to 100 %.
constexpr size_t kFewRows = 20;

// One method, with a column per split.
Table pairs_for_readers(const std::vector<PartErrors>& pairs, const std::string& method) {
  std::map<std::string, std::map<std::string, double>> covered;  // by pair, by split
  std::vector<std::string> splits;
  for (const PartErrors& pair : pairs) {
    if (pair.of.method != method) continue;
    if (splits.empty() || splits.back() != pair.of.split) splits.push_back(pair.of.split);
    std::map<std::string, double>& by_split = covered[pair.name];
    if (pair.summary.answered >= kFewRows) by_split[pair.of.split] = pair.summary.coverage90;
  }
  const std::vector<std::pair<std::string, std::map<std::string, double>>> rows(covered.begin(),
                                                                                covered.end());
  using PairRow = std::pair<std::string, std::map<std::string, double>>;
  TableOf table(
      rows, {.title = fmt::format("In the interval of 90 %, for at least {} requested rows",
                                  kFewRows),
             .terminal_limit = 0,
             .show = Show::kReadersOnly});
  table.add(keys::group, &PairRow::first, elastic());
  for (const std::string& split : splits) {
    table.add_named({.key = split, .title = split, .unit = Unit::kShare}, [&](const PairRow& row) {
      const auto at = row.second.find(split);
      return at == row.second.end() ? Value() : finite_value(at->second);
    });
  }
  return table;
}

// A grouping of rows that an average over all rows may hide.
struct UnitKind {
  const char* key;
  const char* words;
  std::string (*name_of)(const BenchRow&);
};

const std::array<UnitKind, 3>& unit_kinds() {
  static const std::array<UnitKind, 3> kinds{
      {{"pair", "hardware and framework", pair_name},
       {"campaign", "campaign", [](const BenchRow& row) { return row.campaign; }},
       {"configuration", "configuration", config_name}}};
  return kinds;
}

// Coverage and interval width of every group with at least kFewRows rows, for JSON and CSV.
std::vector<Block> unit_blocks(const ThroughputEvaluation& evaluation) {
  struct Unit {
    const char* kind;
    PartErrors part;
  };
  std::vector<Unit> units;
  for (const SplitErrors& e : evaluation.errors) {
    if (!std::isfinite(e.summary.coverage90)) continue;
    for (const UnitKind& kind : unit_kinds()) {
      for (PartErrors& part : parts_of(evaluation.data, e, kind.name_of)) {
        if (part.summary.answered >= kFewRows) units.push_back({kind.key, std::move(part)});
      }
    }
  }
  if (units.empty()) return {};
  const auto of = [](double ErrorSummary::* field) {
    return [field](const Unit& unit) { return finite_value(unit.part.summary.*field); };
  };
  TableOf table(units, {.key = "by_unit", .show = Show::kDataOnly});
  table.add(keys::split, [](const Unit& u) { return u.part.of.split; })
      .add(keys::method, [](const Unit& u) { return u.part.of.method; })
      .add(keys::unit_kind, [](const Unit& u) { return u.kind; })
      .add(keys::group, [](const Unit& u) { return u.part.name; })
      .add(keys::n, [](const Unit& u) { return u.part.summary.answered; })
      .add(keys::median_ape, of(&ErrorSummary::median_ape))
      .add(keys::coverage90, of(&ErrorSummary::coverage90))
      .add(keys::half_width90, of(&ErrorSummary::half_width90));
  return {Table(std::move(table))};
}

// Coverage of the 90 % interval by hardware and framework. Readers see one method.
std::vector<Block> pair_blocks(const ThroughputEvaluation& evaluation) {
  std::vector<PartErrors> pairs;
  for (const SplitErrors& e : evaluation.errors) {
    if (!std::isfinite(e.summary.coverage90)) continue;
    for (PartErrors& part : parts_of(evaluation.data, e, pair_name)) {
      pairs.push_back(std::move(part));
    }
  }
  if (pairs.empty()) return {};
  TableOf data(pairs, {.key = "by_pair", .show = Show::kDataOnly});
  data.add(keys::split, [](const PartErrors& p) { return p.of.split; })
      .add(keys::method, [](const PartErrors& p) { return p.of.method; })
      .add(keys::group, &PartErrors::name)
      .add(keys::n, [](const PartErrors& p) { return p.summary.answered; })
      .add(keys::median_ape, summary_of(&ErrorSummary::median_ape))
      .add(keys::p90_ape, summary_of(&ErrorSummary::p90_ape))
      .add(keys::coverage90, summary_of(&ErrorSummary::coverage90))
      .add(keys::half_width90, summary_of(&ErrorSummary::half_width90));
  return {pairs_for_readers(pairs, pairs.front().of.method), Table(std::move(data))};
}

}  // namespace

std::vector<Block> saturation_blocks(const ThroughputData& data,
                                     const std::vector<GroupFit>& fits) {
  if (fits.empty()) return {};
  TableOf table(fits, {.key = "fits", .show = Show::kDataOnly});
  table.add(keys::group, [&](const GroupFit& fit) { return data.group_names[fit.group]; })
      .add(keys::points, &GroupFit::points)
      .add(keys::a, [](const GroupFit& fit) { return fit.curve.a; })
      .add(keys::b, [](const GroupFit& fit) { return fit.curve.b; })
      .add(keys::c, [](const GroupFit& fit) { return fit.curve.c; })
      .add(keys::median_ape, &GroupFit::median_ape);
  std::map<uint32_t, std::vector<double>> by_config;
  std::vector<uint32_t> config_of(data.group_names.size(), 0);
  for (size_t i = 0; i < data.rows.size(); ++i) config_of[data.group[i]] = data.config[i];
  for (const GroupFit& fit : fits) by_config[config_of[fit.group]].push_back(fit.median_ape);
  std::vector<double> medians;
  for (auto& [config, errors] : by_config) medians.push_back(median(std::move(errors)));
  std::sort(medians.begin(), medians.end());
  Facts facts{.title = "Saturation curves (ALA, Algorithm 2)",
              .items = {fact(keys::fitted_groups, fits.size()),
                        fact(keys::fit_median_ape, quantile_sorted(medians, 0.5)),
                        fact(keys::fit_p90_ape, quantile_sorted(medians, 0.9))}};
  return {std::move(facts), Table(std::move(table))};
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

// Number of rows in the file; each is used, dropped or merged into a used row.
uint64_t rows_in_file(const BenchTable& table, const ThroughputData& data) {
  uint64_t rows = data.rows.size();
  for (const BenchOddity& o : all_oddities(table, data)) rows += o.dropped + o.merged;
  return rows;
}

// Outcome of the rows, as in "of 2610 in the file: 723 dropped, 68 merged with repeats".
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
  Facts facts{.title = "Table",
              .items = {fact(keys::format, table.format),
                        fact(keys::rows, data.rows.size(), rows_note(table, data)),
                        data_fact(keys::file_rows, static_cast<int64_t>(rows_in_file(table, data))),
                        fact(keys::configs, data.config_names.size()),
                        fact(keys::groups, data.group_names.size()),
                        fact(keys::infeasible, static_cast<int64_t>(infeasible),
                             infeasible_note(table, data))}};
  Facts dropped{.key = "dropped", .show = Show::kDataOnly};
  const std::vector<BenchOddity> oddities = all_oddities(table, data);
  for (const BenchOddity& o : oddities) {
    if (o.dropped > 0) dropped.items.push_back({o.code, o.code, o.dropped, Unit::kCount});
  }
  TableOf odd(oddities, {.key = "oddities", .show = Show::kDataOnly});
  odd.add(keys::code, &BenchOddity::code)
      .add(keys::rows, &BenchOddity::rows)
      .add(keys::dropped, &BenchOddity::dropped)
      .add(keys::merged, &BenchOddity::merged)
      .add(keys::first_line, [](const BenchOddity& o) { return line_value(o.first_line); })
      .add(keys::weight, [](const BenchOddity& o) { return oddity_weight_name(o.weight); })
      .add(keys::effect, &BenchOddity::effect, elastic());
  return {std::move(facts), std::move(dropped), Table(std::move(odd))};
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
      Facts{.items = {fact(keys::method, methods.size() == 1 ? Value(methods[0]) : Value(methods)),
                      fact(keys::interrupted, evaluation.interrupted)},
            .show = Show::kDataOnly});
  section.blocks.push_back(readers_table(evaluation));
  section.blocks.push_back(splits_table(evaluation));
  section.blocks.push_back(folds_table(evaluation));
  for (Block& block : evaluation_charts(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : pair_blocks(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : unit_blocks(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : model_blocks(evaluation)) section.blocks.push_back(std::move(block));
  for (Block& block : saturation_blocks(evaluation.data, evaluation.fits))
    section.blocks.push_back(std::move(block));
  for (Block& block : bench_table_blocks(evaluation.table, evaluation.data)) {
    section.blocks.push_back(std::move(block));
  }
  return section;
}

namespace {

// The groups with the worst and the best coverage, which an average over all rows hides.
struct Extremes {
  size_t units = 0;  // groups with at least kFewRows predictions that have an interval
  NamedErrors worst, best;
};

Extremes extremes_of(const ThroughputData& data, const SplitErrors& errors, const UnitKind& kind) {
  Extremes out;
  for (NamedErrors& named : errors_by(data, errors, kind.name_of)) {
    const ErrorSummary& s = named.summary;
    if (s.answered < kFewRows || !std::isfinite(s.coverage90)) continue;
    ++out.units;
    if (out.units == 1 || s.coverage90 < out.worst.summary.coverage90) out.worst = named;
    if (out.units == 1 || s.coverage90 > out.best.summary.coverage90) out.best = named;
  }
  return out;
}

std::string half_width_text(const ErrorSummary& summary) {
  return "\u00b1 " + format_share(summary.half_width90);
}

// ", by hardware and framework 71 % to 100 %, by campaign 35 % (vLLM|v0.9|2026-04-17, ± 40 %) to
// ..."
std::string coverage_of_units(const ThroughputData& data, const SplitErrors& errors) {
  std::string text;
  for (const UnitKind& kind : unit_kinds()) {
    const Extremes found = extremes_of(data, errors, kind);
    if (found.units < 2) continue;
    text += fmt::format(", by {} {} ({}, {}) to {}", kind.words,
                        format_share(found.worst.summary.coverage90), found.worst.name,
                        half_width_text(found.worst.summary),
                        format_share(found.best.summary.coverage90));
  }
  return text;
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
        "{} ({}{}): half of {} held-out rows are predicted within {} %, nine of ten within {} %",
        e.label, e.split, several ? ", " + e.method : "",
        format_count(static_cast<int64_t>(s.answered)), error_text(s.median_ape),
        error_text(s.p90_ape));
    if (std::isfinite(s.coverage90)) {
      text += fmt::format("; the 90 % intervals hold {} ({} in the middle)",
                          format_share(s.coverage90), half_width_text(s)) +
              coverage_of_units(evaluation.data, e);
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
