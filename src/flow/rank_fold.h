#pragma once

// The dependences of one rank of a job between its collectives, without its kernels.
//
// Problem: a job is replayed with another pace of a rank's device or host. The gap between two
// collectives does not suffice, because a rank computes under its own transfers and work with slack
// moves nothing. Method: the kept points are begins and ends of parts in collectives, their
// launches, and begins and ends of the host's waits. The last kernel before each of them is kept
// too. Everything between two points becomes vectors of device work, host work and fixed time. The
// longest path is the largest of device * a + host * b + fixed for paces a and b. A vector that is
// never the largest for paces between one half and two is dropped. Effect: a replay without edits
// gives every recorded time to the nanosecond.

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
  uint32_t source = 0;           // an earlier point
  uint32_t device = kNoSegment;  // the point that ends the segment of the device work
  uint32_t host = kNoSegment;    // likewise the host work
  uint32_t first = 0;            // range in RankFold::vectors
  uint32_t count = 0;
};

// Own device work of one name in a segment.
struct FoldShare {
  uint32_t name = 0;  // into RankFold::names
  int64_t ns = 0;
};

// A point and the segment that ends with it: kernels of its stream, or work of the host, since the
// point before.
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
  std::vector<FoldPoint> points;  // a source precedes its targets
  std::vector<FoldEdge> edges;    // by target
  std::vector<FoldVector> vectors;
  std::vector<FoldShare> shares;  // by segment, longest first
  std::vector<std::string> names;
  std::vector<FoldPart> parts;  // in the order of their launches
  std::vector<FoldGroup> groups;
  bool numbered = false;        // iterations are numbered by labels: the same on all ranks
  uint64_t overlapping = 0;     // kernels that begin before the one before them has ended
  uint64_t inferred_waits = 0;  // waits of streams that no row resolves
  uint64_t dropped_edges = 0;   // with so much slack that a record left them out
  uint64_t cut_points = 0;      // after the last iteration that a record has room for

  uint32_t edge_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_edge
                                     : static_cast<uint32_t>(edges.size());
  }
  uint32_t share_end(uint32_t point) const {
    return point + 1 < points.size() ? points[point + 1].first_share
                                     : static_cast<uint32_t>(shares.size());
  }
};

// steps: iterations, or null if the trace is one.
RankFold fold_rank(const FlowRun& run, const Windows* steps);

// Keeps the vectors that are the largest at some pace, at most six.
void keep_envelope(std::vector<FoldVector>& vectors);

// Points that do not happen at the time of the longest path to them: 0, or there is a bug. Ends of
// parts keep the length that they had.
uint64_t fold_errors(const RankFold& fold);

// Removes the point `first`, all later ones and their parts.
void cut_fold(RankFold& fold, uint32_t first);

}  // namespace assay
