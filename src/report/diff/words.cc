#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stats.h"
#include "report/diff/section.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

std::string signed_ns(int64_t ns) { return (ns > 0 ? "+" : "") + format_ns(ns); }

std::string iterations_words(const DiffSideFacts& side, bool whole) {
  if (whole) return format_counted(side.iterations, "whole trace", "whole traces");
  std::string text = format_count(static_cast<int64_t>(side.iterations)) +
                     (side.iterations == 1 ? " iteration" : " iterations");
  if (side.repeats > 1) text += " in " + format_count(static_cast<int64_t>(side.repeats)) + " runs";
  return text;
}

// "A's 20 iterations may be worth no more than 3 independent ones".
std::string worth(const DiffSideFacts& side, const std::string& whose) {
  const std::string number = format_counted(static_cast<uint64_t>(std::llround(side.independent)),
                                            "independent one", "independent ones");
  return whose + format_counted(side.iterations, "iteration", "iterations") +
         " may be worth no more than " + number;
}

// "3.49 ms to 25.7 ms"
std::string range_words(const DiffSideFacts& side) {
  return format_ns(side.fastest_ns) + " to " + format_ns(side.slowest_ns);
}

std::string independent_words(const DiffReport& report) {
  if (!report.too_few_independent) return "";
  if (report.apart) {
    return "Every iteration of B (" + range_words(report.b) + ") is " +
           (report.change_ns < 0 ? "faster" : "slower") + " than every one of A (" +
           range_words(report.a) +
           "); the size of the change is uncertain, as neighbouring iterations may resemble each "
           "other.";
  }
  return "Iterations of a run may resemble those before them: " + worth(report.a, "A's ") + ", " +
         worth(report.b, "B's ") +
         ". If each were independent, the change would be statistically significant; several runs "
         "a side can show it.";
}

std::string sizes(const DiffReport& report) {
  if (!report.pairs.empty()) {
    return format_counted(report.pairs.size(), "pair", "pairs") + " of runs";
  }
  const std::string a = iterations_words(report.a, report.whole_traces);
  const std::string b = iterations_words(report.b, report.whole_traces);
  return a == b ? a + " a side" : a + " against " + b;
}

std::string comparison(const DiffReport& report) {
  return format_ns(report.b.time_ns) +
         (report.whole_traces ? " against " : " per iteration against ") +
         format_ns(report.a.time_ns);
}

// True if the interval contains both zero and a relevant change.
bool is_wide(const DiffReport& report) {
  constexpr double kMatters = 0.05;
  const ChangeInterval& share = report.time.share_interval;
  return share.known && (share.high > kMatters || share.low < -kMatters);
}

// Which runs the times describe, with the recorded change.
std::string untraced_runs_words(const DiffReport& report) {
  if (!report.recorded) return "";
  const DiffRecorded& recorded = *report.recorded;
  const std::string from = recorded.a_from == recorded.b_from
                               ? recorded.a_from
                               : recorded.a_from + " and " + recorded.b_from;
  return "Times are of the runs without their profiler (" + from +
         "). Recorded: " + format_ns(recorded.b_ns) + " per iteration against " +
         format_ns(recorded.a_ns) + ", " + diff_percent_text(recorded.change_share()) + ".";
}

std::string typical_words(const DiffReport& report) {
  const Shift& typical = report.typical;
  const std::string share =
      typical.a > 0 ? format_share(std::abs(typical.change) / typical.a) + " " : "";
  const bool paired = !report.pairs.empty();
  return (paired ? "The typical pair is " : "The typical iteration is ") + share +
         (typical.change > 0 ? "slower" : "faster") + ", statistically significant (" +
         signed_ns(std::llround(typical.change)) + ", 95 % interval " +
         signed_ns(std::llround(typical.low)) + " to " + signed_ns(std::llround(typical.high)) +
         "); a few " + (paired ? "pairs" : "iterations") +
         " far from the rest hide it in the mean: ";
}

// Sentence on the minimum detectable change for this number of iterations.
std::string least_words(const DiffReport& report) {
  const std::optional<double> least = diff_least_change(report);
  if (!least || report.time.noise != DiffNoise::kNoise || report.hidden_by_few || report.apart) {
    return "";
  }
  const std::string share =
      report.time.a > 0 ? " (" + format_share(*least / report.time.a) + ")" : "";
  return std::string(report.pairs.empty() ? "With these iterations" : "With these pairs") +
         " a change of the mean under about " + format_ns(std::llround(*least)) + share +
         " is not detectable.";
}

// Above a factor of two, percentages are hard to read.
std::string how_much(const DiffMetric& time, int64_t change_ns) {
  if (time.change_share > 1) {
    return "B takes " + format_value(time.b / time.a, Unit::kRatio) + " times as long: ";
  }
  return "B is " + format_share(std::abs(time.change_share)) +
         (change_ns > 0 ? " slower: " : " faster: ");
}

std::string answer(const DiffReport& report) {
  const DiffMetric& time = report.time;
  if (report.a.samples == 0 || report.b.samples == 0) {
    const bool both = report.a.samples + report.b.samples == 0;
    return std::string(both                    ? "Neither side"
                       : report.a.samples == 0 ? "A"
                                               : "B") +
           " has no work on a device: there is nothing to compare.";
  }
  if (report.change_ns == 0) {
    return "B takes as long as A: " + comparison(report) + " (" + sizes(report) + ").";
  }
  std::string text = how_much(time, report.change_ns) + comparison(report);
  text += " (" + signed_ns(report.change_ns);
  if (time.interval.known) {
    text += ", 95 % interval " + signed_ns(std::llround(time.interval.low)) + " to " +
            signed_ns(std::llround(time.interval.high));
  }
  text += "; " + sizes(report) + ").";
  if (report.hidden_by_few) {
    text = typical_words(report) + text;
  } else if (time.noise == DiffNoise::kNoise && !report.apart) {
    text = (report.too_few_independent ? "Too few independent iterations: "
            : is_wide(report)          ? "Too noisy for a conclusion: "
                                       : "No significant change: ") +
           text;
  } else if (time.noise == DiffNoise::kUnknown) {
    text += std::string(report.whole_traces ? " One trace" : " One iteration") +
            " on a side: noise cannot be separated from change.";
  }
  return text;
}

const DiffLevel& level_of(const DiffReport& report, DiffLevelKind kind) {
  return report.levels[static_cast<size_t>(kind)];
}

// Change of a row. A kernel or operation has only its own time: preceding idle time is listed by
// cause, among the parts of an iteration.
int64_t change_of(const DiffRow& row, DiffLevelKind kind) {
  return kind == DiffLevelKind::kPart ? row.change_ns : row.b.busy_ns - row.a.busy_ns;
}

struct Move {
  const DiffRow* row = nullptr;
  int64_t ns = 0;
};
std::vector<Move> moves_of(const DiffLevel& level) {
  std::vector<Move> moves;
  for (const DiffRow& row : level.rows) {
    // Waiting is neither a kernel nor an operation; it is listed among the parts.
    const bool waiting = row.rest && row.a.name == kWaitingForRanks;
    if (waiting && level.kind != DiffLevelKind::kPart) continue;
    const int64_t ns = change_of(row, level.kind);
    if (ns != 0) moves.push_back({&row, ns});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Move& a, const Move& b) { return std::abs(a.ns) > std::abs(b.ns); });
  return moves;
}

// True if the duration is unchanged and only the overlap with others differs.
bool moved_aside(const Move& move) {
  const DiffRow& row = *move.row;
  if (row.kind != DiffKind::kBoth || row.rest) return false;
  const double took_ns = row.b.dur_mean_ns * row.b.calls - row.a.dur_mean_ns * row.a.calls;
  return std::isfinite(took_ns) && std::abs(took_ns) * 10 < std::abs(static_cast<double>(move.ns));
}

// "name (+12 µs, new"
std::string begun_quote(const Move& move) {
  const DiffRow& row = *move.row;
  const std::string& name = row.b.shown.empty() ? row.a.shown : row.b.shown;
  std::string text = shorten_middle(clean_text(name), 48) + " (" + signed_ns(move.ns);
  if (row.kind == DiffKind::kAppeared) text += ", new";
  if (row.kind == DiffKind::kVanished) text += ", gone";
  return text;
}

// A quoted move with its own time.
std::string quoted(const Move& move) {
  const bool aside = moved_aside(move);
  return begun_quote(move) +
         (!aside        ? ""
          : move.ns > 0 ? ", no longer hidden"
                        : ", now hidden") +
         ")";
}

std::string told_share(int64_t told, int64_t change) {
  return signed_ns(told) + " of " + signed_ns(change) + " come from ";
}

// Lists rows with a change in the direction of the total, largest first, until most of it is
// explained.
std::string sources(const std::vector<Move>& moves, int64_t change, const std::string& noun) {
  int64_t told = 0;
  std::string list;
  int named = 0;
  for (const Move& move : moves) {
    if (named == 3 || std::abs(told) * 10 >= std::abs(change) * 9) break;
    if ((move.ns > 0) != (change > 0)) continue;
    if (std::abs(move.ns) * 20 < std::abs(change)) break;
    list += (named++ > 0 ? ", " : "") + quoted(move);
    told += move.ns;
  }
  if (named == 0) return "";
  if (std::abs(told) <= std::abs(change)) return told_share(told, change) + noun + " " + list + ".";
  return signed_ns(told) + " come from " + noun + " " + list + ", and " + signed_ns(change - told) +
         " from all others.";
}

// If a change is small compared with its parts, these are more informative than their sum.
std::string largest_moves(const std::vector<Move>& moves, const std::string& noun) {
  std::string list;
  int named = 0;
  for (const Move& move : moves) {
    if (named == 3 || std::abs(move.ns) * 20 < std::abs(moves.front().ns)) break;
    list += (named++ > 0 ? ", " : "") + quoted(move);
  }
  return named == 0 ? "" : "The largest moves among " + noun + ": " + list + ".";
}

// For a change that is not significant: its significant parts, including the idle time before them.
std::string significant_moves(const DiffReport& report, DiffLevelKind kind,
                              const std::string& noun) {
  std::vector<Move> moves;
  for (const DiffRow& row : level_of(report, kind).rows) {
    const bool named = kind == DiffLevelKind::kPart || !row.rest;
    if (named && row.noise == DiffNoise::kReal) moves.push_back({&row, row.change_ns});
  }
  std::string list;
  for (size_t i = 0; i < std::min<size_t>(3, moves.size()); ++i) {
    list += (i > 0 ? ", " : "") + begun_quote(moves[i]) + ")";
  }
  return moves.empty() ? "" : "Individually significant among " + noun + ": " + list + ".";
}

std::string origins(const DiffReport& report, DiffLevelKind kind, const std::string& noun) {
  const bool noise =
      report.time.noise == DiffNoise::kNoise && !report.hidden_by_few && !report.apart;
  if (noise) return significant_moves(report, kind, noun);

  const std::vector<Move> moves = moves_of(level_of(report, kind));
  const int64_t largest = moves.empty() ? 0 : std::abs(moves.front().ns);
  const bool cancelling = largest > std::abs(report.change_ns);
  return cancelling ? largest_moves(moves, noun) : sources(moves, report.change_ns, noun);
}

// The common factor by which field `of` changed. It must hold for nine tenths of the kernel time
// and for at least `least_kernels` kernels. 1 if there is none, or the change is too small.
double common_ratio(const DiffReport& report, double DiffRowSide::* of, size_t least_kernels) {
  constexpr double kAlike = 0.02;
  constexpr double kChanged = 0.03;
  constexpr double kMost = 0.9;
  struct Ratio {
    double ratio = 0;
    double busy_ns = 0;
  };
  std::vector<Ratio> ratios;
  double all_ns = 0;
  for (const DiffRow& row : level_of(report, DiffLevelKind::kKernel).rows) {
    if (row.rest) continue;
    const auto busy_ns = static_cast<double>(row.a.busy_ns);
    all_ns += busy_ns;
    if (row.kind != DiffKind::kBoth || !(row.a.*of > 0)) continue;
    ratios.push_back({row.b.*of / row.a.*of, busy_ns});
  }
  if (ratios.size() < least_kernels) return 1;
  std::vector<double> values;
  for (const Ratio& one : ratios) values.push_back(one.ratio);
  const double middle = median(std::move(values));
  double alike_ns = 0;
  for (const Ratio& one : ratios) {
    if (std::abs(one.ratio - middle) <= kAlike * middle) alike_ns += one.busy_ns;
  }
  return std::abs(middle - 1) < kChanged || alike_ns < kMost * all_ns ? 1 : middle;
}

// If every kernel changed by the same factor, the common cause is not a kernel.
std::string common_factor(const DiffReport& report) {
  constexpr size_t kLeastKernels = 5;
  const double often = common_ratio(report, &DiffRowSide::calls, kLeastKernels);
  const double factor = common_ratio(report, &DiffRowSide::dur_mean_ns, kLeastKernels);
  std::string text;
  if (often != 1 && !report.whole_traces) {
    text = "Every kernel runs " + format_value(often, Unit::kRatio) +
           " times as often per iteration: iterations may not be the same work.";
  }
  if (factor == 1 || report.time.noise == DiffNoise::kNoise) return text;
  return text + (text.empty() ? "" : " ") + "Every kernel takes " +
         format_value(factor, Unit::kRatio) +
         " times as long: look at clocks, power, the card or the batch, not at one kernel.";
}

// Sentence on host work that both sides have, if it changed by a common factor, with its share of
// the total change.
std::string pace_sentence(const DiffReport& report) {
  const PaceChange& pace = report.pace;
  if (!pace.differs() || std::abs(pace.change_ns) * 20 < std::abs(report.change_ns)) return "";
  const auto factor = [](double ratio) { return format_value(ratio, Unit::kRatio); };
  const bool same_way = (pace.change_ns > 0) == (report.change_ns > 0);
  return "The host's pace: what both sides do as often (" +
         format_count(static_cast<int64_t>(pace.names)) + " operators and launch calls) takes " +
         factor(pace.ratio) + " times as long in B, most of it " + factor(pace.low) + " to " +
         factor(pace.high) + ". About " + signed_ns(pace.change_ns) +
         (same_way ? " of " + signed_ns(report.change_ns) : "") + " may come from that (" +
         signed_ns(pace.from_ns) + " to " + signed_ns(pace.to_ns) +
         "), and that from the machine: clocks, neighbours, software below the model, caches gone "
         "cold in waits.";
}

// For jobs: the ranks that changed themselves and make the others wait.
std::string ranks_sentence(const DiffReport& report) {
  const DiffRanks& found = report.ranks;
  const std::string waiting = signed_ns(found.waiting_change_ns) + " per iteration and rank";
  const bool much = found.waiting_change_ns != 0 &&
                    4 * std::abs(found.waiting_change_ns) >= std::abs(report.change_ns) &&
                    (found.waiting_change_ns > 0) == (report.change_ns > 0);
  if (found.apart.empty()) {
    return much ? "The ranks wait " + std::string(report.change_ns > 0 ? "longer" : "less") +
                      " for each other (" + waiting + "), and no rank stands out."
                : "";
  }
  constexpr size_t kMost = 4;
  std::string list;
  for (size_t i = 0; i < std::min(kMost, found.apart.size()); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(found.apart[i]);
  }
  if (found.apart.size() > kMost) {
    list += " and " + std::to_string(found.apart.size() - kMost) + " more";
  }
  const bool one = found.apart.size() == 1;
  const bool slower = found.apart_ns > 0;
  return (one ? "Rank " + list + " takes " : "Ranks " + list + " take ") + (one ? "" : "up to ") +
         format_ns(std::abs(found.apart_ns)) + (slower ? " longer" : " less") +
         " per iteration by " + (one ? "itself" : "themselves") + "; the others wait " +
         (slower ? "longer" : "less") + " for " + (one ? "it" : "them") + " (" + waiting + ").";
}

std::string counts(const DiffLevel& level, const char* noun) {
  const auto number = [&](DiffKind kind) {
    return std::count_if(level.rows.begin(), level.rows.end(),
                         [&](const DiffRow& row) { return !row.rest && row.kind == kind; });
  };
  const auto appeared = number(DiffKind::kAppeared);
  const auto vanished = number(DiffKind::kVanished);
  const auto renamed = static_cast<int64_t>(level.renamed);
  if (appeared + vanished + renamed == 0) return "";
  return "Of the " + std::string(noun) + ", " + format_count(appeared) + " appeared, " +
         format_count(vanished) + " vanished and " + format_count(renamed) +
         (renamed == 1 ? " was" : " were") + " matched under another name.";
}

std::string gates_sentence(const std::vector<GateResult>& gates) {
  if (gates.empty()) return "";
  const auto number = [&](auto wanted) {
    return std::count_if(gates.begin(), gates.end(),
                         [&](const GateResult& gate) { return wanted(gate.outcome); });
  };
  const auto crossed = number([](GateOutcome o) { return o == GateOutcome::kCrossed; });
  const auto broken = number(
      [](GateOutcome o) { return o == GateOutcome::kUndecided || o == GateOutcome::kNoValue; });
  std::string text;
  for (const GateResult& gate : gates) {
    if (gate.outcome != GateOutcome::kPassed) text += " " + gate_words(gate);
  }
  const auto all = static_cast<int64_t>(gates.size());
  return "Gates: " + format_count(all - crossed - broken) + " of " + format_count(all) +
         " passed." + text;
}

std::string limit_words(const GateResult& gate) {
  const char* op = gate.gate.op == GateOp::kAbove     ? "above"
                   : gate.gate.op == GateOp::kAtLeast ? "at or above"
                   : gate.gate.op == GateOp::kBelow   ? "below"
                                                      : "at or below";
  return std::string(", ") + op + " the limit of '" + gate.gate.text + "'";
}

std::string level_text(double value, DiffUnit unit) {
  if (unit == DiffUnit::kNanoseconds) return format_value(whole_ns(value), Unit::kNanoseconds);
  if (unit == DiffUnit::kCount && value == std::round(value)) {
    return format_count(static_cast<int64_t>(value));
  }
  return format_value(value, unit == DiffUnit::kShare ? Unit::kShare : Unit::kRatio);
}

std::string interval_words(const GateResult& gate) {
  if (!gate.interval.known || gate.outcome == GateOutcome::kPassed) return "";
  if (gate.gate.limit == GateLimit::kRelativeChange) {
    return ", 95 % interval " + diff_percent_text(gate.interval.low) + " to " +
           diff_percent_text(gate.interval.high);
  }
  if (gate.gate.limit == GateLimit::kChange) {
    return ", 95 % interval " + diff_interval_text(gate.interval, gate.unit);
  }
  return " (95 % interval " + level_text(gate.interval.low, gate.unit) + " to " +
         level_text(gate.interval.high, gate.unit) + ")";
}

}  // namespace

std::string gate_found(const GateResult& gate) {
  const std::string a = level_text(gate.a, gate.unit);
  const std::string b = level_text(gate.b, gate.unit);
  const std::string interval = interval_words(gate);
  if (gate.gate.limit == GateLimit::kLevel) return gate.metric + " is " + b + " in B" + interval;
  const std::string change = gate.gate.limit == GateLimit::kRelativeChange
                                 ? diff_percent_text(gate.value)
                                 : diff_change_text(gate.value, gate.unit);
  return gate.metric + " went from " + a + " to " + b + " (" + change + interval + ")";
}

std::string gate_words(const GateResult& gate) {
  switch (gate.outcome) {
    case GateOutcome::kPassed:
      return "Passed: " + gate_found(gate) + ".";
    case GateOutcome::kCrossed:
      return "Crossed: " + gate_found(gate) + limit_words(gate) + ".";
    case GateOutcome::kWithinNoise:
      return "Passed, not significant: " + gate_found(gate) + limit_words(gate) +
             ", but its interval reaches back to it: that may be chance.";
    case GateOutcome::kUndecided:
      return "Undecided: " + gate_found(gate) + limit_words(gate) +
             ", but one iteration does not show noise; give repeats, or --fail-on-any.";
    case GateOutcome::kNoValue:
      break;
  }
  return "Undecided: " + gate.metric + " has no value for '" + gate.gate.text + "'.";
}

std::optional<double> diff_least_change(const DiffReport& report) {
  const ChangeInterval& interval = report.time.interval;
  if (!interval.known) return std::nullopt;
  return std::max(report.time.change - interval.low, interval.high - report.time.change);
}

std::vector<std::string> diff_words(const DiffView& view) {
  const DiffReport& report = view.report;
  std::vector<std::string> words = {answer(report)};
  const auto add = [&](std::string text) {
    if (!text.empty()) words.push_back(std::move(text));
  };
  add(untraced_runs_words(report));
  add(independent_words(report));
  add(least_words(report));
  add(gates_sentence(view.gates));
  if (report.a.samples > 0 && report.b.samples > 0) {
    add(ranks_sentence(report));
    add(common_factor(report));
    add(pace_sentence(report));
    add(origins(report, DiffLevelKind::kPart,
                report.whole_traces ? "the parts of a trace" : "the parts of an iteration"));
    add(origins(report, DiffLevelKind::kOperation, "the operations"));
    add(origins(report, DiffLevelKind::kKernel, "the kernels"));
    add(counts(level_of(report, DiffLevelKind::kKernel), "kernels"));
  }
  for (const TrustNote& note : view.notes) {
    const bool loud = note.what == "diff_gpu" || note.what == "diff_little_common" ||
                      note.what == "diff_tracer" || note.what == "diff_windows" ||
                      note.what == "diff_basis" || note.what == "diff_rows_lost" ||
                      note.what == "diff_recorded" || note.what == "diff_ranks" ||
                      note.what == "diff_same_recording";
    if (loud) words.push_back("Careful: " + note.effect + ".");
  }
  return words;
}

}  // namespace assay
