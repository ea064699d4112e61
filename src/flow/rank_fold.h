#pragma once

// One rank of a job without its kernels: what depends on what between the moments at which it meets
// others, exactly.
//
// Problem: a job is replayed with a rank's device or host at another pace, and neither the gap
// between two collectives nor its length tells what would happen: a rank computes under its own
// transfers, and what has slack moves nothing.
// Method: points stay where a rank meets others (begin and end of a part in a collective), where
// its host launches such a part, begins to wait or goes on, and at the last kernel before each of
// these. Everything between two points is folded into vectors (device work, host work, fixed): the
// longest path between them is the largest of device * a + host * b + fixed, whatever the paces a
// and b are. Of vectors that no pace between half and twice makes the largest none is kept.
// Effect: a replay without edits gives every recorded time to the nanosecond.

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
  kHost,     // the host launches a part or the first work of an iteration, or begins to wait
  kResumed,  // it goes on after a wait
  kBegin,    // of a part in a collective or transfer
  kEnd,
  kKernel,  // end of a kernel that something other than the next one of its stream waits for
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
  uint32_t source = 0;               // an earlier point
  uint32_t device = kNoSegment;      // the point that ends the segment of the device work
  uint32_t host = kNoSegment;        // likewise the host work
  uint32_t first = 0;                // range in RankFold::vectors
  uint32_t count = 0;
};

// Own device work of one name in a segment.
struct FoldShare {
  uint32_t name = 0;  // into RankFold::names
  int64_t ns = 0;
};

// A point, and the segment that ends with it: the kernels of its stream since the last kernel that
// is a point, or what the host did since its point before.
struct FoldPoint {
  FoldKind kind = FoldKind::kHost;
  int32_t iteration = 0;
  int64_t time_ns = 0;
  int64_t work_ns = 0;   // own work of the segment
  uint32_t kernels = 0;  // in it
  uint32_t first_edge = 0;
  uint32_t first_share = 0;
};

// A part in a collective or transfer, by its points.
struct FoldPart {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t group = 0;     // into RankFold::groups
  int64_t seq = -1;       // number in the process group; -1 = not recorded
  int64_t elements = -1;  // of the larger side; -1 = not recorded
};

struct FoldGroup {
  CollectiveGroup group;
  int64_t members = 0;  // ranks of the process group; 0 = not recorded
};

struct RankFold {
  std::vector<FoldPoint> points;  // sources come before what depends on them; the first has none
  std::vector<FoldEdge> edges;    // by target
  std::vector<FoldVector> vectors;
  std::vector<FoldShare> shares;  // by segment, longest first
  std::vector<std::string> names;
  std::vector<FoldPart> parts;  // in the order of their launches
  std::vector<FoldGroup> groups;
  bool numbered = false;           // iterations are numbered by labels: the same on all ranks
  uint64_t overlapping = 0;        // kernels that begin before the one before them has ended
  uint64_t inferred_waits = 0;     // waits of streams that no row resolves
  uint64_t dropped_edges = 0;      // with so much slack that a record left them out
  uint64_t cut_points = 0;         // after the last iteration that a record has room for

  uint32_t edge_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_edge
                                     : static_cast<uint32_t>(edges.size());
  }
  uint32_t share_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_share
                                     : static_cast<uint32_t>(shares.size());
  }
};

// steps: iterations; without them the trace is one.
RankFold fold_rank(const FlowRun& run, const Windows* steps);

// Of vectors between the same points those that are the largest at some pace: at most six.
void keep_envelope(std::vector<FoldVector>& vectors);

// Points that do not happen at the time of the longest path to them: 0, or there is a bug. Ends of parts
// keep the length that they had.
uint64_t fold_errors(const RankFold& fold);

// Removes the point `first`, all later ones and their parts.
void cut_fold(RankFold& fold, uint32_t first);

}  // namespace assay
