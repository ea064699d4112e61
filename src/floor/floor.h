#pragma once

// The launch floor of a trace: what a launch costs when nothing stands in its way (F of SKIP,
// T_floor^sys of TaxBreak), from the start of the launch call on the host to the start of the
// kernel on the device. A trace has one floor, whoever asks: launch time beyond it is queueing,
// every launch of a run pays it, a launch saved saves it. Why these sources in this order and this
// estimate: docs/decisions/0009-launch-floor.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/replay.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace assay {

// Where a floor is from; of several the first.
enum class FloorSource : uint8_t {
  kNone,       // not known: LaunchFloor::text says why
  kGiven,      // nanoseconds that the user typed
  kMeasured,   // a floor file: empty kernels on a machine with this GPU
  kPublished,  // printed for this board (or the platform that the user named) by a paper
  kEstimated,  // from the trace's own launches (floor/estimate.h)
};
std::string_view floor_source_name(FloorSource source);

// The floor of one of the two calls that launch (records/replay.h).
struct FloorOfPath {
  LaunchPath path = LaunchPath::kUnknown;
  int64_t floor_ns = 0;
  uint64_t samples = 0;
};

struct LaunchFloor {
  FloorSource source = FloorSource::kNone;
  int64_t floor_ns = 0;  // whole nanoseconds, so that parts add up exactly; 0 when not known
  uint64_t samples = 0;  // launches behind a measured floor or an estimate, or too few for one
  std::string text;      // the source in words, or why the floor is not known
  CollectorTracer tracer = CollectorTracer::kUnknown;  // of a measured one
  std::vector<FloorOfPath> paths = {};  // of a measured one: what find_floor chooses from
  // What could not be checked and what does not fit. Keys: floor_gpu, floor_gpu_unchecked,
  // floor_tracer, floor_upper_bound, floor_path of a floor that was given; of any floor no_floor,
  // floor_samples, floor_disagrees.
  TrustNotes trust = {};

  bool known() const { return source != FloorSource::kNone; }
};

// No launch takes a second.
constexpr int64_t kLargestFloorNs = 1'000'000'000;

// The floor of a trace: the given one, else the one published for every board that ran its kernels
// and taken with its tracer, else the estimate, else none. Of a floor measured by both calls that
// launch it is that of the call which most of the trace's kernels were launched by. Fails on a
// given floor that is not from 1 ns to a second.
Result<LaunchFloor> find_floor(const Trace& trace, const Links& links,
                               const std::optional<LaunchFloor>& given = std::nullopt);

// What the rooms call: the floor that was found for this trace before, else find_floor's.
Result<LaunchFloor> floor_or_found(const std::optional<LaunchFloor>& found, const Trace& trace,
                                   const Links& links);

}  // namespace assay
