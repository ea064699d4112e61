#pragma once

// The dependencies of one rank of a job between its collectives, without its kernels.
//
// Problem: a job is replayed with another pace of a rank's device or host. The gaps between
// collectives do not suffice, because a rank computes during its own transfers and work with slack
// moves nothing. Method: keep as points the begins and ends of parts in collectives, their
// launches, the begins and ends of host waits, and the last kernel before each of them. Replace
// everything between two points by vectors of device work, host work and fixed time. The longest
// path for paces a and b is the maximum of device * a + host * b + fixed. Keep only the vectors
// that are largest at one of the paces of keep_envelope(). Effect: a replay without edits gives
// every recorded time exactly.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/meetings.h"
#include "flow/run.h"
#include "trace/iterations.h"

namespace assay {

constexpr uint32_t kNoSegment = UINT32_MAX;

enum class FoldKind : uint8_t {
  kHost,     // the host launches a part or an iteration's first work, or starts to wait
  kResumed,  // the host resumes after a wait
  kBegin,    // begin of a part in a collective or transfer
  kEnd,
  kKernel,  // end of a kernel that something other than its stream's next kernel waits for
};

// One path between two points.
struct FoldVector {
  int64_t device_ns = 0;  // own device work
  int64_t host_ns = 0;    // own host work
  int64_t fixed_ns = 0;   // latencies and waiting; may be negative
  int64_t sum_ns() const { return device_ns + host_ns + fixed_ns; }
  friend auto operator<=>(const FoldVector&, const FoldVector&) = default;
};

// The paths from an earlier point.
struct FoldEdge {
  uint32_t source = 0;           // an earlier point
  uint32_t device = kNoSegment;  // the point with the device work in its segment
  uint32_t host = kNoSegment;    // the same for the host work
  uint32_t first = 0;            // range in RankFold::vectors
  uint32_t count = 0;
};

// Own device work of one name in a segment.
struct FoldShare {
  uint32_t name = 0;  // index into RankFold::names
  int64_t ns = 0;
};

// A point and the segment that ends at it: kernels of its stream, or host work, since the previous
// point.
struct FoldPoint {
  FoldKind kind = FoldKind::kHost;
  int32_t iteration = 0;
  int64_t time_ns = 0;
  int64_t work_ns = 0;   // own work of the segment
  uint32_t kernels = 0;  // kernels in the segment
  uint32_t first_edge = 0;
  uint32_t first_share = 0;
};

// A part in a collective or transfer.
struct FoldPart {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t group = 0;     // index into RankFold::groups
  int64_t seq = -1;       // number in the process group; -1 = not recorded
  int64_t elements = -1;  // of the larger side; -1 = not recorded
};

struct FoldGroup {
  CollectiveGroup group;
  int64_t members = 0;  // ranks of the process group; 0 = not recorded
};

struct RankFold {
  std::vector<FoldPoint> points;  // a source precedes its targets
  std::vector<FoldEdge> edges;    // by target
  std::vector<FoldVector> vectors;
  std::vector<FoldShare> shares;  // by point, longest first
  std::vector<std::string> names;
  std::vector<FoldPart> parts;  // in the order of their launches
  std::vector<FoldGroup> groups;
  bool numbered = false;        // iterations are numbered by labels, hence comparable across ranks
  uint64_t overlapping = 0;     // kernels that begin before their stream predecessor ends
  uint64_t inferred_waits = 0;  // stream waits without a recorded target
  uint64_t dropped_edges = 0;   // left out of a rank summary because of their slack
  uint64_t cut_points = 0;      // points after the last iteration that fits in a rank summary

  uint32_t edge_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_edge
                                     : static_cast<uint32_t>(edges.size());
  }
  uint32_t share_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_share
                                     : static_cast<uint32_t>(shares.size());
  }
};

// steps: iterations; null: the whole trace is one. Empty if the run has no device work.
RankFold fold_rank(const FlowRun& run, const Windows* steps);

// Keeps the vectors that are largest at one of seven pairs of device and host paces (0, 1/2, 1 or
// 2). Sorts them.
void keep_envelope(std::vector<FoldVector>& vectors);

// Number of points that differ from the longest path to them; must be 0.
uint64_t fold_errors(const RankFold& fold);

// Removes the points since `first`, and parts that end there.
void cut_fold(RankFold& fold, uint32_t first);

}  // namespace assay
