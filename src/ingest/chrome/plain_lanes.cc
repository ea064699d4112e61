#include "ingest/chrome/plain_lanes.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/chrome/lane_places.h"
#include "trace/copy_way.h"
#include "trace/hip_kernels.h"

namespace assay {
namespace {

// True for "cuLaunchKernel", "cudaMalloc", "hipMemcpy": one word, the prefix and a capital. False
// for labels such as "cuDNN conv" and "cuBLAS".
bool is_gpu_call(std::string_view name) {
  const auto of_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), of_word)) return false;
  if (name.starts_with("cuDNN") || name.starts_with("cuBLAS")) return false;
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    const char next = name[prefix.size()];
    if (next >= 'A' && next <= 'Z') return true;
  }
  return false;
}

// True for a copy or fill on the device, as named by tools with CUPTI, Kineto and nvprof: "[MEMCPY]
// HtoD", "Memcpy DtoH (Device -> Pageable)", "[CUDA memset]".
bool is_device_copy(std::string_view name) {
  if (is_gpu_call(name)) return false;
  const std::string text = lower(name);
  const bool fill = text.find("[memset]") != std::string::npos || text.starts_with("memset (") ||
                    text.find("[cuda memset") != std::string::npos;
  return fill || (text.find("memcpy") != std::string::npos && copy_way(name) != CopyWay::kUnknown);
}

ActivityKind plain_kind_of(std::string_view name) {
  if (!is_device_copy(name)) return kind_of_hip_kernel(name);
  return lower(name).find("memset") != std::string::npos ? ActivityKind::kMemset
                                                         : ActivityKind::kMemcpy;
}

class PlainLanes {
 public:
  explicit PlainLanes(TraceBuilder& builder) : builder_(builder) {}

  void file() {
    const bool filed = !builder_.ops.empty() || !builder_.api_calls.empty() ||
                       !builder_.activities.empty() || !builder_.frames.empty() ||
                       !builder_.annotations.empty();
    if (filed || builder_.other_events.empty()) return;
    find_streams();
    OtherEventTable rest;
    const OtherEventTable rows = std::move(builder_.other_events);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!file_row(rows.row(i))) rest.push_back(rows.row(i));
    }
    const uint64_t taken = rows.size() - rest.size();
    builder_.log.take_back(ImportCode::kUnknownCategory, taken);
    if (taken > 0) builder_.log.add(ImportCode::kNamedRows, -1, taken);
    builder_.other_events = std::move(rest);
  }

 private:
  // Finds lanes with a device copy in which no two rows overlap; rows of calls nest.
  void find_streams() {
    std::vector<LanePlace> places;
    const OtherEventTable& rows = builder_.other_events;
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t thread = rows.thread[i].index();
      if (thread >= streams_.size()) streams_.resize(thread + 1, false);
      if (rows.category[i] != StringId(0)) continue;
      if (is_device_copy(builder_.strings.view(rows.name[i]))) streams_[thread] = true;
      places.push_back({rows.thread[i], rows.start_ns[i], rows.start_ns[i] + rows.dur_ns[i], i});
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 1; i < places.size(); ++i) {
      const LanePlace& before = places[i - 1];
      const bool overlaps =
          before.thread == places[i].thread && before.end_ns > places[i].start_ns + kRoundingNs;
      if (overlaps) streams_[places[i].thread.index()] = false;
    }
  }

  bool file_row(const OtherEventRow& row) {
    if (row.category != StringId(0)) return false;
    const std::string_view name = builder_.strings.view(row.name);
    if (streams_[row.thread.index()]) {
      builder_.activities.push_back(
          {row.start_ns, row.dur_ns, row.name, stream_of(row.thread), 0, 0, plain_kind_of(name)});
      return true;
    }
    if (!is_gpu_call(name)) return false;
    const bool driver = name.starts_with("cu") && !name.starts_with("cuda");
    builder_.api_calls.push_back({row.start_ns, row.dur_ns, row.name, row.thread, 0, 0,
                                  driver ? ApiKind::kDriver : ApiKind::kRuntime});
    return true;
  }

  // Small numbers as pid and tid are the device and its stream, as in Kineto.
  StreamId stream_of(ThreadId thread) {
    const Thread lane = builder_.lane(thread);
    int64_t device = 0;
    int64_t stream = -1;
    if (!parse_int64(lane.pid, device) || device < 0 || device > kMostDevices) device = 0;
    if (!parse_int64(lane.tid, stream) || stream < 0) stream = -1;
    return builder_.stream(device, stream);
  }

  static constexpr int64_t kRoundingNs = 1'000;  // rounding of times in whole microseconds
  static constexpr int64_t kMostDevices = 64;

  TraceBuilder& builder_;
  std::vector<bool> streams_;  // by thread
};

}  // namespace

void file_plain_lanes(TraceBuilder& builder) { PlainLanes(builder).file(); }

}  // namespace assay
