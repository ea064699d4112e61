#pragma once

// A memory snapshot of PyTorch's caching allocator (docs/formats/memory_snapshot.md). Sizes are in
// bytes. Blocks and segments are of the time of the snapshot; events came before it.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

enum class BlockState : uint8_t {
  kAllocated,     // in use
  kAwaitingFree,  // given back, while a stream may still use it
  kInactive,
  kUnknown,  // a word that no PyTorch is known to write
};

struct SnapshotBlock {
  int64_t size = 0;       // rounded up
  int64_t requested = 0;  // as requested; `size` if it was not recorded
  uint64_t address = 0;
  BlockState state = BlockState::kUnknown;
  uint32_t site = 0;  // MemorySnapshot::sites
};

// A stretch taken from the driver.
struct SnapshotSegment {
  int64_t device = 0;
  int64_t total = 0;
  int64_t allocated = -1;  // as the file says; -1 = it does not
  int64_t active = -1;     // allocated or waiting to be freed
  std::vector<SnapshotBlock> blocks = {};
};

enum class SnapshotAction : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,  // also what expandable segments map
  kSegmentFree,   // and unmap
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
  std::vector<std::vector<SnapshotEvent>> traces = {};  // by device, in order of time
  std::vector<std::string> sites = {""};  // "file.py:12 name"; the first one is "not recorded"
};

}  // namespace assay
