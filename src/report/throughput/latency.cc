#include "report/throughput/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/throughput/results.h"

namespace assay {
namespace {

std::string errors_text(double median, double p90) {
  return fmt::format("{:.1f} / {:.0f}", 100 * median, 100 * p90);
}

std::string split_text(const LatencyErrors& e) {
  return e.question.empty() ? e.split : "  " + e.question;
}

Table data_table(const std::vector<LatencyErrors>& errors) {
  using E = LatencyErrors;
  TableOf table(errors, {.key = "latency_errors", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::split, &E::split)
      .add(keys::question, &E::question)
      .add(keys::latency, [](const E& e) { return latency_target_name(e.target); })
      .add(keys::n, &E::rows)
      .add(keys::campaigns, &E::campaigns)
      .add(keys::median_ape, &E::median_ape)
      .add(keys::p90_ape, &E::p90_ape)
      .add(keys::baseline_median_ape, &E::baseline_median_ape)
      .add(keys::baseline_p90_ape, &E::baseline_p90_ape)
      .add(keys::coverage90, &E::coverage90)
      .add(keys::half_width90, &E::half_width90)
      .add(keys::narrow_interval_rows, &E::narrow_rows)
      .add(keys::narrow_interval_runs, &E::narrow_campaigns)
      .add(keys::narrow_interval_coverage90, &E::narrow_coverage90)
      .add(keys::worst_unit, &E::worst_unit)
      .add(keys::worst_rows, &E::worst_rows)
      .add(keys::worst_coverage90, &E::worst_coverage90)
      .add(keys::units, &E::units)
      .add(keys::units_below, &E::units_below);
  return table;
}

Table readers_table(const std::vector<LatencyErrors>& errors) {
  using E = LatencyErrors;
  TableOf table(errors, {.title = "Absolute percentage error, median / 90th percentile. Analytical "
                                  "model: times a factor per engine and GPU, or the nearest GPU "
                                  "times bandwidth or FLOP/s",
                         .terminal_limit = 0,
                         .show = Show::kReadersOnly});
  const Look right(Show::kEverywhere, false, Align::kRight);
  table.add(keys::split, split_text)
      .add(keys::latency, [](const E& e) { return latency_target_name(e.target); })
      .add(keys::n, &E::rows)
      .add(
          keys::error, [](const E& e) { return errors_text(e.median_ape, e.p90_ape); }, right)
      .add(
          keys::baseline,
          [](const E& e) { return errors_text(e.baseline_median_ape, e.baseline_p90_ape); }, right)
      .add(keys::coverage90, &E::coverage90)
      .add(keys::half_width90, &E::half_width90)
      .add(keys::narrow_interval_coverage90, &E::narrow_coverage90)
      .add(keys::narrow_interval_rows, &E::narrow_rows);
  return table;
}

Table limits_table(const LatencyEvaluation& evaluation) {
  using L = LimitCalibration;
  TableOf table(evaluation.limits,
                {.key = "limits",
                 .title = "Limits on TTFT and TPOT together, " +
                          std::string(evaluation.judged.empty() ? "benchmark runs held out"
                                                                : "rows of another table") +
                          ": predicted and met"});
  table.add(keys::told_from, &L::from)
      .add(keys::told_to, &L::to)
      .add(keys::asked, &L::asked)
      .add(keys::told, &L::told)
      .add(keys::met, &L::met);
  return table;
}

using Judged = JudgedRow;

Table judged_table(const std::vector<Judged>& judged) {
  TableOf table(judged, {.key = "judged", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::hw, [](const Judged& j) { return j.row->hardware; })
      .add(keys::n, [](const Judged& j) { return j.row->devices; })
      .add(keys::fw, [](const Judged& j) { return j.row->framework; })
      .add(keys::model, [](const Judged& j) { return j.row->model; })
      .add(keys::variant, [](const Judged& j) { return j.row->variant.text(); })
      .add(keys::campaign, [](const Judged& j) { return j.row->campaign; })
      .add(keys::ii, [](const Judged& j) { return j.row->in_len; })
      .add(keys::oo, [](const Judged& j) { return j.row->out_len; })
      .add(keys::bb, [](const Judged& j) { return j.row->batch; })
      .add(keys::question, [](const Judged& j) { return latency_question_name(j.question); })
      .add(keys::latency, [](const Judged& j) { return latency_target_name(j.target); })
      .add(keys::measured_ms, &Judged::measured_ms)
      .add(keys::told_ms, [](const Judged& j) { return j.told.ms; })
      .add(keys::low90, [](const Judged& j) { return j.told.low90_ms; })
      .add(keys::high90, [](const Judged& j) { return j.told.high90_ms; });
  return table;
}

std::string unit_words(const LatencyErrors& e) {
  if (e.units < 2) return "";
  return fmt::format("; of {} units (GPU, engine, model) the worst, {}, {} %", e.units,
                     e.worst_unit, std::lround(100 * e.worst_coverage90));
}

void add_count(size_t rows, const char* what, std::vector<std::string>& words) {
  if (rows > 0) words.push_back(format_count(static_cast<int64_t>(rows)) + " " + what);
}

}  // namespace

Section latency_evaluation_section(const LatencyEvaluation& evaluation) {
  Section section{.key = "throughput", .title = "Latencies of a future benchmark run"};
  if (evaluation.errors.empty()) return section;
  section.blocks.push_back(readers_table(evaluation.errors));
  section.blocks.push_back(data_table(evaluation.errors));
  if (!evaluation.judged.empty()) section.blocks.push_back(judged_table(evaluation.judged));
  // New hardware has no latency limits, so a test of new hardware alone has no result.
  if (!std::isfinite(evaluation.brier)) return section;
  section.blocks.push_back(limits_table(evaluation));
  section.blocks.push_back(Facts{.items = {fact(keys::brier, evaluation.brier),
                                           fact(keys::brier_constant, evaluation.brier_constant)}});
  return section;
}

namespace {

bool is_headline(const LatencyErrors& e) {
  return e.question.empty() && (e.split == "campaign" || e.split == kOtherTable);
}

// Rows of a separate evaluation table that are on new hardware, whatever else is new.
bool is_new_hardware(const LatencyErrors& e) {
  return e.split == kOtherTable && e.question == latency_question_name(LatencyQuestion::kHardware);
}

std::string errors_words(const LatencyErrors& e) {
  const char* where = is_new_hardware(e)
                          ? "of the other table, on a GPU without rows under their engine (outside)"
                      : e.split == kOtherTable ? "of the other table"
                                               : "of benchmark runs not used for training";
  std::string text = fmt::format(
      "{} of {} rows {}: half within {:.1f} %, nine of ten within {:.0f} %; the 90 % intervals "
      "hold {:.1f} % (± {:.0f} % in the middle)",
      latency_target_name(e.target), format_count(static_cast<int64_t>(e.rows)), where,
      100 * e.median_ape, 100 * e.p90_ape, 100 * e.coverage90, 100 * e.half_width90);
  text += e.narrow_rows == 0 ? "; none is narrower than ± 100 %"
                             : fmt::format(", those narrower than ± 100 % {:.1f} % of {}",
                                           100 * e.narrow_coverage90,
                                           format_count(static_cast<int64_t>(e.narrow_rows)));
  return text + unit_words(e) + ".";
}

}  // namespace

std::vector<std::string> latency_evaluation_words(const LatencyEvaluation& evaluation) {
  std::vector<std::string> words;
  for (const LatencyErrors& e : evaluation.errors) {
    if (is_headline(e) || is_new_hardware(e)) words.push_back(errors_words(e));
  }
  const bool other = !evaluation.judged.empty();
  add_count(evaluation.left_out,
            other
                ? "rows of the other table cannot be asked: no facts, or more arithmetic than "
                  "their devices can do in that time."
                : "rows with latencies teach nothing about them: no facts, or more arithmetic than "
                  "their devices can do in that time.",
            words);
  add_count(evaluation.copies,
            "rows of the other table are measurements of the one learnt from: not asked.", words);
  add_count(evaluation.unanswered,
            "rows of the other table are of an engine without rows to learn from: not asked.",
            words);
  std::string skipped;
  for (const std::string& split : evaluation.skipped)
    skipped += (skipped.empty() ? "" : ", ") + split;
  if (!skipped.empty())
    words.push_back("Latencies by " + skipped +
                    ": this table has no rows for both the training and the test side.");
  return words;
}

}  // namespace assay
