#include "report/flow/recipes.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/intervals.h"
#include "flow/names.h"
#include "kernels/name.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "flow/advice.h"
#include "report/flow/sentences.h"
#include "flow/host_stalls.h"
#include "flow/contributor_names.h"
#include "text/names.h"
#include "trace/copy_way.h"

namespace assay {
namespace {

class Recipes {
 public:
  explicit Recipes(const FlowAnswer& answer) : answer_(answer) {}

  AnswerLever card(const Lever& lever) const {
    AnswerLever card{.key = lever.key,
                     .title = title(lever),
                     .code = code(lever),
                     .gain_ns = lever.gain_ns,
                     .share = lever.share_of_window,
                     .grade = lever.predicted ? "predicted" : "at most",
                     .edit = lever.edit};
    act_on(card);
    return card;
  }

 private:
  // The part of the timeline that the lever's edit shortens.
  void act_on(AnswerLever& card) const {
    if (card.key == "device_work") {
      if (answer_.verdict.kinds.empty()) return;
      card.kernel_kind = kind();
      if (!card.kernel_kind.empty()) return;
      const std::string_view longest = answer_.trace.text(answer_.verdict.kinds.front().longest);
      card.kernel_name = lane_text(describe_kernel(longest));
      return;
    }
    static constexpr std::pair<std::string_view, FlowCause> kOneCause[] = {
        {"input", FlowCause::kInput},
        {"remove_syncs", FlowCause::kSync},
        {"allocation", FlowCause::kAlloc}};
    for (const auto& [key, cause] : kOneCause) {
      if (card.key == key) card.states = {std::string(flow_cause_name(cause))};
    }
    if (card.key == "copies") card.states = {"copy"};
    if (card.key == "communication") card.states = {"collective"};
    if (card.key != "cheaper_host" && card.key != "cuda_graph" && card.key != "faster_cpu") return;
    for (const FlowCause cause : {FlowCause::kDispatch, FlowCause::kPython, FlowCause::kCall,
                                  FlowCause::kHostGap, FlowCause::kLatency}) {
      const bool way = cause == FlowCause::kLatency;  // which only a graph shortens
      if (!way || card.key == "cuda_graph") card.states.emplace_back(flow_cause_name(cause));
    }
  }

  // Without iterations nothing tells that there is a loop.
  bool in_loop() const { return answer_.tried != nullptr && answer_.tried->iterations > 1; }
  ProgramKind program() const { return answer_.verdict.program.kind; }
  bool pytorch() const { return program() == ProgramKind::kPyTorch; }
  bool hip() const { return answer_.verdict.program.hip; }
  bool cuda() const { return program() == ProgramKind::kCuda; }

  std::string title(const Lever& lever) const {
    if (lever.key == "cheaper_host") return host_title();
    if (lever.key == "cuda_graph") {
      const std::string most = most_of_host(answer_);
      if (!most.empty()) return "Shorten " + fitted(most, 34);
      return answer_.verdict.program.cuda ? "Each iteration as one CUDA graph"
             : hip()                      ? "Each iteration as one HIP graph"
                                          : "Each iteration as one graph, or fewer launches";
    }
    if (lever.key == "faster_cpu") return "A CPU core 1.3 times as fast";
    if (lever.key == "input") return "Load data beside the GPU's work";
    if (lever.key == "remove_syncs") {
      return waits_for_pageable(answer_) ? "Do not wait for copies to pageable memory"
             : in_loop()                 ? "Do not wait for the GPU in the loop"
                                         : "Do not wait for the GPU";
    }
    if (lever.key == "allocation") {
      return allocates_host() ? "Keep pinned memory instead of freeing it"
                              : "Keep GPU memory instead of freeing it";
    }
    if (lever.key == "copies") return copy_title();
    if (lever.key == "communication") return "Hide or shrink communication";
    if (lever.key == "devices_at_once") return "Let the GPUs work at the same time";
    if (lever.key == "attention") return "Attention in one kernel";
    if (lever.key == "device_work")
      return kind().empty() ? "Cheaper " + longest_kernel(38) : "Cheaper " + kind() + " kernels";
    return fitted(lever.what, 46);
  }

  std::string code(const Lever& lever) const {
    if (lever.key == "cuda_graph") {
      return most_of_host(answer_).empty() ? graph_code()
                                           : "or capture the iteration, where a graph can hold it";
    }
    if (lever.key == "cheaper_host") return host_code();
    if (lever.key == "faster_cpu")
      return "of the thread that launches; loading data and waits stay as they are";
    if (lever.key == "input") return input_code();
    if (lever.key == "remove_syncs") return sync_code();
    if (lever.key == "allocation") return alloc_code();
    if (lever.key == "copies") return copy_code();
    if (lever.key == "communication") {
      return answer_.report.evidence.processes > 1
                 ? "its time includes waiting for late ranks: record each process as a file, and "
                   "give "
                   "the folder"
                 : "its time includes waiting for late ranks: give the folder of all ranks";
    }
    if (lever.key == "devices_at_once") {
      return pytorch() ? "DistributedDataParallel, tensor parallel, or micro-batches in a pipeline"
                       : "each on data of its own, or micro-batches in a pipeline";
    }
    if (lever.key == "attention") return attention_code();
    if (lever.key == "device_work" && !answer_.verdict.kinds.empty()) {
      const KindShare& kind_share = answer_.verdict.kinds.front();
      if (answer_.report.evidence.migration_ns * 10 >= answer_.report.window_ns()) {
        return "move managed memory ahead of them: cudaMemPrefetchAsync, or cudaMemAdvise";
      }
      if (kind().empty()) return runs_of_longest();
      return "first " + fitted(describe_kernel(answer_.trace.text(kind_share.longest))) + "; " +
             format_counted(kind_share.count, "run", "runs") + " in all";
    }
    return "";
  }

  std::string attention_code() const {
    const TriedLever* tried = find_tried(answer_, {EditKind::kAttention});
    return tried != nullptr && tried->edit.falls_back
               ? "scaled_dot_product_attention took its math path: half precision, is_causal"
               : "torch.nn.functional.scaled_dot_product_attention(q, k, v)";
  }

  std::string longest_kernel(size_t room) const {
    const KindShare& kind_share = answer_.verdict.kinds.front();
    return fitted(describe_kernel(answer_.trace.text(kind_share.longest)), room);
  }
  std::string runs_of_longest() const {
    for (const NamedWork& work : answer_.verdict.work) {
      if (work.name != answer_.verdict.kinds.front().longest) continue;
      return format_counted(work.count, "run", "runs") + ", " + format_ns(work.ns) + " in all";
    }
    return "";
  }

  std::string host_title() const {
    switch (host_advice(answer_)) {
      case HostAdvice::kBetweenGraphs:
        return "Less host work between the graphs";
      case HostAdvice::kShortenOne:
        return pause_name(answer_).starts_with(kProfilers) ? "Record with less profiling"
               : waits_in_pauses(answer_) ? "Do not wait for it: " + fitted(waited_for(), 26)
               : pauses_in_one(answer_.verdict.pauses)
                   ? "Shorten " + fitted(pause_name(answer_), 34)
                   : "Shorten " + fitted(pause_name(answer_), 26) + ", others";
      case HostAdvice::kRecordHost:
        return "Find out what the host does there";
      case HostAdvice::kSteadyHost:
        return pause_holder(answer_).empty()
                   ? "Keep the host from standing still"
                   : "No " + fitted(pause_holder(answer_), 28) + " in the loop";
      case HostAdvice::kMoveToDevice:
        return "Compute on the GPU what the host computes";
      case HostAdvice::kLessHost:
        return "Do less on the host between launches";
      case HostAdvice::kFewerLaunches:
        return "Fewer, larger launches";
      case HostAdvice::kGraphs:
        break;
    }
    if (program() == ProgramKind::kJax) return "Fewer, larger jitted functions";
    return hip() ? "Take the host off the path: HIP graphs"
                 : "Take the host off the path: CUDA graphs";
  }
  std::string kind() const {
    return answer_.verdict.kinds.empty() || answer_.verdict.kinds.front().kind == KernelKind::kOther
               ? ""
               : std::string(kernel_kind_name(answer_.verdict.kinds.front().kind));
  }

  std::string host_code() const {
    switch (host_advice(answer_)) {
      case HostAdvice::kBetweenGraphs:
        return first_of(answer_.verdict.detail.value_or(FlowCause::kDispatch));
      case HostAdvice::kShortenOne:
        return longest_pause();
      case HostAdvice::kRecordHost:
        return record_host();
      case HostAdvice::kSteadyHost:
        return pause_holder(answer_).empty()
                   ? "others on its cores, locks, page faults, garbage collection (gc.freeze())"
                   : "the driver lets one thread call at a time; do it once, before the loop";
      case HostAdvice::kMoveToDevice:
        return "are these tensors on the GPU? " +
               fitted(std::string(answer_.trace.text(answer_.verdict.computed.names.front())), 34) +
               " runs on the CPU";
      case HostAdvice::kLessHost:
        return first_of(largest_host_cause());
      case HostAdvice::kFewerLaunches:
        return pytorch() ? "model = torch.compile(model)" : "larger pieces of work";
      case HostAdvice::kGraphs:
        break;
    }
    return graph_code();
  }

  std::string graph_code() const {
    if (pytorch() && !hip() && !answer_.verdict.program.cuda) {
      return "model = torch.compile(model)";
    }
    if (pytorch() && label_of_host(answer_).starts_with("Optimizer.step")) {
      return "torch.optim...(..., fused=True), or foreach=True: far fewer launches";
    }
    if (pytorch()) return "model = torch.compile(model, mode=\"reduce-overhead\")";
    if (program() == ProgramKind::kJax) {
      return one_executable_a_step() ? "XLA_FLAGS=--xla_gpu_enable_command_buffer=FUSION,CUBLAS,..."
                                     : "one jax.jit around the whole step";
    }
    if (hip()) return "hipStreamBeginCapture once, then hipGraphLaunch; or larger kernels";
    if (cuda()) return "cudaStreamBeginCapture once, then cudaGraphLaunch; or larger kernels";
    return "larger pieces of work, or a faster CPU core";
  }

  // The program is compiled as a whole already: it hands over one executable in each iteration.
  bool one_executable_a_step() const {
    const Trace& trace = answer_.trace;
    const size_t iterations = answer_.tried == nullptr ? 0 : answer_.tried->iterations;
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

  FlowCause largest_host_cause() const {
    const FlowTotals& total = answer_.report.total;
    return *std::max_element(kHostWork.begin(), kHostWork.end(),
                             [&total](FlowCause a, FlowCause b) { return total[a] < total[b]; });
  }

  // What the host waits for in its pauses, or else where it waits.
  std::string waited_for() const {
    const std::string holder = pause_holder(answer_);
    return holder.empty() ? pause_name(answer_) : holder;
  }

  // A long operator of PyTorch computes on the CPU, as a rule.
  bool on_cpu() const {
    const LeadingPauses& pauses = answer_.verdict.pauses;
    const std::string name = pause_name(answer_);
    for (const std::string_view moves :
         {"pin_memory", "copy", "::to", "item", "tensor", "cudnn", "miopen", "cublas", "cuda"}) {
      if (name.find(moves) != std::string::npos) return false;
    }
    return pytorch() && !pauses.rare && pauses.who->source == RowSource::kOp &&
           name.starts_with("aten::");
  }

  std::string longest_pause() const {
    const Interval at = answer_.verdict.pauses.who->longest;
    if (on_cpu()) return "is its input on the GPU? It seems to compute on the CPU";
    if (waits_in_pauses(answer_)) {
      return "work for the GPU ahead of the wait; longest wait " +
             format_ns(at.end_ns - at.start_ns);
    }
    if (pause_name(answer_).starts_with(kProfilers)) {
      return "longest " + format_ns(at.end_ns - at.start_ns) +
             "; without it the run has no such pause";
    }
    if (answer_.verdict.pauses.each_iteration) {
      return "the same one of each iteration: a search, a new shape? Fix the shapes";
    }
    if (answer_.verdict.pauses.rare) {
      return "rare: a first use, a new shape or autotuning; warm up, fix the shapes";
    }
    return "longest wait " + format_ns(at.end_ns - at.start_ns) + ", from " +
           format_ns(at.start_ns - answer_.report.window.start_ns) + " on";
  }

  // How the next recording tells what the host does, by the tool that made this one.
  std::string record_host() const {
    if (const std::string beside = fitted(beside_silence(answer_), 30); !beside.empty()) {
      return "another thread is in " + beside + ": the interpreter's lock?";
    }
    if (pytorch()) return "profile(..., with_stack=True) names it; " + longest_pause();
    if (answer_.trace.tracer == Tracer::kNsightSystems) {
      return "nsys profile --sample=cpu -t cuda,nvtx,osrt names it";
    }
    return longest_pause();
  }

  // Without the wait the host has no value: whether it needs one, only its author knows.
  std::string waits_code() const {
    const std::string first = first_of(FlowCause::kSync);
    const TriedLever* tried = find_tried(answer_, {EditKind::kSync});
    if (waits_for_pageable(answer_)) {
      const std::string who = first_within(FlowCause::kSync);
      return (who.empty() ? first : "first in " + who) +
             (pytorch() ? "; pinned, non_blocking=True, if the value can wait"
                        : "; pinned memory, if the host does not need it now");
    }
    const bool reads = tried != nullptr && tried->edit.value_is_read && !first.empty();
    return first + (reads ? "; unless the value is needed now" : "");
  }

  std::string sync_code() const {
    if (!answer_.report.evidence.blocking_launches) return waits_code();
    if (hip()) return "unset HIP_LAUNCH_BLOCKING and AMD_SERIALIZE_KERNEL";
    return program() == ProgramKind::kPyTorch || cuda() ? "unset CUDA_LAUNCH_BLOCKING"
                                                        : "launches that return at once";
  }

  const Contributor* largest_input() const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause == FlowCause::kInput) return &contributor;
    }
    return nullptr;
  }
  // Nearly all of the waiting for data is one wait.
  bool waits_once(const Contributor& input) const {
    return input.longest_ns * 10 >= answer_.report.total[FlowCause::kInput] * 9 &&
           input.longest_ns * 10 >= answer_.report.window_ns();
  }

  std::string input_code() const {
    const Contributor* input = largest_input();
    const std::string loader = input == nullptr ? "" : loader_around(answer_.trace, input->longest);
    if (input != nullptr && waits_once(*input)) {
      const std::string once = "one wait of " + format_ns(input->longest_ns) + ": ";
      return pytorch() ? once + "start the workers once, persistent_workers=True"
                       : once + "begin to load earlier";
    }
    const TriedLever* tried = find_tried(answer_, {EditKind::kInput});
    if (input != nullptr && input->pauses > 1 && tried != nullptr && in_few_iterations(*tried)) {
      const std::string each = format_count(static_cast<int64_t>(input->pauses)) + " waits of " +
                               format_ns(input->pause_ns / static_cast<int64_t>(input->pauses)) +
                               " in few iterations: ";
      return each + (pytorch() ? "persistent_workers=True" : "load further ahead");
    }
    const bool workers = loader.find("dataloader.py") != std::string::npos;
    const bool fetches = loader.find("_utils/fetch.py") != std::string::npos;
    if (pytorch() && (fetches || loader.find("SingleProcessDataLoader") != std::string::npos)) {
      return "DataLoader(..., num_workers=4, persistent_workers=True, pin_memory=True)";
    }
    if (pytorch() && (workers || loader.find("DataLoader") != std::string::npos)) {
      return "DataLoader(..., num_workers=MORE, prefetch_factor=MORE, pin_memory=True)";
    }
    return "prepare the next batch in another thread or process while this one runs";
  }

  // When memory was given back: a caching allocator does so where nothing is left.
  enum class Releases : uint8_t { kNone, kOnce, kOften };
  Releases releases() const {
    const Trace& trace = answer_.trace;
    const Interval window = answer_.report.window;
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    for (size_t c = 0; c < trace.api_calls.size(); ++c) {
      const int64_t start_ns = trace.api_calls.start_ns[c];
      if (start_ns < window.start_ns || start_ns >= window.end_ns) continue;
      if (trace.text(trace.api_calls.name[c]).find("Free") == std::string_view::npos) continue;
      first_ns = std::min(first_ns, start_ns);
      last_ns = std::max(last_ns, start_ns);
    }
    if (last_ns < first_ns) return Releases::kNone;
    return (last_ns - first_ns) * 10 < window.end_ns - window.start_ns ? Releases::kOnce
                                                                       : Releases::kOften;
  }

  // Memory of the host is what the longest of these calls allocate or free.
  bool allocates_host() const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause != FlowCause::kAlloc) continue;
      const std::string name = contributor_name(answer_.trace, contributor);
      return name.find("Host") != std::string::npos;
    }
    return false;
  }

  // No operator is around most of the calls that take memory: PyTorch's allocator takes it inside
  // of one, that of an extension or of another library does not.
  bool allocates_outside() const {
    const Trace& trace = answer_.trace;
    const Interval window = answer_.report.window;
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
      if (spans.empty()) continue;  // nothing tells what is around them
      ++calls;
      outside += length_ns(clip(spans, {start_ns, start_ns + 1})) == 0;
    }
    return outside * 2 > calls;
  }

  bool trims_pool() const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause != FlowCause::kAlloc) continue;
      return contributor_name(answer_.trace, contributor).find("PoolTrimTo") != std::string::npos;
    }
    return false;
  }

  bool allocates_from_pool() const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause != FlowCause::kAlloc) continue;
      const std::string name = contributor_name(answer_.trace, contributor);
      return (hip() || answer_.verdict.program.cuda) &&
             (name.find("MallocAsync") != std::string::npos ||
              name.find("MallocFromPool") != std::string::npos ||
              name.find("MemAllocAsync") != std::string::npos);
    }
    return false;
  }

  std::string alloc_code() const {
    if (allocates_host()) return "one pinned buffer, allocated before the loop and used again";
    if (pytorch() && releases() == Releases::kNone) {
      return "first allocations of a size: warm up before it is recorded";
    }
    if (pytorch() && !hip() && !answer_.verdict.program.cuda) {
      return "the caching allocator on, and no empty_cache() in the loop";
    }
    const std::string settings = hip() ? "PYTORCH_HIP_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
    if (pytorch() && releases() == Releases::kOnce) {
      return settings + "=expandable_segments:True; all was released at once";
    }
    const TriedLever* tried = find_tried(answer_, {EditKind::kAlloc});
    if (pytorch() && tried != nullptr && in_few_iterations(*tried)) {
      return settings + "=expandable_segments:True; the cache ran full";
    }
    if (pytorch() && allocates_outside()) {
      return "outside of PyTorch's allocator: one buffer, held, or torch.empty";
    }
    if (pytorch()) {
      return hip() ? "unset PYTORCH_NO_HIP_MEMORY_CACHING; no empty_cache() in the loop"
                   : "unset PYTORCH_NO_CUDA_MEMORY_CACHING; no empty_cache() in the loop";
    }
    if (trims_pool()) return "no trimming of the pool in the loop: collect garbage less often";
    // A pool that keeps nothing gives its memory back at each wait and takes it anew.
    if (allocates_from_pool()) {
      return std::string("a higher ") + (hip() ? "hip" : "cuda") +
             "MemPoolAttrReleaseThreshold: the pool keeps its memory";
    }
    if (hip()) return "hipMallocAsync from a pool, or allocate once before the loop";
    if (cuda()) return "cudaMallocAsync from a pool, or allocate once before the loop";
    return "a pool, or allocate once before the loop";
  }

  // The copies, or fills, that take longest.
  const NamedWork* longest_copy() const {
    for (const NamedWork& work : answer_.verdict.work) {
      if (work.kind == WorkKind::kCopy || work.kind == WorkKind::kFill) return &work;
    }
    return nullptr;
  }
  std::string_view copy_name() const {
    const NamedWork* copy = longest_copy();
    return copy == nullptr ? std::string_view() : answer_.trace.text(copy->name);
  }
  bool fills() const {
    const NamedWork* copy = longest_copy();
    return copy != nullptr && copy->kind == WorkKind::kFill;
  }
  bool between_host_and_device() const {
    const CopyWay way = copy_way(copy_name());
    return !fills() && way != CopyWay::kOnDevice && way != CopyWay::kBetweenDevices;
  }

  // More of them than the kernels could hide.
  bool mostly_copies() const {
    const FlowEvidence& evidence = answer_.report.evidence;
    return between_host_and_device() && is_pinned_copy(copy_name()) &&
           evidence.copy_ns > evidence.kernel_ns + evidence.collective_ns;
  }

  // Whether the program loads data as it runs: else its copies are weights or states.
  bool has_loader() const {
    const Trace& trace = answer_.trace;
    const auto loads = [&trace](StringId name) {
      return classify_host_name(trace.text(name)).input;
    };
    return std::any_of(trace.ops.name.begin(), trace.ops.name.end(), loads) ||
           std::any_of(trace.frames.name.begin(), trace.frames.name.end(), loads);
  }

  std::string copy_title() const {
    if (fills()) return "Fill less memory";
    if (!between_host_and_device()) return "Copy less";
    if (mostly_copies()) return "Move fewer bytes";
    return is_pinned_copy(copy_name()) ? "Copy less, and beside kernels"
                                       : "Copy less, from pinned memory, beside kernels";
  }

  std::string copy_code() const {
    if (fills()) return pytorch() ? "torch.empty where all is written anyway" : "";
    if (copy_way(copy_name()) == CopyWay::kOnDevice) {
      return pytorch() ? "views and in-place operators instead of clone, cat and contiguous" : "";
    }
    if (!between_host_and_device()) return "between GPUs: keep what is used together on one";
    if (mostly_copies()) {
      const FlowEvidence& evidence = answer_.report.evidence;
      return "copies take " + format_ns(evidence.copy_ns) + ": kernels hide at most their own " +
             format_ns(evidence.kernel_ns + evidence.collective_ns);
    }
    if (is_pinned_copy(copy_name()) && copy_way(copy_name()) == CopyWay::kToHost) {
      return "less often, beside the next kernels, or in a smaller data type";
    }
    if (is_pinned_copy(copy_name())) {
      return "on a stream of their own, one batch ahead; or a smaller data type";
    }
    if (pytorch() && copy_way(copy_name()) == CopyWay::kToHost) {
      return "leave results on the GPU, or copy them into pinned memory, non_blocking=True";
    }
    if (pytorch() && has_loader()) {
      return "DataLoader(..., pin_memory=True); x.to(device, non_blocking=True)";
    }
    if (pytorch()) return "x.pin_memory() once, then x.to(device, non_blocking=True), one ahead";
    if (hip()) return "hipHostMalloc and hipMemcpyAsync on a stream of its own";
    if (cuda()) return "cudaMallocHost and cudaMemcpyAsync on a stream of its own";
    return "";
  }

  // What the largest contributor of the cause that has a name is within.
  std::string first_within(FlowCause cause) const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause != cause || !contributor.name) continue;
      const StringId within =
          contributor.within_op ? contributor.within_op : contributor.within_frame;
      return within ? fitted(answer_.trace.text(within), 24) : "";
    }
    return "";
  }

  // Who does it: the largest contributor of the cause, and what it is within.
  std::string first_of(FlowCause cause) const {
    for (const Contributor& contributor : answer_.report.contributors) {
      if (contributor.cause != cause || !contributor.name) continue;
      std::string text = "first " + fitted(contributor_name(answer_.trace, contributor), 40);
      const StringId within =
          contributor.within_op ? contributor.within_op : contributor.within_frame;
      if (within && within != contributor.name) {
        text += " in " + fitted(answer_.trace.text(within), 24);
      }
      return text;
    }
    return "";
  }

  const FlowAnswer& answer_;
};

}  // namespace

AnswerLever recipe_card(const FlowAnswer& answer, const Lever& lever) {
  return Recipes(answer).card(lever);
}

}  // namespace assay
