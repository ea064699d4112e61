// Outermost calls, and the effect of each on the host: waiting, allocation, one-time
// initialization.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "flow/build.h"
#include "flow/names.h"
#include "flow/timed.h"
#include "trace/copy_way.h"
#include "trace/system_calls.h"

namespace assay {
namespace {

constexpr int64_t kColdNs = 1'000'000;      // a shorter first call is not initialization
constexpr int64_t kColdFactor = 20;         // least multiple of a later call
constexpr int64_t kBulkCopyNs = 1'000'000;  // some megabytes
// Overlap of consecutive calls due to rounding to whole us.
constexpr int64_t kRoundedNs = 1'000;
constexpr int64_t kBlockingNs = 20'000;     // a copy call that takes longer waited for its copy

bool is_launch(ApiRole role) {
  return role == ApiRole::kKernelLaunch || role == ApiRole::kGraphLaunch;
}

void add_call(const FlowRun& run, ApiCallId id, std::vector<FlowCall>& calls) {
  const Trace& trace = *run.trace;
  const int64_t start_ns = trace.api_calls.start_ns[id.index()];
  const int64_t end_ns = trace.end_ns(id);
  const ApiRole role = run.links->role_of(trace, id);
  const ThreadId thread = trace.api_calls.thread[id.index()];
  const bool overlaps =
      !calls.empty() && calls.back().thread == thread && start_ns < calls.back().end_ns;
  const bool follows =
      overlaps && end_ns > calls.back().end_ns && calls.back().end_ns - start_ns <= kRoundedNs;
  const bool inside = overlaps && !follows;
  if (!inside) {
    FlowCall call;
    call.start_ns = follows ? calls.back().end_ns : start_ns;
    call.row = id;
    call.thread = thread;
    calls.push_back(call);
  }
  FlowCall& call = calls.back();
  call.end_ns = inside ? std::max(call.end_ns, end_ns) : end_ns;
  call.launches |= is_launch(role);
  call.graph |= role == ApiRole::kGraphLaunch;
}

// A host that polls in a loop waits. At least kLeastPolls queries in close succession, over at
// least kLeastPollNs, count as one waiting call. Allocators also poll several events in a row,
// inside an operator and for microseconds: hence the longer limit there.
constexpr int64_t kPollGapNs = 100'000;
constexpr size_t kLeastPolls = 4;
constexpr int64_t kLeastPollNs = 100'000;
constexpr int64_t kLeastPollInOpNs = 1'000'000;

// A loop that sleeps between two queries waits, too.
constexpr int64_t kPollSleepNs = 10'000'000;

// True if a row of the table in which the thread sleeps fills at least 80 % of [from_ns, to_ns).
template <typename Table, typename Sleeps>
bool sleeps_in(const Table& table, ThreadId thread, int64_t from_ns, int64_t to_ns, Sleeps sleeps) {
  const auto own = std::equal_range(table.thread.begin(), table.thread.end(), thread);
  const auto begin = table.start_ns.begin() + (own.first - table.thread.begin());
  const auto end = table.start_ns.begin() + (own.second - table.thread.begin());
  for (auto at = std::lower_bound(begin, end, from_ns); at != end && *at < to_ns; ++at) {
    const auto row = static_cast<size_t>(at - table.start_ns.begin());
    if (table.dur_ns[row] * 10 >= (to_ns - from_ns) * 8 && sleeps(row)) return true;
  }
  return false;
}

bool sleeps_between(const Trace& trace, ThreadId thread, int64_t from_ns, int64_t to_ns) {
  if (to_ns - from_ns > kPollSleepNs) return false;
  return sleeps_in(trace.other_events, thread, from_ns, to_ns,
                   [&trace](size_t row) {
                     return is_system_call(trace, row) &&
                            classify_system_call(trace.text(trace.other_events.name[row])).outside;
                   }) ||
         sleeps_in(trace.frames, thread, from_ns, to_ns, [&trace](size_t row) {
           return classify_host_name(trace.text(trace.frames.name[row])).outside;
         });
}

// The end of the polling calls that start at `first`; first + 1 if they are not a wait.
size_t end_of_polls(const FlowRun& run, size_t first) {
  const ApiCallTable& rows = run.trace->api_calls;
  const FlowCall& begin = run.calls[first];
  if (run.links->role_of(*run.trace, begin.row) != ApiRole::kEventQuery) return first + 1;
  size_t end = first + 1;
  for (; end < run.calls.size(); ++end) {
    const FlowCall& call = run.calls[end];
    const int64_t before_ns = run.calls[end - 1].end_ns;
    const bool same =
        call.thread == begin.thread && rows.name[call.row.index()] == rows.name[begin.row.index()];
    const bool again = same && (call.start_ns - before_ns <= kPollGapNs ||
                                sleeps_between(*run.trace, call.thread, before_ns, call.start_ns));
    if (!again) break;
  }
  const bool in_op = !run.links->call_op.empty() && run.links->call_op[begin.row.index()];
  const int64_t least_ns = in_op ? kLeastPollInOpNs : kLeastPollNs;
  const bool waits =
      end - first >= kLeastPolls && run.calls[end - 1].end_ns - begin.start_ns >= least_ns;
  return waits ? end : first + 1;
}

void join_polls(FlowRun& run) {
  bool any = false;
  for (size_t first = 0; first < run.calls.size() && !any; ++first) {
    any = end_of_polls(run, first) > first + 1;
  }
  if (!any) return;
  std::vector<uint32_t> place(run.calls.size());
  std::vector<FlowCall> joined;
  joined.reserve(run.calls.size());
  for (size_t first = 0; first < run.calls.size();) {
    const size_t end = end_of_polls(run, first);
    joined.push_back(run.calls[first]);
    joined.back().end_ns = run.calls[end - 1].end_ns;
    joined.back().polls = end - first > 1;
    for (size_t next = first + 1; next < end; ++next) {
      joined.back().poll_step_ns = std::max(joined.back().poll_step_ns,
                                            run.calls[next].start_ns - run.calls[next - 1].end_ns);
    }
    for (; first < end; ++first) place[first] = static_cast<uint32_t>(joined.size() - 1);
  }
  run.calls = std::move(joined);
  for (uint32_t& call : run.outer_call) call = place[call];
}

// Numbers the threads' processes in order of appearance.
void number_processes(FlowRun& run) {
  std::unordered_map<std::string, uint32_t> numbers;
  for (size_t t = 0; t < run.threads.size(); ++t) {
    const auto number = static_cast<uint32_t>(numbers.size());
    run.threads[t].process = numbers.try_emplace(run.trace->threads[t].pid, number).first->second;
  }
}

// A resource created or released this often is not one-time initialization.
constexpr uint32_t kMadeOften = 8;

// Durations of the calls of one name in one process.
struct NameTimes {
  std::vector<int64_t> first_ns;  // first calls of the name, and launches of a new kernel
  std::vector<int64_t> later_ns;

  // Duration of a call that is not a first one: the lesser of the median of all calls but the first
  // and that of later_ns. If every call brings a new kernel, the fastest tenth replaces the latter.
  // kColdNs / 2 if only one call is known.
  int64_t usual_ns() {
    if (first_ns.size() + later_ns.size() < 2) return kColdNs / 2;
    std::vector<int64_t> all_ns(first_ns.begin() + 1, first_ns.end());
    all_ns.insert(all_ns.end(), later_ns.begin(), later_ns.end());
    const int64_t middle_ns = nth(all_ns, all_ns.size() / 2);
    const int64_t warm_ns =
        later_ns.empty() ? nth(all_ns, all_ns.size() / 10) : nth(later_ns, later_ns.size() / 2);
    return std::min(middle_ns, warm_ns);
  }

  static int64_t nth(std::vector<int64_t>& times_ns, size_t n) {
    const auto at = times_ns.begin() + static_cast<std::ptrdiff_t>(n);
    std::nth_element(times_ns.begin(), at, times_ns.end());
    return *at;
  }
};

class CallKinds {
 public:
  explicit CallKinds(FlowRun& run) : run_(run), trace_(*run.trace) {}

  void classify() {
    for (uint32_t c = 0; c < run_.calls.size(); ++c) {
      order_.push_back({run_.calls[c].start_ns, c});
    }
    sort_runs(order_);
    find_first_work();
    find_nested_roles();
    count_unloads();
    time_names();
    count_in_operators();
    waits_ = waiting_calls(run_);
    for (const Timed& at : order_) classify(run_.calls[at.row], at.row);
  }

 private:
  uint64_t key(const FlowCall& call, StringId name) const {
    return uint64_t{run_.threads[call.thread.index()].process} << 32 | name.value;
  }
  StringId name_of(const FlowCall& call) const { return trace_.api_calls.name[call.row.index()]; }

  // Begin of the first work that a process launched.
  void find_first_work() {
    for (const FlowWork& work : run_.works) {
      if (work.call == kNoFlowRow) continue;
      const uint32_t process = run_.threads[run_.calls[work.call].thread.index()].process;
      if (process >= first_work_ns_.size()) first_work_ns_.resize(process + 1, INT64_MAX);
      first_work_ns_[process] = std::min(first_work_ns_[process], work.start_ns);
    }
    first_of_device_ns_.assign(run_.devices.size(), INT64_MAX);
    for (const FlowWork& work : run_.works) {
      int64_t& first_ns = first_of_device_ns_[work.device];
      first_ns = std::min(first_ns, work.start_ns);
    }
  }

  // Per operator name: which instances launch, and which spend long in memory calls.
  void count_in_operators() {
    for (const Timed& at : order_) {
      const FlowCall& call = run_.calls[at.row];
      if (manages_memory(call)) ++memory_calls_[key(call, name_of(call))];
      const OpId op = op_of(call);
      if (!op) continue;
      const uint64_t of_op = key(call, trace_.ops.name[op.index()]);
      if (manages_memory(call) && call.end_ns - call.start_ns >= kColdNs) {
        in_ops_[of_op].of_memory.insert(op.value);
      } else if (call.work_count > 0) {
        OperatorCalls& in = in_ops_[of_op];
        if (!in.first_launch) in.first_launch = op;
        in.last_launch = op;
      }
    }
  }
  OpId op_of(const FlowCall& call) const {
    return run_.links->call_op.empty() ? OpId() : run_.links->call_op[call.row.index()];
  }
  bool manages_memory(const FlowCall& call) const {
    const ApiRole role = run_.links->role_of(trace_, call.row);
    return role == ApiRole::kAllocate || role == ApiRole::kFree;
  }

  // True if a memory call is an operator's one-time initialization: the first instance that
  // launches made it, later ones launch without it, and no submitted work was running that it could
  // wait for. Kernel libraries create handles and workspaces this way.
  bool made_by_first_operator(const FlowCall& call) {
    const OpId op = op_of(call);
    const uint32_t process = run_.threads[call.thread.index()].process;
    if (!op || !manages_memory(call) || call.end_ns - call.start_ns < kColdNs) return false;
    if (memory_calls_[key(call, name_of(call))] >= kMadeOften) return false;
    if (process < busy_until_ns_.size() && busy_until_ns_[process] > call.start_ns) return false;
    const OperatorCalls& in = in_ops_[key(call, trace_.ops.name[op.index()])];
    return in.of_memory.size() == 1 && in.first_launch == op && in.last_launch != op;
  }

  // Updates until when submitted work keeps the process's devices busy. Calls must come by begin.
  void note_works(const FlowCall& call, uint32_t process) {
    if (process >= busy_until_ns_.size()) busy_until_ns_.resize(process + 1, INT64_MIN);
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      busy_until_ns_[process] = std::max(busy_until_ns_[process], work.end_ns);
    }
  }

  // Initialization time of a blocking call with the first work of its process and device: until
  // that work begins, there is nothing to wait for. A copy to the host may wait for work from
  // before the recording, unless the recording shows the process start.
  int64_t start_up_ns(const FlowCall& call, uint32_t process) const {
    if (!call.blocks || call.polls || call.work_count == 0) return 0;
    const FlowWork& work = run_.works[run_.works_of_calls[call.first_work]];
    const bool first = work.start_ns == first_work_ns_[process] &&
                       work.start_ns == first_of_device_ns_[work.device];
    if (!first || work.start_ns >= call.end_ns || work.start_ns - call.start_ns < kColdNs) return 0;
    const std::string_view name = trace_.text(trace_.activities.name[work.activity.index()]);
    const bool from_host = work.kind == WorkKind::kFill || copy_way(name) == CopyWay::kToDevice;
    const bool started = process < starts_.size() && starts_[process];
    return from_host || started ? work.start_ns - call.start_ns : 0;
  }

  void set_start_up(FlowCall& call, uint32_t process) {
    if (call.kind == FlowCause::kCold) {
      if (process >= starts_.size()) starts_.resize(process + 1, false);
      starts_[process] = true;
      return;
    }
    call.cold_ns = start_up_ns(call, process);
    if (call.cold_ns == 0) return;
    FlowWork& work = run_.works[run_.works_of_calls[call.first_work]];
    work.submit_ns = call.start_ns + call.cold_ns;
  }

  // Finds calls that load code, and counts creations of graphs and streams.
  void find_nested_roles() {
    loads_.assign(run_.calls.size(), false);
    for (size_t c = 0; c < run_.outer_call.size(); ++c) {
      const ApiRole role = run_.links->role_of(trace_, ApiCallId(c));
      if (role == ApiRole::kLoad) loads_[run_.outer_call[c]] = true;
      if (role == ApiRole::kCreate)
        ++made_[key(run_.calls[run_.outer_call[c]], trace_.api_calls.name[c])];
    }
  }

  void time_names() {
    first_.assign(run_.calls.size(), false);
    for (const Timed& at : order_) {
      const FlowCall& call = run_.calls[at.row];
      NameTimes& times = times_[key(call, name_of(call))];
      first_[at.row] = is_first(call);
      (first_[at.row] ? times.first_ns : times.later_ns).push_back(call.end_ns - call.start_ns);
    }
    for (auto& [name, times] : times_) usual_ns_[name] = times.usual_ns();
    times_.clear();
  }

  // True for the first call of its name and for the first launch of a kernel.
  bool is_first(const FlowCall& call) {
    bool first = seen_.try_emplace(key(call, name_of(call))).second;
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      if (work.kind == WorkKind::kCopy || work.kind == WorkKind::kFill) continue;
      const StringId name = trace_.activities.name[work.activity.index()];
      first |= seen_kernels_.try_emplace(key(call, name)).second;
    }
    return first;
  }

  // A call that returned after its copy ended waited for it. In a short call this may be chance,
  // except for copies to pageable memory, which always block.
  void find_blocking(FlowCall& call, ApiRole role) const {
    call.blocks = is_blocking(role);
    int64_t last_ns = INT64_MIN;
    bool must_wait = false;
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      if (work.kind != WorkKind::kCopy) continue;
      last_ns = std::max(last_ns, work.end_ns);
      must_wait |= work.pageable && !work.host_stages;
    }
    must_wait |= call.end_ns - call.start_ns > kBlockingNs;
    call.blocks |= must_wait && last_ns != INT64_MIN && last_ns <= call.end_ns;
  }

  // True if the call mostly moves its own megabytes from or to unpinned memory: it cannot return
  // before. A short copy brings a value that the host waits for.
  bool is_bulk_copy(const FlowCall& call) const {
    int64_t copies_ns = 0;
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      if (work.kind != WorkKind::kCopy) continue;
      const StringId name = trace_.activities.name[work.activity.index()];
      if (is_pinned_copy(trace_.text(name))) return false;
      copies_ns += work.end_ns - work.start_ns;
    }
    return copies_ns * 2 >= call.end_ns - call.start_ns && copies_ns >= kBulkCopyNs;
  }

  // True if the host stages all bytes of the call itself: it works and does not wait.
  bool stages(const FlowCall& call) const {
    for (uint32_t k = 0; k < call.work_count; ++k) {
      if (!run_.works[run_.works_of_calls[call.first_work + k]].host_stages) return false;
    }
    return call.work_count > 0;
  }

  // Counts unloads after the first work: a program that keeps unloading code also keeps loading it.
  void count_unloads() {
    for (size_t c = 0; c < trace_.api_calls.size(); ++c) {
      if (run_.links->role_of(trace_, ApiCallId(c)) != ApiRole::kLoad) continue;
      const uint32_t process = run_.threads[trace_.api_calls.thread[c].index()].process;
      const bool late = process < first_work_ns_.size() &&
                        trace_.api_calls.start_ns[c] >= first_work_ns_[process];
      if (late && trace_.text(trace_.api_calls.name[c]).find("Unload") != std::string_view::npos) {
        ++unloads_[process];
      }
    }
  }
  bool loads_again(uint32_t process) const {
    const auto found = unloads_.find(process);
    return found != unloads_.end() && found->second >= kMadeOften;
  }

  // True if streams or graphs are created once. A program that keeps creating them pays in its
  // steady state.
  bool made_once(const FlowCall& call) const {
    const auto found = made_.find(key(call, name_of(call)));
    return found == made_.end() || found->second < kMadeOften;
  }

  void classify(FlowCall& call, uint32_t row) {
    const ApiRole role = run_.links->role_of(trace_, call.row);
    find_blocking(call, role);
    call.blocks |= waits_[row] || call.polls;
    const uint32_t process = run_.threads[call.thread.index()].process;
    const int64_t dur_ns = call.end_ns - call.start_ns;
    const int64_t usual_ns = usual_ns_[key(call, name_of(call))];
    const bool long_first = first_[row] && dur_ns >= kColdNs && dur_ns >= kColdFactor * usual_ns;
    const bool before_work = process < first_work_ns_.size() && dur_ns >= kColdNs &&
                             call.end_ns <= first_work_ns_[process];
    const bool loads =
        !loads_again(process) && (role == ApiRole::kLoad || (loads_[row] && dur_ns >= kColdNs));
    if (loads || (role == ApiRole::kCreate && made_once(call))) {
      call.kind = FlowCause::kCold;
    } else if ((!call.blocks && (long_first || before_work)) || made_by_first_operator(call)) {
      call.kind = FlowCause::kCold;
      call.cold_by_first = true;
    } else if (role == ApiRole::kAllocate || role == ApiRole::kFree) {
      call.kind = FlowCause::kAlloc;  // also if it first waits for the device
    } else if (call.blocks && !is_bulk_copy(call) &&
               (is_blocking(role) || waits_[row] || !stages(call))) {
      call.kind = FlowCause::kSync;
    }
    set_start_up(call, process);
    note_works(call, process);
  }

  // Calls within the operators of one name and process.
  struct OperatorCalls {
    OpId first_launch;
    OpId last_launch;
    std::unordered_set<uint32_t> of_memory;  // those with a long memory call, by OpId
  };

  FlowRun& run_;
  const Trace& trace_;
  std::vector<Timed> order_;
  std::vector<int64_t> first_work_ns_;  // per process
  std::vector<int64_t> first_of_device_ns_;
  std::vector<int64_t> busy_until_ns_;  // per process
  std::vector<bool> starts_;            // per process: an initialization call was seen
  std::vector<bool> loads_;             // per call
  std::vector<bool> first_;             // per call: is_first()
  std::vector<bool> waits_;             // per call
  std::unordered_map<uint64_t, uint32_t> made_;
  std::unordered_map<uint32_t, uint32_t> unloads_;  // per process, after its first work
  std::unordered_map<uint64_t, uint32_t> memory_calls_;
  std::unordered_map<uint64_t, OperatorCalls> in_ops_;
  std::unordered_map<uint64_t, NameTimes> times_;
  std::unordered_map<uint64_t, int64_t> usual_ns_;
  std::unordered_map<uint64_t, char> seen_;
  std::unordered_map<uint64_t, char> seen_kernels_;
};

// Stream captures, each from the call that begins it to the thread's next call that ends one.
void find_captures(FlowRun& run) {
  const Trace& trace = *run.trace;
  std::vector<uint8_t> known(trace.strings.size(), 0);  // 1: neither, 2: begins, 3: ends
  bool open = false;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    const StringId name = trace.api_calls.name[c];
    uint8_t& kind = known[name.index()];
    if (kind == 0) {
      const std::string_view text = trace.text(name);
      kind = text.find("BeginCapture") != std::string_view::npos ? 2
             : text.find("EndCapture") != std::string_view::npos ? 3
                                                                 : 1;
    }
    const ThreadId thread = trace.api_calls.thread[c];
    if (open && run.captures.back().thread != thread) {
      run.captures.pop_back();
      open = false;
    }
    if (kind == 2 && !open) {
      run.captures.push_back({thread, trace.api_calls.start_ns[c], 0});
      open = true;
    } else if (kind == 3 && open) {
      run.captures.back().end_ns = trace.end_ns(ApiCallId(c));
      open = false;
    }
  }
  if (open) run.captures.pop_back();
}

}  // namespace

void find_calls(FlowRun& run) {
  const Trace& trace = *run.trace;
  run.threads.resize(trace.threads.size());
  number_processes(run);
  run.outer_call.resize(trace.api_calls.size());
  run.calls.reserve(trace.api_calls.size());
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    add_call(run, ApiCallId(c), run.calls);
    run.outer_call[c] = static_cast<uint32_t>(run.calls.size() - 1);
  }
  join_polls(run);
  for (uint32_t c = 0; c < run.calls.size(); ++c) {
    HostThread& thread = run.threads[run.calls[c].thread.index()];
    if (thread.call_count++ == 0) thread.first_call = c;
  }
  find_captures(run);
}

void classify_calls(FlowRun& run) { CallKinds(run).classify(); }

}  // namespace assay
