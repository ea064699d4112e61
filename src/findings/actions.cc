#include "findings/actions.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/numbers.h"
#include "findings/advice.h"
#include "findings/rules/rule.h"
#include "findings/rules/words.h"
#include "kernels/name.h"

namespace assay::findings {
namespace {

using Direction = CopyFacts::Direction;
using Releases = AllocationFacts::Releases;

// A text rule for actions of one key.
struct ActionRule {
  std::string_view key;
  RunRule rule;
};

bool hip(const RunFacts& f) { return f.program.hip; }
bool cuda(const RunFacts& f) { return f.program.cuda; }
// Written in CUDA directly, without a framework.
bool plain_cuda(const RunFacts& f) { return f.program.kind == ProgramKind::kCuda; }
bool jax(const RunFacts& f) { return f.program.kind == ProgramKind::kJax; }
bool advises(const RunFacts& f, HostAdvice advice) { return f.host_advice == advice; }
bool by_page_faults(const RunFacts& f) {
  return f.stalls.source == StallFacts::Source::kPageFaults;
}
bool by_profiler(const RunFacts& f) {
  return f.stalls.source == StallFacts::Source::kProfiler;
}

bool crosses_host(const RunFacts& f) {
  return f.copy.direction != Direction::kFill && f.copy.direction != Direction::kOnDevice &&
         f.copy.direction != Direction::kBetweenDevices;
}
// More copy time than kernels could hide.
bool mostly_copies(const RunFacts& f) {
  return crosses_host(f) && f.copy.pinned &&
         f.evidence.copy_ns > f.evidence.kernel_ns + f.evidence.collective_ns;
}
std::string waited_for(const RunFacts& f) {
  return f.stalls.holder.empty() ? f.stalls.name : f.stalls.holder;
}
std::string conf_variable(const RunFacts& f) {
  return hip(f) ? "PYTORCH_HIP_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
}
std::string caching_variable(const RunFacts& f) {
  return hip(f) ? "PYTORCH_NO_HIP_MEMORY_CACHING" : "PYTORCH_NO_CUDA_MEMORY_CACHING";
}
// Guards of compiled code take most of the host time: graph breaks split the model into pieces.
bool has_graph_breaks(const RunFacts& f) {
  return f.largest(f.largest_host_cause()).name.find("TorchDynamo Cache Lookup") != std::string::npos;
}
// Operators on the CPU use values that were copied from the device.
bool host_computes(const RunFacts& f) { return f.stalls.on_cpu || !f.cpu_ops.empty(); }
bool few_input_waits(const RunFacts& f) { return f.input.waits > 1 && f.input.few_iterations; }

// The roofline distance is known for most of the leading kernels' time.
bool roof_tells(const RunFacts& f) { return f.kind_roofed_ns * 2 > f.kind_ns; }

#define ASSAY_ACTION(key, code, condition, ...) \
  ActionRule { key, ASSAY_RULE(code, condition, __VA_ARGS__) }

const ActionRule kTitles[] = {
    ASSAY_ACTION("device_work", kActionKernelsRoof, roof_tells(f),
                 out.named("kind", SubjectKind::kKernelKind, f.kind_name)
                     .fraction("roof", share(f.kind_roof_ns, f.kind_roofed_ns))),
    ASSAY_ACTION("device_work", kActionKernelsKind, !f.kind_name.empty(),
                 out.named("kind", SubjectKind::kKernelKind, f.kind_name)),
    ASSAY_ACTION("device_work", kActionKernelsName, true,
                 out.named("kernel", SubjectKind::kKernel, f.longest_of_kind)),

    ASSAY_ACTION("cuda_graph", kActionCudaGraph, cuda(f)),
    ASSAY_ACTION("cuda_graph", kActionHipGraph, hip(f)),
    ASSAY_ACTION("cuda_graph", kActionGraphOrFewerLaunches, true),

    ASSAY_ACTION("cheaper_host", kActionReplayCompiledCode, f.python_main_compiled),
    ASSAY_ACTION("cheaper_host", kActionHostStallsShorten, !f.python_main.empty(),
                 out.named("function", SubjectKind::kFunction, f.python_main)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkBetweenGraphs,
                 advises(f, HostAdvice::kBetweenGraphs)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsProfiler,
                 advises(f, HostAdvice::kShortenOne) && by_profiler(f)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsWait,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.waits,
                 out.named("function", SubjectKind::kFunction, waited_for(f))),
    ASSAY_ACTION("cheaper_host", kActionHostStallsOtherThread,
                 advises(f, HostAdvice::kShortenOne) && !f.stalls.other_thread.empty(),
                 out.named("holder", SubjectKind::kFunction, f.stalls.other_thread)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsPageFaults,
                 advises(f, HostAdvice::kShortenOne) && by_page_faults(f)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsShorten,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.in_one,
                 out.named("function", SubjectKind::kFunction, f.stalls.name)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsShortenSeveral,
                 advises(f, HostAdvice::kShortenOne),
                 out.named("function", SubjectKind::kFunction, f.stalls.name)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsRecord, advises(f, HostAdvice::kRecordHost)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsHolder,
                 advises(f, HostAdvice::kSteadyHost) && !f.stalls.holder.empty(),
                 out.named("holder", SubjectKind::kFunction, f.stalls.holder)),
    ASSAY_ACTION("cheaper_host", kActionHostStallsSteady, advises(f, HostAdvice::kSteadyHost)),
    ASSAY_ACTION("cheaper_host", kActionCpuCompute, advises(f, HostAdvice::kMoveToDevice)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkBetweenLaunches,
                 advises(f, HostAdvice::kLessHost)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkFewerLaunches,
                 advises(f, HostAdvice::kFewerLaunches)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkJax, jax(f)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkHipGraphs, hip(f)),
    ASSAY_ACTION("cheaper_host", kActionReduceHostWorkGraphs, true),

    ASSAY_ACTION("faster_cpu", kActionFasterCpu, true, out.ratio("factor", 1.3)),
    ASSAY_ACTION("input", kActionDataLoading, true),
    ASSAY_ACTION("remove_syncs", kActionSyncPageable, f.pageable_waits),
    ASSAY_ACTION("remove_syncs", kActionSyncLoop, f.replayed_iterations > 1),
    ASSAY_ACTION("remove_syncs", kActionSyncAny, true),
    ASSAY_ACTION("allocation", kActionAllocationPinned, f.allocation.host_memory),
    ASSAY_ACTION("allocation", kActionAllocationDevice, true),
    ASSAY_ACTION("copies", kActionCopiesFill, f.copy.direction == Direction::kFill),
    ASSAY_ACTION("copies", kActionCopiesLess, !crosses_host(f)),
    ASSAY_ACTION("copies", kActionCopiesBytes, mostly_copies(f)),
    ASSAY_ACTION("copies", kActionCopiesOverlap, f.copy.pinned),
    ASSAY_ACTION("copies", kActionCopiesOverlapPinned, true),
    ASSAY_ACTION("communication", kActionCommunication, true),
    ASSAY_ACTION("attention", kActionAttention, true),
    ASSAY_ACTION("devices_at_once", kActionConcurrentDevices, true),
    ASSAY_ACTION("prefetch", kActionPrefetch, true),
    ASSAY_ACTION("compare_ranks", kActionCompareRanks, true),
    ASSAY_ACTION("fuse_chains", kActionFuseChains, true, out.count("chains", f.chains.chains)),
    ASSAY_ACTION("batch", kActionBatch, true),
    ASSAY_ACTION(
        "smaller_type", kActionSmallerType, true,
        out.named("kernel", SubjectKind::kKernel, describe_kernel(f.products.fp32.kernel))),
    ASSAY_ACTION(
        "fp8", kActionFp8, true,
        out.named("kernel", SubjectKind::kKernel, describe_kernel(f.products.half.kernel))),
};

// CPython asks the thread that holds the GIL to yield after sys.getswitchinterval(), 5 ms by
// default. A thread that waits for a busy one stalls for little longer.
bool last_a_switch_interval(const RunFacts& f) {
  constexpr uint64_t kEnough = 10;
  constexpr int64_t kSwitchNs = 5 * kMillisecondNs;
  constexpr int64_t kLateNs = kMillisecondNs / 2;
  const DurationSpread& spread = f.stalls.spread;
  return spread.count >= kEnough && spread.median_ns >= kSwitchNs &&
         spread.median_ns <= kSwitchNs + kLateNs;
}

void fill_longest_stall(const RunFacts& f, Finding& out) {
  out.ns("longest", f.stalls.longest.end_ns - f.stalls.longest.start_ns)
      .ns("at", f.stalls.longest.start_ns - f.window.start_ns);
}
void fill_largest(const RunFacts& f, FlowCause cause, std::string_view key, Finding& out) {
  const RunFacts::Contributed largest = f.largest(cause);
  out.named(key, SubjectKind::kOperator, largest.name).text("within", largest.within);
}
FlowCause between_cause(const RunFacts& f) {
  return advises(f, HostAdvice::kBetweenGraphs) ? f.leading_cause.value_or(FlowCause::kDispatch)
                                            : f.largest_host_cause();
}
bool between(const RunFacts& f) {
  return (advises(f, HostAdvice::kBetweenGraphs) || advises(f, HostAdvice::kLessHost)) &&
         !f.largest(between_cause(f)).name.empty();
}
const ActionRule kHows[] = {
    ASSAY_ACTION(
        "device_work", kHowKernelRuns, !f.kind_name.empty(),
        out.named("kernel", SubjectKind::kKernel, f.longest_of_kind).count("runs", f.kind_count)),
    ASSAY_ACTION("device_work", kHowKernelTotal, f.longest_of_kind_runs > 0,
                 out.count("runs", f.longest_of_kind_runs).ns("time", f.longest_of_kind_ns)),

    ASSAY_ACTION("fuse_chains", kHowChain, f.chain_names.size() > 1,
                 out.count("runs", f.chains.runs).list("kernels", f.chain_names)),

    ASSAY_ACTION("cheaper_host", kHowCaptureWherePossible, !f.python_main.empty()),
    ASSAY_ACTION("cheaper_host", kHowLargestContributor, between(f),
                 fill_largest(f, between_cause(f), "name", out)),
    ASSAY_ACTION("cheaper_host", kHowInputOnCpu,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.on_cpu),
    ASSAY_ACTION("cheaper_host", kHowStallWait,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.waits,
                 out.ns("longest", f.stalls.longest.end_ns - f.stalls.longest.start_ns)),
    ASSAY_ACTION("cheaper_host", kHowStallProfiler,
                 advises(f, HostAdvice::kShortenOne) && by_profiler(f),
                 out.ns("longest", f.stalls.longest.end_ns - f.stalls.longest.start_ns)),
    ASSAY_ACTION("cheaper_host", kHowStallPageFaults,
                 advises(f, HostAdvice::kShortenOne) && by_page_faults(f)),
    ASSAY_ACTION("cheaper_host", kHowStallEachIteration,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.each_iteration),
    ASSAY_ACTION("cheaper_host", kHowStallRare,
                 advises(f, HostAdvice::kShortenOne) && f.stalls.rare),
    ASSAY_ACTION("cheaper_host", kHowStallGil,
                 advises(f, HostAdvice::kShortenOne) && !f.stalls.other_thread.empty(),
                 out.named("function", SubjectKind::kFunction, f.stalls.name)),
    ASSAY_ACTION("cheaper_host", kHowStallLongest, advises(f, HostAdvice::kShortenOne),
                 fill_longest_stall(f, out)),
    ASSAY_ACTION("cheaper_host", kHowStallOtherThread,
                 advises(f, HostAdvice::kRecordHost) && !f.stalls.other_thread.empty(),
                 out.named("holder", SubjectKind::kFunction, f.stalls.other_thread)),
    ASSAY_ACTION(
        "cheaper_host", kHowStallSwitchInterval,
        advises(f, HostAdvice::kRecordHost) && edits_pytorch(f) && last_a_switch_interval(f),
        out.ns("median", f.stalls.spread.median_ns)),
    ASSAY_ACTION("cheaper_host", kHowStallRecordTorchLongest,
                 advises(f, HostAdvice::kRecordHost) && edits_pytorch(f),
                 fill_longest_stall(f, out)),
    ASSAY_ACTION("cheaper_host", kHowStallRecordNsys,
                 advises(f, HostAdvice::kRecordHost) && f.tracer == Tracer::kNsightSystems),
    ASSAY_ACTION("cheaper_host", kHowStallLongest, advises(f, HostAdvice::kRecordHost),
                 fill_longest_stall(f, out)),
    ASSAY_ACTION("cheaper_host", kHowStallDriverLock,
                 advises(f, HostAdvice::kSteadyHost) && !f.stalls.holder.empty()),
    ASSAY_ACTION("cheaper_host", kHowStallSystem, advises(f, HostAdvice::kSteadyHost)),
    ASSAY_ACTION("cheaper_host", kHowTensorsOnCpu, advises(f, HostAdvice::kMoveToDevice),
                 out.named("op", SubjectKind::kOperator, f.cpu_ops.front())),

    ASSAY_ACTION("faster_cpu", kHowFasterCpu, true),
    ASSAY_ACTION("compare_ranks", kHowCompareRanks, true),

    ASSAY_ACTION("input", kHowInputOneWait, f.input.one_wait&& edits_pytorch(f),
                 out.ns("longest", f.input.longest_ns)),
    ASSAY_ACTION("input", kHowInputBeginEarlier, f.input.one_wait,
                 out.ns("longest", f.input.longest_ns)),
    ASSAY_ACTION("input", kHowInputFewIterations, few_input_waits(f) && edits_pytorch(f),
                 out.count("waits", f.input.waits)
                     .ns("mean", f.input.waits_ns / static_cast<int64_t>(f.input.waits))),

    ASSAY_ACTION("remove_syncs", kHowSyncPageable,
                 f.pageable_waits && !f.largest(FlowCause::kSync).within.empty(),
                 out.text("within", f.largest(FlowCause::kSync).within)),
    ASSAY_ACTION("remove_syncs", kHowSyncPageable,
                 f.pageable_waits && !f.largest(FlowCause::kSync).name.empty(),
                 out.text("within", f.largest(FlowCause::kSync).name)),
    ASSAY_ACTION("remove_syncs", kHowSyncValueRead,
                 f.sync_value_read && !f.largest(FlowCause::kSync).name.empty(),
                 fill_largest(f, FlowCause::kSync, "call", out)),
    ASSAY_ACTION("remove_syncs", kHowLargestContributor, !f.largest(FlowCause::kSync).name.empty(),
                 fill_largest(f, FlowCause::kSync, "name", out)),

    ASSAY_ACTION("allocation", kHowAllocPinnedOnce, f.allocation.host_memory),
    ASSAY_ACTION("allocation", kHowAllocWarmup,
                 edits_pytorch(f) && f.allocation.releases == Releases::kNone),
    ASSAY_ACTION("allocation", kHowAllocNoEmptyCache, edits_pytorch(f) && !hip(f) && !cuda(f)),
    ASSAY_ACTION("allocation", kHowAllocExpandableOnce,
                 edits_pytorch(f) && f.allocation.releases == Releases::kOnce,
                 out.text("variable", conf_variable(f))),
    ASSAY_ACTION("allocation", kHowAllocExpandable,
                 edits_pytorch(f) && (f.allocation.few_iterations || f.allocation.retries),
                 out.text("variable", conf_variable(f))),
    ASSAY_ACTION("allocation", kHowAllocOutsideTorch,
                 edits_pytorch(f) && f.allocation.outside_framework),
    ASSAY_ACTION("allocation", kHowAllocCachingOff, edits_pytorch(f),
                 out.text("variable", caching_variable(f))),
    ASSAY_ACTION("allocation", kHowAllocNoTrim, f.allocation.trims_pool),
    ASSAY_ACTION("allocation", kHowAllocPoolThreshold, f.allocation.from_pool,
                 out.text("attribute", hip(f) ? "hipMemPoolAttrReleaseThreshold"
                                              : "cudaMemPoolAttrReleaseThreshold")),
    ASSAY_ACTION("allocation", kHowAllocPoolHip, hip(f)),
    ASSAY_ACTION("allocation", kHowAllocPool, plain_cuda(f)),
    ASSAY_ACTION("allocation", kHowAllocAnyPool, true),

    ASSAY_ACTION("copies", kHowCopyEmpty, f.copy.direction == Direction::kFill && edits_pytorch(f)),
    ASSAY_ACTION("copies", kHowCopyViews,
                 f.copy.direction == Direction::kOnDevice && edits_pytorch(f)),
    ASSAY_ACTION("copies", kHowCopyBetweenGpus, f.copy.direction == Direction::kBetweenDevices),
    ASSAY_ACTION("copies", kHowCopyLimit, mostly_copies(f),
                 out.ns("copies", f.evidence.copy_ns)
                     .ns("kernels", f.evidence.kernel_ns + f.evidence.collective_ns)),
    ASSAY_ACTION("copies", kHowCopyD2hPinned,
                 crosses_host(f) && f.copy.pinned && f.copy.direction == Direction::kToHost),
    ASSAY_ACTION("copies", kHowCopyOwnStream, crosses_host(f) && f.copy.pinned),
    ASSAY_ACTION("copies", kHowCopyResults,
                 f.copy.direction == Direction::kToHost && edits_pytorch(f)),
    ASSAY_ACTION("copies", kHowCopyPinnedLoader,
                 crosses_host(f) && edits_pytorch(f) && f.copy.program_loads),
    ASSAY_ACTION("copies", kHowCopyPinnedOnce, crosses_host(f) && edits_pytorch(f)),
    ASSAY_ACTION("copies", kHowCopyOwnStreamHip, crosses_host(f) && hip(f)),
    ASSAY_ACTION("copies", kHowCopyOwnStreamCuda, crosses_host(f) && plain_cuda(f)),
};

// One kind of change: which simulations give its gain, and which bottleneck it addresses.
struct ActionKind {
  std::string_view key;
  std::vector<EditKind> edits;
  FirstLever on;
  std::string_view basis;
  bool (*offered)(const RunFacts& f);
  std::vector<FlowCause> causes = {};  // causes that it shortens
  std::string_view state = {};         // or the state of the device
};

bool always(const RunFacts&) { return true; }
bool stalls_lead(const RunFacts& f) { return f.stalls.ns > 0; }
// A graph replaces launches, but not computation on the CPU or a Python function that fills the
// host time.
bool graph_possible(const RunFacts& f) {
  return f.cpu_ops.empty() && (f.python_main.empty() || uses_engine(f));
}
// A faster core does not speed up a thread that waits.
bool core_helps(const RunFacts& f) {
  return f.host_advice != HostAdvice::kRecordHost && f.host_advice != HostAdvice::kSteadyHost;
}

const std::vector<ActionKind>& action_kinds() {
  static const std::vector<FlowCause> host(kHostWork.begin(), kHostWork.end());
  static const std::vector<ActionKind> kinds = {
      {"device_work", {EditKind::kFamily, EditKind::kKernels}, FirstLever::kFasterKernel,
       "replay in which these kernels take no time", always},
      {"cuda_graph", {EditKind::kGraph}, FirstLever::kGraphOrCompile,
       "replay with one launch in each iteration", graph_possible,
       {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall, FlowCause::kHostGap,
        FlowCause::kLatency}},
      {"cheaper_host", {EditKind::kPauses}, FirstLever::kLessHostWork,
       "replay without host stalls of 0.3 ms or more", stalls_lead,
       {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall, FlowCause::kHostGap}},
      {"cheaper_host", {EditKind::kHost}, FirstLever::kGraphOrCompile,
       "replay in which the host's own work takes no time",
       [](const RunFacts& f) { return !stalls_lead(f); },
       {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall, FlowCause::kHostGap}},
      {"faster_cpu", {EditKind::kFasterCpu}, FirstLever::kNone,
       "replay with host time and calls that do not wait divided by 1.3", core_helps,
       {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall, FlowCause::kHostGap}},
      {"input", {EditKind::kInput}, FirstLever::kMoreInputWorkers,
       "replay in which loading data takes no time", always, {FlowCause::kInput}},
      {"remove_syncs", {EditKind::kSync}, FirstLever::kRemoveSync,
       "replay in which no call waits for the device", always, {FlowCause::kSync}},
      {"allocation", {EditKind::kAlloc}, FirstLever::kCachingAllocator,
       "replay in which allocation calls take no time", always, {FlowCause::kAlloc}},
      {"copies", {EditKind::kCopies}, FirstLever::kFewerCopies,
       "replay in which copies take no time", always, {}, "copy"},
      {"communication", {EditKind::kComm}, FirstLever::kOverlapCommunication,
       "replay in which collectives take no time", always, {}, "collective"},
      {"attention", {EditKind::kAttention}, FirstLever::kFasterKernel,
       "replay in which a softmax between two products, and all between them, takes no time",
       always},
  };
  return kinds;
}

bool undetermined(BoundBy bound) { return !names_resource(bound) || bound == BoundBy::kColdStart; }

const RunRule* rule_for(std::span<const ActionRule> rules, std::string_view key,
                        const RunFacts& f) {
  for (const ActionRule& one : rules) {
    if (one.key == key && one.rule.holds(f)) return &one.rule;
  }
  return nullptr;
}

// The cause in data/tables/advice.tsv that an action addresses; empty if the run alone determines
// the advice.
std::string_view cause_of_advice(std::string_view key, const RunFacts& f) {
  const bool engine = uses_engine(f);
  const bool breaks = has_graph_breaks(f) && !engine;
  if (key == "cuda_graph") return breaks && advises(f, HostAdvice::kGraphs) ? "breaks" : "graphs";
  if (key == "cheaper_host") {
    if (breaks) return "breaks";
    if (!f.python_main.empty() && !engine) return "";
    if (advises(f, HostAdvice::kGraphs)) return "graphs";
    if (advises(f, HostAdvice::kFewerLaunches)) return engine ? "graphs" : "launches";
    const bool loop = advises(f, HostAdvice::kLessHost) || advises(f, HostAdvice::kBetweenGraphs);
    return engine && loop ? "graphs" : "";
  }
  // Other headlines do not name the longest kernel, so the action must.
  if (key == "device_work") return f.bottleneck == BoundBy::kGpu ? "gpu" : "";
  if (key == "remove_syncs") return "sync";
  constexpr std::pair<std::string_view, std::string_view> kCauses[] = {
      {"input", "input"},         {"communication", "collective"}, {"copies", "copies"},
      {"attention", "attention"}, {"devices_at_once", "devices"},  {"fuse_chains", "chains"},
      {"smaller_type", "precision"}, {"fp8", "fp8"}, {"batch", "batch"}, {"prefetch", "migration"}};
  for (const auto& [action, cause] : kCauses) {
    if (action == key) return cause;
  }
  return "";
}

void add_texts(const RunFacts& f, Action& action) {
  action.title = make(*rule_for(kTitles, action.key, f), f);
  const RunRule* how = rule_for(kHows, action.key, f);
  const std::string_view cause = cause_of_advice(action.key, f);
  const Advice* advice = cause.empty() ? nullptr : advice_for(cause, f);
  // The run is more specific than the table, except on an engine's flags and on faster kernels.
  const bool any = advice != nullptr && advice->program == "any" && advice->when.empty();
  const bool first = uses_engine(f) || cause == "gpu" || cause == "chains" ||
                     (cause == "sync" && f.launches_block);
  if (advice != nullptr && (how == nullptr || cause == "breaks" || (first && !any))) {
    action.how = finding_of(Code::kHowAdvised, f);
    fill_advice(*advice, f, *action.how);
    if (advice->title.empty()) return;
    action.title = finding_of(Code::kActionAdvised, f);
    action.title.text("title", std::string(advice->title));
  } else if (how != nullptr) {
    action.how = make(*how, f);
  }
}

// Exposed device time that a kind of change can shorten; 0 if exposure does not bound the change.
int64_t exposed_ns(const ActionKind& kind, const RunFacts& f) {
  int64_t sum_ns = 0;
  for (const FlowCause cause : kind.causes) sum_ns += f.idle(cause);
  if (kind.key == "faster_cpu") return 0;
  if (kind.key == "copies") sum_ns = f.total.copy_ns;
  if (kind.key == "communication") sum_ns = f.total.collective_ns;
  if (kind.key == "device_work") sum_ns = std::min(f.kind_ns, f.total.compute_ns);
  return sum_ns / std::max<int64_t>(f.devices, 1);
}

// Time that the run saves if its kernels take saves_ns less: the proportional part of the gain
// without kernels. If the replay is not valid, all of saves_ns, an upper bound.
int64_t kernel_gain_ns(int64_t saves_ns, const RunFacts& f) {
  if (!replay_holds(f)) {
    return std::min(saves_ns / std::max<int64_t>(f.devices, 1), f.window_ns);
  }
  if (f.evidence.kernel_ns <= 0) return 0;
  const auto all_ns = static_cast<double>(f.decision.table.of(GainGroup::kDevice).gain_ns);
  return static_cast<int64_t>(all_ns * std::min(share(saves_ns, f.evidence.kernel_ns), 1.0));
}

// Upper bound on a change's gain from the recording alone, independent of the replay.
int64_t most_ns(const ActionKind& kind, const RunFacts& f) {
  const int64_t devices = std::max<int64_t>(f.devices, 1);
  // A function saves at most its own share of host time; no edit simulates it.
  if (kind.key == "cheaper_host" && !f.python_main.empty()) return f.python_main_ns / devices;
  // A faster host does not shorten the time in which the program waits for external input.
  const bool host = kind.key == "cheaper_host" || kind.key == "cuda_graph" || kind.key == "faster_cpu";
  if (host) return (f.total.idle_ns - f.idle(FlowCause::kNothingAsked)) / devices;
  // With the same type, kernels cannot be faster than the roofline. Kernels without known work are
  // excluded.
  if (kind.key == "device_work" && f.kind_roofed_ns > 0) return kernel_gain_ns(f.kind_ns - f.kind_roof_ns, f);
  // The host computes with the values that it waits for.
  if (kind.key == "remove_syncs" && host_computes(f)) return f.idle(FlowCause::kSync) / devices;
  return f.window_ns;
}

std::optional<Action> action_of(const ActionKind& kind, const RunFacts& f) {
  if (!kind.offered(f)) return std::nullopt;
  Action action{.key = kind.key, .basis = kind.basis};
  if (replay_holds(f)) {
    const GainFact* gain = nullptr;
    for (const EditKind edit : kind.edits) {
      if (gain == nullptr) gain = f.gain_of({edit});
    }
    if (gain == nullptr) return std::nullopt;
    action.gain_ns = gain->gain_ns;
    action.predicted = gain->predicted;
    action.edit = gain->edit;
  } else {
    action.gain_ns = exposed_ns(kind, f);
    action.basis = "time of the GPU that is exposed to it; the replay does not fit";
  }
  if (const int64_t bound_ns = most_ns(kind, f); bound_ns < action.gain_ns) {
    if (kind.key == "device_work") action.basis = "these kernels at the roofline of the device";
    action.gain_ns = bound_ns;
    action.edit.clear();
  }
  if (action.gain_ns <= 0 || action.gain_ns * 100 < f.window_ns) return std::nullopt;
  action.share = share(action.gain_ns, f.window_ns);
  add_texts(f, action);
  for (const FlowCause cause : kind.causes) action.causes.emplace_back(flow_cause_name(cause));
  if (!kind.state.empty()) action.causes.emplace_back(kind.state);
  if (kind.key == "device_work") {
    action.kernel_kind = f.kind_name;
    if (f.kind_name.empty()) action.kernel_name = f.longest_of_kind;
  }
  return action;
}

// An action without its own replay.
Action unreplayed(std::string_view key, std::string_view basis, int64_t gain_ns, const RunFacts& f) {
  Action action{.key = key, .basis = basis, .gain_ns = gain_ns, .share = share(gain_ns, f.window_ns)};
  add_texts(f, action);
  return action;
}

// The same for kernels that take saves_ns less; nullopt if it gains less than 1 % of the window.
std::optional<Action> kernel_action(std::string_view key, std::string_view basis, int64_t saves_ns, const RunFacts& f) {
  const int64_t gain_ns = kernel_gain_ns(saves_ns, f);
  if (gain_ns * 100 < f.window_ns) return std::nullopt;
  return unreplayed(key, basis, gain_ns, f);
}

// Gain if devices that take turns worked concurrently on equal shares.
Action devices_at_once(const RunFacts& f) {
  const auto busy = static_cast<double>(f.busy_ns());
  const int64_t any_ns = f.busy_devices > 0 ? static_cast<int64_t>(busy / f.busy_devices + 0.5) : 0;
  const int64_t gain_ns = any_ns - f.busy_ns() / std::max<int64_t>(f.devices, 1);
  return unreplayed("devices_at_once", "all device work in equal parts on all devices at once", gain_ns, f);
}

// Prefetching managed memory.
Action prefetch(const RunFacts& f) {
  return unreplayed("prefetch", "replay in which page migration takes no time",
                    f.decision.table.of(GainGroup::kMigration).gain_ns, f);
}

// If neither the host nor collectives save much alone: one rank does not show whether collectives
// wait.
std::optional<Action> compare_ranks(const RunFacts& f) {
  const Decision& d = f.decision;
  const auto decides = [&d](GainGroup group) { return d.word == group || d.second == group; };
  const bool pair = d.joint && decides(GainGroup::kHost) && decides(GainGroup::kComm);
  if (!pair || !replay_holds(f)) return std::nullopt;
  return unreplayed("compare_ranks", "replay in which neither the host nor collectives take time", d.together_ns, f);
}

// Upper bound: each chain becomes one kernel.
std::optional<Action> fuse_chains(const RunFacts& f) {
  if (f.bottleneck != BoundBy::kGpu) return std::nullopt;
  return kernel_action("fuse_chains", "one kernel for each chain, as long as its longest", f.chains.saves_ns, f);
}

// The action on a narrow host bottleneck; empty for other bottlenecks.
std::string_view narrow_key(BoundBy bound) {
  switch (bound) {
    case BoundBy::kInput:
      return "input";
    case BoundBy::kSync:
      return "remove_syncs";
    case BoundBy::kAlloc:
      return "allocation";
    default:
      return "";
  }
}

bool changes_kernels(const Action& action) {
  return action.key == "smaller_type" || action.key == "fuse_chains" || action.key == "attention";
}

bool on_device(const Action& action) {
  return changes_kernels(action) || action.key == "device_work" || action.key == "fp8" || action.key == "batch";
}

// Upper bound: FP32 matrix products and convolutions on matrix units.
std::optional<Action> smaller_type(const RunFacts& f) {
  const double ratio = f.matrix_types.over_fp32;
  if (f.bottleneck != BoundBy::kGpu || ratio <= 1) return std::nullopt;
  const auto saves_ns = static_cast<int64_t>(static_cast<double>(f.products.fp32.ns) * (1 - 1 / ratio));
  return kernel_action("smaller_type", "products and convolutions in FP32, shortened by the ratio of the peaks",
                       saves_ns, f);
}

// Gain of doubling the sequences per decode step. A matrix product with B rows does about B FLOP
// per byte of its weights, which it reads once. Below the device's ridge point, doubling the rows
// takes no more time. All other time doubles. For an unknown device, assumes a ridge that most
// devices exceed.
std::optional<Action> larger_batch(const RunFacts& f) {
  const bool decodes = f.bottleneck == BoundBy::kGpu && f.unit == StretchUnit::kDecode;
  constexpr double kUsualRidge = 100;
  const double ridge = f.matrix_types.ridge > 0 ? f.matrix_types.ridge : kUsualRidge;
  if (!decodes || f.kernel_kind != KernelKind::kGemm || !(2 * f.serving.batch <= ridge)) {
    return std::nullopt;
  }
  return kernel_action("batch",
                       "time of the same tokens: products take as long for twice the sequences, all else twice as long",
                       f.kind_ns / 2, f);
}

// FP8 has twice the peak and half the bytes of 16-bit types, so it halves the roofline time; time
// above the roofline remains. If that time is unknown, the action is only given for engines, which
// need just a flag.
std::optional<Action> fp8(const RunFacts& f) {
  if (f.bottleneck != BoundBy::kGpu || !f.matrix_types.fp8) return std::nullopt;
  const bool known = f.kernel_kind == KernelKind::kGemm && roof_tells(f);
  if (!known && !uses_engine(f)) return std::nullopt;
  const double part = known ? share(f.kind_roof_ns, f.kind_roofed_ns) : 1;
  const auto saves_ns = static_cast<int64_t>(static_cast<double>(f.products.half.ns) * part / 2);
  return kernel_action("fp8", "products in FP16 and BF16, with half of their time at the roofline", saves_ns, f);
}

}  // namespace

std::string_view gain_grade(bool predicted) { return predicted ? "simulated" : "up to"; }

std::vector<Action> actions_of(const RunFacts& facts) {
  if (undetermined(facts.bottleneck)) return {};
  std::vector<Action> actions;
  int64_t graph_ns = 0;
  for (const ActionKind& kind : action_kinds()) {
    std::optional<Action> action = action_of(kind, facts);
    if (!action) continue;
    // Prefer a CUDA graph that saves at least half as much: its advice includes code.
    const bool less_host = kind.key == "cheaper_host" && kind.on == FirstLever::kGraphOrCompile;
    if (less_host && graph_ns * 2 >= action->gain_ns) continue;
    if (kind.key == "cuda_graph") graph_ns = action->gain_ns;
    actions.push_back(std::move(*action));
  }
  if (facts.devices_alternate && !facts.gains.empty()) actions.push_back(devices_at_once(facts));
  if (facts.bottleneck == BoundBy::kMigration) actions.push_back(prefetch(facts));
  for (const auto& unreplayed : {smaller_type(facts), fp8(facts), larger_batch(facts), fuse_chains(facts), compare_ranks(facts)}) {
    if (unreplayed) actions.push_back(*unreplayed);
  }
  int64_t most_ns = 0;
  for (const Action& action : actions) most_ns = std::max(most_ns, action.gain_ns);
  const std::string_view narrow = narrow_key(facts.bottleneck);
  // Removing all kernels bounds every change to kernels. A specific action that reaches half of
  // that bound is preferred.
  int64_t most_of_kernels_ns = 0;
  for (const Action& action : actions) {
    if (changes_kernels(action)) most_of_kernels_ns = std::max(most_of_kernels_ns, action.gain_ns);
  }
  const auto rank = [&](const Action& action) {
    const bool is_bound = action.key == "device_work" && !roof_tells(facts) && most_of_kernels_ns * 2 >= action.gain_ns;
    return is_bound ? std::min(action.gain_ns, most_of_kernels_ns - 1) : action.gain_ns;
  };
  // The first action is on the bottleneck if it saves at least half of the largest gain. If the GPU
  // is the bottleneck, it is the largest of the actions on kernels.
  int64_t most_on_device_ns = 0;
  for (const Action& action : actions) {
    if (on_device(action)) most_on_device_ns = std::max(most_on_device_ns, rank(action));
  }
  const auto leads = [&](const Action& action) {
    const bool gpu = facts.bottleneck == BoundBy::kGpu && on_device(action) && rank(action) == most_on_device_ns;
    return (gpu || action.key == narrow) && action.gain_ns * 2 >= most_ns;
  };
  std::stable_sort(actions.begin(), actions.end(), [&](const Action& a, const Action& b) {
    if (leads(a) != leads(b)) return leads(a);
    return rank(a) > rank(b);
  });
  return actions;
}

}  // namespace assay::findings
