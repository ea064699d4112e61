#include "ingest/chrome/ascend_lanes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/chrome/lane_places.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

enum class AscendLane : uint8_t { kOther, kHardware, kCann };

constexpr std::array<std::string_view, 7> kEngineWords = {"AI_C",        "AICORE", "AICPU", "AIVEC",
                                                          "VECTOR_CORE", "MIX_AI", "KERNEL"};
constexpr std::array<std::string_view, 2> kCopyWords = {"MEMCPY", "SDMA"};
constexpr std::array<std::string_view, 6> kControlWords = {"WAIT",   "RECORD",  "EVENT",
                                                           "NOTIFY", "CAPTURE", "PLACE_HOLDER"};

// True for the form of task types, "EVENT_RECORD", which operators do not have.
bool is_type_word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Kind of a task: by the engine in its type, else by its name. A task other than an operator is
// named by its type (TS_TASK_TYPE_... in CANN's runtime), and new types are added over time. A type
// that names no engine, copy or fill computes nothing. type: empty if unknown.
ActivityKind task_kind_of(std::string_view name, std::string_view type) {
  const bool named_by_type = type.empty() ? is_type_word(name) : name == type;
  const std::string_view told = type.empty() ? name : type;
  if (contains_any(told, kEngineWords)) {
    return ActivityKind::kKernel;
  }
  if (contains_any(name, kCopyWords) || contains_any(type, kCopyWords)) {
    return ActivityKind::kMemcpy;
  }
  if (contains(name, "MEMSET")) return ActivityKind::kMemset;
  const bool waits = contains_any(told, kControlWords);
  return waits || named_by_type ? ActivityKind::kSync : ActivityKind::kKernel;
}

// "AscendCL@aclrtSynchronizeStream" -> "aclrtSynchronizeStream"; other layers keep their prefix.
std::string_view cann_call_name(std::string_view name) {
  constexpr std::string_view kLayer = "AscendCL@";
  return name.starts_with(kLayer) ? name.substr(kLayer.size()) : name;
}

// The row that begins at time_ns, else the innermost one that contains it.
const LanePlace* place_at(const std::vector<LanePlace>& places, ThreadId thread, int64_t time_ns) {
  auto at = std::upper_bound(places.begin(), places.end(), LanePlace{thread, time_ns, 0, SIZE_MAX});
  for (int tries = 0; tries < kMostRowsBack && at != places.begin(); ++tries) {
    --at;
    if (at->thread != thread) break;
    if (at->start_ns == time_ns || at->end_ns > time_ns) return &*at;
  }
  return nullptr;
}

class AscendLanes {
 public:
  explicit AscendLanes(TraceBuilder& builder) : builder_(builder) {}

  void file() {
    if (!find_lanes()) return;
    if (!builder_.ops.empty()) program_ = builder_.lane(builder_.ops.thread[0]).pid;
    file_rows();
    for (auto* places : {&works_, &calls_, &puts_, &takes_}) {
      std::sort(places->begin(), places->end());
    }
    join();
  }

 private:
  bool find_lanes() {
    bool found = false;
    std::vector<bool> known;
    const OtherEventTable& rows = builder_.other_events;
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t thread = rows.thread[i].index();
      if (thread >= lanes_.size()) {
        lanes_.resize(thread + 1, AscendLane::kOther);
        known.resize(thread + 1, false);
      }
      if (known[thread]) continue;
      known[thread] = true;
      const std::string_view process =
          builder_.process_fact(kProcessName, builder_.lane(rows.thread[i]).pid);
      if (process == "Ascend Hardware") lanes_[thread] = AscendLane::kHardware;
      if (process == "CANN") lanes_[thread] = AscendLane::kCann;
      found |= lanes_[thread] == AscendLane::kHardware;
    }
    return found;
  }

  void file_rows() {
    std::vector<StringId> types(builder_.other_events.size(), StringId(0));
    for (const auto& [row, type] : builder_.other_task_types) {
      if (row < types.size()) types[row] = type;
    }
    OtherEventTable rest;
    const OtherEventTable rows = std::move(builder_.other_events);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!file_row(rows.row(i), types[i])) rest.push_back(rows.row(i));
    }
    builder_.log.take_back(ImportCode::kUnknownCategory, rows.size() - rest.size());
    builder_.other_events = std::move(rest);
  }

  bool file_row(const OtherEventRow& row, StringId type) {
    const std::string_view category = builder_.strings.view(row.category);
    LanePlace place{row.thread, row.start_ns, row.start_ns + row.dur_ns, 0};
    if (category == "dequeue") {
      takes_.push_back(place);
      return false;
    }
    if (category == "enqueue") {
      add_call(row, row.thread, row.name, puts_);
      return true;
    }
    switch (lanes_[row.thread.index()]) {
      case AscendLane::kHardware:
        add_work(row, type);
        return true;
      case AscendLane::kCann:
        add_call(row, thread_of(row.thread),
                 builder_.text(std::string(cann_call_name(builder_.strings.view(row.name)))),
                 calls_);
        return true;
      case AscendLane::kOther:
        break;
    }
    return false;
  }

  // The program's thread with its calls in CANN's lane of the same thread id.
  ThreadId thread_of(ThreadId cann) {
    const std::string tid = builder_.lane(cann).tid;
    return program_.empty() ? cann : builder_.thread(program_, tid);
  }

  void add_call(const OtherEventRow& row, ThreadId thread, StringId name,
                std::vector<LanePlace>& places) {
    places.push_back(
        {row.thread, row.start_ns, row.start_ns + row.dur_ns, builder_.api_calls.size()});
    builder_.api_calls.push_back({row.start_ns, row.dur_ns, name, thread, 0, 0, ApiKind::kRuntime});
  }

  void add_work(const OtherEventRow& row, StringId type) {
    int64_t queue = -1;
    if (!parse_int64(builder_.lane(row.thread).tid, queue)) queue = -1;
    works_.push_back(
        {row.thread, row.start_ns, row.start_ns + row.dur_ns, builder_.activities.size()});
    const ActivityKind kind =
        task_kind_of(builder_.strings.view(row.name), builder_.strings.view(type));
    builder_.activities.push_back(
        {row.start_ns, row.dur_ns, row.name, builder_.stream(0, queue), 0, 0, kind});
  }

  // Maximum time in the queue at which the launching thread still keeps up.
  static constexpr int64_t kBehindNs = 20'000;

  // An activity is submitted when its operator enters the queue, or by the launch if there is no
  // queue or the launching thread is late.
  void join() {
    std::map<uint64_t, const LanePlace*> launch_of;  // by arrow to the device
    std::map<uint64_t, const LanePlace*> put_of;     // by arrow of the queue
    for (const ForwardBackwardFlowRow& arrow : builder_.dependency_flows) {
      if (arrow.is_end != 0) continue;
      if (const LanePlace* call = place_at(calls_, arrow.thread, arrow.time_ns)) {
        launch_of.emplace(arrow.flow_id, call);
      } else if (const LanePlace* put = place_at(puts_, arrow.thread, arrow.time_ns)) {
        put_of.emplace(arrow.flow_id, put);
      }
    }
    std::map<const LanePlace*, const LanePlace*> put_of_take;
    for (const ForwardBackwardFlowRow& arrow : builder_.dependency_flows) {
      const auto put = put_of.find(arrow.flow_id);
      const LanePlace* take = place_at(takes_, arrow.thread, arrow.time_ns);
      if (arrow.is_end != 0 && put != put_of.end() && take != nullptr) {
        put_of_take.emplace(take, put->second);
      }
    }
    for (const ForwardBackwardFlowRow& arrow : builder_.dependency_flows) {
      const auto launch = launch_of.find(arrow.flow_id);
      const LanePlace* work = place_at(works_, arrow.thread, arrow.time_ns);
      if (arrow.is_end == 0 || launch == launch_of.end() || work == nullptr) continue;
      const ThreadId thread = builder_.api_calls.thread[launch->second->row];
      const LanePlace* take = place_at(takes_, thread, launch->second->start_ns);
      const auto put = put_of_take.find(take);
      const bool queued =
          put != put_of_take.end() && take->start_ns - put->second->end_ns <= kBehindNs;
      const size_t call = queued ? put->second->row : launch->second->row;
      const auto id = static_cast<uint32_t>(call + 1);
      builder_.api_calls.correlation[call] = id;
      builder_.activities.correlation[work->row] = id;
    }
  }

  TraceBuilder& builder_;
  std::vector<AscendLane> lanes_;  // by thread
  std::string program_;            // the process of the operators
  std::vector<LanePlace> works_;
  std::vector<LanePlace> calls_;  // of CANN
  std::vector<LanePlace> puts_;   // "Enqueue" rows
  std::vector<LanePlace> takes_;  // "Dequeue" rows; they stay in other_events
};

}  // namespace

void file_ascend_lanes(TraceBuilder& builder) { AscendLanes(builder).file(); }

}  // namespace assay
