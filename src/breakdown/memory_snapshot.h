#pragma once

// Analysis of a memory snapshot: how the reserved bytes are used, and the peak, by replaying the
// recorded actions.
//
// Actions are in a ring buffer: the oldest may be lost, and recording may have started late. The
// memory in use at the first action is therefore computed backwards from the blocks at the
// snapshot. If actions and blocks are inconsistent, no peak is reported.

#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/memory.h"
#include "records/memory_snapshot.h"

namespace assay {

// Memory held by the blocks of one call site.
struct MemoryHolder {
  std::string site = {};  // empty = not recorded
  uint64_t blocks = 0;
  int64_t bytes = 0;  // allocated size, rounded up
};

struct SnapshotMemory {
  // reserved = allocated + awaiting + split + free_segment + unexplained
  int64_t reserved_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t awaiting_bytes = 0;
  int64_t split_bytes = 0;         // free blocks of segments that are partly in use
  int64_t free_segment_bytes = 0;  // wholly free segments: empty_cache() returns them
  int64_t unexplained_bytes = 0;   // segments minus their blocks; blocks in an unknown state
  int64_t rounding_bytes = 0;      // the part of allocated_bytes above the requested size
  uint64_t segments = 0;
  uint64_t blocks = 0;  // allocated
  uint64_t actions = 0;
  uint64_t segment_allocations = 0;
  uint64_t segment_frees = 0;
  uint64_t out_of_memory = 0;
  uint64_t unknown_actions = 0;
  uint64_t odd_blocks = 0;   // segments inconsistent with their blocks; blocks in an unknown state
  uint64_t odd_actions = 0;  // frees of unknown blocks; blocks inconsistent with the actions
  int64_t first_reserved_bytes = -1;       // before the first action; -1 = unknown
  std::vector<MemoryHolder> holders = {};  // most bytes first; their sum is allocated_bytes
};

struct SnapshotDevice {
  DeviceMemory memory = {};  // from the actions: requested bytes
  SnapshotMemory state = {};
};

// Devices that have a segment or an action, in order.
std::vector<SnapshotDevice> replay_snapshot(const MemorySnapshot& snapshot);

}  // namespace assay
