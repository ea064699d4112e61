#pragma once

// A memory snapshot of PyTorch's caching allocator (docs/formats/memory_snapshot.md). Sizes are in
// bytes. Blocks and segments are the state at the snapshot; events precede it.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

enum class BlockState : uint8_t {
  kAllocated,     // in use
  kAwaitingFree,  // freed by the program, but a stream may still use it
  kInactive,
  kUnknown,  // not a state of any known PyTorch version
};

struct SnapshotBlock {
  int64_t size = 0;       // rounded up
  int64_t requested = 0;  // as requested; `size` if it was not recorded
  uint64_t address = 0;
  BlockState state = BlockState::kUnknown;
  uint32_t site = 0;  // MemorySnapshot::sites
};

// Memory that the allocator got from the driver.
struct SnapshotSegment {
  int64_t device = 0;
  int64_t total = 0;
  int64_t allocated = -1;  // -1 = not in the file
  int64_t active = -1;     // allocated or waiting to be freed
  std::vector<SnapshotBlock> blocks = {};
};

enum class SnapshotAction : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,  // also maps of expandable segments
  kSegmentFree,   // also their unmaps
  kOutOfMemory,
  kSnapshot,
  kUnknown,
};

struct SnapshotEvent {
  SnapshotAction action = SnapshotAction::kUnknown;
  uint64_t address = 0;
  int64_t size = 0;      // allocations and releases: as requested, before rounding
  int64_t time_us = -1;  // -1 = not recorded
  uint32_t site = 0;
};

struct MemorySnapshot {
  std::string file = {};
  std::vector<SnapshotSegment> segments = {};
  std::vector<std::vector<SnapshotEvent>> traces = {};  // by device, in time order
  std::vector<std::string> sites = {""};                // "file.py:12 name"; sites[0]: not recorded
};

}  // namespace assay
