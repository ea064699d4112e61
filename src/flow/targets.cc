// Finds the work that blocking calls waited for, the own time of calls, and launch calls that
// waited for space in the queue.

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "flow/build.h"
#include "flow/timed.h"

namespace assay {
namespace {

constexpr int64_t kLongLaunchNs = 20'000;
constexpr int64_t kUsualReturnNs = 5'000;
constexpr int64_t kUsualReturnLimitNs = 20'000;
constexpr int64_t kShortestReturnNs = 1'000;
constexpr int64_t kLongestReturnNs = 10'000;
constexpr uint64_t kLeastQueue = 256;

class Targets {
 public:
  Targets(FlowRun& run, const std::vector<Timed>& ends) : run_(run), launches_(run), ends_(ends) {
    for (const RecordedWait& wait : recorded_waits(run)) {
      if (wait.call != kNoFlowRow) waits_.emplace(wait.call, wait);
    }
    std::vector<bool> seen(run.trace->streams.size(), false);
    for (const FlowWork& work : run.works) {
      if (seen[work.stream]) continue;
      seen[work.stream] = true;
      streams_.push_back({work.stream, run.devices[work.device]});
    }
    own_ns_.resize(run.trace->strings.size());
  }

  void find() {
    for (uint32_t c = 0; c < run_.calls.size(); ++c) find(c);
    fill_floors();
  }

 private:
  struct StreamOf {
    uint32_t stream;
    int64_t device;
  };

  void find(uint32_t c) {
    FlowCall& call = run_.calls[c];
    call.first_target = static_cast<uint32_t>(run_.targets.size());
    if (call.blocks) add_targets(c, call);
    call.target_count = static_cast<uint32_t>(run_.targets.size()) - call.first_target;
    int64_t end_ns = INT64_MIN;
    for (uint32_t k = 0; k < call.target_count; ++k) {
      end_ns = std::max(end_ns, run_.works[run_.targets[call.first_target + k]].end_ns);
    }
    if (end_ns > call.start_ns) {
      if (return_cause(call) != FlowCause::kSync) return;
      returns_ns_.push_back(std::max<int64_t>(call.end_ns - end_ns - call.poll_step_ns, 0));
    } else if (!stages(call) && (!call.launches || call.end_ns - call.start_ns <= kLongLaunchNs)) {
      // Excluded: a long launch, which may have waited for queue space, and a call that stages
      // bytes, which lasts as long as these take.
      const StringId name = run_.trace->api_calls.name[call.row.index()];
      own_ns_[name.index()].push_back(call.end_ns - call.start_ns);
    }
  }

  // True if the host moves the bytes of a copy that runs during the call.
  bool stages(const FlowCall& call) const {
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const FlowWork& work = run_.works[run_.works_of_calls[call.first_work + k]];
      if (work.host_stages && work.start_ns < call.end_ns) return true;
    }
    return false;
  }

  // Adds work that ended before the call returned; it did not wait for later ends.
  void add_target(uint32_t work, const FlowCall& call) {
    if (work == kNoFlowRow || run_.works[work].end_ns > call.end_ns) return;
    run_.targets.push_back(work);
  }

  void add_targets(uint32_t c, const FlowCall& call) {
    bool copies = false;
    for (uint32_t k = 0; k < call.work_count; ++k) {
      const uint32_t work = run_.works_of_calls[call.first_work + k];
      const bool copy = run_.works[work].kind == WorkKind::kCopy;
      const bool fill = run_.works[work].kind == WorkKind::kFill;
      if (!fill || call.launches) add_target(work, call);
      copies |= copy;
    }
    if (copies) return;
    int64_t last_ns = INT64_MIN;
    const auto row = waits_.find(c);
    const RecordedWait* wait = row == waits_.end() ? nullptr : &row->second;
    for (const StreamOf& stream : streams_) {
      if (wait != nullptr && wait->device != stream.device && wait->device >= 0) continue;
      int64_t before_ns = call.start_ns;
      if (wait != nullptr && wait->kind != WaitKind::kContextSync && wait->waited_stream >= 0) {
        if (run_.trace->streams[stream.stream].stream != wait->waited_stream) continue;
        if (wait->record_call != kNoFlowRow) before_ns = run_.calls[wait->record_call].start_ns;
      }
      const uint32_t last = launches_.last_before(stream.stream, before_ns);
      add_target(last, call);
      if (last != kNoFlowRow) last_ns = std::max(last_ns, run_.works[last].end_ns);
    }
    if (run_.targets.size() == call.first_target) add_by_return(call);
    const bool sure = is_sure(call, wait);
    if (sure && last_ns != INT64_MIN) count_return(call, last_ns);
  }

  // Called if the last submitted works had not ended: the call waited for earlier work (an event),
  // namely the one that ended last before the return.
  void add_by_return(const FlowCall& call) {
    if (call.end_ns - call.start_ns < kUsualReturnLimitNs) return;
    const auto after = std::partition_point(
        ends_.begin(), ends_.end(), [&call](const Timed& t) { return t.time_ns <= call.end_ns; });
    if (after == ends_.begin()) return;
    const Timed last = *(after - 1);
    const uint32_t from = run_.works[last.row].call;
    const bool before = from != kNoFlowRow && run_.calls[from].start_ns < call.start_ns;
    const int64_t limit_ns = kUsualReturnLimitNs + call.poll_step_ns;
    if (before && last.time_ns > call.start_ns && call.end_ns - last.time_ns <= limit_ns)
      run_.targets.push_back(last.row);
  }

  // True if the awaited work is known: a recorded wait for a stream or context, or a wait for
  // everything in a single process with one stream or device.
  bool is_sure(const FlowCall& call, const RecordedWait* wait) const {
    if (run_.links->role_of(*run_.trace, call.row) != ApiRole::kSynchronize) return false;
    if (wait != nullptr) {
      return wait->kind == WaitKind::kContextSync ||
             (wait->kind == WaitKind::kStreamSync && wait->waited_stream >= 0);
    }
    const std::string_view name = run_.trace->text(run_.trace->api_calls.name[call.row.index()]);
    if (name.find("Event") != std::string_view::npos) return false;  // waits for an earlier moment
    const bool all = name.find("DeviceSync") != std::string_view::npos ||
                     name.find("CtxSync") != std::string_view::npos;
    return run_.launching_processes == 1 &&
           (streams_.size() == 1 || (all && run_.devices.size() == 1));
  }

  void count_return(const FlowCall& call, int64_t work_end_ns) {
    ++run_.sure_returns;
    const int64_t early_ns = work_end_ns - call.end_ns;
    if (early_ns <= kFlowMarginNs) return;
    ++run_.early_returns;
    run_.early_return_ns = std::max(run_.early_return_ns, early_ns);
  }

  static FlowFloor cost_of(std::vector<int64_t>& values) {
    const auto at = [&values](size_t place) {
      const auto nth = values.begin() + static_cast<std::ptrdiff_t>(place);
      std::nth_element(values.begin(), nth, values.end());
      return *nth;
    };
    const size_t n = values.size();
    return {
        .typical_ns = at(n / 2), .samples = n, .low_ns = at(n / 20), .high_ns = at(n - 1 - n / 20)};
  }

  void fill_floors() {
    FlowFloors& floors = run_.floors;
    floors.own_of_name.assign(own_ns_.size(), 0);
    for (size_t name = 0; name < own_ns_.size(); ++name) {
      if (own_ns_[name].empty()) continue;
      floors.own_calls.push_back(cost_of(own_ns_[name]));
      floors.own_of_name[name] = static_cast<uint32_t>(floors.own_calls.size());
    }
    floors.returns = {kUsualReturnNs, kUsualReturnLimitNs, returns_ns_.size(),
                      true,           kShortestReturnNs,   kLongestReturnNs};
    if (returns_ns_.size() < kFloorSamples) return;
    const int64_t typical_ns = quantile_ns(returns_ns_, 0.5, 0);
    const int64_t limit_ns = quantile_ns(returns_ns_, 0.9, 0) + kFlowMarginNs;
    floors.returns = {typical_ns, limit_ns, returns_ns_.size()};
  }

  FlowRun& run_;
  LaunchOrder launches_;
  std::unordered_map<uint32_t, RecordedWait> waits_;  // by call
  const std::vector<Timed>& ends_;                    // ends of works
  std::vector<StreamOf> streams_;
  std::vector<std::vector<int64_t>> own_ns_;  // per StringId
  std::vector<int64_t> returns_ns_;
};

// Finds launch calls that wait for queue space: long ones that coincide with the maximum of queued
// work.
class QueueLimit {
 public:
  explicit QueueLimit(FlowRun& run) : run_(run) {
    for (uint32_t c = 0; c < run.calls.size(); ++c) {
      const FlowCall& call = run.calls[c];
      const bool long_launch = call.launches && !call.graph && call.kind == FlowCause::kCall &&
                               call.end_ns - call.start_ns > kLongLaunchNs;
      if (long_launch) long_.push_back(c);
    }
  }

  void find() {
    if (long_.empty()) return;
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      if (run_.works[w].submit_ns == kUnknownNs) continue;
      submits_.push_back({run_.works[w].submit_ns, w});
      starts_.push_back({run_.works[w].start_ns, w});
    }
    sort_runs(submits_);
    sort_runs(starts_);
    std::vector<uint64_t> queued;
    for (const uint32_t c : long_) queued.push_back(unstarted(run_.calls[c].start_ns));
    const uint64_t most = *std::max_element(queued.begin(), queued.end());
    const auto full = static_cast<size_t>(std::count_if(
        queued.begin(), queued.end(), [most](uint64_t q) { return q * 10 >= most * 9; }));
    if (most < kLeastQueue || full * 2 < queued.size()) return;
    run_.floors.queue_depth = most;
    for (const uint32_t c : long_) set_slot(run_.calls[c]);
  }

 private:
  // Number of works submitted before time_ns that have not begun by then.
  uint64_t unstarted(int64_t time_ns) const {
    const auto submitted =
        std::partition_point(submits_.begin(), submits_.end(),
                             [time_ns](const Timed& t) { return t.time_ns < time_ns; });
    const auto started = std::partition_point(
        starts_.begin(), starts_.end(), [time_ns](const Timed& t) { return t.time_ns <= time_ns; });
    const auto in = static_cast<uint64_t>(submitted - submits_.begin());
    const auto out = static_cast<uint64_t>(started - starts_.begin());
    return in > out ? in - out : 0;
  }

  // The last work that begins during the call freed the space.
  void set_slot(FlowCall& call) const {
    const auto after =
        std::partition_point(starts_.begin(), starts_.end(),
                             [&call](const Timed& t) { return t.time_ns <= call.end_ns; });
    if (after == starts_.begin()) return;
    const uint32_t work = (after - 1)->row;
    const bool own = run_.works[work].call == static_cast<uint32_t>(&call - run_.calls.data());
    if (run_.works[work].start_ns > call.start_ns && !own) call.slot_work = work;
  }

  FlowRun& run_;
  std::vector<uint32_t> long_;
  std::vector<Timed> submits_;
  std::vector<Timed> starts_;
};

}  // namespace

void find_targets(FlowRun& run, const std::vector<Timed>& ends) {
  Targets(run, ends).find();
  QueueLimit(run).find();
}

}  // namespace assay
