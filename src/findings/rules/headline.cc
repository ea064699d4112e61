// Rules for the headline of a run and the details after it, in evaluation order. The first headline
// rule that holds is used; every run has exactly one. Every detail that holds may follow it.

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/numbers.h"
#include "findings/causes.h"
#include "findings/rules/rule.h"
#include "findings/rules/words.h"
#include "findings/utilisation.h"

namespace assay::findings {
namespace {

constexpr int64_t kMinOutsideNs = 50'000'000;

bool waits(const RunFacts& f) { return f.stalls.ns > 0; }

// Kernels take most of the time but save little, because something else takes as long concurrently.
bool kernels_gain_little(const RunFacts& f) {
  const GainFact* gain = f.gain_of({EditKind::kFamily, EditKind::kKernels});
  if (f.bottleneck != BoundBy::kGpu || gain == nullptr || gain->few_iterations || f.kind_ns == 0) {
    return false;
  }
  return std::max<int64_t>(gain->gain_ns, 0) * 4 <= f.kind_ns;
}
// At least a fifth of the window is copies that no kernel overlaps.
bool copies_are_exposed(const RunFacts& f) { return f.total.copy_ns * 5 >= f.total_ns; }
bool collectives_overlap(const RunFacts& f) {
  return kernels_gain_little(f) && f.evidence.collective_ns * 2 >= f.total_ns;
}
bool comm_gains_little(const RunFacts& f) {
  const GainFact* gain = f.gain_of({EditKind::kComm});
  return f.bottleneck == BoundBy::kCollectiveWait && gain != nullptr &&
         std::max<int64_t>(gain->gain_ns, 0) * 5 <= f.total.collective_ns;
}
bool kind_in_few_iterations(const RunFacts& f) {
  const GainFact* gain = f.gain_of({EditKind::kFamily, EditKind::kKernels});
  return gain != nullptr && gain->few_iterations;
}

void fill_stalls(const RunFacts& f, Finding& out) {
  out.share("host", f.stalls.ns).count("stalls", f.stalls.spread.count);
  if (f.stalls.spread.mean_is_typical()) {
    out.ns("mean_stall", f.stalls.spread.mean_ns);
  } else {
    out.ns("median_stall", f.stalls.spread.median_ns);
    out.ns("longest_stall", f.stalls.spread.longest_ns);
  }
}
void fill_kernel(const RunFacts& f, Finding& out) {
  out.share("compute", f.total.compute_ns);
  out.named("kernel", SubjectKind::kKernel, f.longest_kernel);
}
void fill_copy(const RunFacts& f, Finding& out) {
  out.share("exposed_copy", f.total.copy_ns).named("copy", SubjectKind::kCopy, f.copy.name);
}
void fill_init(const RunFacts& f, Finding& out) {
  out.share("init", f.init_ns);
  if (f.init_unnamed) {
    out.ns("unrecorded", f.init_name_ns);
  } else if (!f.init_name.empty()) {
    out.named("name", SubjectKind::kOperator, f.init_name).ns("name_time", f.init_name_ns);
  }
  if (f.capture_leads) out.count("graphs", f.evidence.captures);
}

// The host waits for the device; the device's subsequent idle time has another cause.
void fill_after_wait(const RunFacts& f, Finding& out) {
  const FlowCause cause = f.leading_cause.value_or(FlowCause::kSync);
  const int64_t after_ns =
      f.total.opened_ns[static_cast<size_t>(cause)][static_cast<size_t>(OpenedBy::kSync)];
  out.share("idle", f.idle(cause)).fraction("after", share(after_ns, f.idle(cause)));
  out.text("cause", std::string(cause_name(cause)));
  out.about(SubjectKind::kCause, std::string(flow_cause_name(cause)));
  if (!f.launches_block) out.named("call", SubjectKind::kCall, f.waiting_call);
}

// True if the table of gains determined the headline and its numbers are reliable.
bool decided_by_gains(const RunFacts& f) {
  switch (f.bottleneck) {
    case BoundBy::kGpu:
    case BoundBy::kHost:
    case BoundBy::kInput:
    case BoundBy::kSync:
    case BoundBy::kAlloc:
    case BoundBy::kColdStart:
    case BoundBy::kCollectiveWait:
    case BoundBy::kCopy:
    case BoundBy::kMigration:
      // Same condition as for actions: a replay that does not reproduce the run is not shown.
      return !f.devices_alternate && f.decision.table.window_ns() > 0 &&
             replay_holds(f);
    default:
      return false;
  }
}
bool decided(const RunFacts& f, GainRelation relation) {
  return decided_by_gains(f) && f.decision.relation == relation;
}

// Message keys for the ends of a range, and for a single number.
struct RangeKeys {
  std::string_view least;
  std::string_view most;
  std::string_view one;
};

// Duration of the run without a resource; a range if models differ.
void add_without(const GainTable& table, GainGroup group, const RangeKeys& keys, Finding& out) {
  const GroupGain& gain = table.of(group);
  if ((gain.high_ns - gain.low_ns) * 20 <= table.window_ns()) {
    out.ns(keys.one, table.window_ns() - gain.gain_ns);
    return;
  }
  out.ns(keys.least, table.window_ns() - gain.high_ns);
  out.ns(keys.most, table.window_ns() - gain.low_ns);
}

void fill_first(const RunFacts& f, Finding& out) {
  const Decision& d = f.decision;
  out.text("first", resource_name(d.word)).text("second", resource_name(d.second));
  out.ns("of", d.table.window_ns());
  add_without(d.table, d.word, {"least_first", "without_first", "without_first"}, out);
}
// The two gains that decide.
void fill_gains(const RunFacts& f, Finding& out) {
  fill_first(f, out);
  const Decision& d = f.decision;
  add_without(d.table, d.second, {"least_second", "without_second", "without_second"}, out);
}
// Omits a second resource that saves next to nothing.
void fill_gain(const RunFacts& f, Finding& out) {
  fill_first(f, out);
  const Decision& d = f.decision;
  if (d.table.of(d.second).gain_ns * 50 < d.table.window_ns()) return;
  add_without(d.table, d.second, {"least_second", "most_second", "without_second"}, out);
}

const RunRule kHeadlines[] = {
    ASSAY_RULE(kNoGpuWorkUnknownEvents, f.bottleneck == BoundBy::kNoGpu && f.mostly_unread,
               out.count("events", f.unread_rows).text("categories", f.unread_categories)),
    ASSAY_RULE(kNoGpuWorkDataLost, f.bottleneck == BoundBy::kNoGpu && f.reading.data_lost),
    ASSAY_RULE(kNoGpuWorkNoKernels, f.bottleneck == BoundBy::kNoGpu && f.device_rows > 0,
               out.count("rows", f.device_rows)),
    ASSAY_RULE(kNoGpuWorkLaunchesOnly,
               f.bottleneck == BoundBy::kNoGpu && f.evidence.launch_calls > 0,
               out.count("launches", f.evidence.launch_calls)),
    ASSAY_RULE(kNoGpuWorkProfilerEmpty, f.bottleneck == BoundBy::kNoGpu && f.profiler_span_ns > 0,
               out.ns("span", f.profiler_span_ns)),
    ASSAY_RULE(kNoGpuWorkNothing, f.bottleneck == BoundBy::kNoGpu && f.op_rows == 0),
    ASSAY_RULE(kNoGpuWorkCpuOnly, f.bottleneck == BoundBy::kNoGpu, out.count("ops", f.op_rows)),

    ASSAY_RULE(kInsufficientDataUnlinked,
               f.bottleneck == BoundBy::kTooLittle && f.too_little == TooLittle::kUnlinked,
               out.fraction("linked", f.linked_share)),
    ASSAY_RULE(kInsufficientDataGraphCapture, insufficient(f) && f.capture_leads,
               out.count("activities", f.evidence.works).count("graphs", f.evidence.captures)),
    ASSAY_RULE(kInsufficientDataWarmup,
               insufficient(f) && f.init_ns * 2 > f.total.idle_ns && f.total.idle_ns > 0,
               out.count("activities", f.evidence.works);
               if (!f.init_name.empty()) out.named("name", SubjectKind::kOperator, f.init_name)
                   .ns("name_time", f.init_name_ns)),
    ASSAY_RULE(kInsufficientDataFew, insufficient(f), out.count("activities", f.evidence.works)),
    ASSAY_RULE(kNoHostData, f.bottleneck == BoundBy::kNoHost, out.share("idle", f.total.idle_ns)),

    ASSAY_RULE(kUndeterminedNoLaunchRecord,
               f.bottleneck == BoundBy::kUnseenWork && f.leading_cause == FlowCause::kNoEvidence,
               out.share("unexplained", f.idle(FlowCause::kNoEvidence))),
    ASSAY_RULE(kUndeterminedClockSkew,
               f.bottleneck == BoundBy::kUnseenWork && f.clock_gap.device_late,
               out.share("unexplained", f.idle(FlowCause::kUnseen))),
    ASSAY_RULE(kUndeterminedGraphGaps,
               f.bottleneck == BoundBy::kUnseenWork && f.evidence.graph_holes,
               out.share("unexplained", f.idle(FlowCause::kUnseen))),
    ASSAY_RULE(kUndeterminedUnrecordedWork,
               f.bottleneck == BoundBy::kUnseenWork && f.queued_to_the_end,
               out.share("unexplained", f.idle(FlowCause::kUnseen))),
    ASSAY_RULE(kUndeterminedEarlierWork, f.bottleneck == BoundBy::kUnseenWork,
               out.share("unexplained", f.idle(FlowCause::kUnseen))),

    ASSAY_RULE(kUndecidedGains, decided(f, GainRelation::kUndecided), fill_gains(f, out);
               out.share("idle", f.total.idle_ns)),

    ASSAY_RULE(kWarmupBoundRecurring, f.bottleneck == BoundBy::kColdStart && f.init_iterations > 0,
               fill_init(f, out);
               out.count("slow_iterations", f.init_iterations).count("iterations", f.iterations)),
    ASSAY_RULE(kWarmupBoundMidRun, f.bottleneck == BoundBy::kColdStart && f.init_mid_run,
               fill_init(f, out)),
    ASSAY_RULE(kWarmupBoundUnrecorded, f.bottleneck == BoundBy::kColdStart && f.init_unnamed,
               fill_init(f, out)),
    ASSAY_RULE(kWarmupBoundStart, f.bottleneck == BoundBy::kColdStart, fill_init(f, out)),

    ASSAY_RULE(kGpuBoundAlternating, f.bottleneck == BoundBy::kGpu && f.devices_alternate,
               out.count("devices", static_cast<uint64_t>(f.devices))
                   .ratio("busy_devices", f.busy_devices)),
    ASSAY_RULE(kGpuBoundSmallKernels,
               f.bottleneck == BoundBy::kGpu && !f.gpu_busy_enough && f.total.gaps_lead(),
               out.share("gaps", f.total.device_gaps_ns()).count("activities", f.evidence.works);
               out.ns("mean_activity", f.evidence.work_ns / static_cast<int64_t>(std::max<uint64_t>(
                                                                f.evidence.works, 1)))),
    ASSAY_RULE(kGpuBoundExposedComm,
               f.bottleneck == BoundBy::kGpu && f.total.exposes_collectives() &&
                   f.total.collective_ns >= f.total.copy_ns,
               out.share("compute", f.total.compute_ns)
                   .share("exposed_comm", f.total.collective_ns)
                   .named("collective", SubjectKind::kCollective, f.longest_collective)),
    ASSAY_RULE(kGpuBoundExposedCopies, f.bottleneck == BoundBy::kGpu && copies_are_exposed(f),
               out.share("compute", f.total.compute_ns).share("exposed_copy", f.total.copy_ns)),
    ASSAY_RULE(
        kGpuBoundBusy, f.bottleneck == BoundBy::kGpu && f.total.compute_ns < f.total_ns / 2,
        out.share("busy", f.busy_ns()).named("kernel", SubjectKind::kKernel, f.longest_kernel)),
    ASSAY_RULE(kGpuBoundCompute, f.bottleneck == BoundBy::kGpu && f.kind_name.empty(),
               fill_kernel(f, out)),
    ASSAY_RULE(kGpuBoundFewIterations, f.bottleneck == BoundBy::kGpu && kind_in_few_iterations(f),
               out.share("compute", f.total.compute_ns)
                   .named("kind", SubjectKind::kKernelKind, f.kind_name);
               out.count("iterations", f.replayed_iterations)),
    ASSAY_RULE(
        kGpuBoundKernelKind, f.bottleneck == BoundBy::kGpu,
        out.share("compute", f.total.compute_ns)
            .named("kind", SubjectKind::kKernelKind, f.kind_name)
            .ns("kind_time", f.kind_ns);
        if (!collectives_overlap(f)) out.named("kernel", SubjectKind::kKernel, f.longest_of_kind)),

    ASSAY_RULE(kCopyBoundPipeline, f.bottleneck == BoundBy::kCopy && f.gpu_busy_enough,
               out.ns("copies", f.evidence.copy_ns).named("copy", SubjectKind::kCopy, f.copy.name)),
    ASSAY_RULE(kCopyBoundBetweenKernels,
               f.bottleneck == BoundBy::kCopy && f.path_kernel_ns > f.path_copy_ns,
               fill_copy(f, out);
               out.fraction("kernels", share(f.path_kernel_ns, f.path_ns))),
    ASSAY_RULE(kCopyBoundExposed, f.bottleneck == BoundBy::kCopy, fill_copy(f, out);
               if (f.copy.bytes_per_s > 0) out.byte_rate("bandwidth", f.copy.bytes_per_s)),

    ASSAY_RULE(kCommBoundTransfer, f.bottleneck == BoundBy::kCommunication,
               out.share("exposed_comm", f.total.collective_ns)
                   .named("collective", SubjectKind::kCollective, f.longest_collective)),
    ASSAY_RULE(kCommBoundOneRank, f.bottleneck == BoundBy::kCollectiveWait,
               out.share("exposed_comm", f.total.collective_ns);
               if (!comm_gains_little(f))
                   out.named("collective", SubjectKind::kCollective, f.longest_collective)),
    ASSAY_RULE(kDataLoadingBound, f.bottleneck == BoundBy::kInput,
               out.share("input", f.lost_to(f.bottleneck))
                   .named("loader", SubjectKind::kOperator,
                          f.input.leading_loader.empty() ? first_name(f.leading)
                                                         : f.input.leading_loader)),
    ASSAY_RULE(kAllocationBound, f.bottleneck == BoundBy::kAlloc,
               out.share("allocation", f.lost_to(f.bottleneck))
                   .list("calls", names_or(f.leading, "memory allocation"))),
    ASSAY_RULE(kSyncBoundAfterWait,
               f.bottleneck == BoundBy::kSync && f.leading_cause != FlowCause::kSync,
               fill_after_wait(f, out)),
    ASSAY_RULE(kSyncBoundPageable, f.bottleneck == BoundBy::kSync && f.pageable_waits,
               out.share("sync", f.idle(FlowCause::kSync))),
    ASSAY_RULE(kSyncBoundCall, f.bottleneck == BoundBy::kSync,
               out.share("sync", f.idle(FlowCause::kSync));
               if (!f.launches_block) out.named("call", SubjectKind::kCall, f.waiting_call)),

    ASSAY_RULE(kNoWorkSleep, f.bottleneck == BoundBy::kNotLoaded && f.sleeps,
               out.share("no_work", f.lost_to(f.bottleneck))
                   .named("function", SubjectKind::kFunction, f.sleep_function)),
    ASSAY_RULE(kNoWorkThreadWait, f.bottleneck == BoundBy::kNotLoaded && !f.wait_holder.empty(),
               out.share("no_work", f.lost_to(f.bottleneck))
                   .named("holder", SubjectKind::kFunction, f.wait_holder)
                   .named("function", SubjectKind::kFunction, f.wait_function)),
    ASSAY_RULE(kNoWorkExternalWait, f.bottleneck == BoundBy::kNotLoaded && f.evidence.loops,
               out.share("no_work", f.lost_to(f.bottleneck))
                   .named("function", SubjectKind::kFunction, f.wait_function)
                   .named("op", SubjectKind::kOperator, f.wait_op)),
    ASSAY_RULE(kNoWorkIdle, f.bottleneck == BoundBy::kNotLoaded,
               out.share("no_work", f.lost_to(f.bottleneck))
                   .named("function", SubjectKind::kFunction, f.wait_function)),

    ASSAY_RULE(kMigrationBoundHost,
               f.bottleneck == BoundBy::kMigration && f.page_moves_ns * 2 > f.evidence.migration_ns,
               out.share("idle", f.page_moves_ns)),
    ASSAY_RULE(kMigrationBoundDevice, f.bottleneck == BoundBy::kMigration,
               out.ns("migration", f.evidence.migration_ns)),
    ASSAY_RULE(kHostBoundStalls, waits(f) && f.stalls.system, fill_stalls(f, out);
               out.named("name", SubjectKind::kFunction, f.stalls.name)
                   .named("holder", SubjectKind::kFunction, f.stalls.holder)),
    ASSAY_RULE(kHostBoundStallsUnrecorded, waits(f) && f.stalls.name.empty(), fill_stalls(f, out)),
    ASSAY_RULE(kHostBoundStallsInRange, waits(f) && f.stalls.source == StallFacts::Source::kRange,
               fill_stalls(f, out);
               out.named("label", SubjectKind::kRange, f.stalls.name)),
    ASSAY_RULE(kHostBoundStallsWaiting, waits(f) && f.stalls.waits, fill_stalls(f, out);
               out.named("function", SubjectKind::kFunction, f.stalls.name)
                   .named("holder", SubjectKind::kFunction, f.stalls.holder)),
    ASSAY_RULE(kHostBoundStallsSyscall,
               waits(f) && f.stalls.source == StallFacts::Source::kSystemCall, fill_stalls(f, out);
               out.named("function", SubjectKind::kCall, f.stalls.name);
               if (f.stalls.in_one) out.named("op", SubjectKind::kOperator, f.stalls.within_op)),
    ASSAY_RULE(kHostBoundStallsPageFaults,
               waits(f) && f.stalls.source == StallFacts::Source::kPageFaults,
               out.share("host", f.stalls.ns)),
    ASSAY_RULE(kHostBoundStallsSeveral, waits(f) && !f.stalls.in_one, fill_stalls(f, out);
               out.named("function", SubjectKind::kFunction, f.stalls.name)),
    ASSAY_RULE(kHostBoundStallsOne, waits(f), fill_stalls(f, out);
               out.named("function", SubjectKind::kFunction, f.stalls.name)
                   .named("holder", SubjectKind::kFunction,
                          f.stalls.holder.empty() ? f.stalls.other_thread : f.stalls.holder)),
    ASSAY_RULE(kHostBoundLaunchLatency, f.host_parts.front() == FlowCause::kLatency,
               out.share("host", f.lost_to(BoundBy::kHost)).about(SubjectKind::kCause, "latency");
               if (names_second_part(f)) out.text("part", host_part_name(f, f.host_parts[1]))),
    ASSAY_RULE(kHostBoundCpuCompute, !f.cpu_ops.empty(),
               out.share("host", f.lost_to(BoundBy::kHost)).list("ops", f.cpu_ops);
               out.named("label", SubjectKind::kRange, f.host_range)),
    ASSAY_RULE(
        kHostBoundCompiledCode, f.python_main_compiled,
        out.share("host", f.lost_to(BoundBy::kHost)).about(SubjectKind::kFunction, f.python_main)),
    ASSAY_RULE(kHostBoundPythonFunction, !f.python_main.empty(),
               out.share("host", f.lost_to(BoundBy::kHost))
                   .named("function", SubjectKind::kFunction, f.python_main)),
    ASSAY_RULE(
        kHostBoundLaunching, true, out.share("host", f.lost_to(BoundBy::kHost));
        out.list("parts", host_part_names(f));
        if (names_second_part(f) && f.host_parts[1] == FlowCause::kLatency) {
          out.ns("latency", f.idle(FlowCause::kLatency));
        } for (const FlowCause part
               : shown_host_parts(f)) {
          out.about(SubjectKind::kCause, std::string(flow_cause_name(part)));
        } out.named("label", SubjectKind::kRange, f.host_range)),
};

void fill_outside(const HostOnly& host, Finding& out) {
  out.ns("time", host.call_ns > 0 && host.call_ns * 10 >= host.ns * 9 ? host.call_ns : host.ns)
      .named("name", SubjectKind::kFunction, host.name);
}
bool is_silent(const HostOnly& host) { return host.silent_ns * 2 > host.ns; }
bool is_call(const HostOnly& host) {
  return !is_silent(host) && host.ns > 0 && host.call_ns > 0 && host.call_ns * 10 >= host.ns * 9;
}
bool is_other(const HostOnly& host) {
  return !is_silent(host) && !is_call(host) && host.ns >= kMinOutsideNs;
}

// The part of the recording that the headline is about, and the other parts by length.
void fill_judged_part(const RunFacts& f, Finding& out) {
  const Stretch& judged = *f.stretches.headline();
  std::vector<const Stretch*> others;
  for (const Stretch& part : f.stretches.parts) {
    if (&part != &judged) others.push_back(&part);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const Stretch* a, const Stretch* b) { return a->ns > b->ns; });
  std::vector<std::string> names;
  for (const Stretch* part : others) {
    const std::string name = stretch_name(*part);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  out.text("part", stretch_name(judged)).ns("part_time", judged.ns);
  out.ns("recorded", f.stretches.window_ns).list("others", std::move(names));
}

// Omits numbers that are 0 or unknown.
void fill_serving(const Serving& serving, Finding& out) {
  const auto known = [](double value) { return std::isfinite(value) && value > 0; };
  const uint64_t steps = serving.steps.size();
  out.count("steps", steps).text("kind", serving.prefill_steps == steps  ? "prefill"
                                         : serving.decode_steps == steps ? "decode"
                                         : serving.mixed_steps == steps  ? "mixed"
                                                                         : "");
  if (known(serving.batch)) out.ratio("batch", serving.batch);
  out.ns("span", serving.span_ns);
  // A rate over steps alone overstates what users get; the output rate includes the time between
  // steps.
  const bool output = known(serving.new_tokens_per_s);
  const double rate = output ? serving.new_tokens_per_s : serving.tokens_per_s;
  if (known(rate) && !serving.speculates) {
    out.count("tokens_rate", static_cast<uint64_t>(std::llround(rate)))
        .text("rate_of", output ? "output tokens/s" : "tokens/s");
  }
  if (serving.itl_p50_ns > 0 && !serving.itl_at_least) {
    out.ns("itl", serving.itl_p50_ns).text("itl_of", serving.speculates ? "step period" : "ITL");
  }
  // A ratio that covers less than half of the kernel time is not meaningful.
  if (serving.known_share < 0.5) return;
  if (known(serving.hfu)) out.fraction("hfu", serving.hfu);
}

// "12,000 tokens".
std::string tokens_text(uint64_t tokens) {
  std::string text = std::to_string(tokens);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text + " tokens";
}

// A gap above this multiple of the median is not a typical one.
bool has_slow_token(const Serving& serving) {
  return serving.slow_token.what != SlowToken::What::kNone && serving.itl_p99_ns * 2 > serving.itl_p50_ns * 3;
}

std::string slow_token_cause(const SlowToken& slow) {
  const std::string prompts = slow.prompt_tokens > 0 ? "prefill of " + tokens_text(slow.prompt_tokens) : "prefill";
  switch (slow.what) {
    case SlowToken::What::kPrefillInStep:
      return prompts + " in the same step";
    case SlowToken::What::kPrefillBetween:
      return prompts + " between two decode steps";
    case SlowToken::What::kHost:
      return "no step runs";
    case SlowToken::What::kLongStep:
      return "a longer decode step";
    case SlowToken::What::kNone:
      break;
  }
  return "";
}

std::string request_cause(const RequestFacts::Tail& tail) {
  switch (*tail.part) {
    case RequestPart::kInput:
      return "outside the engine's loop";
    case RequestPart::kQueuePrefill:
      return "queued while other prompts run";
    case RequestPart::kQueueDecode:
      return "queued while others decode";
    case RequestPart::kQueueIdle:
      return "queued while no step runs";
    case RequestPart::kPrefill:
      return tail.prompt_tokens > 0 ? "for its prompt of " + tokens_text(tail.prompt_tokens) : "for its prompt";
    case RequestPart::kOthers:
      return "for others in the steps of its prompt";
    case RequestPart::kHost:
    case RequestPart::kDecodeHost:
      return "between steps";
    case RequestPart::kDecode:
      return tail.output_tokens > 0 ? "for " + tokens_text(tail.output_tokens) + " of output" : "for decode";
    case RequestPart::kDecodePrefill:
      return "for prompts of others while it decodes";
  }
  return "";
}

void fill_tail(const char* key, int64_t ns, const RequestFacts::Tail& tail, Finding& out) {
  out.ns(key, ns);
  if (!tail.part) return;
  // The log has no preemption times, so the affected part is unknown.
  const std::string preempted =
      tail.preemptions > 0 ? ", preempted " + std::to_string(tail.preemptions) + "×" : "";
  out.ns("part", tail.part_ns).text("cause", request_cause(tail) + preempted);
}

std::string refusal_reason(RequestsRefusal refusal) {
  switch (refusal) {
    case RequestsRefusal::kNoSteps:
      return "the trace has no labelled steps";
    case RequestsRefusal::kNoTimes:
      return "the log has no times of arrival";
    case RequestsRefusal::kNoOverlap:
      return "none is in the trace";
    case RequestsRefusal::kClocksDiffer:
      return "clocks differ, see --requests-offset";
    case RequestsRefusal::kNone:
      break;
  }
  return "";
}

void fill_apart(const RequestFacts& requests, Finding& out) {
  out.count("all", requests.all).text("reason", refusal_reason(requests.refusal));
  if (requests.ttft.count > 0) out.ns("ttft", requests.ttft.p99_ns);
  if (requests.e2e.count > 0) out.ns("e2e", requests.e2e.p99_ns);
}

bool joined(const RequestFacts& requests) {
  return requests.asked && requests.refusal == RequestsRefusal::kNone;
}

// MFU describes the whole recording: parts of it have other values, and steps of a serving engine
// have their own line.
bool shows_use(const RunFacts& f) {
  return f.bottleneck == BoundBy::kGpu && f.stretches.parts.size() <= 1 &&
         f.serving.steps.empty() && f.use.known_share >= 0.5;
}

const RunRule kDetails[] = {
    ASSAY_RULE(kRequests, joined(f.requests),
               out.count("joined", f.requests.joined).count("all", f.requests.all).ns("queue", f.requests.queue.p99_ns)),
    ASSAY_RULE(kRequestsTtft, joined(f.requests) && f.requests.ttft.count > 0,
               fill_tail("ttft", f.requests.ttft.p99_ns, f.requests.ttft_tail, out)),
    ASSAY_RULE(kRequestsE2e, joined(f.requests) && f.requests.e2e.count > 0,
               fill_tail("e2e", f.requests.e2e.p99_ns, f.requests.e2e_tail, out)),
    ASSAY_RULE(kRequestsApart, f.requests.asked && !joined(f.requests), fill_apart(f.requests, out)),
    ASSAY_RULE(kRequestsIncomplete, joined(f.requests) && f.requests.sequences_share < 0.9,
               out.fraction("share", f.requests.sequences_share)),
    ASSAY_RULE(kGainsAlternate, decided(f, GainRelation::kAlternate), fill_gains(f, out)),
    ASSAY_RULE(kGainsBalanced, decided_by_gains(f) && f.decision.joint, fill_gains(f, out);
               out.ns("without_both", f.decision.table.window_ns() - f.decision.together_ns)),
    ASSAY_RULE(kGainsOne,
               !f.decision.joint && (decided(f, GainRelation::kBound) ||
                                     decided(f, GainRelation::kOneEvent)),
               fill_gain(f, out)),
    ASSAY_RULE(kWarmupBoundThenGpu, f.bottleneck == BoundBy::kColdStart && f.steady_gpu),
    ASSAY_RULE(kLaunchesBlock,
               (f.bottleneck == BoundBy::kHost || f.bottleneck == BoundBy::kSync) &&
                   f.launches_block),
    ASSAY_RULE(kManagedMemory,
               f.bottleneck != BoundBy::kMigration && f.evidence.migration_ns > 0 &&
                   f.evidence.migration_ns * 10 >= f.total_ns,
               out.ns("migration", f.evidence.migration_ns)
                   .text("waits", f.bottleneck == BoundBy::kGpu ? "kernels" : "the host")),
    ASSAY_RULE(kManagedMemoryFaults,
               f.evidence.migration_ns * 10 < f.total_ns && f.gpu_fault_ns * 10 >= f.window_ns,
               out.ns("faults", f.gpu_fault_ns)),
    ASSAY_RULE(kJudgedPart, f.stretches.parts.size() > 1 && f.stretches.headline() != nullptr,
               fill_judged_part(f, out)),
    ASSAY_RULE(kServing, !f.serving.steps.empty(), fill_serving(f.serving, out)),
    ASSAY_RULE(kServingSlowToken, has_slow_token(f.serving),
               out.ns("itl", f.serving.itl_p99_ns).ns("excess", f.serving.itl_p99_ns - f.serving.itl_p50_ns)
                   .text("cause", slow_token_cause(f.serving.slow_token))),
    ASSAY_RULE(kUseMfu, shows_use(f) && f.use.is_exact(), fill_use(f.use, out)),
    ASSAY_RULE(kUseMfuRange, shows_use(f) && !f.use.is_exact() && f.use.within(0.1),
               fill_use(f.use, out)),
    ASSAY_RULE(kSeveralRanks, f.processes_in_file > 1 && f.devices > 1,
               out.count("processes", f.processes_in_file)
                   .count("devices", static_cast<uint64_t>(f.devices))),
    ASSAY_RULE(kOverlappedComm, collectives_overlap(f),
               out.ns("comm", f.evidence.collective_ns)),
    ASSAY_RULE(kOverlappedKernels,
               kernels_gain_little(f) && f.second_kind.ns * 2 >= f.total_ns,
               out.named("kind", SubjectKind::kKernelKind, f.second_kind.name)
                   .ns("other", f.second_kind.ns)),
    ASSAY_RULE(kCommBoundLittleGainHost,
               comm_gains_little(f) && f.path_host_ns * 2 > f.path_ns,
               out.ns("gain", std::max<int64_t>(f.gain_of({EditKind::kComm})->gain_ns, 0))),
    ASSAY_RULE(kCommBoundLittleGain, comm_gains_little(f),
               out.ns("gain", std::max<int64_t>(f.gain_of({EditKind::kComm})->gain_ns, 0))),
    ASSAY_RULE(kCommBoundOneRankLimit, f.bottleneck == BoundBy::kCollectiveWait),
    ASSAY_RULE(kOutsideUnrecordedBefore, is_silent(f.outside().before),
               out.ns("time", f.outside().before.silent_ns)),
    ASSAY_RULE(kOutsideCallBefore, is_call(f.outside().before),
               fill_outside(f.outside().before, out)),
    ASSAY_RULE(kOutsideCpuOnlyBefore, is_other(f.outside().before),
               fill_outside(f.outside().before, out)),
    ASSAY_RULE(kOutsideUnrecordedAfter, is_silent(f.outside().after),
               out.ns("time", f.outside().after.silent_ns)),
    ASSAY_RULE(kOutsideCallAfter, is_call(f.outside().after), fill_outside(f.outside().after, out)),
    ASSAY_RULE(kOutsideCpuOnlyAfter, is_other(f.outside().after),
               fill_outside(f.outside().after, out)),
    ASSAY_RULE(kMixedCauses, f.mixed),
};

}  // namespace

std::span<const RunRule> headline_rules() { return kHeadlines; }
std::span<const RunRule> detail_rules() { return kDetails; }

}  // namespace assay::findings
