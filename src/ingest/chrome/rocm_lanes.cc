#include "ingest/chrome/rocm_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/decimal.h"
#include "ingest/chrome/lane_places.h"
#include "trace/hip_kernels.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

enum class LaneKind : uint8_t { kOther, kDevice, kCopies, kHip, kHsa, kMarkers };

struct RocmLane {
  LaneKind kind = LaneKind::kOther;
  int64_t device = -1;  // for kDevice
  int64_t queue = -1;   // for kDevice and kCopies
};

// The number in "GPU2"; nullopt for "GPU Barriers2" and "GPU Process".
std::optional<int64_t> number_after(std::string_view text, std::string_view prefix) {
  int64_t number = 0;
  if (!text.starts_with(prefix) || !parse_int64(text.substr(prefix.size()), number)) return {};
  return number >= 0 ? std::optional(number) : std::nullopt;
}

RocmLane lane_of(const TraceBuilder& builder, ThreadId thread) {
  const Thread& lane = builder.lane(thread);
  const std::string_view process = builder.process_fact(kProcessName, lane.pid);
  int64_t queue = -1;
  if (!parse_int64(lane.tid, queue)) queue = -1;
  if (const auto device = number_after(process, "GPU")) return {LaneKind::kDevice, *device, queue};
  if (process == "COPY") return {LaneKind::kCopies, -1, queue};
  if (process == "CPU HIP API") return {LaneKind::kHip};
  if (process == "CPU HSA API") return {LaneKind::kHsa};
  if (process == "Markers and Ranges") return {LaneKind::kMarkers};
  if (number_after(builder.lane_name(lane.pid, lane.tid), "Hip ")) return {LaneKind::kHip};
  return {};
}

// Rows in a lane of copies are never kernels, whatever their name.
ActivityKind copy_kind_of(std::string_view name) {
  const ActivityKind kind = kind_of_hip_command(name);
  return kind == ActivityKind::kKernel ? ActivityKind::kMemcpy : kind;
}

bool is_call_name(std::string_view name) {
  return name.starts_with("hip") || name.starts_with("hsa") || name.starts_with("__hip") ||
         name.starts_with("cuda") || name.starts_with("cu");
}

// The device of copies in a lane without one: the only device of the trace.
int64_t device_of_copies(const std::vector<RocmLane>& lanes) {
  int64_t device = -1;
  for (const RocmLane& lane : lanes) {
    if (lane.kind != LaneKind::kDevice) continue;
    if (device >= 0 && lane.device != device) return -1;
    device = lane.device;
  }
  return device;
}

class RocmLanes {
 public:
  explicit RocmLanes(TraceBuilder& builder) : builder_(builder) {}

  void file() {
    if (!find_lanes()) return;
    file_rows();
    join();
  }

 private:
  // Finds the lanes of uncategorised rows; false if none is from these tools.
  bool find_lanes() {
    bool found = false;
    const OtherEventTable& rows = builder_.other_events;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.category[i] != StringId(0)) continue;
      const size_t thread = rows.thread[i].index();
      if (thread >= lanes_.size()) {
        lanes_.resize(thread + 1);
        known_.resize(thread + 1, false);
      }
      if (known_[thread]) continue;
      known_[thread] = true;
      lanes_[thread] = lane_of(builder_, rows.thread[i]);
      found |= lanes_[thread].kind != LaneKind::kOther;
    }
    return found;
  }

  void file_rows() {
    const int64_t copies_on = device_of_copies(lanes_);
    OtherEventTable rest;
    const OtherEventTable rows = std::move(builder_.other_events);
    for (size_t i = 0; i < rows.size(); ++i) {
      const OtherEventRow row = rows.row(i);
      const bool lane = row.category == StringId(0) && file_row(row, copies_on);
      if (!lane) rest.push_back(row);
    }
    builder_.log.take_back(ImportCode::kUnknownCategory, rows.size() - rest.size());
    builder_.other_events = std::move(rest);
  }

  bool file_row(const OtherEventRow& row, int64_t copies_on) {
    const RocmLane& lane = lanes_[row.thread.index()];
    const std::string_view name = builder_.strings.view(row.name);
    switch (lane.kind) {
      case LaneKind::kDevice:
        add_work(row, builder_.stream(lane.device, lane.queue), kind_of_hip_command(name));
        return true;
      case LaneKind::kCopies:
        add_work(row, builder_.stream(copies_on, lane.queue), copy_kind_of(name));
        return true;
      case LaneKind::kHip:
      case LaneKind::kHsa:
        if (!is_call_name(name)) break;
        calls_.push_back(
            {row.thread, row.start_ns, row.start_ns + row.dur_ns, builder_.api_calls.size()});
        builder_.api_calls.push_back(
            {row.start_ns, row.dur_ns, row.name, row.thread, 0, 0,
             lane.kind == LaneKind::kHip ? ApiKind::kRuntime : ApiKind::kDriver});
        return true;
      case LaneKind::kMarkers:
        break;
      case LaneKind::kOther:
        return false;
    }
    builder_.annotations.push_back({row.start_ns, row.dur_ns, row.name, row.thread, 0});
    return true;
  }

  void add_work(const OtherEventRow& row, StreamId stream, ActivityKind kind) {
    works_.push_back(
        {row.thread, row.start_ns, row.start_ns + row.dur_ns, builder_.activities.size()});
    builder_.activities.push_back({row.start_ns, row.dur_ns, row.name, stream, 0, 0, kind});
  }

  // Gives the rows at both ends of an arrow one correlation id. An arrow starts at the end of its
  // call, or at the start of the activity if that is within the call.
  void join() {
    std::sort(calls_.begin(), calls_.end());
    std::sort(works_.begin(), works_.end());
    const uint32_t first_id = free_correlation();
    std::map<uint64_t, size_t> call_of_arrow;
    for (const ForwardBackwardFlowRow& arrow : builder_.dependency_flows) {
      if (arrow.is_end != 0) continue;
      if (const LanePlace* call = call_around(arrow))
        call_of_arrow.emplace(arrow.flow_id, call->row);
    }
    for (const ForwardBackwardFlowRow& arrow : builder_.dependency_flows) {
      if (arrow.is_end == 0) continue;
      const auto call = call_of_arrow.find(arrow.flow_id);
      const LanePlace* work = work_at(arrow);
      if (call == call_of_arrow.end() || work == nullptr) continue;
      const uint32_t id = first_id + static_cast<uint32_t>(call->second);
      builder_.api_calls.correlation[call->second] = id;
      builder_.activities.correlation[work->row] = id;
    }
  }

  // A correlation id above those of all rows.
  uint32_t free_correlation() const {
    uint32_t largest = 0;
    for (const auto* ids : {&builder_.api_calls.correlation, &builder_.activities.correlation}) {
      for (const uint32_t id : *ids) largest = std::max(largest, id);
    }
    return largest + 1;
  }

  const LanePlace* work_at(const ForwardBackwardFlowRow& arrow) const {
    const auto at = std::lower_bound(works_.begin(), works_.end(),
                                     LanePlace{arrow.thread, arrow.time_ns, 0, 0});
    const bool met =
        at != works_.end() && at->thread == arrow.thread && at->start_ns == arrow.time_ns;
    return met ? &*at : nullptr;
  }

  // The call that ends at the arrow's start, else the innermost one that contains it.
  const LanePlace* call_around(const ForwardBackwardFlowRow& arrow) const {
    auto at = std::upper_bound(calls_.begin(), calls_.end(),
                               LanePlace{arrow.thread, arrow.time_ns, 0, SIZE_MAX});
    const LanePlace* around = nullptr;
    for (int tries = 0; tries < kMostRowsBack && at != calls_.begin(); ++tries) {
      --at;
      if (at->thread != arrow.thread) break;
      if (at->end_ns == arrow.time_ns) return &*at;
      if (around == nullptr && at->end_ns > arrow.time_ns) around = &*at;
    }
    return around;
  }

  TraceBuilder& builder_;
  std::vector<RocmLane> lanes_;  // by thread
  std::vector<bool> known_;
  std::vector<LanePlace> calls_;
  std::vector<LanePlace> works_;
};

}  // namespace

void file_rocm_lanes(TraceBuilder& builder) { RocmLanes(builder).file(); }

}  // namespace assay
