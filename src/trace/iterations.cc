// Eight methods to find the repeated unit of work; the first one with a result is used.
//
// 1. ProfilerStep#n spans: one window per distinct n, the widest span of that number (every thread
//    under the profiler may have its own copy). A window that overlaps the next one is cut.
//
// 2. Labels that a serving engine gives to every step (trace/engine_steps.h), on one thread, if
//    together they contain nearly all launches. Each is a window, however different: a replayed
//    decode step has one launch, a prefill thousands.
//
// 3. Steps of an inference engine: the outermost annotations of one thread with names that say
//    prefill or decode (trace/phases.h), if together they contain nearly all launches and decode is
//    more frequent than prefill; a label around a whole decode loop occurs once per prefill. Decode
//    steps must have similar numbers of launches, as in 4. Each span is a window, in any order.
//
// 4. A repeated user span: the outermost annotations of one thread with names that differ only in
//    digits ("step[DECODE bs=8]", "step[DECODE bs=9]"), at least two, that contain nearly all
//    launches of the trace, each between half and twice as many as the median one. Each span is a
//    window.
//
// 5. A repeated sequence: the names of the outermost spans of a thread (root operators and
//    annotations), in order, have a period from the first to the last (the end may be incomplete).
//    Assumes that iterations run the same operators in the same order, and that non-repeated parts
//    (an embedding before the layers, a head after them) distinguish a pass over layers from a loop
//    over iterations. All windows must have about as many launches as the median one, and not too
//    few. With three or more, the first may differ (gradients that do not exist yet are not
//    zeroed). Windows start where the trace starts, which may be in the middle of an iteration:
//    their length and content are correct, their phase is unknown.
//
// 6. Steps of an optimizer, which PyTorch labels: an iteration ends with each. All but the first,
//    which may contain the start of the program, must have similar numbers of launches. Two
//    alternating optimizers do not.
//
// 7. The spans of 4 inside spans that occur once and contain nearly everything (a run, a
//    benchmark). Layers may have labels there too, so each span must read a result on the host,
//    which layers do not.
//
// 8. A sequence of GPU activities that repeats (trace/kernel_periods.h): kernels and copies of the
//    device with the most, in the order of their launch calls; without calls, those of its busiest
//    stream in order of execution. A window begins at the start of a period and leaves out
//    activities outside iterations.
//
// Otherwise the trace is one window. Wrong results: a model of identical blocks only (5 takes a
// block for an iteration), and spans of one name that cover the launches but are not iterations,
// for example if a user labels only the layers (4). 5 misses iterations with different operators (a
// dynamic batch) on purpose: a wrong period makes every mean wrong, one window makes none wrong.

#include "trace/iterations.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "trace/copy_way.h"
#include "trace/engine_steps.h"
#include "trace/phases.h"
#include "trace/step_marks.h"

namespace assay {

namespace {

// torch.compile labels every compiled region, often one per layer; these are not iterations.
constexpr std::string_view kCompiledRegion = "## Call CompiledFxGraph";

// Minimum share of all launches inside the iterations.
constexpr double kCoveredShare = 0.9;
// Allowed ratio of launches per window to the median window: spans with user names may differ, a
// period inferred from operator names may not.
constexpr double kSpanSpread = 0.5;
constexpr double kPeriodSpread = 0.1;
// A period with fewer launches is a loop over one operator.
constexpr size_t kPeriodLaunches = 8;
// Threads with a smaller share of the launches do not determine iterations.
constexpr double kThreadShare = 0.1;
// Kernels are ordered by their calls if at least this share has one.
constexpr double kLinkedShare = 0.5;
constexpr std::string_view kOptimizerStep = "Optimizer.step#";
constexpr size_t kLeastSteps = 3;

// Start times of launch calls, of all threads, sorted.
class Launches {
 public:
  Launches(const Trace& trace, const Links& links) {
    for (size_t i = 0; i < trace.api_calls.size(); ++i) {
      const ApiRole role = links.role_of(trace, ApiCallId(i));
      if (role != ApiRole::kKernelLaunch && role != ApiRole::kGraphLaunch) continue;
      start_ns_.push_back(trace.api_calls.start_ns[i]);
    }
    std::sort(start_ns_.begin(), start_ns_.end());
  }

  size_t size() const { return start_ns_.size(); }
  size_t count(int64_t start_ns, int64_t end_ns) const {
    const auto first = std::lower_bound(start_ns_.begin(), start_ns_.end(), start_ns);
    return static_cast<size_t>(std::lower_bound(first, start_ns_.end(), end_ns) - first);
  }

 private:
  std::vector<int64_t> start_ns_;
};

// True if the windows have similar launches: each at least `least`, and within `spread` (or its
// inverse) of the median one.
bool alike(std::vector<size_t> launches, double spread, size_t least) {
  std::sort(launches.begin(), launches.end());
  const double middle = static_cast<double>(launches[launches.size() / 2]);
  return launches.front() >= least &&
         static_cast<double>(launches.front()) >= middle * (1 - spread) &&
         static_cast<double>(launches.back()) <= middle / (1 - spread);
}

// One window per step number: its widest mark, cut at the start of the next one.
Windows profiler_steps(const Trace& trace) {
  std::vector<StepMark> steps = profiler_marks(trace);
  std::erase_if(steps, [](const StepMark& step) { return step.end_ns == step.start_ns; });
  std::sort(steps.begin(), steps.end(), [](const StepMark& a, const StepMark& b) {
    if (a.number != b.number) return a.number < b.number;
    const int64_t a_width = a.end_ns - a.start_ns;
    const int64_t b_width = b.end_ns - b.start_ns;
    return a_width != b_width ? a_width > b_width : a.start_ns < b.start_ns;
  });
  const auto same = [](const StepMark& a, const StepMark& b) { return a.number == b.number; };
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepMark& a, const StepMark& b) { return a.start_ns < b.start_ns; });

  Windows found{.source = WindowSource::kProfilerStep, .windows = {}};
  for (size_t i = 0; i < steps.size(); ++i) {
    Window window{std::string(trace.text(steps[i].name)), steps[i].start_ns, steps[i].end_ns};
    if (i + 1 < steps.size() && window.end_ns > steps[i + 1].start_ns) {
      window.end_ns = steps[i + 1].start_ns;
      ++found.overlaps_cut;
    }
    if (window.end_ns > window.start_ns) found.windows.push_back(std::move(window));
  }
  return found;
}

// "step[DECODE bs=12]" -> "step[DECODE bs=#]".
std::string without_digits(std::string_view name) {
  std::string text;
  for (char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text.push_back(c);
    if (digit && (text.empty() || text.back() != '#')) text.push_back('#');
  }
  return text;
}

// An outermost span of a thread.
struct Span {
  int64_t start_ns;
  int64_t end_ns;
  StringId name;   // in the trace
  uint32_t label;  // equal for equal names (of annotations: up to digits)
};

struct ThreadSpans {
  std::vector<Span> annotations;
  std::vector<Span> all;  // root operators and annotations, of leading threads
};

// Drops spans that start inside an earlier kept one.
void keep_outermost(std::vector<Span>& spans) {
  size_t kept = 0;
  for (const Span& span : spans) {
    if (kept == 0 || span.start_ns >= spans[kept - 1].end_ns) spans[kept++] = span;
  }
  spans.resize(kept);
}

// Annotations of all threads; root operators only of the threads in `leading`.
std::vector<ThreadSpans> outermost_spans(const Trace& trace, const Links& links,
                                         const std::vector<size_t>& leading) {
  std::vector<ThreadSpans> threads(trace.threads.size());
  StringPool labels;
  for (size_t i = 0; i < trace.annotations.size(); ++i) {
    const StringId name = trace.annotations.name[i];
    const int64_t start_ns = trace.annotations.start_ns[i];
    // Even labels for annotations, odd ones for operators.
    const uint32_t label = 2 * labels.intern(without_digits(trace.text(name))).value;
    threads[trace.annotations.thread[i].index()].annotations.push_back(
        {start_ns, start_ns + trace.annotations.dur_ns[i], name, label});
  }
  for (ThreadSpans& thread : threads) keep_outermost(thread.annotations);

  for (size_t thread : leading) {
    const auto [first, last] =
        std::equal_range(trace.ops.thread.begin(), trace.ops.thread.end(), ThreadId(thread));
    std::vector<Span> roots;
    for (auto it = first; it != last; ++it) {
      const size_t op = static_cast<size_t>(it - trace.ops.thread.begin());
      if (links.op_parent[op]) continue;
      const StringId name = trace.ops.name[op];
      roots.push_back({trace.ops.start_ns[op], trace.end_ns(OpId(op)), name, 2 * name.value + 1});
    }
    const std::vector<Span>& annotations = threads[thread].annotations;
    std::vector<Span>& all = threads[thread].all;
    all.resize(annotations.size() + roots.size());
    std::merge(annotations.begin(), annotations.end(), roots.begin(), roots.end(), all.begin(),
               [](const Span& a, const Span& b) {
                 return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
               });
    keep_outermost(all);
  }
  return threads;
}

std::string numbered(const Trace& trace, StringId name, size_t number) {
  return std::string(trace.text(name)) + " [" + std::to_string(number) + "]";
}

// Times at which the host gets a result: a copy to the host, or a wait for the device.
std::vector<int64_t> looks_at_results(const Trace& trace, const Links& links) {
  std::vector<int64_t> looks;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    bool looks_here = links.role_of(trace, ApiCallId(c)) == ApiRole::kSynchronize;
    for (const ActivityId activity : links.activities_of(ApiCallId(c))) {
      looks_here |=
          trace.activities.kind[activity.index()] == ActivityKind::kMemcpy &&
          copy_way(trace.text(trace.activities.name[activity.index()])) == CopyWay::kToHost;
    }
    if (looks_here) looks.push_back(trace.api_calls.start_ns[c]);
  }
  std::sort(looks.begin(), looks.end());
  return looks;
}

// Replaces `best` by the spans of one label if they are iterations and cover more launches than
// `best_covered`.
void add_repeated(const Trace& trace, std::vector<Span> spans, const Launches& launches,
                  size_t& best_covered, Windows& best) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.label < b.label; });
  for (size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    while (end < spans.size() && spans[end].label == spans[begin].label) ++end;
    if (end - begin < 2 || trace.text(spans[begin].name).starts_with(kCompiledRegion)) continue;
    std::vector<size_t> counts;
    size_t covered = 0;
    for (size_t i = begin; i < end; ++i) {
      counts.push_back(launches.count(spans[i].start_ns, spans[i].end_ns));
      covered += counts.back();
    }
    if (static_cast<double>(covered) < kCoveredShare * static_cast<double>(launches.size()) ||
        covered <= best_covered || !alike(std::move(counts), kSpanSpread, 1)) {
      continue;
    }
    best_covered = covered;
    best.windows.clear();
    for (size_t i = begin; i < end; ++i) {
      best.windows.push_back(
          {numbered(trace, spans[i].name, i - begin + 1), spans[i].start_ns, spans[i].end_ns});
    }
  }
}

Windows repeated_annotation(const Trace& trace, const std::vector<ThreadSpans>& threads,
                            const Launches& launches) {
  Windows best{.source = WindowSource::kRepeatedRoot, .windows = {}};
  size_t best_covered = 0;
  for (const ThreadSpans& thread : threads) {
    add_repeated(trace, thread.annotations, launches, best_covered, best);
  }
  return best;
}

// The outermost annotations of a thread with a name of prefill or decode, if they are steps.
std::vector<Span> steps_by_phase(const Trace& trace, const std::vector<Span>& annotations,
                                 const Launches& launches) {
  std::vector<Span> steps;
  std::vector<size_t> decode;
  size_t prefills = 0;
  size_t covered = 0;
  for (const Span& span : annotations) {
    const Phase phase = phase_of_label(trace.text(span.name));
    const size_t count = launches.count(span.start_ns, span.end_ns);
    if (phase == Phase::kNone || count == 0) continue;
    covered += count;
    if (phase == Phase::kDecode) decode.push_back(count);
    prefills += phase == Phase::kPrefill ? 1 : 0;
    steps.push_back(span);
  }
  const bool nearly_all =
      static_cast<double>(covered) >= kCoveredShare * static_cast<double>(launches.size());
  // A single prefill with its decode steps is left to the search for repeated spans.
  const bool are_steps = prefills > 1 && decode.size() > prefills && nearly_all &&
                         alike(std::move(decode), kSpanSpread, 1);
  return are_steps ? steps : std::vector<Span>();
}

Windows engine_steps(const Trace& trace, const std::vector<ThreadSpans>& threads,
                     const Launches& launches) {
  Windows found{.source = WindowSource::kRepeatedRoot, .windows = {}};
  for (const ThreadSpans& thread : threads) {
    const std::vector<Span> steps = steps_by_phase(trace, thread.annotations, launches);
    if (steps.empty()) continue;
    for (size_t i = 0; i < steps.size(); ++i) {
      found.windows.push_back(
          {numbered(trace, steps[i].name, i + 1), steps[i].start_ns, steps[i].end_ns});
    }
    return found;
  }
  return found;
}

// The outermost step labels of an engine on one thread that contain launches.
Windows labelled_steps(const Trace& trace, const Launches& launches) {
  Windows found{.source = WindowSource::kRepeatedRoot, .windows = {}};
  std::vector<std::vector<Span>> threads(trace.threads.size());
  std::unordered_map<uint32_t, bool> is_step;  // by name
  for (size_t i = 0; i < trace.annotations.size(); ++i) {
    const StringId name = trace.annotations.name[i];
    const auto [known, added] = is_step.try_emplace(name.value, false);
    if (added) known->second = read_step_label(trace.text(name)).has_value();
    if (!known->second || trace.annotations.dur_ns[i] <= 0) continue;
    const int64_t start_ns = trace.annotations.start_ns[i];
    threads[trace.annotations.thread[i].index()].push_back(
        {start_ns, start_ns + trace.annotations.dur_ns[i], name, 0});
  }
  for (std::vector<Span>& steps : threads) {
    keep_outermost(steps);
    size_t covered = 0;
    std::erase_if(steps, [&](const Span& step) {
      const size_t count = launches.count(step.start_ns, step.end_ns);
      covered += count;
      return count == 0;
    });
    if (steps.size() < 2 ||
        static_cast<double>(covered) < kCoveredShare * static_cast<double>(launches.size())) {
      continue;
    }
    for (size_t i = 0; i < steps.size(); ++i) {
      found.windows.push_back(
          {numbered(trace, steps[i].name, i + 1), steps[i].start_ns, steps[i].end_ns});
    }
    break;
  }
  return found;
}

// The annotations of a thread without those that occur once and contain nearly all launches.
std::vector<Span> inside_wrappers(const Trace& trace, size_t thread, const Launches& launches) {
  std::vector<Span> spans;
  StringPool labels;
  std::unordered_map<uint32_t, size_t> times;
  const auto [first, last] = std::equal_range(trace.annotations.thread.begin(),
                                              trace.annotations.thread.end(), ThreadId(thread));
  for (auto it = first; it != last; ++it) {
    const auto i = static_cast<size_t>(it - trace.annotations.thread.begin());
    const StringId name = trace.annotations.name[i];
    const int64_t start_ns = trace.annotations.start_ns[i];
    const uint32_t label = labels.intern(without_digits(trace.text(name))).value;
    ++times[label];
    spans.push_back({start_ns, start_ns + trace.annotations.dur_ns[i], name, label});
  }
  std::erase_if(spans, [&](const Span& span) {
    return times[span.label] == 1 &&
           static_cast<double>(launches.count(span.start_ns, span.end_ns)) >=
               kCoveredShare * static_cast<double>(launches.size());
  });
  keep_outermost(spans);
  return spans;
}

Windows repeated_inside_wrappers(const Trace& trace, const Links& links, const Launches& launches) {
  Windows best{.source = WindowSource::kRepeatedRoot, .windows = {}};
  size_t best_covered = 0;
  for (size_t thread = 0; thread < trace.threads.size(); ++thread) {
    add_repeated(trace, inside_wrappers(trace, thread, launches), launches, best_covered, best);
  }
  const std::vector<int64_t> looks = looks_at_results(trace, links);
  for (size_t w = 0; w < best.windows.size(); ++w) {
    const int64_t next_ns = w + 1 < best.windows.size() ? best.windows[w + 1].start_ns
                                                        : std::numeric_limits<int64_t>::max();
    const auto look = std::lower_bound(looks.begin(), looks.end(), best.windows[w].start_ns);
    if (look == looks.end() || *look >= next_ns) return {};
  }
  return best;
}

// "Optimizer.step#AdamW.step": an iteration ends with each, on any thread. Activities after the
// last one belong to an incomplete iteration.
Windows optimizer_steps(const Trace& trace, const Launches& launches, int64_t trace_start_ns) {
  std::vector<Window> steps;
  const auto add = [&trace, &steps](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (!trace.text(table.name[i]).starts_with(kOptimizerStep)) continue;
      steps.push_back({"", table.start_ns[i], table.start_ns[i] + table.dur_ns[i]});
    }
  };
  add(trace.annotations);
  add(trace.ops);
  std::sort(steps.begin(), steps.end(), [](const Window& a, const Window& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  // A step that begins inside another one is its copy or a part of it.
  std::vector<int64_t> ends = {trace_start_ns};
  for (const Window& step : steps) {
    if (ends.size() > 1 && step.start_ns < ends.back()) continue;
    ends.push_back(step.end_ns);
  }
  if (ends.size() < 1 + kLeastSteps) return {};
  std::vector<size_t> counts;
  for (size_t i = 1; i + 1 < ends.size(); ++i) {
    counts.push_back(launches.count(ends[i], ends[i + 1]));
  }
  if (!alike(counts, kPeriodSpread, kPeriodLaunches)) return {};
  std::sort(counts.begin(), counts.end());
  const double middle = static_cast<double>(counts[counts.size() / 2]);
  const double first = static_cast<double>(launches.count(ends[0], ends[1]));
  const bool whole = first >= middle * (1 - kSpanSpread) && first <= middle / (1 - kSpanSpread);
  Windows found{.source = WindowSource::kRepeatedRoot, .windows = {}};
  for (size_t i = whole ? 0 : 1; i + 1 < ends.size(); ++i) {
    found.windows.push_back({"training step " + std::to_string(i + 1), ends[i], ends[i + 1]});
  }
  return found;
}

// The smallest p with label[i] = label[i + p] for all i, which is the length minus the longest
// border (Knuth, Morris and Pratt). The length itself if nothing repeats.
size_t period(const std::vector<Span>& spans) {
  std::vector<size_t> border(spans.size() + 1, 0);
  for (size_t i = 1; i < spans.size(); ++i) {
    size_t length = border[i];
    while (length > 0 && spans[length].label != spans[i].label) length = border[length];
    border[i + 1] = spans[length].label == spans[i].label ? length + 1 : 0;
  }
  return spans.size() - border[spans.size()];
}

// Threads with many launches, in order of their first launch. In training the first one runs the
// forward pass, so windows start there and not with the backward pass of another thread.
std::vector<size_t> leading_threads(const Trace& trace, const Links& links,
                                    const Launches& launches) {
  std::vector<size_t> count(trace.threads.size());
  std::vector<int64_t> first_ns(trace.threads.size());
  for (size_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiRole role = links.role_of(trace, ApiCallId(i));
    if (role != ApiRole::kKernelLaunch && role != ApiRole::kGraphLaunch) continue;
    const size_t thread = trace.api_calls.thread[i].index();
    if (count[thread]++ == 0) first_ns[thread] = trace.api_calls.start_ns[i];
  }
  std::vector<size_t> leading;
  for (size_t i = 0; i < count.size(); ++i) {
    if (count[i] > 0 &&
        static_cast<double>(count[i]) >= kThreadShare * static_cast<double>(launches.size())) {
      leading.push_back(i);
    }
  }
  std::stable_sort(leading.begin(), leading.end(),
                   [&](size_t a, size_t b) { return first_ns[a] < first_ns[b]; });
  return leading;
}

Windows repeated_sequence(const Trace& trace, const std::vector<ThreadSpans>& threads,
                          const std::vector<size_t>& leading, const Launches& launches,
                          int64_t trace_end_ns) {
  Windows found{.source = WindowSource::kRepeatedRoot, .windows = {}};
  for (size_t thread : leading) {
    const std::vector<Span>& spans = threads[thread].all;
    if (spans.empty()) continue;
    const size_t length = period(spans);
    const size_t repeats = spans.size() / length;
    if (repeats < 2 || launches.size() / repeats < kPeriodLaunches) continue;
    const size_t covered = launches.count(spans.front().start_ns, trace_end_ns);
    if (static_cast<double>(covered) < kCoveredShare * static_cast<double>(launches.size())) {
      continue;
    }
    const auto end_of = [&](size_t repeat) {
      const size_t next = (repeat + 1) * length;
      return next < spans.size() ? spans[next].start_ns : trace_end_ns;
    };
    std::vector<size_t> counts;
    for (size_t i = repeats > 2 ? 1 : 0; i < repeats; ++i) {
      counts.push_back(launches.count(spans[i * length].start_ns, end_of(i)));
    }
    if (!alike(std::move(counts), kPeriodSpread, kPeriodLaunches)) continue;
    for (size_t i = 0; i < repeats; ++i) {
      const Span& first = spans[i * length];
      found.windows.push_back({numbered(trace, first.name, i + 1), first.start_ns, end_of(i)});
    }
    break;
  }
  return found;
}

// One GPU activity as a step of a sequence.
struct Step {
  int64_t time_ns;  // start of its call, else its own start
  int64_t start_ns;
  uint32_t activity;
};

// The key with the largest count; the first of equals.
size_t fullest(const std::map<int64_t, size_t>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return counts.empty() ? 0 : static_cast<size_t>(most->first);
}

// Activities of the device with the most kernels. With recorded calls, in the order of their
// launches, without those queued before. Otherwise the stream with the most kernels, in its own
// order.
struct DeviceSequence {
  std::vector<Step> steps;
  size_t kernels = 0;
  size_t linked = 0;  // kernels with a recorded call
  // True if few activities have a call. An activity with a call belongs to the window of its call,
  // others to that of their own time, so neither order is consistent; the steps are then in order
  // of their own time.
  bool mixed = false;
};
DeviceSequence device_sequence(const Trace& trace, const Links& links) {
  DeviceSequence found;
  std::map<int64_t, size_t> per_device;
  std::map<int64_t, size_t> per_stream;
  const auto device_of = [&trace](size_t a) {
    return trace.streams[trace.activities.stream[a].index()].device;
  };
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    per_device[device_of(a)] += trace.activities.kind[a] == ActivityKind::kKernel ? 1 : 0;
  }
  const auto device = static_cast<int64_t>(fullest(per_device));
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (trace.activities.kind[a] != ActivityKind::kKernel || device_of(a) != device) continue;
    ++per_stream[trace.activities.stream[a].value];
    found.linked += links.activity_call[a] ? 1 : 0;
  }
  found.kernels = per_device[device];
  const bool by_call =
      static_cast<double>(found.linked) >= kLinkedShare * static_cast<double>(found.kernels);
  found.mixed = !by_call && found.linked > 0;
  const size_t stream = fullest(per_stream);
  std::vector<Step>& steps = found.steps;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ApiCallId call = links.activity_call[a];
    const bool wanted =
        by_call ? static_cast<bool>(call) : trace.activities.stream[a].value == stream;
    if (!wanted || !is_plain_work(trace.activities.kind[a]) || device_of(a) != device) continue;
    const int64_t start_ns = trace.activities.start_ns[a];
    const int64_t time_ns = by_call ? trace.api_calls.start_ns[call.index()] : start_ns;
    steps.push_back({time_ns, start_ns, static_cast<uint32_t>(a)});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tie(a.time_ns, a.start_ns, a.activity) <
           std::tie(b.time_ns, b.start_ns, b.activity);
  });
  return found;
}

// Items of the sequence. If `loose`, names that differ only in digits (tile sizes, lengths) count
// as equal, and so do the names of attention kernels, because the sequence length selects the
// kernel.
std::vector<SequenceItem> items_of(const Trace& trace, const std::vector<Step>& steps,
                                   const std::vector<WorkRole>& roles, bool loose) {
  std::vector<SequenceItem> items;
  std::unordered_map<uint32_t, uint32_t> token_of_name;
  StringPool words;
  int64_t busy_until_ns = std::numeric_limits<int64_t>::max();
  for (size_t s = 0; s < steps.size(); ++s) {
    const size_t a = steps[s].activity;
    const StringId name = trace.activities.name[a];
    const auto [found, added] = token_of_name.try_emplace(name.value, 0);
    if (added) {
      const std::string_view text = trace.text(name);
      const bool attention =
          name.index() < roles.size() && roles[name.index()] == WorkRole::kAttention;
      found->second =
          words.intern(!loose      ? std::string(text)
                       : attention ? "attention"
                                   : without_digits(text))
              .value;
    }
    SequenceItem item{.token = found->second};
    if (name.index() < roles.size()) item.role = roles[name.index()];
    if (trace.activities.kind[a] == ActivityKind::kMemcpy &&
        copy_way(trace.text(name)) == CopyWay::kToHost) {
      item.role = WorkRole::kReadback;
    }
    item.begins = s == 0 || steps[s].time_ns > steps[s - 1].time_ns;
    item.gap_ns = std::max<int64_t>(
        0, busy_until_ns < steps[s].start_ns ? steps[s].start_ns - busy_until_ns : 0);
    item.dur_ns = trace.activities.dur_ns[a];
    const int64_t end_ns = steps[s].start_ns + item.dur_ns;
    busy_until_ns = s == 0 ? end_ns : std::max(busy_until_ns, end_ns);
    items.push_back(item);
  }
  return items;
}

std::string evidence_words(const Periods& found) {
  std::string words = std::to_string(found.periods.size()) + " by the period of kernel names, " +
                      std::string(period_evidence_words(found.evidence));
  words += ", at least " + std::to_string(static_cast<int>(found.alike * 100)) + " % alike";
  if (found.outside > 0) {
    words += "; " + std::to_string(found.outside) + " GPU activities are in none of them";
  }
  return words;
}

std::string mixed_words(const DeviceSequence& sequence, const Periods& found) {
  return "none is detected, although there may be " + evidence_words(found) + ": of " +
         std::to_string(sequence.kernels) + " kernels " + std::to_string(sequence.linked) +
         " have a recorded call. Those belong to an iteration by the time of the call, others by "
         "their own time. Record the calls of all kernels, or mark the steps";
}

Windows repeated_kernels(const Trace& trace, const Links& links, const std::vector<WorkRole>& roles,
                         int64_t trace_end_ns) {
  Windows windows{.source = WindowSource::kKernelPeriod, .windows = {}};
  const DeviceSequence sequence = device_sequence(trace, links);
  const std::vector<Step>& steps = sequence.steps;
  std::optional<Periods> found = find_periods(items_of(trace, steps, roles, false));
  if (!found || found->outside > 0) {
    std::optional<Periods> loose = find_periods(items_of(trace, steps, roles, true));
    // Exact names are the better evidence that nothing else is between the periods.
    const bool less_left = loose && loose->evidence != PeriodEvidence::kWhole &&
                           (!found || loose->outside < found->outside);
    if (less_left) found = std::move(loose);
  }
  if (!found) return windows;
  if (sequence.mixed) {
    windows.evidence = mixed_words(sequence, *found);
    return windows;
  }
  for (const Period& one : found->periods) {
    const int64_t end_ns = one.end < steps.size() ? steps[one.end].time_ns : trace_end_ns;
    windows.windows.push_back({"iteration " + std::to_string(windows.windows.size() + 1),
                               steps[one.begin].time_ns, end_ns});
  }
  windows.evidence = evidence_words(*found);
  return windows;
}

struct Extent {
  int64_t start_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = std::numeric_limits<int64_t>::min();

  template <typename Table>
  void add(const Table& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      const int64_t row_start_ns = table.start_ns[i];
      start_ns = std::min(start_ns, row_start_ns);
      end_ns = std::max(end_ns, row_start_ns + table.dur_ns[i]);
      // A window is half-open: a zero-length row at its end would not be in it.
      if (row_start_ns == end_ns && end_ns < std::numeric_limits<int64_t>::max()) ++end_ns;
    }
  }
};

}  // namespace

std::string_view window_source_name(WindowSource source) {
  switch (source) {
    case WindowSource::kProfilerStep:
      return "profiler_step";
    case WindowSource::kRepeatedRoot:
      return "repeated_root";
    case WindowSource::kKernelPeriod:
      return "kernel_period";
    case WindowSource::kLabel:
      return "label";
    case WindowSource::kWholeTrace:
      return "whole_trace";
  }
  return "";
}

Windows find_iterations(const Trace& trace, const Links& links,
                        const std::vector<WorkRole>& roles) {
  Windows steps = profiler_steps(trace);
  if (!steps.windows.empty()) return steps;

  Extent extent;
  extent.add(trace.ops);
  extent.add(trace.frames);
  extent.add(trace.api_calls);
  extent.add(trace.activities);
  extent.add(trace.annotations);
  if (extent.start_ns > extent.end_ns) extent = {.start_ns = 0, .end_ns = 0};

  const Launches launches(trace, links);
  if (launches.size() > 0) {
    const std::vector<size_t> leading = leading_threads(trace, links, launches);
    const std::vector<ThreadSpans> threads = outermost_spans(trace, links, leading);
    Windows repeats = labelled_steps(trace, launches);
    if (!repeats.windows.empty()) return repeats;
    repeats = engine_steps(trace, threads, launches);
    if (!repeats.windows.empty()) return repeats;
    repeats = repeated_annotation(trace, threads, launches);
    if (!repeats.windows.empty()) return repeats;
    repeats = repeated_sequence(trace, threads, leading, launches, extent.end_ns);
    if (!repeats.windows.empty()) return repeats;
    repeats = optimizer_steps(trace, launches, extent.start_ns);
    if (!repeats.windows.empty()) return repeats;
    repeats = repeated_inside_wrappers(trace, links, launches);
    if (!repeats.windows.empty()) return repeats;
  }
  Windows periods = repeated_kernels(trace, links, roles, extent.end_ns);
  if (!periods.windows.empty()) return periods;
  return {.source = WindowSource::kWholeTrace,
          .windows = {{"whole trace", extent.start_ns, extent.end_ns}},
          .evidence = std::move(periods.evidence)};
}

std::vector<int32_t> iteration_numbers(const Windows& windows) {
  std::vector<int32_t> numbers;
  for (size_t w = 0; w < windows.windows.size(); ++w) {
    auto number = static_cast<int32_t>(w) + 1;
    const std::string& name = windows.windows[w].name;
    const size_t sharp = name.find('#');
    if (windows.source == WindowSource::kProfilerStep && sharp != std::string::npos) {
      std::from_chars(name.data() + sharp + 1, name.data() + name.size(), number);
    }
    numbers.push_back(number);
  }
  return numbers;
}

int32_t window_at(const Windows& windows, int64_t time_ns) {
  const auto after =
      std::upper_bound(windows.windows.begin(), windows.windows.end(), time_ns,
                       [](int64_t time, const Window& window) { return time < window.start_ns; });
  if (after == windows.windows.begin()) return -1;
  const auto index = static_cast<int32_t>(after - windows.windows.begin()) - 1;
  return time_ns < windows.windows[index].end_ns ? index : -1;
}

}  // namespace assay
