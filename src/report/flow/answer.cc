// The short answer of one trace. Whose words a sentence may use is the program's: no advice on
// PyTorch for a program that has none.

#include "findings/causes.h"
#include "report/flow/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/numbers.h"
#include "flow/slow_runs.h"
#include "flow/uneven.h"
#include "kernels/name.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "findings/diagnosis.h"
#include "flow/advice.h"
#include "report/flow/sentences.h"
#include "flow/host_stalls.h"
#include "report/flow/recipes.h"
#include "flow/contributor_names.h"
#include "text/names.h"
#include "report/flow/whatif.h"
#include "report/run/section.h"
#include "trace/copy_way.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

// Of the group it is named in, a part of the host's time has at least this share.
constexpr double kPartNamed = 0.15;
constexpr size_t kMostSpans = 8;

// The base, and behind it whatever still fits of the tails, in their order.
std::string sentence_of(std::string base, std::initializer_list<std::string> tails) {
  for (const std::string& tail : tails) {
    if (display_width(base) + display_width(tail) + 1 <= kLongestVerdict) base += tail;
  }
  return base + ".";
}

// What the recording should be made with, where it says too little: by the tool that made this one.
AnswerNote record_steady(const FlowAnswer& answer) {
  const Program& program = answer.verdict.program;
  if (program.kind == ProgramKind::kPyTorch && !answer.trace.ops.empty()) {
    return {"record",
            {"with torch.profiler.profile(",
             "    schedule=torch.profiler.schedule(wait=5, warmup=3, active=10)) as p:",
             "    for batch in loader: step(batch); p.step()"},
            true};
  }
  if (answer.trace.tracer == Tracer::kNsightSystems) {
    return {"record", {"nsys profile -t cuda,nvtx,osrt --delay 10 --duration 5 PROGRAM"}, true};
  }
  if (program.hip && answer.trace.ops.empty() && answer.verdict.linked_share >= 0.9) {
    return {"record", {"the same program for longer: more work behind its start-up"}};
  }
  if (program.hip && answer.trace.ops.empty()) {
    return {
        "record", {"rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -- PROGRAM"}, true};
  }
  return {"record", {"some whole iterations behind the warm-up, with the host's calls"}};
}

// Whether most of the one-off costs come when much of the device work is done: a new shape, a
// first use, another compilation, and no start of the run.
bool cold_in_the_middle(const FlowAnswer& answer) {
  constexpr uint64_t kLeastWorks = 50;
  const auto& leading = answer.verdict.leading;
  if (answer.verdict.bound != BoundBy::kColdStart || leading.empty()) return false;
  const Interval longest = leading.front().longest;
  const auto& starts_ns = answer.trace.activities.start_ns;
  const auto before = static_cast<uint64_t>(
      std::count_if(starts_ns.begin(), starts_ns.end(), [&](int64_t start_ns) {
        return start_ns >= answer.report.window.start_ns && start_ns < longest.start_ns;
      }));
  return before >= std::max(kLeastWorks, answer.report.evidence.works / 10);
}

// A stretch in which only the host has rows, and what most of it goes to.
struct HostAlone {
  int64_t ns = 0;
  int64_t silent_ns = 0;  // longest part without any row
  std::string name;
  int64_t calls_ns = 0;  // of it, in calls of that name
};

int64_t longest_gap_ns(std::vector<Interval> rows) {
  std::sort(rows.begin(), rows.end(),
            [](Interval a, Interval b) { return a.start_ns < b.start_ns; });
  int64_t gap_ns = 0;
  int64_t reach_ns = rows.empty() ? 0 : rows.front().start_ns;
  for (const Interval row : rows) {
    gap_ns = std::max(gap_ns, row.start_ns - reach_ns);
    reach_ns = std::max(reach_ns, row.end_ns);
  }
  return gap_ns;
}

// What the host does in `outside`, before or behind the time that is judged.
HostAlone host_alone(const Trace& trace, Interval outside, Interval window) {
  constexpr int64_t kLeastNs = 50'000'000;
  Interval reach{outside.end_ns, outside.start_ns};
  int64_t longest_ns = 0;
  HostAlone alone;
  std::vector<Interval> rows;
  const auto look = [&](const auto& table, bool names) {
    const size_t count = table.size();
    for (size_t i = 0; i < count; ++i) {
      const Interval row{table.start_ns[i], table.start_ns[i] + table.dur_ns[i]};
      const Interval within{std::max(row.start_ns, outside.start_ns),
                            std::min(row.end_ns, outside.end_ns)};
      if (within.start_ns >= within.end_ns) continue;
      const bool cut = within.start_ns != row.start_ns || within.end_ns != row.end_ns;
      // The label of a step that begins in a silence does not fill it.
      if (names || !cut) rows.push_back(within);
      if (!names || cut) continue;
      reach.start_ns = std::min(reach.start_ns, row.start_ns);
      reach.end_ns = std::max(reach.end_ns, row.end_ns);
      if (table.dur_ns[i] <= longest_ns) continue;
      longest_ns = table.dur_ns[i];
      alone.name = trace.text(table.name[i]);
    }
  };
  look(trace.ops, true);
  look(trace.frames, true);
  look(trace.api_calls, true);
  // Of one thread and name together: they come one after the other.
  std::map<std::pair<uint32_t, StringId>, int64_t> calls_ns;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const ApiCallId call(c);
    const int64_t start_ns = trace.api_calls.start_ns[c];
    if (start_ns < outside.start_ns || trace.end_ns(call) > outside.end_ns) continue;
    int64_t& ns = calls_ns[{trace.api_calls.thread[c].value, trace.api_calls.name[c]}];
    ns += trace.api_calls.dur_ns[c];
    if (ns <= longest_ns) continue;
    longest_ns = ns;
    alone.calls_ns = ns;
    alone.name = trace.text(trace.api_calls.name[c]);
  }
  if (reach.end_ns <= reach.start_ns) return {};
  const int64_t ns = reach.end_ns - reach.start_ns;
  if (ns < kLeastNs || ns * 2 < window.end_ns - window.start_ns) return {};
  alone.ns = ns;
  if (longest_ns * 2 < ns) alone.name.clear();
  look(trace.annotations, false);
  alone.silent_ns = std::min(longest_gap_ns(std::move(rows)), ns);
  return alone;
}

bool sleeps(const FlowAnswer& answer) {
  const auto& leading = answer.verdict.leading;
  if (leading.empty() || !leading.front().name) return false;
  const std::string_view name = answer.trace.text(leading.front().name);
  return name.starts_with("<built-in function sleep") || name.ends_with("sleep");
}

// Bytes per second of the copies of one name; 0 where bytes are not told, or where the copies are
// so small that the way to them takes most of their time.
double copy_pace(const Trace& trace, StringId name) {
  constexpr int64_t kLeastBytes = int64_t{256} * 1024;  // on average
  int64_t bytes = 0;
  int64_t busy_ns = 0;
  int64_t copies = 0;
  for (size_t i = 0; i < trace.transfers.size(); ++i) {
    const size_t a = trace.transfers.activity[i].index();
    if (trace.activities.name[a] != name || trace.transfers.bytes[i] <= 0) continue;
    bytes += trace.transfers.bytes[i];
    busy_ns += trace.activities.dur_ns[a];
    ++copies;
  }
  if (busy_ns <= 0 || bytes < kLeastBytes * copies) return 0;
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(busy_ns);
}

std::string pace_text(double bytes_per_s) {
  return bytes_per_s > 0 ? " at " + number_text(bytes_per_s / 1e9) + " GB/s" : "";
}

// Whether what kept the device comes again and again up to the end: work that was handed over
// before the recording began does not.
bool unseen_to_the_end(const FlowReport& report) {
  constexpr uint64_t kMany = 8;
  const int64_t middle_ns =
      report.window.start_ns + (report.window.end_ns - report.window.start_ns) / 2;
  int64_t sum_ns = 0;
  int64_t late_ns = 0;
  uint64_t late = 0;
  for (const DeviceFlow& device : report.devices) {
    for (const FlowSlice& slice : device.idle) {
      if (slice.cause != FlowCause::kUnseen) continue;
      const int64_t ns = slice.span.end_ns - slice.span.start_ns;
      sum_ns += ns;
      if (slice.span.start_ns < middle_ns) continue;
      late_ns += ns;
      ++late;
    }
  }
  return late >= kMany && late_ns * 4 > sum_ns;
}

// Stretches of some length in which work that was handed over did not begin.
uint64_t late_gaps(const FlowReport& report) {
  constexpr int64_t kLeastNs = 50'000;
  uint64_t gaps = 0;
  for (const DeviceFlow& device : report.devices) {
    for (const FlowSlice& slice : device.idle) {
      gaps +=
          slice.cause == FlowCause::kUnseen && slice.span.end_ns - slice.span.start_ns >= kLeastNs;
    }
  }
  return gaps;
}

// Whether there are more rows of no known kind than operators: the device's work may be among them.
bool rows_unread(const Trace& trace) {
  const uint64_t others = trace.other_events.size();
  return others > 0 && others >= trace.ops.size() && trace.api_calls.empty();
}

// What another thread does while the host waits for it; empty where nothing tells.
std::string holder_of_wait(const FlowAnswer& answer) {
  const auto& leading = answer.verdict.leading;
  return leading.empty() ? "" : held_by_thread(answer.trace, leading.front());
}

// Ranks in one file are judged together: who waits for whom is known of ranks in files of their
// own.
std::string several_ranks(const FlowAnswer& answer) {
  const uint64_t processes = answer.trace.log.entry(ImportCode::kSeveralProcesses).count;
  const size_t gpus = answer.report.devices.size();
  if (processes < 2 || gpus < 2) return "";
  return "The file holds several ranks: " + std::to_string(processes) + " processes on " +
         std::to_string(gpus) + " GPUs. A folder of one file per rank shows who waits for whom.";
}

class Verdict {
 public:
  explicit Verdict(const FlowAnswer& answer)
      : answer_(answer),
        trace_(answer.trace),
        report_(answer.report),
        verdict_(answer.verdict),
        total_(answer.report.total) {}

  std::vector<std::string> sentences() const {
    std::vector<std::string> said = {first()};
    const size_t used = display_width(said.front());
    for (std::string more : {after_start(), blocking_sentence(answer_), migrations(), little_gain(),
                             outside(true), outside(false), mixed()}) {
      if (!more.empty() && used + 1 + display_width(more) <= kLongestVerdict) {
        said.push_back(std::move(more));
        break;
      }
    }
    return said;
  }

  std::string first() const {
    switch (verdict_.bound) {
      case BoundBy::kGpu:
        return gpu();
      case BoundBy::kHost:
        return host();
      case BoundBy::kInput:
        return input();
      case BoundBy::kSync:
        return sync();
      case BoundBy::kAlloc:
        return alloc();
      case BoundBy::kColdStart:
        if (verdict_.cold_iterations > 0) return cold_again();
        return sentence_of(
            std::string(cold_in_the_middle(answer_) ? "Held up in the middle" : "Cold start") +
                ": one-off costs take " + share_text(verdict_.cold_ns) + " of " + window(),
            {first_name_and_time(), captured()});
      case BoundBy::kUnseenWork:
        return unseen();
      case BoundBy::kCollectiveWait:
        return collectives();
      case BoundBy::kCommunication:
        return sentence_of("Bound by communication: " + for_share(total_.collective_ns) +
                               " nothing but transfers runs",
                           {behind(", first ", longest(WorkKind::kCollective))});
      case BoundBy::kCopy:
        if (verdict_.device_bound) return copies_bind();
        if (kernel_path_ns() > copy_path_ns()) return copies_between();
        return sentence_of("Copy-bound: " + for_share(total_.copy_ns) + " only copies" +
                               (longest(WorkKind::kFill).empty() ? "" : " and fills") +
                               " run and no kernel beside them",
                           {behind(", first ", longest_copy())});
      case BoundBy::kNotLoaded:
        return not_loaded();
      case BoundBy::kTooLittle:
        return too_little();
      case BoundBy::kNoGpu:
        return no_gpu();
      case BoundBy::kNoHost:
        // A GPU that hardly idles leaves nothing for the host to explain.
        if (verdict_.too_little != TooLittle::kEnough && total_.idle_ns * 2 < total_.window_ns)
          return too_little();
        return sentence_of("Undecided: " + for_share(total_.idle_ns) +
                               " the GPU is idle, and the recording has no host row that says why",
                           {});
    }
    return "";
  }

 private:
  std::string share_text(int64_t ns) const { return format_share(share(ns, total_.window_ns)); }
  std::string window() const {
    const auto devices = static_cast<int64_t>(report_.devices.size());
    const int64_t window_ns = report_.window_ns();
    if (devices <= 1) return format_ns(window_ns);
    const std::string gpus = std::to_string(devices) + " GPUs";
    // Devices that are used for a part of the run only count for that part.
    const bool parts = total_.window_ns * 20 < devices * window_ns * 19;
    return parts ? format_ns(total_.window_ns) + " (" + gpus + " while they had work, summed)"
                 : format_ns(window_ns) + " on " + gpus;
  }
  // "for 84.2 % of 8.00 ms"
  std::string for_share(int64_t ns) const { return "for " + share_text(ns) + " of " + window(); }

  int64_t group_ns(BoundBy bound) const {
    for (const LostGroup& group : verdict_.lost) {
      if (group.bound == bound) return group.ns;
    }
    return 0;
  }

  // The names behind the leading cause, the first `most` that say something.
  std::vector<std::string> leading_names(size_t most) const {
    std::vector<std::string> names;
    for (const Contributor& contributor : verdict_.leading) {
      std::string name = fitted(contributor_name(trace_, contributor));
      if (names.size() == most) break;
      if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }
  // ", first NAME"
  std::string first_name() const {
    const std::vector<std::string> names = leading_names(1);
    return names.empty() ? "" : ", first " + names.front();
  }
  std::string longest_copy() const {
    const std::string copy = longest(WorkKind::kCopy);
    return copy.empty() ? longest(WorkKind::kFill) : copy;
  }

  // The share is that of one cause of the bar: the waits themselves, or host time that follows
  // them.
  std::string sync() const {
    const std::string first =
        waits_for_pageable(answer_) ? ", first in copies to pageable memory" : waiting_call();
    const FlowCause cause = verdict_.detail.value_or(FlowCause::kSync);
    const std::string base = "Sync-bound: " + for_share(total_[cause]) + " the GPU ";
    if (cause == FlowCause::kSync) {
      return sentence_of(base + "runs empty, because the host waits for it before it goes on",
                         {first});
    }
    const int64_t after_ns =
        total_.opened_ns[static_cast<size_t>(cause)][static_cast<size_t>(OpenedBy::kSync)];
    return sentence_of(base + "waits for " + std::string(findings::cause_legend(flow_cause_name(cause))) +
                           ", " + format_share(share(after_ns, total_[cause])) +
                           " of it after the host waited for the GPU",
                       {first});
  }

  // The wait itself, not what the host does behind it.
  std::string waiting_call() const {
    if (report_.evidence.blocking_launches) return "";
    for (const Contributor& contributor : report_.contributors) {
      if (contributor.cause != FlowCause::kSync || !contributor.name) continue;
      return ", first " + fitted(contributor_name(trace_, contributor));
    }
    return "";
  }
  std::string first_name_and_time() const {
    if (!verdict_.leading.empty() && contributor_name(trace_, verdict_.leading.front()).empty()) {
      return ", " + format_ns(verdict_.leading.front().ns) +
             " of them in host time that is not recorded";
    }
    for (const Contributor& contributor : verdict_.leading) {
      const std::string name = fitted(contributor_name(trace_, contributor));
      if (!name.empty()) return ", first " + name + " " + format_ns(contributor.ns);
    }
    return "";
  }

  std::string longest(WorkKind kind) const {
    for (const NamedWork& work : verdict_.work) {
      if (work.kind != kind) continue;
      return fitted(describe_kernel(trace_.text(work.name))) +
             pace_text(copy_pace(trace_, work.name));
    }
    return "";
  }
  static std::string behind(std::string_view before, const std::string& name) {
    return name.empty() ? "" : std::string(before) + name;
  }

  std::string unseen() const {
    const std::string base = "Undecided: " + for_share(group_ns(BoundBy::kUnseenWork));
    if (verdict_.detail == FlowCause::kNoEvidence) {
      return sentence_of(base + " the GPU shows no work, and what set off the next is not recorded",
                         {});
    }
    if (clock_gap(report_.evidence).device_late) {
      return sentence_of(base + " work that was handed over did not begin",
                         {", by clocks of host and GPU that do not agree"});
    }
    if (report_.evidence.graph_holes) {
      return sentence_of(base +
                             " graphs stand still between their kernels, at the same nodes each "
                             "time",
                         {"; what these wait for has no row"});
    }
    return sentence_of(base + " work that was handed over did not begin",
                       {unseen_to_the_end(report_)
                            ? ": work that is not recorded kept the GPU"
                            : ": earlier work, or work that is not recorded, kept the GPU"});
  }

  std::string not_loaded() const {
    const std::string times = for_share(group_ns(BoundBy::kNotLoaded));
    const std::string name = verdict_.leading.empty()
                                 ? ""
                                 : fitted(contributor_name(trace_, verdict_.leading.front()), 52);
    if (sleeps(answer_)) {
      const StringId frame = verdict_.leading.front().within_frame;
      return sentence_of("Not loaded: " + times + " the program sleeps",
                         {frame ? behind(", in ", fitted(trace_.text(frame), 52)) : ""});
    }
    if (const std::string holder = holder_of_wait(answer_); !holder.empty()) {
      return sentence_of("Not loaded: " + times +
                             " the host waits for another thread, which runs " + fitted(holder, 40),
                         {behind(", in ", name)});
    }
    const std::string around =
        verdict_.leading.empty() ? "" : operator_around(verdict_.leading.front());
    if (report_.evidence.loops) {
      return sentence_of("Not loaded: " + times + " the host waits for something outside",
                         {behind(", in ", name), around});
    }
    return sentence_of("Not loaded: " + times + " nobody asked for work",
                       {behind("; the host waits in ", name), around});
  }

  // " of MPI_Waitall", of a call of the operating system that an operator or range makes.
  std::string operator_around(const Contributor& who) const {
    if (who.source != RowSource::kSystem || !who.within_op) return "";
    return " of " + fitted(trace_.text(who.within_op), 40);
  }

  // The device's own way from one piece of work to the next.
  std::string small_kernels() const {
    const auto works = static_cast<int64_t>(std::max<uint64_t>(report_.evidence.works, 1));
    return sentence_of("GPU-bound: " + for_share(total_.device_gaps_ns()) +
                           " the GPU goes from one kernel to the next",
                       {": " + format_count(works) + " of " +
                        format_ns(report_.evidence.work_ns / works) + " each on average"});
  }

  // One device works while the others wait for it.
  std::string turns() const {
    const double at_once = share(total_.window_ns - total_.idle_ns, report_.overlap.any_ns);
    return sentence_of("GPU-bound: " + std::to_string(report_.devices.size()) +
                           " GPUs take turns: on average " + number_text(at_once) +
                           " of them work at a time, in " + format_ns(report_.window_ns()),
                       {});
  }

  std::string gpu() const {
    if (verdict_.turns) return turns();
    if (!verdict_.device_bound) return small_kernels();
    if (total_.compute_ns < total_.window_ns / 2) {  // busy with more than computing
      return sentence_of("GPU-bound: the GPU works " + for_share(total_.window_ns - total_.idle_ns),
                         {behind(", first ", longest(WorkKind::kCompute))});
    }
    const std::string base = "GPU-bound: the GPU computes " + for_share(total_.compute_ns);
    if (verdict_.lever == FirstLever::kOverlapCommunication) {
      return sentence_of(
          base + "; for " + share_text(total_.collective_ns) + " communication runs alone",
          {behind(", first ", longest(WorkKind::kCollective))});
    }
    if (verdict_.kinds.empty())
      return sentence_of(base, {behind(", first ", longest(WorkKind::kCompute))});
    const KindShare& kind = verdict_.kinds.front();
    const std::string name = fitted(describe_kernel(trace_.text(kind.longest)));
    if (kind.kind == KernelKind::kOther) return sentence_of(base, {", first in " + name});
    if (const uint64_t iterations = uneven_of()) {
      return sentence_of(
          base + "; " + std::string(kernel_kind_name(kind.kind)) + " kernels lead",
          {", nearly all in few of " + format_counted(iterations, "iteration", "iterations") +
           ": tuning or warm-up"});
    }
    const std::string lead = base + "; " + std::string(kernel_kind_name(kind.kind)) +
                             " kernels lead with " + format_ns(kind.ns);
    if (!collectives_beside().empty()) return sentence_of(lead, {});
    return sentence_of(lead, {", first " + name});
  }

  // Kernels that lead and run in few iterations only: of how many; 0 where they run in all.
  uint64_t uneven_of() const {
    const TriedLever* tried = find_tried(answer_, {EditKind::kFamily, EditKind::kKernels});
    return tried != nullptr && in_few_iterations(*tried) ? tried->alone.before.n : 0;
  }

  // Who prepares the next kernel, in the words of the program.
  std::string part_name(FlowCause cause) const {
    const ProgramKind program = verdict_.program.kind;
    switch (cause) {
      case FlowCause::kDispatch:
        return program == ProgramKind::kPyTorch      ? "PyTorch's dispatcher"
               : program == ProgramKind::kJax        ? "JAX's runtime"
               : program == ProgramKind::kTensorFlow ? "TensorFlow's runtime"
                                                     : "the program's operators";
      case FlowCause::kPython:
        return "Python";
      case FlowCause::kCall:
        if (calls_copy_pageable()) return "calls that copy from pageable memory";
        return verdict_.program.hip    ? "HIP calls"
               : verdict_.program.cuda ? "CUDA calls"
                                       : "runtime calls";
      case FlowCause::kHostGap:
        return "host code that is not recorded";
      default:
        return "launches on their way to it";
    }
  }

  // Most of the time in calls goes to such copies.
  bool calls_copy_pageable() const {
    return report_.evidence.pageable_to_device_ns * 2 > total_[FlowCause::kCall];
  }

  // "Python prepares the next kernel", of one or two of the host's parts.
  std::string preparing(const std::vector<FlowCause>& parts) const {
    std::string words = part_name(parts[0]);
    if (parts.size() > 1) words += " and " + part_name(parts[1]);
    const bool many = parts.size() > 1 || parts[0] == FlowCause::kCall;
    return words + (many ? " prepare" : " prepares") + " the next kernel";
  }

  std::string host() const {
    std::vector<FlowCause> parts = {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall,
                                    FlowCause::kHostGap, FlowCause::kLatency};
    std::stable_sort(parts.begin(), parts.end(),
                     [this](FlowCause a, FlowCause b) { return total_[a] > total_[b]; });
    const int64_t host_ns = group_ns(BoundBy::kHost);
    if (const int64_t ns = pages_ns(); ns * 2 > host_ns) {
      return sentence_of("Host-bound: " + for_share(ns) + " the host touches managed memory",
                         {", of which pages move back one by one"});
    }
    if (verdict_.pauses.ns > 0) return host_pauses();
    const bool second = share(total_[parts[1]], host_ns) >= kPartNamed;
    parts.resize(second ? 2 : 1);
    const std::string base = "Host-bound: " + for_share(host_ns) + " the GPU waits";
    const std::string arriving = " for " + part_name(FlowCause::kLatency);
    if (parts[0] == FlowCause::kLatency) {
      return sentence_of(base + arriving, {second ? " and while " + preparing({parts[1]}) : ""});
    }
    if (!verdict_.computed.names.empty()) {
      return sentence_of(base + " while the host itself computes " + computed_names(),
                         {behind(", most in ", fitted(label_of_host(answer_)))});
    }
    const std::string most = fitted(most_of_host(answer_));
    if (!most.empty()) {
      return sentence_of(base + " while Python runs, most of it in " + most, {});
    }
    if (second && parts[1] == FlowCause::kLatency) {
      return sentence_of(base + " while " + preparing({parts[0]}), {" and" + arriving});
    }
    return sentence_of(base + " while " + preparing(parts),
                       {behind(", most in ", fitted(label_of_host(answer_)))});
  }

  // Host time in which nothing is recorded but that pages of managed memory move.
  int64_t pages_ns() const {
    int64_t ns = 0;
    for (const Contributor& part : report_.contributors) {
      const bool pages = part.cause == FlowCause::kHostGap && part.source == RowSource::kActivity;
      if (pages) ns += part.ns;
    }
    return ns;
  }

  // "aten::lerp_, aten::mul_ and others"
  std::string computed_names() const {
    const std::vector<StringId>& names = verdict_.computed.names;
    std::string words = fitted(std::string(trace_.text(names[0])), 40);
    if (names.size() > 1)
      words += (names.size() > 2 ? ", " : " and ") + fitted(std::string(trace_.text(names[1])), 40);
    return words + (names.size() > 2 ? " and others" : "");
  }

  // One thing holds the host up, or pauses in many.
  std::string host_pauses() const {
    const LeadingPauses& pauses = verdict_.pauses;
    const int64_t told_ns = pauses_in_one(pauses) ? pauses.who->pause_ns : pauses.ns;
    const std::string base = "Host-bound: " + for_share(told_ns) + " the GPU waits";
    if (pauses.stalls) {
      const std::string name = pauses.who ? fitted(pause_name(answer_)) : "";
      return sentence_of(
          base + " in pauses of the host, " + format_times(pauses.all),
          {name.empty() ? ", in one call or operator or another" : ", most of them in " + name,
           behind(" while another thread is in ", fitted(pause_holder(answer_)))});
    }
    const bool one = pauses_in_one(pauses);
    const std::string times = format_times(one ? pauses.of_who : pauses.all);
    const std::string name = pause_name(answer_);
    if (name.empty()) {
      return sentence_of("Host-bound: " + for_share(told_ns) + " the GPU has nothing to do, " +
                             times + ", and what the host did " + (one ? "then" : "in most") +
                             " is not recorded",
                         {});
    }
    const std::string others = one ? "" : " and others";
    if (!pauses.who->name) {  // a label around the silence
      return sentence_of(
          base + ", " + times + ", while the host is in " + fitted(name, 60) + others, {});
    }
    if (waits_in_pauses(answer_)) {
      const std::string holder = fitted(pause_holder(answer_));
      const std::string waits = base + ", " + times + ", while the host waits ";
      return holder.empty() ? sentence_of(waits + "in " + fitted(name, 60) + others, {})
                            : sentence_of(waits + "for " + holder, {" in " + fitted(name)});
    }
    if (pauses.who->source == RowSource::kSystem) {
      return sentence_of(base + ", " + times + ", while the host is in " + fitted(name, 40),
                         {one ? operator_around(*pauses.who) : others});
    }
    if (!one) {
      return sentence_of(
          base + ", " + times + ", while " + fitted(name, 46) + " and others run on the host", {});
    }
    return sentence_of(base + ", " + times + ", while " + fitted(name, 60) + " runs on the host",
                       {behind(", and another thread is in ", fitted(pause_holder(answer_)))});
  }

  std::string input() const {
    const std::string base = "Starved for input: " + for_share(group_ns(BoundBy::kInput)) +
                             " the GPU waits while the host loads data";
    std::string loader;
    if (!verdict_.leading.empty()) {
      loader = loader_around(trace_, verdict_.leading.front().longest);
    }
    if (loader.empty()) return sentence_of(base, {first_name()});
    return sentence_of(base + " in " + fitted(loader, 60), {});
  }

  int64_t path_ns(WorkKind kind) const { return report_.path.work_ns[static_cast<size_t>(kind)]; }
  int64_t kernel_path_ns() const { return path_ns(WorkKind::kCompute); }
  int64_t copy_path_ns() const { return path_ns(WorkKind::kCopy) + path_ns(WorkKind::kFill); }

  // What is lost is lost to copies, but kernels are most of what the run consists of.
  std::string copies_between() const {
    return sentence_of("Held up by copies: " + for_share(total_.copy_ns) +
                           " only copies run; kernels take " +
                           format_share(share(kernel_path_ns(), report_.path.makespan_ns)) +
                           " of the critical path",
                       {behind(", first ", longest_copy())});
  }

  // Beside kernels, but longer than they are.
  std::string copies_bind() const {
    return sentence_of("Copy-bound: copies take " + format_ns(report_.evidence.copy_ns) + " of " +
                           window() + ", and what comes next waits for them",
                       {behind(", first ", longest_copy())});
  }

  std::string alloc() const {
    const std::vector<std::string> names = leading_names(2);
    std::string who = names.empty() ? "allocation" : names[0];
    if (names.size() > 1) who += " and " + names[1];
    return sentence_of(
        "Allocation-bound: " + for_share(group_ns(BoundBy::kAlloc)) + " the GPU waits for " + who,
        {});
  }

  std::string cold_again() const {
    return sentence_of("Never warm: one-off costs take " + share_text(verdict_.cold_ns) + " of " +
                           window() + ", in " + std::to_string(verdict_.cold_iterations) + " of " +
                           format_counted(verdict_.iterations, "iteration", "iterations"),
                       {first_name_and_time(), captured()});
  }

  std::string captured() const {
    if (report_.evidence.captures == 0 || report_.evidence.captured_ns * 2 < verdict_.cold_ns) {
      return "";
    }
    return "; " + format_counted(report_.evidence.captures, "graph was", "graphs were") +
           " captured, which is no run";
  }

  std::string too_little() const {
    if (verdict_.too_little == TooLittle::kUnlinked) {
      return sentence_of("Too little to judge: calls that launch are recorded for " +
                             format_share(verdict_.linked_share) + " of the GPU's time only",
                         {});
    }
    const std::string base =
        "Too little to judge: " + format_counted(report_.evidence.works, "piece", "pieces") +
        " of GPU work in " + window();
    const std::string graphs = captured();
    if (!graphs.empty()) return sentence_of(base + graphs, {});
    if (verdict_.cold_ns * 2 > total_.idle_ns && total_.idle_ns > 0) {
      return sentence_of(base + ", most of it one-off costs",
                         {first_cold_words(answer_, kLongestNameSaid)});
    }
    return sentence_of(base,
                       {". A verdict takes 50 pieces, or a few that fill the time, and 1 ms"});
  }

  std::string no_gpu() const {
    if (rows_unread(trace_)) {
      return sentence_of(no_known_work_words(trace_), {});
    }
    if (trace_.log.data_lost()) {
      return "No GPU work among what could be read: data was lost on import, and the work may lie "
             "in what is missing.";
    }
    if (!trace_.activities.empty()) {
      return sentence_of("No kernels: the recording has " +
                             format_counted(trace_.activities.size(), "device row", "device rows") +
                             ", and none of them is work",
                         {});
    }
    if (report_.evidence.launch_calls > 0) {
      return sentence_of(
          "No GPU work in this recording: " +
              format_counted(report_.evidence.launch_calls, "launch call", "launch calls") +
              " and no kernel",
          {"; what ran was not recorded"});
    }
    if (const int64_t span_ns = profiler_span_ns(trace_); span_ns > 0) {
      return sentence_of("No GPU work in this recording: the profiler was on for " +
                             format_ns(span_ns) + " and saw no operator and no kernel",
                         {});
    }
    return sentence_of("No GPU work in this recording: " +
                           format_counted(trace_.ops.size(), "operator", "operators") +
                           " on the host and no kernel",
                       {});
  }

  std::string after_start() const {
    if (verdict_.bound != BoundBy::kColdStart) return "";
    return verdict_.steady_judged && verdict_.steady_bound == BoundBy::kGpu
               ? "Behind them the GPU leads."
               : "";
  }

  // What the host does before the first work was asked for, and behind the last.
  std::string collectives() const {
    const std::string base = "Bound by communication: " + for_share(total_.collective_ns) +
                             " nothing but collectives runs";
    if (!little_gain().empty()) return sentence_of(base, {});
    return sentence_of(base, {behind(", first ", longest(WorkKind::kCollective)),
                              "; one rank cannot tell waiting from transfer"});
  }

  // Most of the critical path is what the host does for the next launch.
  bool host_binds() const {
    return host_work_ns(report_.path.cause_ns) * 2 > report_.path.makespan_ns;
  }

  // Kernels that lead, and beside which collectives take as long.
  std::string collectives_beside() const {
    const TriedLever* tried = find_tried(answer_, {EditKind::kFamily, EditKind::kKernels});
    if (tried == nullptr || verdict_.kinds.empty() || in_few_iterations(*tried)) return "";
    const int64_t gain_ns = std::max<int64_t>(tried->alone.run_ns, 0);
    const int64_t beside_ns = report_.evidence.collective_ns;
    if (gain_ns * 4 > verdict_.kinds.front().ns || beside_ns * 2 < total_.window_ns) return "";
    return "Beside them collectives take " + format_ns(beside_ns) + ": both must shrink.";
  }

  // Kernels that lead, and beside which others take as long.
  std::string kernels_beside() const {
    const TriedLever* tried = find_tried(answer_, {EditKind::kFamily, EditKind::kKernels});
    if (tried == nullptr || verdict_.kinds.size() < 2 || in_few_iterations(*tried)) return "";
    const KindShare& other = verdict_.kinds[1];
    const int64_t gain_ns = std::max<int64_t>(tried->alone.run_ns, 0);
    if (gain_ns * 4 > verdict_.kinds.front().ns || other.ns * 2 < total_.window_ns) return "";
    return "Beside them " + std::string(kernel_kind_name(other.kind)) + " kernels take " +
           format_ns(other.ns) + ".";
  }

  // Kernels that touch managed memory wait for its pages within their own time, and so does a host.
  std::string migrations() const {
    const int64_t ns = report_.evidence.migration_ns;
    if (ns == 0 || ns * 10 < total_.window_ns) return "";
    const bool kernels = verdict_.bound == BoundBy::kGpu;
    return "Pages of managed memory move for " + format_ns(ns) +
           (kernels ? ", while kernels wait for them." : "; who touches them waits for each.");
  }

  // Time in communication that hides the host or other work behind it.
  std::string little_gain() const {
    if (verdict_.bound == BoundBy::kGpu) {
      const std::string beside = collectives_beside();
      return beside.empty() ? kernels_beside() : beside;
    }
    if (verdict_.bound != BoundBy::kCollectiveWait) return "";
    const TriedLever* tried = find_tried(answer_, {EditKind::kComm});
    if (tried == nullptr) return "";
    const int64_t gain_ns = std::max<int64_t>(tried->alone.run_ns, 0);
    if (gain_ns * 5 > total_.collective_ns) return "";
    return "Without them the run would be only " + format_ns(gain_ns) + " shorter" +
           (host_binds() ? ": the host takes as long." : ".");
  }

  std::string outside(bool with_name) const {
    if (report_.told_window || report_.evidence.works == 0) return "";
    const auto said = [this, with_name](Interval outside, std::string_view where) {
      const HostAlone alone = host_alone(trace_, outside, report_.window);
      if (alone.ns == 0) return std::string();
      if (alone.silent_ns * 2 > alone.ns) {
        return sentence_of(
            std::string(where) + " nothing is recorded for " + format_ns(alone.silent_ns), {});
      }
      if (alone.calls_ns > 0 && alone.calls_ns * 10 >= alone.ns * 9) {
        return std::string(where) + " " + fitted(alone.name, 30) + " takes " +
               format_ns(alone.calls_ns) + ".";
      }
      return sentence_of(std::string(where) + " the host alone works for " + format_ns(alone.ns),
                         {behind(", most of it in ", with_name ? fitted(alone.name, 30) : "")});
    };
    std::string text = said({INT64_MIN, report_.window.start_ns}, "Before it");
    return text.empty() ? said({report_.window.end_ns, INT64_MAX}, "Behind it") : text;
  }

  std::string mixed() const {
    return verdict_.mixed ? "No single cause has half of the lost time." : "";
  }

  const FlowAnswer& answer_;
  const Trace& trace_;
  const FlowReport& report_;
  const FlowVerdict& verdict_;
  const FlowTotals& total_;
};

// ---- what to do ----

// What stands in place of levers.
class Notes {
 public:
  explicit Notes(const FlowAnswer& answer) : answer_(answer) {}

  std::vector<AnswerNote> find() const {
    switch (answer_.verdict.bound) {
      case BoundBy::kUnseenWork:
        return unseen();
      case BoundBy::kColdStart:
        return cold();
      case BoundBy::kNotLoaded:
        return not_loaded();
      case BoundBy::kTooLittle:
        return {record_steady(answer_)};
      case BoundBy::kNoGpu:
        return {record_device()};
      case BoundBy::kCollectiveWait:
        return {{"do", {"Give the traces of all ranks: assay DIR tells who comes late."}}};
      case BoundBy::kNoHost:
        return {{"record", {"the host's calls too, not kernels alone"}}, record_steady(answer_)};
      default:
        return {};
    }
  }

 private:
  std::vector<AnswerNote> not_loaded() const {
    if (sleeps(answer_)) return {{"do", {"Wait for the event itself, not for a time."}}};
    if (const std::string holder = holder_of_wait(answer_); !holder.empty()) {
      return {{"do",
               {"Shorten " + fitted(holder, 40) +
                ", run more such threads or processes, or let it work "
                "ahead."}}};
    }
    if (answer_.report.evidence.loops) {
      return {{"likely",
               {"A peer, a loader in another process or a service that is behind: look there."}}};
    }
    return {{"likely",
             {"A server without requests, a pause that the program makes itself, or its end."}},
            {"record", {"the same under the load that is to be judged"}}};
  }

  std::vector<AnswerNote> unseen() const {
    std::vector<AnswerNote> notes;
    const FlowReport& report = answer_.report;
    for (const Contributor& contributor : report.contributors) {
      if (contributor.cause != FlowCause::kUnseen) continue;
      if (answer_.verdict.detail == FlowCause::kNoEvidence) break;
      const std::string name = fitted(contributor_name(answer_.trace, contributor));
      notes.push_back({"seen",
                       {"The longest, " + format_ns(contributor.longest_ns) + " from " +
                        format_ns(contributor.longest.start_ns - report.window.start_ns) + " on" +
                        (name.empty() ? "." : ", ends with " + name + ".")}});
      break;
    }
    if (answer_.verdict.detail == FlowCause::kNoEvidence) {
      notes.push_back(
          {"likely", {"Rows that were filtered out, or a recording of kernels alone."}});
      notes.push_back({"record", {"all kernels, and the host's calls that launch them"}});
      return notes;
    }
    if (clock_gap(report.evidence).device_late) {
      notes.push_back(
          {"likely",
           {"The GPU's times are too late against the host's: waits for it return before "
            "what they waited for ends."}});
      notes.push_back({"record", {"again: the profiler sets the clocks when it starts"}});
      return notes;
    }
    const uint64_t functions = report.evidence.host_functions;
    if (unseen_to_the_end(report) && functions > 0 && functions * 2 >= late_gaps(report)) {
      notes.push_back(
          {"likely",
           {"Functions of the host on a stream (" + format_counted(functions, "call", "calls") +
            "): the GPU waits for each, and none of them is recorded."}});
      notes.push_back({"record",
                       {"what these functions do; an event and a thread of the host in "
                        "their place"}});
      return notes;
    }
    if (report.evidence.graph_holes) {
      notes.push_back(
          {"likely",
           {"Nodes of the graph without a row: functions of the host, memory, waits for "
            "an event. They come at the same places in each replay."}});
      notes.push_back(
          {"record", {"what the graph holds, as it is captured; leave such nodes out"}});
      return notes;
    }
    if (unseen_to_the_end(report)) {
      notes.push_back({"likely", {"Another process on this GPU, or rows left out; not the host."}});
      notes.push_back({"record", {"all rows, and all processes that use this GPU"}});
      return notes;
    }
    notes.push_back(
        {"likely",
         {"Work from before the recording, of another process, or of rows left out. It is neither "
          "input nor the host."}});
    notes.push_back(
        answer_.verdict.program.kind == ProgramKind::kPyTorch
            ? AnswerNote{"record", {"from an idle GPU on: torch.cuda.synchronize(); prof.start()"}}
            : AnswerNote{"record", {"from an idle GPU on, with all processes and rows"}});
    return notes;
  }

  std::vector<AnswerNote> cold() const {
    std::vector<AnswerNote> notes;
    AnswerNote seen{"seen", {}};
    for (const Contributor& contributor : answer_.verdict.leading) {
      const std::string name = fitted(contributor_name(answer_.trace, contributor), 52);
      if (seen.lines.size() == 3 || contributor.ns * 100 < answer_.verdict.cold_ns) break;
      seen.lines.push_back(format_ns(contributor.ns) + " " +
                           (name.empty() ? "host time that is not recorded" : name));
    }
    if (!seen.lines.empty()) notes.push_back(std::move(seen));
    const bool groups =
        !answer_.verdict.leading.empty() && makes_communicator(answer_.verdict.leading.front());
    if (answer_.verdict.cold_iterations > 0) {
      notes.push_back(compiled_again());
      return notes;
    }
    notes.push_back(groups
                        ? AnswerNote{"do",
                                     {"Make process groups and communicators, and use each once, "
                                      "before the loop."}}
                    : cold_in_the_middle(answer_)
                        ? AnswerNote{"do",
                                     {"Compile and tune before the loop, or fix the shapes: each "
                                      "new one costs this again."}}
                        : record_steady(answer_));
    return notes;
  }

  bool compiles() const {
    if (answer_.verdict.leading.empty()) return false;
    const std::string name =
        lower(contributor_name(answer_.trace, answer_.verdict.leading.front()));
    return contains_any(name, {"dynamo", "inductor", "compil", "triton"});
  }

  // Each iteration brings something that was not there before.
  AnswerNote compiled_again() const {
    const ProgramKind program = compiles() ? answer_.verdict.program.kind : ProgramKind::kUnknown;
    if (program == ProgramKind::kPyTorch) {
      return {"do",
              {"Keep shapes and constants the same, or mark them dynamic; TORCH_LOGS=recompiles "
               "says what changed."}};
    }
    if (program == ProgramKind::kJax) {
      return {"do",
              {"Keep shapes and static arguments the same; JAX_EXPLAIN_CACHE_MISSES=1 says what "
               "changed."}};
    }
    return {"do", {"Keep shapes and constants the same: each new one costs this again."}};
  }

  bool makes_communicator(const Contributor& contributor) const {
    const std::string name = lower(contributor_name(answer_.trace, contributor));
    return name.find("comminit") != std::string::npos ||
           name.find("init_process_group") != std::string::npos;
  }

  AnswerNote record_device() const {
    if (rows_unread(answer_.trace)) {
      return {"likely",
              {"A form of trace that Assay does not read. It reads those of PyTorch, JAX, nsys "
               "and rocprofv3."}};
    }
    const bool torch = answer_.verdict.program.kind == ProgramKind::kPyTorch;
    if (answer_.report.evidence.launch_calls > 0) {
      return {"likely",
              {"Another profiler held the GPU's tracer, or the program ended before it was read."}};
    }
    if (profiler_span_ns(answer_.trace) > 0) {
      return {"likely",
              {"The work ran in another process (of a launcher, of workers) or in threads that "
               "the profiler was not told of. Start it where the model runs."}};
    }
    if (!torch) return record_steady(answer_);
    return {"record",
            {"with torch.profiler.profile(",
             "    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:"},
            true};
  }

  const FlowAnswer& answer_;
};

// ---- how sure ----

struct Trust {
  TrustGrade grade = TrustGrade::kHigh;
  std::string reason;
};

// What limits an answer.
struct Caveat {
  std::string key;
  TrustGrade grade = TrustGrade::kFair;
  std::string reason;
  int64_t time_ns = 0;  // at stake; 0 where it is not known
};
constexpr const char* kDataLost = "data_lost";

std::string signed_percent(double share_of) {
  const std::string text = format_share(std::abs(share_of));
  if (text.starts_with('<'))
    return "\u00B1"
           "0.1 %";
  return (share_of < 0 ? "\u2212" : "+") + text;
}

std::string clock_words(const ClockGap& gap) {
  return "the clocks of host and GPU are off by " + format_ns(gap.ns) + " or more: " +
         (gap.device_late ? "waits return before the work has ended"
                          : "work begins before its launch");
}

std::string no_host_words(const Trace& trace) {
  const size_t others = trace.other_events.size();
  if (others == 0) return "nothing of the host is recorded";
  return "no call of the host is known, and " + format_counted(others, "row is", "rows are") +
         " of kinds that Assay does not read";
}

Trust undecided_trust(const FlowAnswer& answer) {
  const FlowTotals& total = answer.report.total;
  switch (answer.verdict.bound) {
    case BoundBy::kTooLittle:
    case BoundBy::kNoGpu:
      return {TrustGrade::kNone, "too little is recorded: no number of this file is a finding"};
    case BoundBy::kNoHost:
      return {TrustGrade::kLow, no_host_words(answer.trace)};
    default:
      return {TrustGrade::kLow,
              format_share(share(total[FlowCause::kUnseen] + total[FlowCause::kNoEvidence],
                                 total.window_ns)) +
                  " of the time has no recorded reason"};
  }
}

// What recording operators may have taken of a host-bound run, where the GPU would be the bound
// without it by the verdict's own rule; 0 else. A row of the host costs as much in the median of 16
// programs under PyTorch's profiler (docs/measured/2026-11-26-nvidia-h200.md).
int64_t recording_ns(const FlowAnswer& answer) {
  constexpr double kRowNs = 2'300;
  const FlowReport& report = answer.report;
  if (answer.verdict.bound != BoundBy::kHost || !report.evidence.ops) return 0;
  const auto rows = static_cast<double>(report.evidence.host_rows);
  const int64_t slower_ns =
      std::min(host_work_ns(report.total.cause_ns), static_cast<int64_t>(rows * kRowNs));
  const int64_t left_ns = report.total.window_ns - slower_ns;
  return share(report.total.compute_ns, left_ns) >= 1 - FlowVerdictOptions{}.device_bound
             ? slower_ns
             : 0;
}

// All that limits the answer, that with the largest stake first.
std::vector<Caveat> caveats_of(const FlowAnswer& answer, const AnswerEvidence& evidence) {
  constexpr double kMostDark = 0.2;
  constexpr double kMostUnnamed = 0.3;
  constexpr double kSmallError = 0.02;
  constexpr double kLinked = 0.9;
  constexpr uint64_t kIterations = 3;
  const FlowVerdict& verdict = answer.verdict;
  const FlowReport& report = answer.report;
  const FlowTotals& total = report.total;
  const double dark =
      share(total[FlowCause::kUnseen] + total[FlowCause::kNoEvidence], total.window_ns);
  const bool decided = verdict.bound != BoundBy::kTooLittle && verdict.bound != BoundBy::kNoGpu &&
                       verdict.bound != BoundBy::kNoHost;
  std::vector<Caveat> caveats;
  const auto add = [&caveats](const char* key, TrustGrade grade, std::string reason,
                              int64_t time_ns = 0) {
    caveats.push_back({key, grade, std::move(reason), time_ns});
  };
  const ClockGap gap = clock_gap(report.evidence);
  if (verdict.bound != BoundBy::kNoGpu && gap.ns > 0) {
    add("clocks_apart", TrustGrade::kLow, clock_words(gap), gap.ns);
  }
  if (!decided || dark >= kMostDark) {
    Trust trust = undecided_trust(answer);
    add("undecided", trust.grade, std::move(trust.reason));
    return caveats;  // nothing was decided that the rest could limit
  }
  if (evidence.data_lost) {
    add(kDataLost, TrustGrade::kFair, "data was lost on import, so totals are lower bounds");
  }
  const Misfit misfit = misfit_of(report.fit);
  if (misfit == Misfit::kModelError) {
    add("replay_refused", TrustGrade::kLow,
        "what-if is refused (replay without changes " + signed_percent(report.fit.model_error) +
            ")");
  } else if (misfit == Misfit::kUnexplained) {
    add("replay_refused", TrustGrade::kLow,
        "what-if is refused (" + format_share(report.fit.unexplained_share) +
            " of the critical path is unexplained)");
  }
  const int64_t unnamed_ns = total[FlowCause::kHostGap];
  if (share(unnamed_ns, total.window_ns) >= kMostUnnamed && pause_name(answer).empty()) {
    add("host_unnamed", TrustGrade::kFair,
        format_share(share(unnamed_ns, total.window_ns)) +
            " of the time is host time that nothing recorded names",
        unnamed_ns);
  }
  if (verdict.linked_share < kLinked) {
    add("launches_missing", TrustGrade::kFair,
        "launches are recorded for " + format_share(verdict.linked_share) + " of the GPU's time",
        report.evidence.work_ns - report.evidence.linked_ns);
  }
  if (const int64_t slower_ns = recording_ns(answer); slower_ns > 0) {
    add("recording_cost", TrustGrade::kFair,
        "recording may slow the host by " + format_share(share(slower_ns, total.window_ns)) +
            " of this time (2.3 \u00B5s a row, as on an H200's host): without "
            "it the GPU would be the bound",
        slower_ns);
  }
  if (verdict.borderline == Borderline::kAtBound) {
    add("borderline", TrustGrade::kFair,
        "borderline: a share is within 5 points of the bound that decides");
  } else if (verdict.borderline == Borderline::kInferred) {
    add("inferred", TrustGrade::kFair, "more than half of the leading time rests on inference");
  }
  if (misfit == Misfit::kNone && std::abs(report.fit.model_error) > kSmallError) {
    add("replay_off", TrustGrade::kFair,
        "replay without changes is off by " + signed_percent(report.fit.model_error));
  }
  if (evidence.iterations < kIterations) {
    std::string reason =
        evidence.iterations == 1 ? "one pass, so no interval" : "two iterations only";
    const bool stacks = report.evidence.frames && total[FlowCause::kPython] * 10 >= total.window_ns;
    if (stacks) reason += "; recording stacks slows Python";
    add("few_iterations", TrustGrade::kFair, std::move(reason));
  }
  return caveats;
}

// The first caveat as the one reason.
Trust trust_of(const FlowAnswer& answer, const AnswerEvidence& evidence) {
  const std::vector<Caveat> caveats = caveats_of(answer, evidence);
  if (!caveats.empty()) return {caveats.front().grade, caveats.front().reason};
  return {TrustGrade::kHigh,
          "replay without changes " + signed_percent(answer.report.fit.model_error) + ", " +
              format_count(static_cast<int64_t>(evidence.iterations)) + " iterations" +
              (evidence.by_kernel_names ? " by kernel names" : "")};
}

// What of the iterations is not like the rest, behind what is said of them; numbers count from 1.
// What no sentence speaks of.
std::string unrecorded_text(const FlowReport& report) {
  if (report.unrecorded.empty()) return "";
  return "; " + format_ns(length_ns(report.unrecorded)) + " between " +
         std::to_string(report.unrecorded.size() + 1) + " windows are left out";
}

std::string times_text(double times) {
  return times < 10 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

std::string uneven_text(const FlowAnswer& answer) {
  if (answer.tried == nullptr) return "";
  const std::optional<UnevenSteps> uneven = uneven_steps(answer.tried->step_ns);
  if (!uneven) return "";
  const std::string number = format_count(static_cast<int64_t>(uneven->first) + 2);
  if (uneven->drift) {
    return fmt::format("; from iteration {} on each takes {}, in the end {:.2f} times as long",
                       number, uneven->times > 1 ? "longer and longer" : "less and less time",
                       uneven->times);
  }
  if (uneven->from_one_on) {
    return fmt::format("; from iteration {} on each takes {:.2f} times as long", number,
                       uneven->times);
  }
  if (uneven->stretch) {
    return fmt::format("; iterations {} to {} take {:.2f} times as long", number,
                       uneven->first + 1 + uneven->count, uneven->times);
  }
  if (uneven->count == 1) {
    return fmt::format("; iteration {} takes {} times as long as the others", number,
                       times_text(uneven->times));
  }
  return fmt::format("; {} of {} iterations take up to {} times as long", uneven->count,
                     answer.tried->step_ns.size() + 1, times_text(uneven->times));
}

// Runs of one kernel that take far longer than its others, now and then.
std::string slow_runs_text(const FlowAnswer& answer) {
  const std::optional<SlowRuns> slow = slow_runs(answer.trace, answer.report.window);
  if (!slow) return "";
  return fmt::format("; {} of {} runs of {} take up to {} times as long",
                     format_count(static_cast<int64_t>(slow->slow)),
                     format_count(static_cast<int64_t>(slow->runs)),
                     fitted(describe_kernel(answer.trace.text(slow->name)), 36),
                     times_text(slow->times));
}

// Launches that arrive late hide behind each other, and show after a wait.
std::string way_text(const FlowReport& report) {
  if (report.floors.way_ns == 0) return "";
  return "; each launch takes " +
         format_ns(report.floors.way_ns + report.floors.launch.typical_ns) + " to arrive";
}

std::vector<Interval> spans_of(const FlowAnswer& answer) {
  std::vector<Interval> spans;
  const int64_t start_ns = answer.report.window.start_ns;
  for (const Contributor& contributor : answer.verdict.leading) {
    if (spans.size() == kMostSpans) break;
    const Interval at = contributor.longest;
    if (at.end_ns > at.start_ns) spans.push_back({at.start_ns - start_ns, at.end_ns - start_ns});
  }
  return spans;
}

// The word that `assay explain` knows of what leads.
std::string explain_word(const FlowVerdict& verdict) {
  if (verdict.bound == BoundBy::kTooLittle || verdict.bound == BoundBy::kNoGpu) return "evidence";
  if (verdict.bound == BoundBy::kCollectiveWait || verdict.bound == BoundBy::kCommunication) {
    return "collective";
  }
  if (verdict.bound == BoundBy::kCopy) return "copy";
  if ((verdict.bound == BoundBy::kGpu && verdict.device_bound) || !verdict.detail) return "compute";
  return std::string(flow_cause_name(*verdict.detail));
}

// Sets of the levers shown that were replayed.
std::vector<AnswerTogether> sets_of(const WhatIf* tried, const std::vector<AnswerLever>& shown) {
  if (tried == nullptr) return {};
  const auto place_of = [&](size_t lever) {
    const std::string edit = edit_text(tried->levers[lever].edit.request);
    const auto at = std::find_if(shown.begin(), shown.end(),
                                 [&](const AnswerLever& card) { return card.edit == edit; });
    return static_cast<size_t>(at - shown.begin());
  };
  std::vector<AnswerTogether> sets;
  for (const TogetherGain& together : tried->together) {
    AnswerTogether set{.levers = {},
                       .gain_ns = together.gain.run_ns,
                       .between = between_words(together.gain, *tried)};
    for (const size_t lever : together.levers) set.levers.push_back(place_of(lever));
    std::sort(set.levers.begin(), set.levers.end());
    if (set.levers.back() < shown.size()) sets.push_back(std::move(set));
  }
  return sets;
}

std::string factor_words(const EditRequest& request) {
  if (request.kind == EditKind::kFasterCpu)
    return fmt::format("{:.3g} times as fast", request.factor);
  return request.factor == 0 ? "no time at all" : format_share(request.factor) + " of the time";
}

// What the lever of a card gives to other factors.
std::vector<AnswerPoint> points_of(const WhatIf* tried, const AnswerLever& card) {
  std::vector<AnswerPoint> points;
  if (tried == nullptr) return points;
  for (const TriedLever& lever : tried->levers) {
    if (edit_text(lever.edit.request) != card.edit) continue;
    for (const GainAt& point : lever.points) {
      points.push_back({.edit = edit_text(point.request),
                        .words = factor_words(point.request),
                        .gain_ns = point.gain.run_ns,
                        .grade = point.predicted ? "predicted" : "at most",
                        .between = between_words(point.gain, *tried)});
    }
  }
  return points;
}

// Not of every lever there is a replay.
void add_between(const WhatIf* tried, AnswerLever& card) {
  if (tried == nullptr || !tried->reach) return;
  card.between = "no interval is known";
  for (const TriedLever& lever : tried->levers) {
    if (edit_text(lever.edit.request) != card.edit) continue;
    card.between = between_words(lever.alone, *tried);
    card.gain_reach = {lever.alone.run_low_ns, lever.alone.run_high_ns};
    return;
  }
}

// Everything that the first screen says, as data.
void add_findings(const FlowAnswer& answer, const AnswerEvidence& evidence, ShortAnswer& card) {
  const findings::Diagnosis diagnosis =
      findings::diagnose(RunFacts(answer, {.data_lost = evidence.data_lost,
                                           .iterations = evidence.iterations,
                                           .by_kernel_names = evidence.by_kernel_names}));
  const auto add = [&card](const std::vector<findings::Finding>& more) {
    card.findings.insert(card.findings.end(), more.begin(), more.end());
  };
  card.findings.push_back(diagnosis.headline);
  add(diagnosis.details);
  for (const findings::Action& action : diagnosis.actions) {
    card.findings.push_back(action.title);
    card.findings.back().ns("gain", action.gain_ns);
    if (action.how) card.findings.push_back(*action.how);
  }
  add(diagnosis.notes);
  card.findings.push_back(diagnosis.reason);
  add(diagnosis.remarks);
}

}  // namespace

TrustNotes caveat_notes(const FlowAnswer& answer, const AnswerEvidence& evidence) {
  NoteList notes;
  for (Caveat& caveat : caveats_of(answer, evidence)) {
    if (caveat.key == kDataLost) continue;  // the import log has a note for each kind of loss
    notes.add(std::move(caveat.key), 1, caveat.time_ns, "verdict,gain_ns",
              std::move(caveat.reason));
  }
  return notes.take();
}

std::string verdict_sentence(const FlowAnswer& answer) { return Verdict(answer).first(); }

std::vector<AnswerCause> answer_causes(const FlowTotals& total, const CommSplit& comm) {
  std::vector<AnswerCause> causes = {{"comm_wait", comm.wait_ns},
                                     {"transfer", comm.transfer_ns},
                                     {"collective", comm.unsplit_ns},
                                     {"copy", total.copy_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    causes.push_back({std::string(flow_cause_name(static_cast<FlowCause>(c))), total.cause_ns[c]});
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const AnswerCause& a, const AnswerCause& b) { return a.ns > b.ns; });
  std::erase_if(causes, [](const AnswerCause& cause) { return cause.ns == 0; });
  causes.insert(causes.begin(), {"compute", total.compute_ns});
  return causes;
}

ShortAnswer short_answer(const FlowAnswer& answer, const std::vector<Lever>& levers,
                         const AnswerEvidence& evidence) {
  constexpr size_t kShown = 3;
  const FlowVerdict& verdict = answer.verdict;
  ShortAnswer card;
  card.kind = std::string(bound_by_word(verdict.bound));
  card.verdict = Verdict(answer).sentences();
  if (std::string ranks = several_ranks(answer); !ranks.empty()) {
    card.more.push_back(std::move(ranks));
  }
  card.window_ns = answer.report.window_ns();
  card.total_ns = answer.report.total.window_ns;
  const bool little = verdict.bound == BoundBy::kTooLittle || verdict.bound == BoundBy::kNoGpu;
  if (!little) {
    const FlowTotals& total = answer.report.total;
    card.causes = answer_causes(total, {.unsplit_ns = total.collective_ns});
  }
  for (const Lever& lever : levers) {
    // Cheaper kernels help where the GPU leads; else they come behind what does.
    const bool beside = lever.key == "device_work" && verdict.bound != BoundBy::kGpu;
    if (card.levers.size() == kShown || (beside && card.levers.empty())) continue;
    card.levers.push_back(recipe_card(answer, lever));
  }
  for (AnswerLever& lever : card.levers) {
    lever.points = points_of(answer.tried, lever);
    add_between(answer.tried, lever);
  }
  card.together = sets_of(answer.tried, card.levers);
  card.notes = Notes(answer).find();
  const Trust trust = trust_of(answer, evidence);
  card.trust = trust.grade;
  card.reason = trust.reason;
  card.reason += unrecorded_text(answer.report);
  if (trust.grade != TrustGrade::kLow) {
    card.reason += uneven_text(answer) + slow_runs_text(answer) + way_text(answer.report);
  }
  if (!little) card.next.push_back("assay FILE -o report.html");
  card.next.push_back("assay explain " + explain_word(verdict));
  card.next.push_back("assay FILE --full");
  card.spans = spans_of(answer);
  add_findings(answer, evidence, card);
  return card;
}

RankOfAnswer rank_of_answer(const FlowAnswer& answer, const std::vector<Lever>& levers) {
  constexpr size_t kBins = 512;
  const FlowReport& report = answer.report;
  RankOfAnswer rank;
  rank.file = answer.trace.source;
  rank.total = report.total;
  rank.bound = answer.verdict.bound;
  rank.window = report.window;
  for (const Lever& lever : levers) rank.levers.push_back(recipe_card(answer, lever));
  for (const Contributor& contributor : report.contributors) {
    const auto& pauses_in = answer.verdict.pauses.who;
    const bool paused =
        pauses_in && !contributor.name && !pauses_in->name && contributor.cause == pauses_in->cause;
    rank.idle.push_back({contributor.cause,
                         paused ? pause_name(answer) : contributor_name(answer.trace, contributor),
                         contributor.ns});
  }
  const Interval window = report.window;
  const double bin_ns = static_cast<double>(window.end_ns - window.start_ns) / kBins;
  if (bin_ns <= 0) return rank;
  std::vector<std::array<double, 3>> sums(kBins);
  const auto add = [&](Interval span, size_t state) {
    const double from =
        static_cast<double>(std::max(span.start_ns, window.start_ns) - window.start_ns);
    const double to = static_cast<double>(std::min(span.end_ns, window.end_ns) - window.start_ns);
    for (auto bin = static_cast<size_t>(std::max(from, 0.0) / bin_ns); bin < kBins; ++bin) {
      const double begin = static_cast<double>(bin) * bin_ns;
      if (begin >= to) break;
      sums[bin][state] += std::min(to, begin + bin_ns) - std::max(from, begin);
    }
  };
  for (const DeviceFlow& device : report.devices) {
    for (const Interval& span : device.compute) add(span, 0);
    for (const Interval& span : device.copy) add(span, 0);
    for (const FlowSlice& slice : device.idle) add(slice.span, 1);
    for (const Interval& span : device.collective) add(span, 2);
  }
  const double whole_ns = bin_ns * static_cast<double>(report.devices.size());
  rank.bins.resize(kBins);
  for (size_t bin = 0; bin < kBins; ++bin) {
    for (size_t state = 0; state < 3; ++state) {
      const double share_of = std::clamp(sums[bin][state] / whole_ns, 0.0, 1.0);
      rank.bins[bin][state] = static_cast<uint8_t>(std::lround(share_of * 255));
    }
  }
  return rank;
}

}  // namespace assay
