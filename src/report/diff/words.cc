#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "report/diff/section.h"
#include "report/document/text.h"
#include "report/document/units.h"

namespace assay {
namespace {

std::string signed_ns(int64_t ns) { return (ns > 0 ? "+" : "") + format_ns(ns); }

std::string iterations_words(const DiffSideFacts& side) {
  std::string text = format_count(static_cast<int64_t>(side.iterations)) +
                     (side.iterations == 1 ? " iteration" : " iterations");
  if (side.repeats > 1) text += " in " + format_count(static_cast<int64_t>(side.repeats)) + " runs";
  return text;
}

std::string sizes(const DiffReport& report) {
  const std::string a = iterations_words(report.a);
  const std::string b = iterations_words(report.b);
  return a == b ? a + " a side" : a + " against " + b;
}

std::string comparison(const DiffReport& report) {
  return format_ns(report.b.time_ns) + " per iteration against " + format_ns(report.a.time_ns);
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
  std::string text = "B is " + format_share(std::abs(time.change_share)) +
                     (report.change_ns > 0 ? " slower: " : " faster: ") + comparison(report);
  text += " (" + signed_ns(report.change_ns);
  if (time.interval.known) {
    text += ", 95 % interval " + signed_ns(std::llround(time.interval.low)) + " to " +
            signed_ns(std::llround(time.interval.high));
  }
  text += "; " + sizes(report) + ").";
  if (time.noise == DiffNoise::kNoise) {
    text = "No change beyond noise: " + text;
  } else if (time.noise == DiffNoise::kUnknown) {
    text += " One iteration on a side: cannot tell noise from change.";
  }
  return text;
}

const DiffLevel& level_of(const DiffReport& report, DiffLevelKind kind) {
  return report.levels[static_cast<size_t>(kind)];
}

// What changed of a row. A kernel or operation is told by its own time alone: that the device was
// idle before it is told by causes, among the parts of an iteration.
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
    const int64_t ns = change_of(row, level.kind);
    if (ns != 0) moves.push_back({&row, ns});
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Move& a, const Move& b) { return std::abs(a.ns) > std::abs(b.ns); });
  return moves;
}

std::string quoted(const Move& move) {
  const DiffRow& row = *move.row;
  const std::string& name = row.b.shown.empty() ? row.a.shown : row.b.shown;
  std::string text = shorten_middle(clean_text(name), 48) + " (" + signed_ns(move.ns);
  if (row.kind == DiffKind::kAppeared) text += ", new";
  if (row.kind == DiffKind::kVanished) text += ", gone";
  return text + ")";
}

std::string share_of(int64_t told, int64_t change) {
  return signed_ns(told) + " of " + signed_ns(change) + " come from ";
}

// The rows that push the way the total went, largest first, until most of it is told.
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
  return share_of(told, change) + noun + " " + list + ".";
}

// Where a change is small beside its parts, these say more than what they sum to.
std::string largest_moves(const std::vector<Move>& moves, const std::string& noun) {
  std::string list;
  int named = 0;
  for (const Move& move : moves) {
    if (named == 3) break;
    list += (named++ > 0 ? ", " : "") + quoted(move);
  }
  return named == 0 ? "" : "The largest moves among " + noun + ": " + list + ".";
}

std::string origins(const DiffReport& report, DiffLevelKind kind, const std::string& noun) {
  const std::vector<Move> moves = moves_of(level_of(report, kind));
  const int64_t largest = moves.empty() ? 0 : std::abs(moves.front().ns);
  const bool cancelling = largest > std::abs(report.change_ns);
  return cancelling ? largest_moves(moves, noun) : sources(moves, report.change_ns, noun);
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
      return "Passed inside the noise: " + gate_found(gate) + limit_words(gate) +
             ", but its interval reaches back to it: that may be chance.";
    case GateOutcome::kUndecided:
      return "Undecided: " + gate_found(gate) + limit_words(gate) +
             ", but one iteration cannot tell noise; give repeats, or --fail-on-any.";
    case GateOutcome::kNoValue:
      break;
  }
  return "Undecided: " + gate.metric + " has no value for '" + gate.gate.text + "'.";
}

std::vector<std::string> diff_words(const DiffView& view) {
  const DiffReport& report = view.report;
  std::vector<std::string> words = {answer(report)};
  const auto add = [&](std::string text) {
    if (!text.empty()) words.push_back(std::move(text));
  };
  add(gates_sentence(view.gates));
  if (report.a.samples > 0 && report.b.samples > 0) {
    add(origins(report, DiffLevelKind::kPart, "the parts of an iteration"));
    add(origins(report, DiffLevelKind::kOperation, "the operations"));
    add(origins(report, DiffLevelKind::kKernel, "the kernels"));
  }
  add(counts(level_of(report, DiffLevelKind::kKernel), "kernels"));
  for (const TrustNote& note : view.notes) {
    const bool loud = note.what == "diff_gpu" || note.what == "diff_tracer" ||
                      note.what == "diff_windows" || note.what == "diff_basis" ||
                      note.what == "diff_rows_lost" || note.what == "diff_same_recording";
    if (loud) words.push_back("Careful: " + note.effect + ".");
  }
  return words;
}

}  // namespace assay
