#pragma once

// Analysis of a memory snapshot: the location of reserved bytes, and the peak by a replay of the
// recorded actions.
//
// Actions are in a ring buffer. The oldest may be lost, and recording may have started late. The
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
  int64_t bytes = 0;  // rounded up
};

struct SnapshotMemory {
  // reserved = allocated + awaiting free + split off + free segments + unexplained
  int64_t reserved_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t awaiting_bytes = 0;
  int64_t split_bytes = 0;  // unused, in segments of which something is in use
  int64_t free_segment_bytes =
      0;                          // segments without anything in use: empty_cache() gives them back
  int64_t unexplained_bytes = 0;  // segments less their blocks; blocks in an unknown state
  int64_t rounding_bytes = 0;     // of the allocated bytes: above the requested size
  uint64_t segments = 0;
  uint64_t blocks = 0;  // allocated
  uint64_t actions = 0;
  uint64_t segment_allocations = 0;
  uint64_t segment_frees = 0;
  uint64_t out_of_memory = 0;
  uint64_t unknown_actions = 0;
  uint64_t odd_blocks = 0;   // segments that are not their blocks, blocks in an unknown state
  uint64_t odd_actions = 0;  // releases of what was not allocated, blocks that are not the actions'
  int64_t first_reserved_bytes = -1;       // before the first action; -1 = unknown
  std::vector<MemoryHolder> holders = {};  // by bytes, most first; their sum is allocated_bytes
};

struct SnapshotDevice {
  DeviceMemory memory = {};  // from the actions: bytes as requested
  SnapshotMemory state = {};
};

// Devices that have a segment or an action, in their order.
std::vector<SnapshotDevice> replay_snapshot(const MemorySnapshot& snapshot);

}  // namespace assay
