#include "report/diff/section.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/numbers.h"
#include "report/document/results.h"
#include "report/flow/results.h"
#include "report/run/section.h"

namespace assay {
namespace {

Unit unit_of(DiffUnit unit) {
  switch (unit) {
    case DiffUnit::kNanoseconds:
      return Unit::kNanoseconds;
    case DiffUnit::kShare:
      return Unit::kShare;
    case DiffUnit::kCount:
    case DiffUnit::kRatio:
      break;
  }
  return Unit::kRatio;
}

Value metric_value(double value, DiffUnit unit) {
  return unit == DiffUnit::kNanoseconds ? whole_ns(value) : Value(value);
}

std::string metric_text(double value, DiffUnit unit) {
  if (unit == DiffUnit::kCount && std::isfinite(value) && value == std::round(value)) {
    return format_count(static_cast<int64_t>(value));
  }
  return format_value(metric_value(value, unit), unit_of(unit));
}

Value end_of(const ChangeInterval& interval, double end, DiffUnit unit) {
  return interval.known ? metric_value(end, unit) : Value();
}

// "+12.0 %"; "<+0.1 %" for a value that rounds to zero.
std::string with_sign(double value, const std::string& text) {
  if (value <= 0 || !std::isfinite(value)) return text;
  return text.starts_with('<') ? "<+" + text.substr(1) : "+" + text;
}

// A difference of shares in percentage points: "+1.20".
std::string points(double share) {
  return with_sign(share, format_value(share * 100, Unit::kRatio));
}

std::string_view noise_words(DiffNoise noise) {
  switch (noise) {
    case DiffNoise::kNoChange:
      return "no change";
    case DiffNoise::kReal:
      return "statistically significant";
    case DiffNoise::kNoise:
      return "not significant";
    case DiffNoise::kUnknown:
      break;
  }
  return "unknown";
}

Facts sides_facts(const DiffReport& report) {
  const auto items = [whole = report.whole_traces](const DiffSideFacts& side, const char* letter,
                                                   const char* title) {
    const std::string key = letter;
    const std::string label = title;
    return std::vector<Item>{
        {key + "_time_ns", label + ", time per iteration", side.time_ns, Unit::kNanoseconds,
         whole ? "of a whole trace: no iterations on both sides" : ""},
        {key + "_runs", label + ", files", side.runs, Unit::kCount, "", Show::kDataOnly},
        {key + "_repeats", label + ", repeats", side.repeats, Unit::kCount, "", Show::kDataOnly},
        {key + "_iterations", label + ", iterations", side.iterations, Unit::kCount,
         whole ? "whole traces" : ""},
        {key + "_samples", label + ", iterations x GPUs", side.samples, Unit::kCount, "",
         Show::kDataOnly},
        {key + "_blocks", label + ", blocks drawn", side.blocks, Unit::kCount, "", Show::kDataOnly},
        {key + "_independent", label + ", worth as many independent iterations", side.independent,
         Unit::kRatio, "", Show::kDataOnly},
        {key + "_block_kind", label + ", blocks are",
         std::string(side.block_kind == BlockKind::kRuns ? "runs" : "iterations"), Unit::kText, "",
         Show::kDataOnly}};
  };
  Facts facts{.key = "sides", .items = items(report.a, "a", "A")};
  for (Item& item : items(report.b, "b", "B")) facts.items.push_back(std::move(item));
  const ChangeInterval& interval = report.time.interval;
  const auto data = [&](const char* key, Value value, Unit unit) {
    facts.items.push_back({key, key, std::move(value), unit, "", Show::kDataOnly});
  };
  facts.items.push_back(
      {"change_ns", "change", report.change_ns, Unit::kNanoseconds,
       interval.known ? "95 % interval " + diff_interval_text(interval, DiffUnit::kNanoseconds)
                      : "no interval: a side is one iteration"});
  data("change_share", report.time.change_share, Unit::kShare);
  data("low95_ns", end_of(interval, interval.low, DiffUnit::kNanoseconds), Unit::kNanoseconds);
  facts.items.back().label = "from";
  data("high95_ns", end_of(interval, interval.high, DiffUnit::kNanoseconds), Unit::kNanoseconds);
  facts.items.back().label = "to";
  data("noise", std::string(diff_noise_name(report.time.noise)), Unit::kText);
  data("too_few_independent", report.too_few_independent, Unit::kNone);
  data("apart", report.apart, Unit::kNone);
  const std::optional<double> least = diff_least_change(report);
  data("least_change_ns", least ? Value(static_cast<int64_t>(std::llround(*least))) : Value(),
       Unit::kNanoseconds);
  const auto recorded = [&report](auto number) {
    return report.recorded ? Value(number(*report.recorded)) : Value();
  };
  data("a_recorded_ns", recorded([](const DiffRecorded& r) { return r.a_ns; }), Unit::kNanoseconds);
  facts.items.back().label = "A, recorded";
  data("b_recorded_ns", recorded([](const DiffRecorded& r) { return r.b_ns; }), Unit::kNanoseconds);
  facts.items.back().label = "B, recorded";
  data("recorded_change_share", recorded([](const DiffRecorded& r) { return r.change_share(); }),
       Unit::kShare);
  facts.items.back().label = "change, recorded";
  const Shift& typical = report.typical;
  const auto typical_ns = [&typical](double ns) {
    return typical.known ? Value(static_cast<int64_t>(std::llround(ns))) : Value();
  };
  data("typical_change_ns", typical_ns(typical.change), Unit::kNanoseconds);
  data("typical_low95_ns", typical_ns(typical.low), Unit::kNanoseconds);
  data("typical_high95_ns", typical_ns(typical.high), Unit::kNanoseconds);
  const PaceChange& pace = report.pace;
  const auto told = [&pace](auto value) { return pace.told ? Value(value) : Value(); };
  data("host_pace", told(pace.ratio), Unit::kRatio);
  facts.items.back().label = keys::host_pace.title;
  data("host_pace_low", told(pace.low), Unit::kRatio);
  facts.items.back().label = keys::host_pace_low.title;
  data("host_pace_high", told(pace.high), Unit::kRatio);
  facts.items.back().label = keys::host_pace_high.title;
  data("host_pace_names", pace.names, Unit::kCount);
  data("host_pace_change_ns", told(pace.change_ns), Unit::kNanoseconds);
  data("host_pace_from_ns", told(pace.from_ns), Unit::kNanoseconds);
  data("host_pace_to_ns", told(pace.to_ns), Unit::kNanoseconds);
  data("resamples", report.resampling.resamples, Unit::kCount);
  data("seed", report.resampling.seed, Unit::kNone);
  return facts;
}

// Units differ by row, so readers get text.
Table metrics_table(const DiffReport& report) {
  const auto data = [](const char* key, Unit unit) {
    return Column{.key = key, .title = key, .unit = unit, .show = Show::kDataOnly};
  };
  const auto text = [](const char* title, Align align) {
    return Column{.key = title, .title = title, .align = align, .show = Show::kReadersOnly};
  };
  Table table{
      .key = "metrics",
      .title = "Metrics, mean per iteration",
      .columns = {column_of(keys::metric, Show::kDataOnly), column_of(keys::a, Show::kDataOnly),
                  column_of(keys::b, Show::kDataOnly), data("change", Unit::kNone),
                  data("change_share", Unit::kShare), column_of(keys::low95, Show::kDataOnly),
                  column_of(keys::high95, Show::kDataOnly), data("n_a", Unit::kCount),
                  data("n_b", Unit::kCount), data("noise", Unit::kText),
                  column_of(keys::metric_name, Show::kReadersOnly), text("A", Align::kRight),
                  text("B", Align::kRight), text("change", Align::kRight), text("%", Align::kRight),
                  text("95 % interval", Align::kRight), text("is", Align::kLeft)},
      .terminal_limit = 0};
  for (const DiffMetric& m : report.metrics) {
    table.rows.push_back(
        {m.key, metric_value(m.a, m.unit), metric_value(m.b, m.unit),
         metric_value(m.change, m.unit), m.change_share, end_of(m.interval, m.interval.low, m.unit),
         end_of(m.interval, m.interval.high, m.unit), m.n_a, m.n_b, diff_noise_name(m.noise), m.key,
         metric_text(m.a, m.unit), metric_text(m.b, m.unit), diff_change_text(m.change, m.unit),
         diff_percent_text(m.change_share), diff_interval_text(m.interval, m.unit),
         noise_words(m.noise)});
  }
  return table;
}

std::string_view level_title(DiffLevelKind kind) {
  switch (kind) {
    case DiffLevelKind::kPart:
      return "Time breakdown";
    case DiffLevelKind::kOperation:
      return "Operations";
    case DiffLevelKind::kKernel:
      return "Kernels";
    case DiffLevelKind::kChain:
      break;
  }
  return "Chains";
}

std::string shown_name(const DiffRow& row) {
  const std::string& a = row.a.shown;
  const std::string& b = row.b.shown;
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return a == b || row.match == DiffMatch::kName ? b : a + " → " + b;
}

std::string row_state(const DiffRow& row) {
  if (row.kind == DiffKind::kAppeared) return "appeared";
  if (row.kind == DiffKind::kVanished) return "vanished";
  if (row.change_ns == 0) return "same";
  const bool slower = row.change_ns > 0;
  std::string text = slower ? "slower" : "faster";
  if (row.noise == DiffNoise::kNoise) text += ", not significant";
  if (row.match != DiffMatch::kName) text += ", by " + std::string(diff_match_name(row.match));
  return text;
}

std::string calls_text(double calls) {
  return calls == std::round(calls) ? format_count(static_cast<int64_t>(calls))
                                    : format_value(calls, Unit::kRatio);
}

std::vector<Column> level_columns(DiffLevelKind kind) {
  constexpr Unit kNs = Unit::kNanoseconds;
  const auto column = [](const char* key, const char* title, Unit unit, Show show) {
    return Column{.key = key, .title = title, .unit = unit, .show = show};
  };
  constexpr Show kData = Show::kDataOnly;
  constexpr Show kAll = Show::kEverywhere;
  const bool parts = kind == DiffLevelKind::kPart;
  const Show calls = parts ? kData : kAll;
  std::vector<Column> columns = {
      {.key = "shown", .title = "name", .elastic = true, .show = Show::kReadersOnly},
      column("a_name", "A", Unit::kText, kData),
      column("b_name", "B", Unit::kText, kData),
      column("kind", "kind", Unit::kText, kData),
      column("match", "matched by", Unit::kText, kData),
      column("rest", "rest", Unit::kNone, kData),
      column("change_ns", "change", kNs, kAll),
      column("a_ns", "A", kNs, kAll),
      column("b_ns", "B", kNs, kAll),
      {.key = "moved", .title = "state", .unit = Unit::kText, .show = Show::kReadersOnly},
      column("share_of_change", "of change", Unit::kShare, kData),
      column("more_calls_ns", "calls", kNs, calls),
      column("slower_ns", "slower", kNs, calls),
      column("idle_change_ns", "idle", kNs, calls),
      column("low95_ns", "from", kNs, kData),
      column("high95_ns", "to", kNs, kData),
      column("noise", "noise", Unit::kText, kData),
      column("a_calls", "calls A", Unit::kNone, kData),
      column("b_calls", "calls B", Unit::kNone, kData),
      {.key = "calls_text",
       .title = "n",
       .align = Align::kRight,
       .show = parts ? kData : Show::kReadersOnly},
      column("a_busy_ns", "busy A", kNs, kData),
      column("b_busy_ns", "busy B", kNs, kData),
      column("a_idle_ns", "idle A", kNs, kData),
      column("b_idle_ns", "idle B", kNs, kData),
      column("a_dur_mean_ns", "mean A", kNs, kData),
      column("b_dur_mean_ns", "mean B", kNs, kData)};
  if (parts) {
    std::erase_if(columns, [](const Column& c) { return c.key == "calls_text"; });
  }
  return columns;
}

Row level_row(const DiffRow& row, DiffLevelKind kind) {
  const ChangeInterval& interval = row.interval;
  Row cells = {shown_name(row),
               row.a.name.empty() ? Value() : Value(row.a.name),
               row.b.name.empty() ? Value() : Value(row.b.name),
               diff_kind_name(row.kind),
               diff_match_name(row.match),
               row.rest,
               row.change_ns,
               row.a.time_ns,
               row.b.time_ns,
               row_state(row),
               row.share_of_change,
               row.more_calls_ns,
               row.slower_ns,
               row.idle_change_ns,
               end_of(interval, interval.low, DiffUnit::kNanoseconds),
               end_of(interval, interval.high, DiffUnit::kNanoseconds),
               diff_noise_name(row.noise),
               row.a.calls,
               row.b.calls};
  if (kind != DiffLevelKind::kPart) {
    const std::string a = calls_text(row.a.calls);
    const std::string b = calls_text(row.b.calls);
    cells.push_back(a == b ? a : a + " → " + b);
  }
  for (const int64_t ns : {row.a.busy_ns, row.b.busy_ns, row.a.idle_ns, row.b.idle_ns}) {
    cells.push_back(ns);
  }
  cells.push_back(whole_ns(row.a.dur_mean_ns));
  cells.push_back(whole_ns(row.b.dur_mean_ns));
  return cells;
}

Table level_table(const DiffLevel& level, size_t top) {
  Table table{.key = std::string(diff_level_name(level.kind)),
              .title = std::string(level_title(level.kind)),
              .columns = level_columns(level.kind),
              .terminal_limit = top};
  if (level.kind != DiffLevelKind::kPart) {
    table.title += ": " + format_count(static_cast<int64_t>(level.slower)) + " slower, " +
                   format_count(static_cast<int64_t>(level.faster)) + " faster, " +
                   format_count(static_cast<int64_t>(level.same)) + " the same, " +
                   format_count(static_cast<int64_t>(level.appeared)) + " appeared, " +
                   format_count(static_cast<int64_t>(level.vanished)) + " vanished, " +
                   format_count(static_cast<int64_t>(level.renamed)) +
                   " matched under another name";
  }
  for (const DiffRow& row : level.rows) table.rows.push_back(level_row(row, level.kind));
  return table;
}

// Contribution of each of the largest rows to the change, and of all others combined.
Chart level_chart(const DiffLevel& level, const DiffReport& report) {
  constexpr size_t kBars = 15;
  Series series{.name = "contribution", .mark = Mark::kBars};
  Chart chart{
      .key = std::string(diff_level_name(level.kind)) + "_waterfall",
      .title = "Sources of the change: " + std::string(level_title(level.kind)),
      .caption =
          "Contributions per iteration, with 95 % intervals where they are known; they sum to the "
          "change, the last bar.",
      .x = {.title = "item"},
      .y = {.title = "change", .unit = Unit::kNanoseconds},
      .horizontal = true};
  int64_t others_ns = 0;
  const auto add = [&](std::string name, int64_t ns, const ChangeInterval& interval) {
    chart.categories.push_back(std::move(name));
    const auto value = static_cast<double>(ns);
    series.y.push_back(value);
    series.low.push_back(interval.known ? interval.low : kNan);
    series.high.push_back(interval.known ? interval.high : kNan);
  };
  for (size_t i = 0; i < level.rows.size(); ++i) {
    const DiffRow& row = level.rows[i];
    if (i >= kBars) {
      others_ns += row.change_ns;
    } else if (row.change_ns != 0) {
      add(shown_name(row), row.change_ns, row.interval);
    }
  }
  if (others_ns != 0) add("all others", others_ns, {});
  add("change", report.change_ns, report.time.interval);
  chart.series.push_back(std::move(series));
  return chart;
}

Table ranks_table(const DiffRanks& ranks) {
  constexpr Unit kNs = Unit::kNanoseconds;
  Table table{.key = "ranks",
              .title = "Ranks: time per iteration without communication",
              .columns = {{.key = "rank", .title = "rank"},
                          {.key = "a_ns", .title = "A", .unit = kNs},
                          {.key = "b_ns", .title = "B", .unit = kNs},
                          {.key = "change_ns", .title = "change", .unit = kNs}},
              .terminal_limit = 16};
  for (const DiffRankTime& rank : ranks.ranks) {
    table.rows.push_back({rank.rank, rank.a_ns, rank.b_ns, rank.change_ns()});
  }
  return table;
}

Table pairs_table(const std::vector<DiffPair>& pairs) {
  constexpr Unit kNs = Unit::kNanoseconds;
  Table table{.key = "pairs",
              .title = "Pairs: time per iteration",
              .columns = {{.key = "a_file", .title = "A", .unit = Unit::kText, .elastic = true},
                          {.key = "b_file", .title = "B", .unit = Unit::kText, .elastic = true},
                          {.key = "a_ns", .title = "A", .unit = kNs},
                          {.key = "b_ns", .title = "B", .unit = kNs},
                          {.key = "change_ns", .title = "change", .unit = kNs}},
              .terminal_limit = 16};
  for (const DiffPair& pair : pairs) {
    table.rows.push_back({pair.a_file, pair.b_file, pair.a_ns, pair.b_ns, pair.b_ns - pair.a_ns});
  }
  return table;
}

Value gate_end(const GateResult& gate, double end) {
  return gate.interval.known ? Value(end) : Value();
}

Table gates_table(const std::vector<GateResult>& gates) {
  Table table{.key = "gates",
              .title = "Gates",
              .columns = {{.key = "gate", .title = "gate", .unit = Unit::kText},
                          column_of(keys::metric, Show::kDataOnly),
                          {.key = "outcome", .title = "outcome", .unit = Unit::kText},
                          column_of(keys::a, Show::kDataOnly),
                          column_of(keys::b, Show::kDataOnly),
                          {.key = "value", .title = "value", .show = Show::kDataOnly},
                          {.key = "limit", .title = "limit", .show = Show::kDataOnly},
                          column_of(keys::low95, Show::kDataOnly),
                          column_of(keys::high95, Show::kDataOnly),
                          {.key = "words", .title = "found", .show = Show::kReadersOnly}},
              .terminal_limit = 0};
  for (const GateResult& gate : gates) {
    table.rows.push_back({gate.gate.text, gate.metric, gate_outcome_name(gate.outcome),
                          metric_value(gate.a, gate.unit), metric_value(gate.b, gate.unit),
                          gate.value, gate.limit, gate_end(gate, gate.interval.low),
                          gate_end(gate, gate.interval.high), gate_found(gate)});
  }
  return table;
}

}  // namespace

std::string diff_change_text(double change, DiffUnit unit) {
  return unit == DiffUnit::kShare ? points(change) + " pp"
                                  : with_sign(change, metric_text(change, unit));
}

std::string diff_interval_text(const ChangeInterval& interval, DiffUnit unit) {
  if (!interval.known) return "-";
  const std::string low =
      unit == DiffUnit::kShare ? points(interval.low) : diff_change_text(interval.low, unit);
  return low + " to " + diff_change_text(interval.high, unit);
}

std::string diff_percent_text(double share) {
  if (std::isinf(share)) return share > 0 ? "beyond any %" : "below any %";
  return with_sign(share, format_share(share));
}

std::vector<Section> diff_sections(const DiffView& view) {
  Section section{.key = "diff", .title = "What changed from A to B"};
  section.blocks.push_back(sides_facts(view.report));
  Table gates = gates_table(view.gates);
  if (view.gates.empty()) gates.show = Show::kDataOnly;
  section.blocks.push_back(std::move(gates));
  const auto level = [&](DiffLevelKind kind) -> const DiffLevel& {
    return view.report.levels[static_cast<size_t>(kind)];
  };
  section.blocks.push_back(level_table(level(DiffLevelKind::kPart), 0));
  if (!view.report.pairs.empty()) section.blocks.push_back(pairs_table(view.report.pairs));
  if (!view.report.ranks.ranks.empty()) {
    section.blocks.push_back(ranks_table(view.report.ranks));
  }
  Section details{.key = "diff", .title = "In detail", .folded = true};
  details.blocks.push_back(metrics_table(view.report));
  for (const DiffLevelKind kind :
       {DiffLevelKind::kOperation, DiffLevelKind::kKernel, DiffLevelKind::kChain}) {
    details.blocks.push_back(level_table(level(kind), view.top));
    details.blocks.push_back(level_chart(level(kind), view.report));
  }
  Section trust = trust_section(view.notes);
  trust.folded = true;
  return {std::move(section), std::move(details), std::move(trust)};
}

}  // namespace assay
