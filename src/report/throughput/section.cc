#include "report/throughput/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/decimal.h"
#include "base/stats.h"
#include "report/throughput/charts.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/fit.h"
#include "report/throughput/results.h"
#include "throughput/dataset.h"

namespace assay {
namespace {

constexpr size_t kPredictionsShown = 40;

// Batch sizes and lengths are nearly always integers, and are written as such to JSON.
Value plain_number(double value) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? Value(static_cast<int64_t>(value)) : finite_value(value);
}

std::string rate(double tokens_per_s) {
  if (!std::isfinite(tokens_per_s)) return "-";
  // Far outside the range of real systems, as at the ends of unbounded intervals, more digits are
  // meaningless.
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

// An attribute of a point, as a column under "at".
struct PointColumn {
  const ResultKey& what;
  Value (*cell)(const BenchRow&);
};

const std::vector<PointColumn>& point_columns() {
  static const std::vector<PointColumn> columns = {
      {keys::hw, [](const BenchRow& r) { return Value(r.hardware); }},
      {keys::n, [](const BenchRow& r) { return plain_number(r.devices); }},
      {keys::fw, [](const BenchRow& r) { return Value(r.framework); }},
      {keys::model, [](const BenchRow& r) { return Value(r.model); }},
      {keys::variant,
       [](const BenchRow& r) { return r.variant.empty() ? Value() : Value(r.variant.text()); }},
      {keys::ii, [](const BenchRow& r) { return plain_number(r.in_len); }},
      {keys::oo, [](const BenchRow& r) { return plain_number(r.out_len); }},
      {keys::bb, [](const BenchRow& r) { return plain_number(r.batch); }},
  };
  return columns;
}

// Adds the attributes of points as columns; readers see only those that differ between rows.
template <typename R>
void add_points(TableOf<R>& table, const std::vector<R>& rows) {
  for (const PointColumn& column : point_columns()) {
    const bool differs = std::any_of(rows.begin(), rows.end(), [&](const R& row) {
      return column.cell(row.point) != column.cell(rows.front().point);
    });
    const bool always = &column.what == &keys::bb;
    const bool is_name = column.what.unit == Unit::kText;
    Column named = column_of(column.what, {shown_if(differs || always), is_name});
    named.key.insert(0, "at.");
    table.add_named(std::move(named), [&](const R& row) { return column.cell(row.point); });
  }
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

const char* interval_basis(const Explained& explained) {
  return explained.measured ? "measured" : "assumed";
}

bool any_assumed(const std::vector<PredictedPoint>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const PredictedPoint& p) { return !p.explained.measured; });
}

// Do not claim 90 % for intervals that no held-out row has tested.
std::string interval_words(const std::vector<PredictedPoint>& points) {
  return any_assumed(points) ? "" : " (intervals: 90 %)";
}

// The predictions, without columns that the method does not provide.
void add_predictions(TableOf<PredictedPoint>& table, Show intervals) {
  const auto of = [](auto Prediction::* field) {
    return [field](const PredictedPoint& p) { return finite_value(p.explained.prediction.*field); };
  };
  table.add(keys::tokens_per_s, of(&Prediction::tokens_per_s))
      .add(keys::low90, of(&Prediction::low90), intervals)
      .add(keys::high90, of(&Prediction::high90), intervals);
}

Value half_width(const PredictedPoint& p) {
  return finite_value(p.explained.prediction.high90 / p.explained.prediction.tokens_per_s - 1);
}

Value latency_ms(const PredictedPoint& p) {
  const double tokens = (p.point.in_len + p.point.out_len) * sequences_of(p.point);
  return finite_value(tokens / p.explained.prediction.tokens_per_s * 1000);
}

Table predictions_table(const ThroughputAnswers& answers) {
  using Point = PredictedPoint;
  const std::vector<Point>& points = answers.points;
  const bool intervals = std::any_of(points.begin(), points.end(), [](const Point& p) {
    return has_interval(p.explained.prediction);
  });
  const bool ala = answers.fit.method == "ala";
  const auto unless_ala = [ala](Value value) { return ala ? Value() : std::move(value); };
  TableOf table(points, {.key = "predictions",
                         .title = "Predictions" + (intervals ? interval_words(points) : ""),
                         .terminal_limit = kPredictionsShown});
  add_points(table, points);
  add_predictions(table, shown_if(intervals || !ala));
  table
      .add(
          keys::interval, [&](const Point& p) { return unless_ala(interval_basis(p.explained)); },
          shown_if(!ala && any_assumed(points)))
      .add(
          keys::confidence, [](const Point& p) { return finite_value(p.confidence); },
          shown_if(ala))
      .add(keys::half_width90, half_width, Show::kDataOnly)
      .add(keys::latency_ms, latency_ms, Show::kDataOnly)
      .add(keys::status,
           [](const Point& p) { return prediction_status_name(p.explained.prediction.status); })
      .add(
          keys::question, [](const Point& p) { return held_out_name(p.explained.kind); },
          shown_if(!ala))
      .add(
          keys::basis, [](const Point& p) { return p.explained.prediction.basis; }, shown_if(ala))
      .add(
          keys::fit_weight, [&](const Point& p) { return unless_ala(p.explained.fit_weight); },
          Show::kDataOnly)
      .add(
          keys::reasons, [](const Point& p) { return p.explained.reasons; }, Show::kDataOnly)
      .add(
          keys::nearest, [&](const Point& p) { return nearest_texts(answers, p.explained); },
          Show::kDataOnly);
  return table;
}

// The data that the predictions are based on, once for all points with the same rows.
Prose evidence_prose(const ThroughputAnswers& answers) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  std::set<std::string> said;
  double largest_weight = 0;
  for (const PredictedPoint& p : answers.points)
    largest_weight = std::max(largest_weight, p.explained.fit_weight);
  if (largest_weight > 0) {
    prose.paragraphs.push_back(
        "Outside a configuration's own rows, a sum of latency terms fitted to them counts up to " +
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

// Merges reasons that differ only in the point's own number: "batch 257 to 1000 is more than ...".
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
  std::map<std::pair<std::string, std::string>, std::set<double>> groups_;  // text before and after
                                                                            // the number
};

}  // namespace

Section throughput_predictions_section(const ThroughputAnswers& answers) {
  Section section{.key = "throughput", .title = "Predicted throughput", .blocks = {}};
  section.blocks.push_back(Facts{.items = {data_fact(keys::method, answers.fit.method),
                                           fact(keys::fitted_rows, answers.rows.size())}});
  section.blocks.push_back(predictions_table(answers));
  section.blocks.push_back(evidence_prose(answers));
  for (Block& block : fitted_table_blocks(answers.fit)) {
    std::visit([](auto& b) { b.show = Show::kDataOnly; }, block);
    section.blocks.push_back(std::move(block));
  }
  return section;
}

namespace {

// "5,180 tokens/s, with 90 % confidence 4,900 to 5,500"; "by assumption" if no measurement supports
// the interval
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
  size_t wide = 0;
  ReasonGroups reasons;
  for (const PredictedPoint& p : points) {
    const PredictionStatus status = p.explained.prediction.status;
    outside += status == PredictionStatus::kOutside;
    wide += status == PredictionStatus::kWide;
    silent += status == PredictionStatus::kNoAnswer;
    if (!ala && has_interval(p.explained.prediction) && !p.explained.measured) {
      ++assumed;
      assumed_inside += status == PredictionStatus::kInside || status == PredictionStatus::kWide;
    }
    plain += p.explained.prediction.basis == "gp without physics";
    for (const std::string& reason : p.explained.reasons) reasons.add(reason);
  }
  if (outside > 0) {
    words.push_back(fmt::format(
        "{} outside the range of the data: {}. {}",
        points.size() == 1 ? std::string("This is") : counted_points(outside), reasons.words(),
        ala ? "Do not trust it."
        : assumed > assumed_inside
            ? "No row shows the necessary width of an interval there: measure it."
            : "Take the interval, not the point."));
  }
  if (wide > 0) {
    words.push_back(fmt::format(
        "{} wide: the interval reaches beyond twice the estimate. Take the range, not the number.",
        points.size() == 1 ? std::string("This is") : counted_points(wide)));
  }
  if (assumed_inside > 0) {
    words.push_back(fmt::format(
        "The error of such questions could not be measured on these rows: {} assumed, and 90 % is "
        "not guaranteed.",
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
            ? ": model or hardware without specifications (--specs FILE adds them)"
            : ", as requested"));
  }
  return words;
}

Section throughput_curves_section(const ThroughputAnswers& answers) {
  const std::vector<PredictedPoint>& curve = answers.points;
  std::map<std::string, double> measured;
  for (const BenchRow& row : answers.rows) measured[row_name(row)] = row.tokens_per_s;
  TableOf table(curve, {.key = "curves",
                        .title = "Throughput over batch" + interval_words(curve),
                        .terminal_limit = kPredictionsShown});
  if (!curve.empty()) add_points(table, curve);
  // Values that all rows share have no column.
  const auto is_of_first = [&](const PredictedPoint& p) {
    return config_name(p.point) == config_name(curve.front().point);
  };
  if (!curve.empty() && std::all_of(curve.begin(), curve.end(), is_of_first)) {
    const std::string config = config_text(curve.front().point);
    table.title += (config.empty() ? "" : ": ") + config;
  }
  add_predictions(table, Show::kEverywhere);
  table.add(keys::measured_tokens_per_s, [&](const PredictedPoint& p) {
    const auto at = measured.find(row_name(p.point));
    return at == measured.end() ? Value() : Value(at->second);
  });
  Section section{.key = "throughput", .title = "Curves", .blocks = {}};
  section.blocks.push_back(std::move(table));
  for (Block& block : curve_charts(answers)) section.blocks.push_back(std::move(block));
  return section;
}

Section throughput_measure_section(const MeasureNext& next) {
  const Prediction& now = next.now.prediction;
  Section section{.key = "throughput", .title = "Measure next", .blocks = {}};
  section.blocks.push_back(Facts{.key = "widest",
                                 .items = {fact(keys::point, short_text(next.target)),
                                           fact(keys::tokens_per_s, finite_value(now.tokens_per_s)),
                                           fact(keys::low90, finite_value(now.low90)),
                                           fact(keys::high90, finite_value(now.high90),
                                                next.now.measured ? "90 %" : "assumed"),
                                           fact(keys::status, prediction_status_name(now.status)),
                                           fact(keys::compared, next.targets)}});
  TableOf table(next.suggestions,
                {.key = "suggestions", .title = "Measurements that would narrow it most"});
  if (!next.suggestions.empty()) add_points(table, next.suggestions);
  table
      .add(keys::interval_reduction_share,
           [](const Suggestion& s) { return finite_value(s.narrower_share); })
      .add(keys::next_low90, [](const Suggestion& s) { return finite_value(s.low90_after); })
      .add(keys::next_high90, [](const Suggestion& s) { return finite_value(s.high90_after); });
  section.blocks.push_back(std::move(table));
  for (Block& block : measure_charts(next)) section.blocks.push_back(std::move(block));
  return section;
}

std::vector<std::string> throughput_measure_words(const MeasureNext& next) {
  if (next.suggestions.empty()) return {"Nothing that could be measured would narrow it."};
  const Suggestion& best = next.suggestions.front();
  const auto is_target = [target = short_text(next.target)](const Suggestion& s) {
    return short_text(s.point) == target;
  };
  const std::string count = format_counted(next.targets, "point", "points");
  const std::string after =
      fmt::format("{} to {}", rate(best.low90_after), rate(best.high90_after));
  std::vector<std::string> words = {fmt::format("Measure {}.", point_text(best.point))};
  if (!is_target(best)) {
    words.push_back(fmt::format(
        "The least certain of {}, {}, then lies between {} tokens/s, not {}: {} narrower.", count,
        point_text(next.target), after, interval_text(next.now.prediction),
        percent(best.narrower_share)));
    return words;
  }
  words.push_back(
      fmt::format("It is the least certain of {}: {} tokens/s now, {} once measured, {} narrower.",
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

// "2 x H100"; a fixed phrase if the table names no hardware.
std::string devices_text(const BenchRow& row) {
  if (row.hardware.empty()) return "The table's hardware";
  return fmt::format("{:g} \u00d7 {}", row.devices, row.hardware);
}

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
            .items = {fact(keys::latency_ms, goal.latency_ms),
                      fact(keys::tokens_per_s, goal.tokens_per_s), fact(keys::confidence, 0.95)}});
  TableOf table(points,
                {.key = "goal_points", .title = "Candidates", .terminal_limit = kPredictionsShown});
  if (!points.empty()) add_points(table, points);
  const auto of = [](auto Prediction::* field) {
    return [field](const GoalPoint& p) { return finite_value(p.explained.prediction.*field); };
  };
  table.add(keys::goal, [](const GoalPoint& p) { return goal_verdict_name(p.verdict); })
      .add(keys::tokens_per_s, of(&Prediction::tokens_per_s))
      .add(keys::tokens_per_s_per_gpu,
           [](const GoalPoint& p) {
             return finite_value(p.explained.prediction.tokens_per_s / p.point.devices);
           })
      .add(keys::low95, of(&Prediction::low90))
      .add(keys::latency_ms, [](const GoalPoint& p) { return finite_value(p.latency_ms); })
      .add(keys::latency_high95_ms,
           [](const GoalPoint& p) { return finite_value(p.latency_high_ms); })
      .add(keys::status, [](const GoalPoint& p) {
        return prediction_status_name(p.explained.prediction.status);
      });
  for (Block& block : goal_charts(goal, points)) section.blocks.push_back(std::move(block));
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
    words.push_back(fmt::format("{} at batch {:g} meets {} with 95 % confidence: {}.",
                                devices_text(first.point), first.point.batch, goal_text(goal),
                                numbers));
    words.push_back(
        fmt::format("{} of {} candidates meet it; this one is for {}, {} tokens/s per device.",
                    count(GoalVerdict::kMet), points.size(), point_text(first.point),
                    rate(first.explained.prediction.tokens_per_s / first.point.devices)));
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
        "{} of them {} outside the range of the data and not counted, the first because {}.",
        count(GoalVerdict::kOutside), count(GoalVerdict::kOutside) == 1 ? "is" : "are",
        reasons.empty() ? "there is no answer" : reasons.front()));
  }
  return words;
}

}  // namespace assay
