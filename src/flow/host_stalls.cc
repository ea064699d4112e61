#include "flow/host_stalls.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/intervals.h"
#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "flow/names.h"
#include "trace/page_faults.h"
#include "trace/system_calls.h"

namespace assay {
namespace {

// The name of the shortest event that covers a fraction `most` of `span`, is shorter than least_ns
// and satisfies `counts`. Sets least_ns to its duration. None if there is none.
template <typename Table, typename Counts>
StringId shortest_around(const Table& table, Interval span, double most, int64_t& least_ns,
                         Counts counts) {
  StringId name;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.dur_ns[i] >= least_ns || !counts(i)) continue;
    const int64_t inside_ns = std::min(span.end_ns, table.start_ns[i] + table.dur_ns[i]) -
                              std::max(span.start_ns, table.start_ns[i]);
    const auto all = static_cast<double>(span.end_ns - span.start_ns);
    if (static_cast<double>(inside_ns) < most * all) continue;
    least_ns = table.dur_ns[i];
    name = table.name[i];
  }
  return name;
}

// The profiler's own activity that covers half of `span`, with kProfilers in front; empty if none.
std::string profiler_in(const Trace& trace, Interval span) {
  int64_t least_ns = INT64_MAX;
  const StringId name =
      shortest_around(trace.overheads, span, 0.5, least_ns, [](size_t) { return true; });
  return name ? std::string(kProfilers) + std::string(trace.text(name)) : "";
}

// The thread of the event that names a contributor's longest slice; none if not found.
ThreadId thread_of_longest(const Trace& trace, const Contributor& who) {
  const auto in = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      const bool around = table.start_ns[i] <= who.longest.start_ns &&
                          table.start_ns[i] + table.dur_ns[i] >= who.longest.end_ns;
      if (around && table.name[i] == who.name) return table.thread[i];
    }
    return ThreadId();
  };
  if (who.source == RowSource::kCall) return in(trace.api_calls);
  if (who.source == RowSource::kSystem) return in(trace.other_events);
  return who.source == RowSource::kFrame ? in(trace.frames) : ThreadId();
}

// Stalls with a contributor's cause and source, merged.
std::vector<Interval> pauses_of(const FlowReport& report, const Contributor& contributor) {
  std::vector<Interval> pauses;
  for (const DeviceFlow& device : report.devices) {
    for (const FlowSlice& slice : device.idle) {
      const bool same = slice.cause == contributor.cause && slice.source == contributor.source;
      if (same && slice.span.end_ns - slice.span.start_ns >= kPauseNs) pauses.push_back(slice.span);
    }
  }
  return clip(merge_intervals(std::move(pauses)), report.window);
}

// The system call that threads with API calls are in for at least 60 % of the stalls; empty if
// none.
std::string system_calls_in(const Trace& trace, const std::vector<Interval>& pauses) {
  constexpr double kMost = 0.6;
  std::vector<bool> calls(trace.threads.size(), false);
  for (const ThreadId thread : trace.api_calls.thread) calls[thread.index()] = true;
  const auto& rows = trace.other_events;
  std::map<StringId, int64_t> inside_ns;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows.thread[i] || !calls[rows.thread[i].index()]) continue;
    inside_ns[rows.name[i]] +=
        length_in(pauses, {rows.start_ns[i], rows.start_ns[i] + rows.dur_ns[i]});
  }
  const auto most =
      std::max_element(inside_ns.begin(), inside_ns.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == inside_ns.end()) return "";
  const bool named =
      static_cast<double>(most->second) >= kMost * static_cast<double>(length_ns(pauses));
  return named ? std::string(trace.text(most->first)) : "";
}

// kPageFaults if faults in close succession cover at least 60 % of the stalls. A fault has no
// recorded end: it is assumed to last until the next one.
std::string page_faults_in(const Trace& trace, const std::vector<Interval>& pauses) {
  constexpr double kMost = 0.6;
  constexpr int64_t kApartNs = 1'000'000;  // ten times what moving a page takes
  const auto& rows = trace.other_events;
  std::vector<int64_t> faults;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (trace.text(rows.name[i]) == kCpuPageFault) faults.push_back(rows.start_ns[i]);
  }
  std::sort(faults.begin(), faults.end());
  std::vector<Interval> spans;
  for (size_t i = 1; i < faults.size(); ++i) {
    if (faults[i] - faults[i - 1] <= kApartNs) spans.push_back({faults[i - 1], faults[i]});
  }
  const int64_t inside_ns = length_ns(intersect(merge_intervals(std::move(spans)), pauses));
  const bool named = inside_ns > 0 && static_cast<double>(inside_ns) >=
                                          kMost * static_cast<double>(length_ns(pauses));
  return named ? std::string(kPageFaults) : "";
}

// True if the label covers at least half of the stalls. What covers the longest one may be
// unrelated to the others.
bool is_around_most(const Trace& trace, StringId label, const std::vector<Interval>& pauses) {
  const auto& labels = trace.annotations;
  std::vector<Interval> spans;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels.name[i] != label) continue;
    spans.push_back({labels.start_ns[i], labels.start_ns[i] + labels.dur_ns[i]});
  }
  return length_ns(intersect(merge_intervals(std::move(spans)), pauses)) * 2 >= length_ns(pauses);
}

// What covers the longest unnamed slice and most of all such slices: the shortest label shorter
// than half of the window; else system calls; else page faults.
std::string label_around(const Trace& trace, const Contributor& contributor,
                         const FlowReport& report) {
  constexpr double kNearlyAll = 0.9;
  // A label hardly longer than the slice describes it, whatever its length.
  const int64_t pause_ns = contributor.longest.end_ns - contributor.longest.start_ns;
  int64_t least_ns = std::max(report.window_ns() / 2, pause_ns + pause_ns / 8);
  const auto& labels = trace.annotations;
  const StringId name = shortest_around(
      labels, contributor.longest, kNearlyAll, least_ns,
      [&](size_t i) { return !classify_host_name(trace.text(labels.name[i])).step; });
  const std::vector<Interval> pauses = pauses_of(report, contributor);
  if (name && is_around_most(trace, name, pauses)) return std::string(trace.text(name));
  const std::string calls = system_calls_in(trace, pauses);
  return calls.empty() ? page_faults_in(trace, pauses) : calls;
}

// The thread that makes the first call at time_ns or later; none if there is none.
ThreadId next_to_call(const Trace& trace, int64_t time_ns) {
  ThreadId thread;
  int64_t first_ns = INT64_MAX;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const int64_t start_ns = trace.api_calls.start_ns[c];
    if (start_ns < time_ns || start_ns >= first_ns) continue;
    first_ns = start_ns;
    thread = trace.api_calls.thread[c];
  }
  return thread;
}

// Per thread: it waits for more than a quarter of `span`, so the functions around that wait block
// nobody.
std::vector<bool> waiting_threads(const Trace& trace, Interval span) {
  std::vector<int64_t> waits_ns(trace.threads.size());
  for (size_t i = 0; i < trace.frames.size(); ++i) {
    const ThreadId thread = trace.frames.thread[i];
    const int64_t start_ns = std::max(span.start_ns, trace.frames.start_ns[i]);
    const int64_t end_ns = std::min(span.end_ns, trace.frames.start_ns[i] + trace.frames.dur_ns[i]);
    if (!thread || end_ns <= start_ns) continue;
    const HostName kind = classify_host_name(trace.text(trace.frames.name[i]));
    if (kind.lock || kind.outside) waits_ns[thread.index()] += end_ns - start_ns;
  }
  const auto& system = trace.other_events;
  for (size_t i = 0; i < system.size(); ++i) {
    const int64_t start_ns = std::max(span.start_ns, system.start_ns[i]);
    const int64_t end_ns = std::min(span.end_ns, system.start_ns[i] + system.dur_ns[i]);
    if (!system.thread[i] || end_ns <= start_ns || !is_system_call(trace, i)) continue;
    const HostName kind = classify_system_call(trace.text(system.name[i]));
    if (kind.lock || kind.outside) waits_ns[system.thread[i].index()] += end_ns - start_ns;
  }
  std::vector<bool> waiting;
  for (const int64_t ns : waits_ns) waiting.push_back(ns * 4 > span.end_ns - span.start_ns);
  return waiting;
}

}  // namespace

bool pauses_in_one(const LeadingPauses& pauses) {
  return !pauses.stalls && pauses.who && pauses.who->pause_ns * 10 >= pauses.ns * 8;
}

bool waits_in_pauses(const FlowAnswer& answer) {
  const std::optional<Contributor>& who = answer.verdict.pauses.who;
  if (!who) return false;
  if (!who->name) return is_waiting_label(pause_name(answer));
  if (who->source != RowSource::kFrame) return is_waiting_label(answer.trace.text(who->name));
  const HostName name = classify_host_name(answer.trace.text(who->name));
  return name.lock || name.outside;
}

std::string pause_holder(const FlowAnswer& answer) {
  const std::optional<Contributor>& who = answer.verdict.pauses.who;
  if (!who || (who->source != RowSource::kCall && !waits_in_pauses(answer))) return "";
  return held_by_thread(answer.trace, *who);
}

std::string held_by_thread(const Trace& trace, const Contributor& who) {
  constexpr double kMost = 0.8;
  const ThreadId own = thread_of_longest(trace, who);
  if (!own) return "";
  const std::vector<bool> waiting = waiting_threads(trace, who.longest);
  const auto elsewhere = [&](ThreadId thread, StringId name) {
    if (!thread || thread == own || waiting[thread.index()] ||
        trace.threads[thread.index()].pid != trace.threads[own.index()].pid) {
      return false;
    }
    const HostName kind = classify_host_name(trace.text(name));
    return !kind.lock && !kind.outside && !kind.queue && !kind.step;
  };
  int64_t least_ns = INT64_MAX;
  const auto find = [&](const auto& table) {
    return shortest_around(table, who.longest, kMost, least_ns,
                           [&](size_t i) { return elsewhere(table.thread[i], table.name[i]); });
  };
  StringId name = find(trace.api_calls);
  if (may_stand_still(who.source)) {
    if (const StringId op = find(trace.ops)) name = op;
    if (const StringId frame = find(trace.frames)) name = frame;
  }
  return name ? std::string(trace.text(name)) : "";
}

std::string runs_in_pauses(const FlowAnswer& answer) {
  const std::optional<Contributor>& who = answer.verdict.pauses.who;
  if (!who || waits_in_pauses(answer)) return "";
  const bool in_function = who->name && who->source == RowSource::kFrame;
  if (!in_function && (who->name || !pause_name(answer).empty())) return "";
  const Trace& trace = answer.trace;
  const ThreadId own = in_function ? thread_of_longest(trace, *who) : next_to_call(trace, who->longest.end_ns);
  if (!own) return "";
  const std::vector<Interval> pauses = pauses_of(answer.report, *who);
  const int64_t pauses_ns = length_ns(pauses);
  const Interval window = answer.report.window;
  const double elsewhere = 1 - share(pauses_ns, window.end_ns - window.start_ns);
  const std::vector<bool> waiting = waiting_threads(trace, who->longest);
  std::map<StringId, std::vector<Interval>> by_name;
  const auto& frames = trace.frames;
  for (size_t i = 0; i < frames.size(); ++i) {
    const ThreadId thread = frames.thread[i];
    if (!thread || thread == own || waiting[thread.index()] ||
        trace.threads[thread.index()].pid != trace.threads[own.index()].pid) {
      continue;
    }
    by_name[frames.name[i]].push_back({frames.start_ns[i], frames.start_ns[i] + frames.dur_ns[i]});
  }
  // Callers run during the stalls, too: take the shortest.
  StringId name;
  int64_t least_ns = INT64_MAX;
  for (auto& [frame, spans] : by_name) {
    const HostName kind = classify_host_name(trace.text(frame));
    if (kind.lock || kind.outside || kind.queue || kind.step) continue;
    const std::vector<Interval> runs = clip(merge_intervals(std::move(spans)), window);
    const int64_t runs_ns = length_ns(runs);
    const int64_t inside_ns = length_ns(intersect(runs, pauses));
    if (runs_ns >= least_ns || inside_ns * 10 < pauses_ns * 6) continue;
    // A thread that always runs also runs during the stalls; one that holds the GIL hardly runs
    // outside them.
    if (in_function && share(runs_ns - inside_ns, runs_ns) * 2 > elsewhere) continue;
    least_ns = runs_ns;
    name = frame;
  }
  return name ? std::string(trace.text(name)) : "";
}

std::string pause_name(const FlowAnswer& answer) {
  const std::optional<Contributor>& who = answer.verdict.pauses.who;
  if (!who) return "";
  const std::string profiler = profiler_in(answer.trace, who->longest);
  if (!profiler.empty()) return profiler;
  std::string name = contributor_name(answer.trace, *who);
  return name.empty() ? label_around(answer.trace, *who, answer.report) : name;
}

}  // namespace assay
