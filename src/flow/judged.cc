#include "flow/judged.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "base/numbers.h"
#include "base/time_units.h"

namespace assay {
namespace {

// Enough for a steady state, however little work they have.
constexpr uint64_t kEnoughIterations = 3;
// Share of the window in holes: events are missing throughout.
constexpr double kTorn = 0.2;
constexpr size_t kMostJudged = 6;          // most stretches tried, longest first

int64_t length(const Stretch& part) { return part.span.end_ns - part.span.start_ns; }

bool has_answer(BoundBy bound) {
  return bound != BoundBy::kTooLittle && bound != BoundBy::kUnseenWork &&
         bound != BoundBy::kNoHost && bound != BoundBy::kNoGpu;
}

bool repeats(const Stretch& part) {
  return part.iterations >= kEnoughIterations ||
         (part.iterations > 0 && is_engine_step(part.unit));
}

std::optional<BoundBy> cause_of(StretchKind kind, const FlowTotals& total) {
  switch (kind) {
    case StretchKind::kLeadIn:
    case StretchKind::kHole:
      return BoundBy::kUnseenWork;
    case StretchKind::kStartUp:
    case StretchKind::kColdAgain:
      return BoundBy::kColdStart;
    case StretchKind::kNotLoaded:
      return BoundBy::kNotLoaded;
    case StretchKind::kTail:
      return total[FlowCause::kNothingAsked] * 2 >= total.idle_ns ? BoundBy::kNotLoaded
                                                                  : BoundBy::kUnseenWork;
    default:
      return std::nullopt;
  }
}

// Only letters and digits, in lower case.
std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c >= 'A' && c <= 'Z') text.push_back(static_cast<char>(c - 'A' + 'a'));
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) text.push_back(c);
  }
  return text;
}

bool is_called(const Stretch& part, std::string_view word) {
  const std::string_view unit = stretch_unit_word(part.unit);
  if (word == plain(stretch_kind_word(part.kind)) || word == plain(stretch_name(part))) return true;
  if (part.kind != StretchKind::kSteady || unit.empty()) return false;
  return word == unit || word == std::string(unit) + "s" || word == std::string(unit) + "step" ||
         word == std::string(unit) + "steps";
}

std::string list_of(const std::vector<Stretch>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(i + 1) + " " + stretch_name(parts[i]);
  }
  return text.empty() ? "none" : text;
}

// The requested part; the longest of several with that name.
Result<size_t> find_part(const std::vector<Stretch>& parts, std::string_view asked) {
  const std::string word = plain(asked);
  size_t found = parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (word == std::to_string(i + 1)) return i;
    if (!is_called(parts[i], word)) continue;
    if (found == parts.size() || length(parts[i]) > length(parts[found])) found = i;
  }
  if (found < parts.size()) return found;
  return Error{ErrorCode::kInvalidArgument,
               "no part '" + std::string(asked) + "' here; parts: " + list_of(parts) + ", all", "",
               -1};
}

Windows inside(const Windows& iterations, Interval span) {
  Windows kept = iterations;
  std::erase_if(kept.windows, [span](const Window& window) {
    return window.start_ns < span.start_ns || window.start_ns >= span.end_ns;
  });
  return kept;
}

constexpr std::string_view kBetween = "..";

std::string_view unit_of(std::string_view time) {
  return time.substr(std::min(time.find_first_not_of("0123456789."), time.size()));
}

// In ns; `unit` applies if the time has none. None if it cannot be parsed.
std::optional<int64_t> time_of(std::string_view time, std::string_view unit) {
  const std::string_view own = unit_of(time);
  if (!own.empty()) unit = own;
  const double factor = time_unit_ns(unit);
  double number = 0;
  const std::string_view digits = time.substr(0, time.size() - own.size());
  if (!parse_double(digits, number) || factor == 0 || number * factor > 9e18) return std::nullopt;
  return std::llround(number * factor);
}

// The interval of `window` that "A..B" requests.
Result<Interval> span_of(std::string_view asked, Interval window) {
  const size_t dots = asked.find(kBetween);
  const std::string_view to = asked.substr(dots + kBetween.size());
  const std::optional<int64_t> start_ns = time_of(asked.substr(0, dots), unit_of(to));
  const std::optional<int64_t> end_ns = time_of(to, "");
  const auto refused = [asked](const std::string& why) {
    return Error{ErrorCode::kInvalidArgument, "'" + std::string(asked) + "' " + why, "", -1};
  };
  if (!start_ns || !end_ns) {
    return refused("does not name two times from the begin of the window with their unit, e.g. 10.2ms..15ms");
  }
  const int64_t length_ns = window.end_ns - window.start_ns;
  if (*start_ns >= *end_ns) return refused("ends before it begins");
  if (*start_ns >= length_ns) {
    return refused("begins after the end of the window, " + std::to_string(length_ns) + " ns");
  }
  return Interval{window.start_ns + *start_ns, window.start_ns + std::min(*end_ns, length_ns)};
}

uint64_t whole_within(const Windows& iterations, Interval span) {
  return static_cast<uint64_t>(
      std::count_if(iterations.windows.begin(), iterations.windows.end(), [span](const Window& window) {
        return window.start_ns >= span.start_ns && window.end_ns <= span.end_ns;
      }));
}

// Makes `span` a part and cuts it out of the others. Returns its index.
size_t carve(Interval span, const Windows& iterations, std::vector<Stretch>& parts) {
  std::vector<Stretch> before;
  std::vector<Stretch> after;
  Stretch asked;
  asked.kind = StretchKind::kAsked;
  asked.span = span;
  int64_t most_ns = 0;
  for (const Stretch& part : parts) {
    const auto keep = [&](std::vector<Stretch>& side, int64_t start_ns, int64_t end_ns) {
      if (start_ns >= end_ns) return;
      side.push_back(part);
      side.back().span = {start_ns, end_ns};
      if (part.iterations > 0) side.back().iterations = whole_within(iterations, side.back().span);
    };
    keep(before, part.span.start_ns, std::min(part.span.end_ns, span.start_ns));
    keep(after, std::max(part.span.start_ns, span.end_ns), part.span.end_ns);
    const int64_t shared_ns =
        std::min(part.span.end_ns, span.end_ns) - std::max(part.span.start_ns, span.start_ns);
    if (shared_ns <= most_ns) continue;
    most_ns = shared_ns;
    asked.unit = part.unit;
  }
  if (asked.unit != StretchUnit::kNone) asked.iterations = whole_within(iterations, span);
  const size_t place = before.size();
  parts = std::move(before);
  parts.push_back(asked);
  parts.insert(parts.end(), after.begin(), after.end());
  return place;
}

class RunJudge {
 public:
  RunJudge(FlowModel& model, const Windows& iterations, const FlowOptions& options)
      : model_(model), iterations_(iterations), options_(options) {
    // Ranks of a job are compared without extending their windows to whole steps.
    if (!options_.rank_graph) options_.steps = &iterations;
    whole_.report = make_flow_report(model, options_);
    whole_.verdict = judge_flow(trace(), whole_.report, {.iterations = &iterations});
    whole_.iterations = iterations;
    if (whole_.report.evidence.works > 0) cut();
  }

  Result<JudgedRun> judge(std::string_view part) {
    ASSAY_TRY_ASSIGN(JudgedRun run, judged_part(part));
    if (run.report.evidence.works > 0) {
      run.report.serving = serving_of(model_.run, run.report.window);
    }
    return run;
  }

 private:
  Result<JudgedRun> judged_part(std::string_view part) {
    const bool all = plain(part) == "all";
    const bool kept = all || options_.rank_graph || !hides_something();
    if (part.find(kBetween) != std::string_view::npos) return between(part);
    if (!part.empty() && !all) {
      ASSAY_TRY_ASSIGN(const size_t asked, find_part(stretches_.parts, part));
      if (stretches_.parts.size() > 1 && !options_.rank_graph) {
        return told(asked, judged(asked), true);
      }
    } else if (!kept && stretches_.parts.size() > 1) {
      std::optional<JudgedRun> found = longest();
      if (found) return *std::move(found);
    }
    if (stretches_.parts.size() == 1) {
      stretches_.parts[0].headline = true;
      stretches_.parts[0].cause = whole_.verdict.bound;
    }
    whole_.report.stretches = std::move(stretches_);
    return std::move(whole_);
  }

  Result<JudgedRun> between(std::string_view asked) {
    if (options_.rank_graph) {
      return Error{ErrorCode::kInvalidArgument, "a stretch of time is of one trace, not of several ranks", "", -1};
    }
    ASSAY_TRY_ASSIGN(const Interval span, span_of(asked, whole_.report.window));
    const size_t place = carve(span, iterations_, stretches_.parts);
    measure();
    return told(place, judged(place), true);
  }

  const Trace& trace() const { return *model_.run.trace; }

  void cut() {
    const FlowReport& report = whole_.report;
    stretches_.window = report.window;
    stretches_.window_ns = report.window_ns();
    stretches_.idle_share = whole_.verdict.device_idle_share;
    stretches_.parts =
        find_stretches(model_.run, report.all_devices(), iterations_, report.window);
    measure();
    stretches_.torn = is_torn();
  }

  // Fills lengths, totals and known causes of the parts.
  void measure() {
    const FlowReport& report = whole_.report;
    for (Stretch& part : stretches_.parts) {
      part.ns = length(part) - length_in(report.unrecorded, part.span);
      part.total = stretches_.parts.size() == 1 ? report.total
                                                : totals_of(model_.run, report, part.span);
      part.cause = cause_of(part.kind, part.total);
    }
  }

  // A single gap without device work is a stall; repeated ones mean missing events.
  bool is_torn() const {
    int64_t holes_ns = 0;
    int64_t work_ns = 0;
    size_t holes = 0;
    for (const Stretch& part : stretches_.parts) {
      if (part.kind != StretchKind::kHole) continue;
      ++holes;
      holes_ns += length(part);
      work_ns += part.total.window_ns - part.total.idle_ns;
    }
    const FlowTotals& all = whole_.report.total;
    const Interval window = stretches_.window;
    return static_cast<double>(holes_ns) >
               kTorn * static_cast<double>(window.end_ns - window.start_ns) &&
           (holes >= 2 || work_ns * 100 > all.window_ns - all.idle_ns);
  }

  struct Part {
    FlowGraph graph;
    JudgedRun run;
  };

  Part judged(size_t i) const {
    const Stretch& part = stretches_.parts[i];
    Part of{.graph = bounded_graph(model_.graph, part.span), .run = {}};
    of.run.report =
        make_part_report(model_, of.graph, whole_.report, part.span, options_);
    FlowVerdictOptions asked{.iterations = &iterations_};
    if (repeats(part)) asked.least_works = 1;
    of.run.verdict = judge_flow(trace(), of.run.report, asked);
    of.run.iterations = inside(iterations_, part.span);
    return of;
  }

  JudgedRun told(size_t i, Part part, bool asked) {
    // What precedes or follows it is another part, not host-only time.
    part.run.report.told_window =
        asked || i > 0 || stretches_.parts.back().kind == StretchKind::kAfter;
    // A part without work takes the cause that its kind implies.
    const std::optional<BoundBy> by_kind = stretches_.parts[i].cause;
    if (part.run.report.evidence.works == 0 && by_kind) part.run.verdict.bound = *by_kind;
    stretches_.parts[i].headline = true;
    stretches_.parts[i].cause = part.run.verdict.bound;
    part.run.report.stretches = std::move(stretches_);
    model_.graph = std::move(part.graph);
    return std::move(part.run);
  }

  // True if a part that does not belong to the answer hides it: work from before the recording,
  // missing events, start-up, or events outside the labelled steps. Recurring initialization and
  // time without requests belong to the run and may lead. If host and device clocks differ,
  // lateness proves nothing.
  bool hides_something() const {
    if (clock_gap(whole_.report.evidence).ns > 0) return false;
    const bool again = whole_.verdict.bound == BoundBy::kColdStart &&
                       ns_of(StretchKind::kColdAgain) >= ns_of(StretchKind::kStartUp);
    if (again || whole_.verdict.bound == BoundBy::kNotLoaded) return false;
    return std::any_of(stretches_.parts.begin(), stretches_.parts.end(), [](const Stretch& part) {
      return part.kind != StretchKind::kSteady && part.kind != StretchKind::kStart &&
             part.kind != StretchKind::kColdAgain && part.kind != StretchKind::kNotLoaded &&
             part.cause != BoundBy::kNotLoaded;
    });
  }

  int64_t ns_of(StretchKind kind) const {
    int64_t sum_ns = 0;
    for (const Stretch& part : stretches_.parts) sum_ns += part.kind == kind ? length(part) : 0;
    return sum_ns;
  }

  // Next to start-up or idle parts, a single pass is not a steady state.
  bool counts(const Stretch& part) const {
    const auto asks_more = [](const Stretch& other) {
      return other.kind == StretchKind::kStartUp || other.kind == StretchKind::kColdAgain ||
             other.kind == StretchKind::kNotLoaded;
    };
    return repeats(part) ||
           std::none_of(stretches_.parts.begin(), stretches_.parts.end(), asks_more);
  }

  // The longest part that can be diagnosed. This may be one outside the labelled steps, if it is
  // longer.
  std::optional<JudgedRun> longest() {
    std::vector<size_t> order;
    for (size_t i = 0; i < stretches_.parts.size(); ++i) {
      const StretchKind kind = stretches_.parts[i].kind;
      const bool outside = kind == StretchKind::kBefore || kind == StretchKind::kAfter;
      if (kind == StretchKind::kSteady || outside) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return length(stretches_.parts[a]) > length(stretches_.parts[b]);
    });
    if (order.size() > kMostJudged) order.resize(kMostJudged);
    for (const size_t i : order) {
      Part part = judged(i);
      stretches_.parts[i].cause = part.run.verdict.bound;
      if (stretches_.torn || !counts(stretches_.parts[i])) continue;
      if (has_answer(part.run.verdict.bound)) return told(i, std::move(part), false);
    }
    return std::nullopt;
  }

  FlowModel& model_;
  const Windows& iterations_;
  FlowOptions options_;
  JudgedRun whole_;
  Stretches stretches_;
};

}  // namespace

Result<JudgedRun> judge_run(FlowModel& model, const Windows& iterations, FlowOptions options,
                            std::string_view part) {
  return RunJudge(model, iterations, options).judge(part);
}

}  // namespace assay
