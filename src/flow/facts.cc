#include "flow/facts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/intervals.h"
#include "base/numbers.h"
#include "flow/contributor_names.h"
#include "flow/host_stalls.h"
#include "flow/names.h"
#include "kernels/kernel.h"
#include "kernels/name.h"
#include "trace/copy_way.h"
#include "trace/page_faults.h"
#include "trace/process_facts.h"
#include "trace/unread.h"

namespace assay {
namespace {

constexpr size_t kMostSpans = 8;

// Bytes per second of the copies of one name. 0 if bytes are not recorded, or if the copies are so
// small that latency dominates.
double copy_rate(const Trace& trace, StringId name) {
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

const NamedWork* longest_work(const FlowVerdict& verdict, std::initializer_list<WorkKind> kinds) {
  for (const NamedWork& work : verdict.work) {
    if (std::find(kinds.begin(), kinds.end(), work.kind) != kinds.end()) return &work;
  }
  return nullptr;
}

std::string described(const Trace& trace, const NamedWork* work) {
  return work == nullptr ? "" : describe_kernel(trace.text(work->name));
}

// True if the program loads data as it runs. Otherwise its copies are weights or state.
bool has_loader(const Trace& trace) {
  const auto loads = [&trace](StringId name) {
    return classify_host_name(trace.text(name)).input;
  };
  return std::any_of(trace.ops.name.begin(), trace.ops.name.end(), loads) ||
         std::any_of(trace.frames.name.begin(), trace.frames.name.end(), loads);
}

CopyFacts copy_facts(const FlowAnswer& answer) {
  const Trace& trace = answer.trace;
  const FlowVerdict& verdict = answer.verdict;
  CopyFacts facts;
  const NamedWork* copies = longest_work(verdict, {WorkKind::kCopy});
  const NamedWork* fills = longest_work(verdict, {WorkKind::kFill});
  const NamedWork* either = longest_work(verdict, {WorkKind::kCopy, WorkKind::kFill});
  facts.fills = fills != nullptr;
  const NamedWork* named = copies == nullptr ? fills : copies;
  facts.name = described(trace, named);
  if (named != nullptr) facts.bytes_per_s = copy_rate(trace, named->name);
  if (either == nullptr) return facts;
  const std::string_view name = trace.text(either->name);
  facts.pinned = is_pinned_copy(name);
  if (either->kind == WorkKind::kFill) {
    facts.direction = CopyFacts::Direction::kFill;
    return facts;
  }
  switch (copy_way(name)) {
    case CopyWay::kOnDevice:
      facts.direction = CopyFacts::Direction::kOnDevice;
      break;
    case CopyWay::kBetweenDevices:
      facts.direction = CopyFacts::Direction::kBetweenDevices;
      break;
    case CopyWay::kToHost:
      facts.direction = CopyFacts::Direction::kToHost;
      break;
    default:
      facts.direction = CopyFacts::Direction::kToDevice;
  }
  return facts;
}

const Contributor* largest_of(const FlowReport& report, FlowCause cause) {
  for (const Contributor& contributor : report.contributors) {
    if (contributor.cause == cause) return &contributor;
  }
  return nullptr;
}

// How often memory is freed. A caching allocator frees when an allocation fails.
AllocationFacts::Releases releases_of(const Trace& trace, Interval window) {
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const int64_t start_ns = trace.api_calls.start_ns[c];
    if (start_ns < window.start_ns || start_ns >= window.end_ns) continue;
    if (trace.text(trace.api_calls.name[c]).find("Free") == std::string_view::npos) continue;
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, start_ns);
  }
  if (last_ns < first_ns) return AllocationFacts::Releases::kNone;
  return (last_ns - first_ns) * 10 < window.end_ns - window.start_ns
             ? AllocationFacts::Releases::kOnce
             : AllocationFacts::Releases::kOften;
}

// The time of `window` in which the GPU handles page faults of managed memory. Groups of faults
// overlap.
int64_t gpu_fault_ns_in(const Trace& trace, Interval window) {
  std::vector<Interval> faults;
  const auto& rows = trace.other_events;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (trace.text(rows.category[i]) != kPageFaultCategory || trace.text(rows.name[i]) != kGpuPageFault) continue;
    faults.push_back({rows.start_ns[i], rows.start_ns[i] + rows.dur_ns[i]});
  }
  return length_ns(clip(merge_intervals(std::move(faults)), window));
}

// True if most calls that free memory lie between two calls that allocate it, with no other call
// between. The first allocation failed: the caching allocator frees its blocks and tries again.
bool retries_allocation(const Trace& trace, Interval window) {
  struct Thread {
    bool took = false;       // the last call other than frees was an allocation
    uint64_t released = 0;  // frees since then
  };
  std::map<uint32_t, Thread> threads;
  uint64_t releases = 0;
  uint64_t between = 0;
  const ApiCallTable& calls = trace.api_calls;
  for (size_t c = 0; c < calls.size(); ++c) {  // per thread by start
    if (calls.start_ns[c] < window.start_ns || calls.start_ns[c] >= window.end_ns) continue;
    const std::string_view name = trace.text(calls.name[c]);
    Thread& thread = threads[calls.thread[c].value];
    if (contains_any(name, {"Synchronize", "GetLastError", "MemGetInfo"})) continue;
    if (contains_any(name, {"Free"})) {
      ++releases;
      if (thread.took) ++thread.released;
      continue;
    }
    const bool takes = contains_any(name, {"Malloc"});
    if (takes) between += thread.released;
    thread = {.took = takes};
  }
  return releases > 0 && between * 2 > releases;
}

// True if most allocation calls are outside operators. PyTorch's allocator runs inside an operator;
// those of extensions and other libraries do not.
bool allocates_outside(const Trace& trace, Interval window) {
  std::map<uint32_t, std::vector<Interval>> ops;  // by thread
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    ops[trace.ops.thread[i].value].push_back(
        {trace.ops.start_ns[i], trace.ops.start_ns[i] + trace.ops.dur_ns[i]});
  }
  for (auto& [thread, spans] : ops) spans = merge_intervals(std::move(spans));
  uint64_t calls = 0;
  uint64_t outside = 0;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const int64_t start_ns = trace.api_calls.start_ns[c];
    if (start_ns < window.start_ns || start_ns >= window.end_ns) continue;
    if (trace.text(trace.api_calls.name[c]).find("Malloc") == std::string_view::npos) continue;
    const std::vector<Interval>& spans = ops[trace.api_calls.thread[c].value];
    if (spans.empty()) continue;  // no operators recorded on this thread
    ++calls;
    outside += length_ns(clip(spans, {start_ns, start_ns + 1})) == 0;
  }
  return outside * 2 > calls;
}

AllocationFacts allocation_facts(const FlowAnswer& answer) {
  AllocationFacts facts;
  const Contributor* largest = largest_of(answer.report, FlowCause::kAlloc);
  if (largest == nullptr) return facts;
  const std::string name = contributor_name(answer.trace, *largest);
  facts.host_memory = name.find("Host") != std::string::npos;
  facts.trims_pool = name.find("PoolTrimTo") != std::string::npos;
  const Program& program = answer.verdict.program;
  facts.from_pool = (program.hip || program.cuda) &&
                    contains_any(name, {"MallocAsync", "MallocFromPool", "MemAllocAsync"});
  facts.releases = releases_of(answer.trace, answer.report.window);
  facts.retries = !facts.from_pool && retries_allocation(answer.trace, answer.report.window);
  if (program.kind == ProgramKind::kPyTorch) {
    facts.outside_framework = allocates_outside(answer.trace, answer.report.window);
  }
  const TriedLever* tried = find_tried(answer, {EditKind::kAlloc});
  facts.few_iterations = tried != nullptr && in_few_iterations(*tried);
  return facts;
}

InputFacts input_facts(const FlowAnswer& answer) {
  InputFacts facts;
  const auto& leading = answer.verdict.leading;
  if (answer.verdict.bound == BoundBy::kInput && !leading.empty()) {
    facts.leading_loader = loader_around(answer.trace, leading.front().longest);
  }
  const Contributor* input = largest_of(answer.report, FlowCause::kInput);
  if (input == nullptr) return facts;
  facts.loader = loader_around(answer.trace, input->longest);
  facts.longest_ns = input->longest_ns;
  facts.waits = input->pauses;
  facts.waits_ns = input->pause_ns;
  // One wait is nearly all of the input time and a tenth of the window.
  facts.one_wait = input->longest_ns * 10 >= answer.report.total[FlowCause::kInput] * 9 &&
                   input->longest_ns * 10 >= answer.report.window_ns();
  const TriedLever* tried = find_tried(answer, {EditKind::kInput});
  facts.few_iterations = tried != nullptr && in_few_iterations(*tried);
  return facts;
}

// True if the program submits about one compiled executable per iteration.
bool one_executable_a_step(const Trace& trace, size_t iterations) {
  size_t runs = 0;
  const auto count = [&](const auto& table) {
    for (const StringId name : table.name) {
      const std::string_view text = trace.text(name);
      runs += text.find("PjRt") != std::string_view::npos &&
              text.find("Execute") != std::string_view::npos;
    }
  };
  count(trace.ops);
  count(trace.annotations);
  return runs > 0 && runs * 4 <= iterations * 5;
}

StallFacts::Source stall_source(const Trace& trace, const Contributor& who,
                                const std::string& name) {
  if (name.starts_with(kProfilers)) return StallFacts::Source::kProfiler;
  if (name.empty()) return StallFacts::Source::kNone;
  if (!who.name && name == kPageFaults) return StallFacts::Source::kPageFaults;
  if (!who.name) {
    const auto& ranges = trace.annotations.name;
    const bool range = std::any_of(ranges.begin(), ranges.end(),
                                   [&](StringId one) { return trace.text(one) == name; });
    return range ? StallFacts::Source::kRange : StallFacts::Source::kSystemCall;
  }
  switch (who.source) {
    case RowSource::kCall:
      return StallFacts::Source::kCall;
    case RowSource::kFrame:
      return StallFacts::Source::kFunction;
    case RowSource::kSystem:
      return StallFacts::Source::kSystemCall;
    default:
      return StallFacts::Source::kOperator;
  }
}

StallFacts stall_facts(const FlowAnswer& answer) {
  const LeadingPauses& pauses = answer.verdict.pauses;
  StallFacts facts;
  if (pauses.ns == 0) return facts;
  facts.system = pauses.stalls;
  facts.in_one = pauses_in_one(pauses);
  if (pauses.who) facts.name = pause_name(answer);
  // If stalls without an event lead, count only those.
  const bool of_who = facts.in_one || (pauses.who && facts.name.empty() && !facts.system);
  facts.ns = of_who ? pauses.who->pause_ns : pauses.ns;
  facts.spread = of_who ? pauses.of_who : pauses.all;
  facts.rare = pauses.rare;
  facts.each_iteration = pauses.each_iteration;
  if (!pauses.who) return facts;
  const Contributor& who = *pauses.who;
  facts.source = stall_source(answer.trace, who, facts.name);
  facts.waits = waits_in_pauses(answer);
  facts.holder = pause_holder(answer);
  facts.other_thread = runs_in_pauses(answer);
  facts.longest = who.longest;
  if (who.within_op) facts.within_op = answer.trace.text(who.within_op);
  const bool moves = contains_any(facts.name, {"pin_memory", "copy", "::to", "item", "tensor",
                                               "cudnn", "miopen", "cublas", "cuda"});
  facts.on_cpu = answer.verdict.program.kind == ProgramKind::kPyTorch && !pauses.rare && !moves &&
                 who.source == RowSource::kOp && facts.name.starts_with("aten::");
  return facts;
}

RequestFacts::Tail tail_facts(const RequestsReport& report, const RequestTail& tail) {
  RequestFacts::Tail facts{.part = tail.part, .part_ns = tail.part_ns};
  if (!tail.request) return facts;
  const RequestRecord& record = report.requests[*tail.request].record;
  facts.prompt_tokens = record.prompt_tokens.value_or(0);
  facts.output_tokens = record.output_tokens.value_or(0);
  facts.preemptions = record.preemptions;
  return facts;
}

RequestFacts request_facts(const RequestsReport& report) {
  return {.asked = report.asked,
          .refusal = report.refusal,
          .all = report.requests.size(),
          .joined = report.joined,
          .queue = report.queue,
          .ttft = report.ttft,
          .e2e = report.e2e,
          .ttft_tail = tail_facts(report, report.ttft_tail),
          .e2e_tail = tail_facts(report, report.e2e_tail),
          .sequences_share = report.sequences_share};
}

}  // namespace

RunFacts::RunFacts(const FlowAnswer& answer, const ReadingEvidence& evidence_of_reading)
    : reading(evidence_of_reading), answer_(answer) {
  fill_run(answer);
  fill_kernels(answer);
  fill_replay(answer);
  fill_host(answer);
  fill_initialization(answer);
  fill_queued(answer);
  fill_no_work(answer);
  fill_variation(answer);
}

void RunFacts::fill_run(const FlowAnswer& answer) {
  const FlowReport& report = answer.report;
  const FlowVerdict& verdict = answer.verdict;
  const Trace& trace = answer.trace;
  bottleneck = verdict.bound;
  stretches = report.stretches;
  decision = report.decision;
  window = report.window;
  window_ns = report.window_ns();
  total = report.total;
  total_ns = total.window_ns;
  devices = static_cast<int64_t>(report.devices.size());
  evidence = report.evidence;
  for (const LostGroup& group : verdict.lost) lost_ns[static_cast<size_t>(group.bound)] = group.ns;
  leading_cause = verdict.detail;
  for (const Contributor& contributor : verdict.leading) {
    leading.push_back({contributor_name(trace, contributor), contributor.ns});
    const Interval at = contributor.longest;
    if (spans.size() < kMostSpans && at.end_ns > at.start_ns) {
      spans.push_back({at.start_ns - window.start_ns, at.end_ns - window.start_ns});
    }
  }
  mixed = verdict.mixed;
  borderline = verdict.borderline;
  too_little = verdict.too_little;
  gpu_busy_enough = verdict.device_bound;
  devices_alternate = verdict.turns;
  busy_devices = share(busy_ns(), report.overlap.any_ns);
  linked_share = verdict.linked_share;
  evidence_shares = {verdict.recorded_share, verdict.inferred_share, verdict.absent_share};
  program = verdict.program;
  if (const Stretch* judged = report.stretches.headline()) {
    unit = judged->unit;
    if (stretches.parts.size() > 1 && judged->iterations > 0) reading.iterations = judged->iterations;
  }
  serving = report.serving;
  if (answer.requests != nullptr) requests = request_facts(*answer.requests);
  tracer = trace.tracer;
  has_ops = !trace.ops.empty();
  op_rows = trace.ops.size();
  device_rows = trace.activities.size();
  unread_rows = trace.other_events.size();
  mostly_unread = unread_rows > 0 && unread_rows >= op_rows && trace.api_calls.empty();
  if (bottleneck == BoundBy::kNoGpu) unread_categories = unread_rows_words(trace);
  const auto& categories = trace.other_events.category;
  counter_ranges = std::any_of(categories.begin(), categories.end(), [&trace](StringId category) {
    return trace.text(category) == "cuda_profiler_range";
  });
  profiler_span_ns = assay::profiler_span_ns(trace);
  python_stacks = evidence.frames;
  processes_in_file = trace.log.entry(ImportCode::kSeveralProcesses).count;
  unrecorded_ns = length_ns(report.unrecorded);
  unrecorded_gaps = report.unrecorded.size();
}

void RunFacts::fill_kernels(const FlowAnswer& answer) {
  const FlowVerdict& verdict = answer.verdict;
  const Trace& trace = answer.trace;
  if (!verdict.kinds.empty()) {
    const KindShare& kind = verdict.kinds.front();
    kernel_kind = kind.kind;
    if (kernel_kind != KernelKind::kOther) kind_name = kernel_kind_name(kernel_kind);
    kind_ns = kind.ns;
    kind_count = kind.count;
    kind_roofed_ns = kind.roofed_ns;
    kind_roof_ns = kind.roof_ns;
    longest_of_kind = describe_kernel(trace.text(kind.longest));
    longest_function = base_kernel_name(trace.text(kind.longest));
    kind_by_library = answer.report.kernels->of(kind.longest).vendor_library;
    for (const NamedWork& work : verdict.work) {
      if (work.name != kind.longest) continue;
      longest_of_kind_runs = work.count;
      longest_of_kind_ns = work.ns;
      break;
    }
  }
  if (verdict.kinds.size() > 1) {
    second_kind = {std::string(kernel_kind_name(verdict.kinds[1].kind)), verdict.kinds[1].ns};
  }
  longest_kernel = described(trace, longest_work(verdict, {WorkKind::kCompute}));
  longest_collective = described(trace, longest_work(verdict, {WorkKind::kCollective}));
  compiled = is_compiled(trace, *answer.report.kernels);
  if (bottleneck == BoundBy::kGpu) {
    chains = kernel_chains(trace, window, *answer.report.kernels);
    products = product_work(trace, window, *answer.report.kernels);
    for (const StringId name : chains.names) {
      chain_names.push_back(describe_kernel(trace.text(name)));
    }
  }
  matrix_types = assay::matrix_types(trace);
  copy = copy_facts(answer);
  const CriticalPath& path = answer.report.path;
  const auto on_path = [&path](WorkKind kind) { return path.work_ns[static_cast<size_t>(kind)]; };
  path_ns = path.makespan_ns;
  path_kernel_ns = on_path(WorkKind::kCompute);
  path_copy_ns = on_path(WorkKind::kCopy) + on_path(WorkKind::kFill);
  path_host_ns = host_work_ns(path.cause_ns);
}

void RunFacts::fill_host(const FlowAnswer& answer) {
  stalls = stall_facts(answer);
  for (const StringId name : answer.verdict.computed.names) {
    cpu_ops.emplace_back(answer.trace.text(name));
  }
  if (const Contributor* main = most_of_host(answer)) {
    python_main = contributor_name(answer.trace, *main);
    python_main_compiled = is_inductor_code(python_main);
    python_main_ns = main->ns;
  }
  host_range = label_of_host(answer);
  host_parts = {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall, FlowCause::kHostGap,
                FlowCause::kLatency};
  std::stable_sort(host_parts.begin(), host_parts.end(),
                   [this](FlowCause a, FlowCause b) { return total[a] > total[b]; });
  pageable_waits = waits_for_pageable(answer);
  launches_block = evidence.blocking_launches;
  page_moves_ns = idle_in_page_moves_ns(answer.report);
  gpu_fault_ns = gpu_fault_ns_in(answer.trace, window);
  for (const Contributor& contributor : answer.report.contributors) {
    if (contributor.cause != FlowCause::kSync || !contributor.name) continue;
    waiting_call = contributor_name(answer.trace, contributor);
    break;
  }
  host_advice = assay::host_advice(answer);
  input = input_facts(answer);
}

void RunFacts::fill_initialization(const FlowAnswer& answer) {
  constexpr uint64_t kLeastWorks = 50;
  const FlowVerdict& verdict = answer.verdict;
  init_ns = verdict.cold_ns;
  init_iterations = verdict.cold_iterations;
  iterations = verdict.iterations;
  capture_leads = evidence.captures > 0 && evidence.captured_ns * 2 >= init_ns;
  steady_gpu = verdict.steady_judged && verdict.steady_bound == BoundBy::kGpu;
  const Contributor* largest = largest_of(answer.report, FlowCause::kCold);
  if (largest != nullptr) {
    init_name = contributor_name(answer.trace, *largest);
    init_name_ns = largest->ns;
  }
  if (bottleneck != BoundBy::kColdStart || verdict.leading.empty()) return;
  init_unnamed = leading.front().name.empty();
  init_name_ns = leading.front().ns;
  init_name.clear();
  for (const TimeByName& part : leading) {
    if (init_name.empty() && !part.name.empty()) {
      init_name = part.name;
      if (!init_unnamed) init_name_ns = part.ns;
    }
    if (init_parts.size() < 3 && part.ns * 100 >= init_ns) init_parts.push_back(part);
  }
  // Most initialization comes after much of the device's activity: a new shape, a first use, a
  // recompilation.
  const Interval longest = verdict.leading.front().longest;
  const auto& starts_ns = answer.trace.activities.start_ns;
  const auto before = static_cast<uint64_t>(
      std::count_if(starts_ns.begin(), starts_ns.end(), [&](int64_t start_ns) {
        return start_ns >= window.start_ns && start_ns < longest.start_ns;
      }));
  init_mid_run = before >= std::max(kLeastWorks, evidence.works / 10);
  const std::string first = lower(leading.front().name);
  init_compiles = contains_any(first, {"dynamo", "inductor", "compil", "triton"});
  init_communicator = contains_any(first, {"comminit", "init_process_group"});
}

void RunFacts::fill_queued(const FlowAnswer& answer) {
  constexpr uint64_t kMany = 3;
  constexpr int64_t kLeastGapNs = 50'000;
  const FlowReport& report = answer.report;
  clock_gap = assay::clock_gap(report.evidence);
  const int64_t middle_ns = window.start_ns + (window.end_ns - window.start_ns) / 2;
  int64_t sum_ns = 0;
  int64_t late_ns = 0;
  uint64_t late = 0;
  for (const DeviceFlow& device : report.devices) {
    for (const FlowSlice& slice : device.idle) {
      if (slice.cause != FlowCause::kUnseen) continue;
      const int64_t ns = slice.span.end_ns - slice.span.start_ns;
      sum_ns += ns;
      queued_gaps += ns >= kLeastGapNs;
      if (slice.span.start_ns < middle_ns) continue;
      late_ns += ns;
      ++late;
    }
  }
  // Activity submitted before the recording does not occupy the device until its end.
  queued_to_the_end = late >= kMany && late_ns * 4 > sum_ns;
  if (const Contributor* longest = largest_of(report, FlowCause::kUnseen)) {
    longest_queued = {contributor_name(answer.trace, *longest), longest->longest_ns};
    longest_queued_at_ns = longest->longest.start_ns - window.start_ns;
  }
}

void RunFacts::fill_no_work(const FlowAnswer& answer) {
  const auto& contributors = answer.verdict.leading;
  if (bottleneck != BoundBy::kNotLoaded || contributors.empty()) return;
  const Contributor& first = contributors.front();
  const Trace& trace = answer.trace;
  wait_function = contributor_name(trace, first);
  if (first.name) {
    const std::string_view name = trace.text(first.name);
    sleeps = name.starts_with("<built-in function sleep") || name.ends_with("sleep");
  }
  if (first.within_frame) sleep_function = trace.text(first.within_frame);
  if (first.source == RowSource::kSystem && first.within_op) wait_op = trace.text(first.within_op);
  wait_holder = held_by_thread(trace, first);
}

void RunFacts::fill_replay(const FlowAnswer& answer) {
  misfit = misfit_of(answer.report.fit);
  replay_error = answer.report.fit.model_error;
  unexplained_path = answer.report.fit.unexplained_share;
  const bool may_turn = answer.untraced != nullptr && answer.untraced->turned &&
                        answer.untraced->source == UntracedSource::kEstimate;
  if (may_turn) untraced = *answer.untraced;
  if (answer.use != nullptr) use = *answer.use;
  if (answer.tried == nullptr) return;
  replayed_iterations = answer.tried->iterations;
  for (const TriedLever& tried : answer.tried->levers) {
    if (tried.edit.refusal != EditRefusal::kNone) continue;
    const EditKind kind = tried.edit.request.kind;
    gains.push_back({.kind = kind,
                     .gain_ns = tried.alone.run_ns,
                     .edit = edit_text(tried.edit.request),
                     .predicted = tried.edit.predicted,
                     .few_iterations = in_few_iterations(tried)});
    if (kind == EditKind::kSync) sync_value_read = tried.edit.value_is_read;
    if (kind == EditKind::kAttention) attention_falls_back = tried.edit.falls_back;
    if (kind == EditKind::kAlloc) allocation = allocation_facts(answer);
    if (kind == EditKind::kCopies) copy.program_loads = has_loader(answer.trace);
  }
  if (program.kind == ProgramKind::kJax) {
    one_executable = one_executable_a_step(answer.trace, replayed_iterations);
  }
}

void RunFacts::fill_variation(const FlowAnswer& answer) {
  if (answer.tried != nullptr) uneven = uneven_steps(answer.tried->step_ns);
  if (answer.report.floors.way_ns > 0) {
    launch_path_ns = answer.report.floors.way_ns + answer.report.floors.launch.typical_ns;
  }
  slow_runs = assay::slow_runs(answer.trace, window);
  if (slow_runs) slow_kernel = describe_kernel(answer.trace.text(slow_runs->name));
}

const GainFact* RunFacts::gain_of(std::initializer_list<EditKind> kinds) const {
  for (const GainFact& gain : gains) {
    if (std::find(kinds.begin(), kinds.end(), gain.kind) != kinds.end()) return &gain;
  }
  return nullptr;
}

RunFacts::Contributed RunFacts::largest(FlowCause cause) const {
  for (const Contributor& contributor : answer_.report.contributors) {
    if (contributor.cause != cause || !contributor.name) continue;
    const StringId within =
        contributor.within_op ? contributor.within_op : contributor.within_frame;
    Contributed found{.name = contributor_name(answer_.trace, contributor), .within = {}};
    if (within && within != contributor.name) found.within = answer_.trace.text(within);
    return found;
  }
  return {};
}

FlowCause RunFacts::largest_host_cause() const {
  return *std::max_element(kHostWork.begin(), kHostWork.end(),
                           [this](FlowCause a, FlowCause b) { return total[a] < total[b]; });
}

const OutsideWindow& RunFacts::outside() const {
  if (!outside_) outside_ = outside_window(answer_);
  return *outside_;
}

}  // namespace assay
