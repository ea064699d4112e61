#include "flow/stretches.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/engine_steps.h"
#include "trace/phases.h"

namespace assay {
namespace {

constexpr int64_t kLeastNs = 1'000'000;   // least length of a part, and
constexpr double kLeastShare = 0.02;      // least share of the window
// Share of the device's work below which a part counts as empty.
constexpr double kStray = 0.01;
// An iteration with this share of initialization is not steady.
constexpr double kColdIteration = 0.2;

// Whether time can be analyzed, or why not.
enum class Class : uint8_t { kJudged, kUnseen, kCold, kWaiting, kBefore, kAfter };

struct State {
  Interval span;
  Class of;
};

struct Segment {
  Interval span;
  int64_t score = 0;
  Class of = Class::kJudged;
};

int64_t length(Interval span) { return span.end_ns - span.start_ns; }

Interval both(Interval a, Interval b) {
  return {std::max(a.start_ns, b.start_ns), std::min(a.end_ns, b.end_ns)};
}

bool at_least(int64_t ns, double share_of, int64_t whole_ns) {
  return static_cast<double>(ns) >= share_of * static_cast<double>(whole_ns);
}

Class class_of(FlowCause cause) {
  switch (cause) {
    case FlowCause::kUnseen:
    case FlowCause::kNoEvidence:
      return Class::kUnseen;
    case FlowCause::kCold:
      return Class::kCold;
    case FlowCause::kNothingAsked:
      return Class::kWaiting;
    default:
      return Class::kJudged;
  }
}

// Contiguous states that cover the window; adjacent ones differ.
std::vector<State> states_of(const FlowRun& run, const DeviceFlow& device, Interval window) {
  std::vector<State> slices;
  for (const FlowSlice& slice : device.idle) {
    const Interval inside = both(slice.span, window);
    const Class of = class_of(slice.cause);
    if (inside.start_ns >= inside.end_ns || of == Class::kJudged) continue;
    // Unrecorded time is reported separately and counts as kJudged here.
    if (run.unrecorded.empty()) {
      slices.push_back({inside, of});
      continue;
    }
    for (const Interval& rest : subtract({inside}, run.unrecorded)) slices.push_back({rest, of});
  }
  std::sort(slices.begin(), slices.end(),
            [](const State& a, const State& b) { return a.span.start_ns < b.span.start_ns; });
  std::vector<State> states;
  const auto add = [&states](Interval span, Class of) {
    if (span.start_ns >= span.end_ns) return;
    if (!states.empty() && states.back().of == of) {
      states.back().span.end_ns = span.end_ns;
    } else {
      states.push_back({span, of});
    }
  };
  int64_t at_ns = window.start_ns;
  for (const State& slice : slices) {
    add({at_ns, slice.span.start_ns}, Class::kJudged);
    add({std::max(at_ns, slice.span.start_ns), slice.span.end_ns}, slice.of);
    at_ns = std::max(at_ns, slice.span.end_ns);
  }
  add({at_ns, window.end_ns}, Class::kJudged);
  return states;
}

// All maximal scoring segments of a class: +1 per ns of it, -1 per ns of anything else (Ruzzo and
// Tompa 1999). Each open segment links to the nearest earlier one with a smaller left sum, which
// makes the search linear.
void add_segments(const std::vector<State>& states, Class of, int64_t least_ns,
                  std::vector<Segment>& found) {
  constexpr size_t kNone = SIZE_MAX;
  struct Open {
    Interval span;
    int64_t left = 0;
    int64_t right = 0;
    size_t lower = kNone;
  };
  std::vector<Open> open;
  int64_t sum = 0;
  for (const State& state : states) {
    const int64_t ns = length(state.span);
    if (state.of != of) {
      sum -= ns;
      continue;
    }
    Open next{state.span, sum, sum + ns};
    sum += ns;
    while (true) {
      size_t j = open.empty() ? kNone : open.size() - 1;
      while (j != kNone && open[j].left >= next.left) j = open[j].lower;
      next.lower = j;
      if (j == kNone || open[j].right >= next.right) break;
      next = {{open[j].span.start_ns, next.span.end_ns}, open[j].left, next.right};
      open.resize(j);
    }
    open.push_back(next);
  }
  for (const Open& each : open) {
    const int64_t score = each.right - each.left;
    if (score >= least_ns) found.push_back({each.span, score, of});
  }
}

// Iterations on the device: from the first to the last work launched in each. With a deep queue the
// host is iterations ahead.
std::vector<Interval> device_iterations(const FlowRun& run, const Windows& windows) {
  std::vector<Interval> spans;
  for (const Window& window : windows.windows) spans.push_back({window.start_ns, window.end_ns});
  std::vector<char> seen(spans.size(), 0);
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    const int32_t at = window_at(windows, run.calls[work.call].start_ns);
    if (at < 0) continue;
    const auto w = static_cast<size_t>(at);
    Interval& span = spans[w];
    span.start_ns = seen[w] != 0 ? std::min(span.start_ns, work.start_ns) : work.start_ns;
    span.end_ns = seen[w] != 0 ? std::max(span.end_ns, work.end_ns) : work.end_ns;
    seen[w] = 1;
  }
  return spans;
}

// Extends an initialization segment to every iteration of which at least a fifth is initialization.
void take_iterations(const Windows& host, const std::vector<Interval>& device,
                     const std::vector<Interval>& all_cold, Segment& segment) {
  if (segment.of != Class::kCold || device.size() < 2) return;
  const Interval cold = segment.span;
  for (size_t i = 0; i < device.size(); ++i) {
    const Interval whole{std::min(host.windows[i].start_ns, device[i].start_ns), device[i].end_ns};
    if (length(both(whole, cold)) <= 0) continue;
    if (!at_least(length_in(all_cold, whole), kColdIteration, length(whole))) continue;
    segment.span.start_ns = std::min(segment.span.start_ns, whole.start_ns);
    segment.span.end_ns = std::max(segment.span.end_ns, whole.end_ns);
  }
}

// Adds the time outside the labelled steps, if it is long enough for a part.
void add_outside(const std::vector<Interval>& device, const Windows& iterations, Interval window,
                 int64_t least_ns, std::vector<Segment>& found) {
  const std::optional<Interval> steps = labelled_steps(iterations);
  if (!steps) return;
  int64_t end_ns = steps->end_ns;
  for (const Interval& each : device) end_ns = std::max(end_ns, each.end_ns);
  const int64_t before_ns = std::min(steps->start_ns, window.end_ns) - window.start_ns;
  if (before_ns >= least_ns) {
    found.push_back({{window.start_ns, window.start_ns + before_ns}, INT64_MAX, Class::kBefore});
  }
  end_ns = std::max(end_ns, window.start_ns);
  if (window.end_ns - end_ns >= least_ns) {
    found.push_back({{end_ns, window.end_ns}, INT64_MAX, Class::kAfter});
  }
}

// Makes segments disjoint: the one with the higher score keeps the overlap, the others keep the
// rest.
std::vector<Segment> disjoint(std::vector<Segment> found, int64_t least_ns) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Segment& a, const Segment& b) { return a.score > b.score; });
  std::vector<Segment> taken;
  for (const Segment& segment : found) {
    std::vector<Interval> others;
    for (const Segment& each : taken) others.push_back(each.span);
    for (const Interval& rest : subtract({segment.span}, merge_intervals(std::move(others)))) {
      if (length(rest) >= least_ns) taken.push_back({rest, segment.score, segment.of});
    }
  }
  std::sort(taken.begin(), taken.end(), [](const Segment& a, const Segment& b) {
    return a.span.start_ns < b.span.start_ns;
  });
  return taken;
}

// Assigns kinds to the segments, which must come in order.
class Namer {
 public:
  Namer(const DeviceFlow& device, Interval window, int64_t least_ns)
      : window_(window), least_ns_(least_ns) {
    work_ = device.compute;
    work_.insert(work_.end(), device.collective.begin(), device.collective.end());
    work_.insert(work_.end(), device.copy.begin(), device.copy.end());
    work_ = merge_intervals(std::move(work_));
    all_ns_ = length_in(work_, window);
  }

  void put(Interval span, Class of) {
    if (span.start_ns >= span.end_ns) return;
    const StretchKind kind = kind_of(span, of);
    // A stray kernel before or between start-up parts joins them.
    const bool joins = !parts_.empty() && is_head(kind) && is_head(parts_.back().kind) &&
                       (kind == StretchKind::kStart || parts_.back().kind == StretchKind::kStart);
    if (joins) {
      if (kind != StretchKind::kStart) parts_.back().kind = kind;
      parts_.back().span.end_ns = span.end_ns;
    } else {
      parts_.push_back({.kind = kind, .span = span});
    }
  }

  std::vector<Stretch> take() { return std::move(parts_); }

 private:
  static bool is_head(StretchKind kind) {
    return kind == StretchKind::kStart || kind == StretchKind::kLeadIn ||
           kind == StretchKind::kStartUp;
  }

  StretchKind kind_of(Interval span, Class of) {
    const int64_t ns = length_in(work_, span);
    const bool early = static_cast<double>(done_ns_) <= kStray * static_cast<double>(all_ns_);
    const bool empty = static_cast<double>(ns) <= kStray * static_cast<double>(all_ns_);
    done_ns_ += ns;
    const bool late = span.end_ns == window_.end_ns;
    switch (of) {
      case Class::kUnseen:
        return early ? StretchKind::kLeadIn : late ? StretchKind::kTail : StretchKind::kHole;
      case Class::kCold:
        return early ? StretchKind::kStartUp : StretchKind::kColdAgain;
      case Class::kWaiting:
        return late ? StretchKind::kTail : StretchKind::kNotLoaded;
      case Class::kBefore:
        done_ns_ = 0;  // work is counted from the begin of the steps
        all_ns_ = std::max<int64_t>(0, all_ns_ - ns);
        return StretchKind::kBefore;
      case Class::kAfter:
        return StretchKind::kAfter;
      case Class::kJudged:
        break;
    }
    const bool start = empty && length(span) < least_ns_ && early && !late;
    return start ? StretchKind::kStart : StretchKind::kSteady;
  }

  Interval window_;
  int64_t least_ns_;
  std::vector<Interval> work_;
  int64_t all_ns_ = 0;
  int64_t done_ns_ = 0;
  std::vector<Stretch> parts_;
};

bool is_engine_label(std::string_view label) {
  return is_step_label(label) || label.find("_forward_step ") != std::string_view::npos;
}

StretchUnit unit_of(std::string_view label) {
  const auto told = read_step_label(label);
  if (!told) return is_engine_label(label) ? StretchUnit::kStep : StretchUnit::kIteration;
  switch (told->kind) {
    case StepKind::kPrefill:
      return StretchUnit::kPrefill;
    case StepKind::kDecode:
      return StretchUnit::kDecode;
    case StepKind::kMixed:
      return StretchUnit::kMixed;
    default:
      return StretchUnit::kStep;
  }
}

// Counts the complete iterations of each part, and sets its unit.
void count_iterations(const Windows& host, const std::vector<Interval>& device,
                      std::vector<Stretch>& parts) {
  for (size_t i = 0; i < device.size(); ++i) {
    const StretchUnit unit = unit_of(host.windows[i].name);
    for (Stretch& part : parts) {
      const int64_t ns = length(part.span);
      const int64_t shared_ns = length(both(device[i], part.span));
      if (shared_ns <= 0 || device[i].end_ns > part.span.end_ns + ns / 10) continue;
      // An engine step may begin with a stray kernel before the one that waits.
      const bool most = shared_ns * 2 >= std::min(ns, length(device[i]));
      const bool whole = device[i].start_ns >= part.span.start_ns;
      if (!whole && !(is_engine_step(unit) && most)) continue;
      part.unit = part.iterations == 0 || part.unit == unit ? unit
                  : is_engine_step(unit) && is_engine_step(part.unit) ? StretchUnit::kStep
                                                                      : StretchUnit::kIteration;
      ++part.iterations;
      break;
    }
  }
}

}  // namespace

std::string_view stretch_kind_word(StretchKind kind) {
  constexpr std::array<std::string_view, kStretchKinds> kWords = {
      "steady", "start",      "before", "lead_in", "start_up", "cold_again",
      "hole",   "not_loaded", "tail",   "after",   "asked"};
  return kWords[static_cast<size_t>(kind)];
}

std::string_view stretch_unit_word(StretchUnit unit) {
  constexpr std::array<std::string_view, 6> kWords = {"",        "iteration", "step",
                                                      "prefill", "decode",    "mixed"};
  return kWords[static_cast<size_t>(unit)];
}

bool is_engine_step(StretchUnit unit) {
  return unit != StretchUnit::kNone && unit != StretchUnit::kIteration;
}

std::string stretch_name(const Stretch& stretch) {
  switch (stretch.kind) {
    case StretchKind::kStart:
      return "the beginning";
    case StretchKind::kBefore:
      return "before the steps";
    case StretchKind::kLeadIn:
      return "lead-in";
    case StretchKind::kStartUp:
      return "start-up";
    case StretchKind::kColdAgain:
      return "initialization again";
    case StretchKind::kHole:
      return "hole";
    case StretchKind::kNotLoaded:
      return "not loaded";
    case StretchKind::kTail:
      return "tail";
    case StretchKind::kAfter:
      return "after the steps";
    case StretchKind::kAsked:
      return "the chosen stretch";
    case StretchKind::kSteady:
      break;
  }
  if (stretch.iterations == 0) return "the rest";
  std::string unit(stretch_unit_word(stretch.unit));
  const bool step = is_engine_step(stretch.unit);
  if (step && stretch.unit != StretchUnit::kStep) unit += " step";
  if (stretch.iterations == 1) return step ? unit : "1 " + unit;
  return std::to_string(stretch.iterations) + " " + unit + "s";
}

Windows engine_steps(const Trace& trace) {
  Windows steps;
  steps.source = WindowSource::kRepeatedRoot;
  std::vector<Window> found;
  for (size_t i = 0; i < trace.annotations.size(); ++i) {
    const std::string_view label = trace.text(trace.annotations.name[i]);
    if (!is_engine_label(label)) continue;
    const int64_t start_ns = trace.annotations.start_ns[i];
    found.push_back({std::string(label), start_ns, start_ns + trace.annotations.dur_ns[i]});
  }
  std::sort(found.begin(), found.end(), [](const Window& a, const Window& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.end_ns != b.end_ns) return a.end_ns > b.end_ns;
    return a.name < b.name;
  });
  for (Window& window : found) {
    if (!steps.windows.empty() && window.start_ns < steps.windows.back().end_ns) continue;
    if (window.start_ns < window.end_ns) steps.windows.push_back(std::move(window));
  }
  return steps;
}

std::optional<Interval> labelled_steps(const Windows& iterations) {
  const bool labelled = iterations.source == WindowSource::kProfilerStep ||
                        iterations.source == WindowSource::kLabel;
  if (!labelled || iterations.windows.empty()) return std::nullopt;
  return Interval{iterations.windows.front().start_ns, iterations.windows.back().end_ns};
}

std::vector<Stretch> find_stretches(const FlowRun& run, const DeviceFlow& device,
                                    const Windows& iterations, Interval window) {
  const std::vector<State> states = states_of(run, device, window);
  const int64_t least_ns =
      std::max(kLeastNs, static_cast<int64_t>(kLeastShare * static_cast<double>(length(window))));
  // An engine's labels are more reliable than inferred repetition.
  const Windows steps = labelled_steps(iterations) ? Windows{} : engine_steps(*run.trace);
  const Windows none;
  const Windows& told = !steps.windows.empty()                                ? steps
                        : iterations.source == WindowSource::kWholeTrace ? none
                                                                              : iterations;
  const std::vector<Interval> on_device = device_iterations(run, told);
  std::vector<Segment> found;
  add_outside(on_device, told, window, least_ns, found);
  for (const Class of : {Class::kUnseen, Class::kCold, Class::kWaiting}) {
    add_segments(states, of, least_ns, found);
  }
  std::vector<Interval> all_cold;
  for (const Segment& segment : found) {
    if (segment.of == Class::kCold) all_cold.push_back(segment.span);
  }
  all_cold = merge_intervals(std::move(all_cold));
  for (Segment& segment : found) {
    take_iterations(told, on_device, all_cold, segment);
    segment.span = both(segment.span, window);
  }
  Namer namer(device, window, least_ns);
  int64_t at_ns = window.start_ns;
  for (const Segment& segment : disjoint(std::move(found), least_ns)) {
    namer.put({at_ns, segment.span.start_ns}, Class::kJudged);
    namer.put(segment.span, segment.of);
    at_ns = segment.span.end_ns;
  }
  namer.put({at_ns, window.end_ns}, Class::kJudged);
  std::vector<Stretch> parts = namer.take();
  count_iterations(told, on_device, parts);
  return parts;
}

}  // namespace assay
