#include "ingest/chrome/xprof_lanes.h"

#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "trace/api_names.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

struct XprofLane {
  bool host = false;
  bool stream = false;
  int64_t device = -1;  // for a stream
  int64_t queue = -1;
};

// The number at the start of a text; -1 if there is none.
int64_t number_at(std::string_view text) {
  const size_t end = text.find_first_not_of("0123456789");
  int64_t number = -1;
  return parse_int64(text.substr(0, end), number) ? number : -1;
}

XprofLane xprof_lane_of(const TraceBuilder& builder, ThreadId thread) {
  constexpr std::string_view kDevice = "/device:GPU:";
  constexpr std::string_view kStream = "Stream #";
  const Thread& lane = builder.lane(thread);
  const std::string_view process = builder.process_fact(kProcessName, lane.pid);
  if (process == "/host:CPU") return {.host = true};
  const std::string_view name = builder.lane_name(lane.pid, lane.tid);
  if (!process.starts_with(kDevice) || !name.starts_with(kStream)) return {};
  return {.stream = true,
          .device = number_at(process.substr(kDevice.size())),
          .queue = number_at(name.substr(kStream.size()))};
}

ActivityKind xprof_kind_of(std::string_view name) {
  if (name.starts_with("Memcpy")) return ActivityKind::kMemcpy;
  return name.starts_with("Memset") ? ActivityKind::kMemset : ActivityKind::kKernel;
}

class XprofLanes {
 public:
  explicit XprofLanes(TraceBuilder& builder) : builder_(builder) {}

  void file() {
    if (!find_lanes()) return;
    std::vector<uint32_t> ids(builder_.other_events.size(), 0);
    for (const auto& [row, id] : builder_.other_correlations) {
      if (row < ids.size()) ids[row] = id;
    }
    OtherEventTable rest;
    const OtherEventTable rows = std::move(builder_.other_events);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!file_row(rows.row(i), ids[i])) rest.push_back(rows.row(i));
    }
    builder_.log.take_back(ImportCode::kUnknownCategory, rows.size() - rest.size());
    builder_.other_events = std::move(rest);
  }

 private:
  bool find_lanes() {
    bool found = false;
    const OtherEventTable& rows = builder_.other_events;
    std::vector<bool> known;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows.category[i] != StringId(0)) continue;
      const size_t thread = rows.thread[i].index();
      if (thread >= lanes_.size()) {
        lanes_.resize(thread + 1);
        known.resize(thread + 1, false);
      }
      if (known[thread]) continue;
      known[thread] = true;
      lanes_[thread] = xprof_lane_of(builder_, rows.thread[i]);
      found |= lanes_[thread].stream;
    }
    return found;
  }

  bool file_row(const OtherEventRow& row, uint32_t id) {
    const size_t thread = row.thread.index();
    if (row.category != StringId(0) || thread >= lanes_.size()) return false;
    const XprofLane& lane = lanes_[thread];
    const std::string_view name = builder_.strings.view(row.name);
    if (lane.stream) {
      builder_.activities.push_back({row.start_ns, row.dur_ns, row.name,
                                     builder_.stream(lane.device, lane.queue), id, 0,
                                     xprof_kind_of(name)});
    } else if (lane.host && (id != 0 || classify_api(name) != ApiRole::kOther)) {
      builder_.api_calls.push_back(
          {row.start_ns, row.dur_ns, row.name, row.thread, id, 0, ApiKind::kDriver});
    } else if (lane.host && name.starts_with('$')) {
      builder_.frames.push_back({row.start_ns, row.dur_ns, row.name, row.thread});
    } else if (lane.host) {
      builder_.annotations.push_back({row.start_ns, row.dur_ns, row.name, row.thread, 0});
    } else {
      return false;
    }
    return true;
  }

  TraceBuilder& builder_;
  std::vector<XprofLane> lanes_;  // by thread
};

}  // namespace

void file_xprof_lanes(TraceBuilder& builder) { XprofLanes(builder).file(); }

}  // namespace assay
