#include "report/throughput/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/decimal.h"
#include "base/stats.h"
#include "report/document/units.h"
#include "report/throughput/charts.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/fit.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

constexpr size_t kPredictionsShown = 40;

// Batch sizes and lengths are whole numbers nearly always; JSON then has integers.
Value plain_number(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? Value(static_cast<int64_t>(value)) : finite_value(value);
}

std::string rate(double tokens_per_s) {
  if (!std::isfinite(tokens_per_s)) return "-";
  // Beyond any installation, as ends of endless intervals are, digits say nothing.
  if (tokens_per_s >= 1e12 || tokens_per_s < 0.01) return fmt::format("{:.2g}", tokens_per_s);
  if (tokens_per_s >= 1000) return format_count(static_cast<int64_t>(std::llround(tokens_per_s)));
  return fmt::format("{:.{}f}", tokens_per_s, tokens_per_s >= 100 ? 0 : tokens_per_s >= 10 ? 1 : 2);
}

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0);
}

std::string milliseconds(double ms) {
  return std::isfinite(ms) ? format_ns(static_cast<int64_t>(std::min(ms * 1e6, 9e18))) : "-";
}

// The attributes of a point: key in "at", title, cell.
struct PointColumn {
  const char* key;
  const char* title;
  Value (*cell)(const BenchRow&);
};

const std::vector<PointColumn>& point_columns() {
  static const std::vector<PointColumn> columns = {
      {"hw", "hardware", [](const BenchRow& r) { return Value(r.hardware); }},
      {"n", "n", [](const BenchRow& r) { return plain_number(r.devices); }},
      {"fw", "framework", [](const BenchRow& r) { return Value(r.framework); }},
      {"model", "model", [](const BenchRow& r) { return Value(r.model); }},
      {"variant", "variant",
       [](const BenchRow& r) { return r.variant.empty() ? Value() : Value(r.variant.text()); }},
      {"ii", "in", [](const BenchRow& r) { return plain_number(r.in_len); }},
      {"oo", "out", [](const BenchRow& r) { return plain_number(r.out_len); }},
      {"bb", "batch", [](const BenchRow& r) { return plain_number(r.batch); }},
  };
  return columns;
}

bool is_name(const PointColumn& column) {
  const std::string key = column.key;
  return key == "hw" || key == "fw" || key == "model" || key == "variant";
}

// Adds the columns of `points` to a table; readers see those that differ.
void add_point_columns(Table& table, const std::vector<const BenchRow*>& points,
                       const std::string& prefix) {
  for (const PointColumn& column : point_columns()) {
    const bool differs = std::any_of(points.begin(), points.end(), [&](const BenchRow* p) {
      return column.cell(*p) != column.cell(*points.front());
    });
    const bool always = std::string(column.key) == "bb";
    table.columns.push_back({.key = prefix + column.key,
                             .title = column.title,
                             .unit = is_name(column) ? Unit::kText : Unit::kNone,
                             .elastic = is_name(column),
                             .show = differs || always ? Show::kEverywhere : Show::kDataOnly});
  }
}

Row point_cells(const BenchRow& point) {
  Row row;
  for (const PointColumn& column : point_columns()) row.push_back(column.cell(point));
  return row;
}

}  // namespace

std::string config_text(const BenchRow& p) {
  std::string text = p.model + (p.variant.empty() ? "" : " (" + p.variant.text() + ")");
  const std::string many = p.devices == 1 ? std::string() : rounded_text(p.devices);
  const auto add = [&text](const std::string& word, const std::string& rest) {
    text += (text.empty() ? "" : " ") + word + " " + rest;
  };
  if (!p.hardware.empty()) {
    add("on", (many.empty() ? many : many + " × ") + p.hardware);
  } else if (!many.empty()) {
    add("on", many + " devices");
  }
  if (!p.framework.empty()) add("under", p.framework);
  return text;
}

std::string length_text(const BenchRow& p) {
  return rounded_text(p.in_len) + " + " + rounded_text(p.out_len) + " tokens";
}

namespace {

std::string point_text(const BenchRow& p) {
  const std::string config = config_text(p);
  return config + (config.empty() ? "" : ", ") + length_text(p) + ", batch " +
         rounded_text(p.batch);
}

std::string short_text(const BenchRow& p) {
  std::string text = fmt::format("bb={:g},ii={:g},oo={:g}", p.batch, p.in_len, p.out_len);
  if (!p.hardware.empty()) text += ",hw=" + p.hardware;
  text += fmt::format(",n={:g}", p.devices);
  if (!p.framework.empty()) text += ",fw=" + p.framework;
  if (!p.model.empty()) text += ",model=" + p.model;
  return p.variant.empty() ? text : text + ",variant=" + p.variant.text();
}

Value::List nearest_texts(const ThroughputAnswers& answers, const Explained& explained) {
  Value::List texts;
  for (const Evidence& evidence : explained.nearest) {
    const BenchRow& row = answers.rows[evidence.row];
    texts.push_back(fmt::format("{}: {} = {} tok/s", evidence.relation, short_text(row),
                                rate(row.tokens_per_s)));
  }
  return texts;
}

bool has_interval(const Prediction& p) { return std::isfinite(p.low90); }

std::string interval_text(const Prediction& p) { return rate(p.low90) + " to " + rate(p.high90); }

// Columns that no point fills are for data only.
Show shown_if(bool any) { return any ? Show::kEverywhere : Show::kDataOnly; }

const char* interval_basis(const Explained& explained) {
  return explained.measured ? "measured" : "assumed";
}

bool any_assumed(const std::vector<PredictedPoint>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const PredictedPoint& p) { return !p.explained.measured; });
}

// 90 % is claimed of no interval that no row was asked to test.
const char* upper_title(const std::vector<PredictedPoint>& points) {
  return any_assumed(points) ? "to" : "to (90 %)";
}

Table predictions_table(const ThroughputAnswers& answers) {
  const std::vector<PredictedPoint>& points = answers.points;
  const bool intervals = std::any_of(points.begin(), points.end(), [](const PredictedPoint& p) {
    return has_interval(p.explained.prediction);
  });
  const bool ala = answers.fit.method == "ala";
  const Show wide = shown_if(intervals || !ala);
  Table table{.key = "predictions", .title = "Predictions", .terminal_limit = kPredictionsShown};
  std::vector<const BenchRow*> rows;
  for (const PredictedPoint& p : points) rows.push_back(&p.point);
  add_point_columns(table, rows, "at.");
  const std::vector<Column> rest = {
      {.key = "tokens_per_s", .title = "tok/s", .unit = Unit::kCount},
      {.key = "low90", .title = "from", .unit = Unit::kCount, .show = wide},
      {.key = "high90", .title = upper_title(points), .unit = Unit::kCount, .show = wide},
      {.key = "interval",
       .title = "interval",
       .unit = Unit::kText,
       .show = shown_if(!ala && any_assumed(points))},
      {.key = "confidence", .title = "confidence", .unit = Unit::kRatio, .show = shown_if(ala)},
      {.key = "half_width90", .title = "±", .unit = Unit::kShare, .show = Show::kDataOnly},
      {.key = "latency_ms", .title = "latency ms", .unit = Unit::kNone, .show = Show::kDataOnly},
      {.key = "status", .title = "status", .unit = Unit::kText},
      {.key = "question", .title = "new is the", .unit = Unit::kText, .show = shown_if(!ala)},
      {.key = "basis", .title = "basis", .unit = Unit::kText, .show = shown_if(ala)},
      {.key = "fit_weight", .title = "own fit", .unit = Unit::kShare, .show = Show::kDataOnly},
      {.key = "reasons", .title = "why outside", .unit = Unit::kText, .show = Show::kDataOnly},
      {.key = "nearest", .title = "nearest", .unit = Unit::kText, .show = Show::kDataOnly}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const PredictedPoint& p : points) {
    const Prediction& prediction = p.explained.prediction;
    const double tokens = (p.point.in_len + p.point.out_len) * sequences_of(p.point);
    Row row = point_cells(p.point);
    row.insert(
        row.end(),
        {finite_value(prediction.tokens_per_s), finite_value(prediction.low90),
         finite_value(prediction.high90), ala ? Value() : Value(interval_basis(p.explained)),
         finite_value(p.confidence), finite_value(prediction.high90 / prediction.tokens_per_s - 1),
         finite_value(tokens / prediction.tokens_per_s * 1000),
         prediction_status_name(prediction.status), held_out_name(p.explained.kind),
         prediction.basis, ala ? Value() : Value(p.explained.fit_weight), p.explained.reasons,
         nearest_texts(answers, p.explained)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What the predictions rest on, once for all points that rest on the same rows.
Prose evidence_prose(const ThroughputAnswers& answers) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  std::set<std::string> said;
  double largest_weight = 0;
  for (const PredictedPoint& p : answers.points)
    largest_weight = std::max(largest_weight, p.explained.fit_weight);
  if (largest_weight > 0) {
    prose.paragraphs.push_back(
        "Beyond a configuration's own rows, a sum of latency terms fitted to them counts up to " +
        format_share(largest_weight));
  }
  for (const PredictedPoint& p : answers.points) {
    for (const std::string& text : nearest_texts(answers, p.explained)) {
      if (said.size() < 6 && said.insert(text).second) prose.paragraphs.push_back("Near: " + text);
    }
  }
  return prose;
}

std::string counted_points(size_t count) {
  return count == 1 ? "1 point is" : fmt::format("{} points are", count);
}

// Reasons that differ by the point's own number only are one: "batch 257 to 1000 is more than ...".
class ReasonGroups {
 public:
  void add(const std::string& reason) {
    for (const char* after : {" is more than ", " is less than "}) {
      const size_t end = reason.find(after);
      const size_t begin = end == std::string::npos ? end : reason.rfind(' ', end - 1);
      double value = 0;
      if (begin == std::string::npos ||
          !parse_double(reason.substr(begin + 1, end - begin - 1), value)) {
        continue;
      }
      groups_[{reason.substr(0, begin + 1), reason.substr(end)}].insert(value);
      return;
    }
    groups_[{reason, ""}];
  }

  std::string words() const {
    std::string text;
    for (const auto& [parts, values] : groups_) {
      if (text.size() >= 300) break;
      text += (text.empty() ? "" : "; ") + parts.first;
      if (!values.empty()) text += fmt::format("{:.6g}", *values.begin());
      if (values.size() > 1) text += fmt::format(" to {:.6g}", *values.rbegin());
      text += parts.second;
    }
    return text;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::set<double>> groups_;  // around the number
};

}  // namespace

Section throughput_predictions_section(const ThroughputAnswers& answers) {
  Section section{.key = "throughput", .title = "Predicted throughput", .blocks = {}};
  section.blocks.push_back(
      Facts{.items = {{"method", "method", answers.fit.method, Unit::kText, "", Show::kDataOnly},
                      {"fitted_rows", "rows fitted", answers.rows.size(), Unit::kCount}}});
  section.blocks.push_back(predictions_table(answers));
  section.blocks.push_back(evidence_prose(answers));
  for (Block& block : fitted_table_blocks(answers.fit)) {
    std::visit([](auto& b) { b.show = Show::kDataOnly; }, block);
    section.blocks.push_back(std::move(block));
  }
  return section;
}

namespace {

// "5,180 tokens/s, with 90 % confidence 4,900 to 5,500"; "by assumption" where nothing measured it
std::string estimate_text(const ThroughputAnswers& answers, const PredictedPoint& point) {
  const Prediction& p = point.explained.prediction;
  if (!std::isfinite(p.tokens_per_s)) return "No answer";
  std::string text = rate(p.tokens_per_s) + " tokens/s";
  if (answers.fit.method != "ala") {
    const bool measured = point.explained.measured;
    return text + (measured ? ", with 90 % confidence " : ", by assumption ") + interval_text(p);
  }
  return text + fmt::format(", from the {}, confidence {:.2f}", p.basis, point.confidence);
}

std::string best_text(const ThroughputAnswers& answers) {
  const std::vector<PredictedPoint>& points = answers.points;
  if (points.size() == 1) {
    return estimate_text(answers, points.front()) + ": " + point_text(points.front().point) + ".";
  }
  const auto by_rate = [](const PredictedPoint& a, const PredictedPoint& b) {
    const double left = a.explained.prediction.tokens_per_s;
    const double right = b.explained.prediction.tokens_per_s;
    return std::isfinite(right) && (!std::isfinite(left) || left < right);
  };
  const auto best = std::max_element(points.begin(), points.end(), by_rate);
  return fmt::format("{} points. Most: {}, for {}.",
                     format_count(static_cast<int64_t>(points.size())),
                     estimate_text(answers, *best), point_text(best->point));
}

}  // namespace

std::vector<std::string> throughput_prediction_words(const ThroughputAnswers& answers) {
  const std::vector<PredictedPoint>& points = answers.points;
  const bool ala = answers.fit.method == "ala";
  std::vector<std::string> words = {best_text(answers)};
  size_t outside = 0;
  size_t plain = 0;
  size_t silent = 0;
  size_t assumed = 0;
  size_t assumed_inside = 0;
  ReasonGroups reasons;
  for (const PredictedPoint& p : points) {
    const PredictionStatus status = p.explained.prediction.status;
    outside += status == PredictionStatus::kOutside;
    silent += status == PredictionStatus::kNoAnswer;
    if (!ala && has_interval(p.explained.prediction) && !p.explained.measured) {
      ++assumed;
      assumed_inside += status == PredictionStatus::kInside;
    }
    plain += p.explained.prediction.basis == "gp without physics";
    for (const std::string& reason : p.explained.reasons) reasons.add(reason);
  }
  if (outside > 0) {
    words.push_back(fmt::format(
        "{} outside the reach of the data: {}. {}",
        points.size() == 1 ? std::string("This is") : counted_points(outside), reasons.words(),
        ala                        ? "Do not trust it."
        : assumed > assumed_inside ? "No row tells how wide an interval must be there: measure it."
                                   : "Take the interval, not the point."));
  }
  if (assumed_inside > 0) {
    words.push_back(fmt::format(
        "How far such questions are missed could not be measured on these rows: {} assumed, and 90 "
        "% cannot be promised.",
        assumed_inside == 1 ? std::string("the interval is")
                            : fmt::format("the intervals of {} points are", assumed_inside)));
  }
  if (silent > 0)
    words.push_back(fmt::format(
        "{} no answer.", silent == 1 ? "1 point has" : fmt::format("{} points have", silent)));
  if (ala) {
    words.push_back(
        "ALA has no interval. Confidence is how alike the point is to measured rows in lengths and "
        "batch size (Algorithm 8), no probability.");
  }
  if (plain > 0) {
    words.push_back(fmt::format(
        "{} predicted without physics{}.",
        points.size() == 1 ? std::string("This is") : counted_points(plain),
        answers.fit.options.physics
            ? ": nothing is known of the model or the hardware (--facts FILE tells about them)"
            : ", as asked for"));
  }
  return words;
}

Section throughput_curves_section(const ThroughputAnswers& answers) {
  const std::vector<PredictedPoint>& curve = answers.points;
  std::map<std::string, double> measured;
  for (const BenchRow& row : answers.rows) measured[row_name(row)] = row.tokens_per_s;
  Table table{
      .key = "curves", .title = "Throughput over batch", .terminal_limit = kPredictionsShown};
  std::vector<const BenchRow*> rows;
  for (const PredictedPoint& p : curve) rows.push_back(&p.point);
  if (!rows.empty()) add_point_columns(table, rows, "at.");
  // What all rows share has no column.
  const auto is_of_first = [&](const BenchRow* row) {
    return config_name(*row) == config_name(*rows.front());
  };
  if (!rows.empty() && std::all_of(rows.begin(), rows.end(), is_of_first)) {
    const std::string config = config_text(*rows.front());
    table.title += (config.empty() ? "" : ": ") + config;
  }
  const std::vector<Column> rest = {
      {.key = "tokens_per_s", .title = "tok/s", .unit = Unit::kCount},
      {.key = "low90", .title = "from", .unit = Unit::kCount},
      {.key = "high90", .title = upper_title(curve), .unit = Unit::kCount},
      {.key = "measured_tokens_per_s", .title = "measured", .unit = Unit::kCount}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const PredictedPoint& p : curve) {
    const Prediction& prediction = p.explained.prediction;
    const auto at = measured.find(row_name(p.point));
    Row row = point_cells(p.point);
    row.insert(row.end(), {finite_value(prediction.tokens_per_s), finite_value(prediction.low90),
                           finite_value(prediction.high90),
                           at == measured.end() ? Value() : Value(at->second)});
    table.rows.push_back(std::move(row));
  }
  Section section{.key = "throughput", .title = "Curves", .blocks = {}};
  section.blocks.push_back(std::move(table));
  for (Block& block : curve_charts(answers)) section.blocks.push_back(std::move(block));
  return section;
}

Section throughput_measure_section(const MeasureNext& next) {
  const Prediction& now = next.now.prediction;
  Section section{.key = "throughput", .title = "Measure next", .blocks = {}};
  section.blocks.push_back(
      Facts{.key = "widest",
            .items = {{"point", "widest interval", short_text(next.target), Unit::kText},
                      {"tokens_per_s", "tokens/s", finite_value(now.tokens_per_s), Unit::kCount},
                      {"low90", "from", finite_value(now.low90), Unit::kCount},
                      {"high90", next.now.measured ? "to (90 %)" : "to, assumed",
                       finite_value(now.high90), Unit::kCount},
                      {"status", "status", prediction_status_name(now.status), Unit::kText},
                      {"compared", "points compared", next.targets, Unit::kCount}}});
  Table table{.key = "suggestions", .title = "What would narrow it most"};
  std::vector<const BenchRow*> rows;
  for (const Suggestion& s : next.suggestions) rows.push_back(&s.point);
  if (!rows.empty()) add_point_columns(table, rows, "at.");
  const std::vector<Column> rest = {
      {.key = "narrower_share", .title = "narrower by", .unit = Unit::kShare},
      {.key = "low90_after", .title = "then from", .unit = Unit::kCount},
      {.key = "high90_after", .title = "to", .unit = Unit::kCount}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const Suggestion& s : next.suggestions) {
    Row row = point_cells(s.point);
    row.insert(row.end(), {finite_value(s.narrower_share), finite_value(s.low90_after),
                           finite_value(s.high90_after)});
    table.rows.push_back(std::move(row));
  }
  section.blocks.push_back(std::move(table));
  return section;
}

std::vector<std::string> throughput_measure_words(const MeasureNext& next) {
  if (next.suggestions.empty()) return {"Nothing that could be measured would narrow it."};
  const Suggestion& best = next.suggestions.front();
  const auto is_target = [target = short_text(next.target)](const Suggestion& s) {
    return short_text(s.point) == target;
  };
  const std::string count = format_count(static_cast<int64_t>(next.targets));
  const std::string after =
      fmt::format("{} to {}", rate(best.low90_after), rate(best.high90_after));
  std::vector<std::string> words = {fmt::format("Measure {}.", point_text(best.point))};
  if (!is_target(best)) {
    words.push_back(fmt::format(
        "The least certain of {} points, {}, then lies between {} tokens/s, not {}: {} narrower.",
        count, point_text(next.target), after, interval_text(next.now.prediction),
        percent(best.narrower_share)));
    return words;
  }
  words.push_back(fmt::format(
      "It is the least certain of {} points: {} tokens/s now, {} once measured, {} narrower.",
      count, interval_text(next.now.prediction), after, percent(best.narrower_share)));
  const auto other = std::find_if_not(next.suggestions.begin(), next.suggestions.end(), is_target);
  constexpr double kWorthSaying = 0.1;
  if (other != next.suggestions.end() && other->narrower_share > kWorthSaying) {
    words.push_back(fmt::format("If it cannot run, {}: {} narrower.", point_text(other->point),
                                percent(other->narrower_share)));
  }
  return words;
}

namespace {

std::string goal_text(const Goal& goal) {
  std::string text;
  if (goal.latency_ms) text = "a latency of " + milliseconds(*goal.latency_ms);
  if (goal.tokens_per_s)
    text += (text.empty() ? "" : " and ") + rate(*goal.tokens_per_s) + " tokens/s";
  return text;
}

}  // namespace

Section throughput_goal_section(const Goal& goal, const std::vector<GoalPoint>& points) {
  Section section{.key = "throughput", .title = "Goal", .blocks = {}};
  section.blocks.push_back(
      Facts{.key = "goal",
            .items = {{"latency_ms", "latency at most, ms", goal.latency_ms, Unit::kNone},
                      {"tokens_per_s", "tokens/s at least", goal.tokens_per_s, Unit::kCount},
                      {"confidence", "confidence", 0.95, Unit::kShare}}});
  Table table{.key = "goal_points", .title = "Candidates", .terminal_limit = kPredictionsShown};
  std::vector<const BenchRow*> rows;
  for (const GoalPoint& p : points) rows.push_back(&p.point);
  if (!rows.empty()) add_point_columns(table, rows, "at.");
  const std::vector<Column> rest = {
      {.key = "goal", .title = "goal", .unit = Unit::kText},
      {.key = "tokens_per_s", .title = "tok/s", .unit = Unit::kCount},
      {.key = "low95", .title = "at least", .unit = Unit::kCount},
      {.key = "latency_ms", .title = "latency ms", .unit = Unit::kCount},
      {.key = "latency_high95_ms", .title = "at most", .unit = Unit::kCount},
      {.key = "status", .title = "status", .unit = Unit::kText}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const GoalPoint& p : points) {
    Row row = point_cells(p.point);
    row.insert(
        row.end(),
        {goal_verdict_name(p.verdict), finite_value(p.explained.prediction.tokens_per_s),
         finite_value(p.explained.prediction.low90), finite_value(p.latency_ms),
         finite_value(p.latency_high_ms), prediction_status_name(p.explained.prediction.status)});
    table.rows.push_back(std::move(row));
  }
  section.blocks.push_back(std::move(table));
  return section;
}

std::vector<std::string> throughput_goal_words(const Goal& goal,
                                               const std::vector<GoalPoint>& points) {
  const auto count = [&](GoalVerdict verdict) {
    return std::count_if(points.begin(), points.end(),
                         [&](const GoalPoint& p) { return p.verdict == verdict; });
  };
  const auto outside = std::find_if(points.begin(), points.end(), [](const GoalPoint& p) {
    return p.verdict == GoalVerdict::kOutside;
  });
  std::vector<std::string> words;
  const GoalPoint& first = points.front();
  const std::string numbers = fmt::format(
      "{} tokens/s (at least {}), {} (at most {})", rate(first.explained.prediction.tokens_per_s),
      rate(first.explained.prediction.low90), milliseconds(first.latency_ms),
      milliseconds(first.latency_high_ms));
  if (first.verdict == GoalVerdict::kMet) {
    words.push_back(fmt::format("Batch {:g} meets {} with 95 % confidence: {}.", first.point.batch,
                                goal_text(goal), numbers));
    words.push_back(fmt::format("{} of {} candidates meet it; this one is for {}.",
                                count(GoalVerdict::kMet), points.size(), point_text(first.point)));
  } else {
    words.push_back(fmt::format(
        "None of {} candidates meets {} with 95 % confidence{}.", points.size(), goal_text(goal),
        count(GoalVerdict::kLikely) > 0 ? "; some would if their predictions are exact (likely)"
                                        : ""));
    if (first.verdict != GoalVerdict::kOutside) {
      words.push_back(fmt::format("Closest comes batch {:g} for {}: {}.", first.point.batch,
                                  point_text(first.point), numbers));
    }
  }
  if (outside != points.end()) {
    const auto& reasons = outside->explained.reasons;
    words.push_back(fmt::format(
        "{} of them {} outside the reach of the data and not counted, the first because {}.",
        count(GoalVerdict::kOutside), count(GoalVerdict::kOutside) == 1 ? "is" : "are",
        reasons.empty() ? "there is no answer" : reasons.front()));
  }
  return words;
}

}  // namespace assay
