#pragma once

// The launch-overhead floor of a trace: the cost of a launch without any wait (F of SKIP,
// T_floor^sys of TaxBreak), from the start of the launch call on the host to the start of the
// kernel on the device. A trace has one such value for all analyses. Launch time above it is
// queueing. Every launch of a run pays it, and every removed launch saves it.
// docs/decisions/0009-launch-floor.md explains the order of the sources and the estimate.

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

// Source of a launch-overhead floor; the first available one is used.
enum class FloorSource : uint8_t {
  kNone,       // not known: LaunchFloor::text says why
  kGiven,      // nanoseconds that the user typed
  kMeasured,   // a file of measured values: empty kernels on a machine with this GPU
  kPublished,  // printed for this board (or the platform that the user named) by a paper
  kEstimated,  // from the trace's own launches (floor/estimate.h)
};
std::string_view floor_source_name(FloorSource source);

// The launch-overhead floor of one of the two launch calls (records/replay.h).
struct FloorOfPath {
  LaunchPath path = LaunchPath::kUnknown;
  int64_t floor_ns = 0;
  uint64_t samples = 0;
};

struct LaunchFloor {
  FloorSource source = FloorSource::kNone;
  int64_t floor_ns = 0;  // whole nanoseconds, so that parts add up exactly; 0 when not known
  uint64_t samples = 0;  // number of launches in a measurement or an estimate, or too few for one
  std::string text;      // the source in words, or why it is unknown
  CollectorTracer tracer = CollectorTracer::kUnknown;  // of a measured one
  std::vector<FloorOfPath> paths = {};  // of a measured one: per launch call, for find_floor
  // Failed and missing checks. Keys for a given value: floor_gpu, floor_gpu_unchecked,
  // floor_tracer, floor_upper_bound, floor_path. Keys for all: no_floor, floor_samples,
  // floor_disagrees.
  TrustNotes trust = {};

  bool known() const { return source != FloorSource::kNone; }
};

// No launch takes a second.
constexpr int64_t kLargestFloorNs = 1'000'000'000;

// The launch-overhead floor of a trace. It is the given one, else the one published for every board
// that ran its kernels and measured with its tracer, else the estimate, else none. If it was
// measured for both launch calls, the call with most of the trace's kernels counts. Fails if a
// given value is not between 1 ns and a second.
Result<LaunchFloor> find_floor(const Trace& trace, const Links& links,
                               const std::optional<LaunchFloor>& given = std::nullopt);

// Entry point for modules: the value already found for this trace, else that of find_floor().
Result<LaunchFloor> floor_or_found(const std::optional<LaunchFloor>& found, const Trace& trace,
                                   const Links& links);

}  // namespace assay
