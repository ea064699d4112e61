// Memory snapshots: parts of what is reserved, and peaks as the actions replay.

#include "breakdown/memory_snapshot.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

SnapshotEvent event(SnapshotAction action, uint64_t address, int64_t size) {
  return {.action = action, .address = address, .size = size, .time_us = 10};
}

// 1000 reserved: 512 in use for 500, 88 waiting, 400 unused; what came before the file is 500 more.
MemorySnapshot snapshot() {
  MemorySnapshot made{.file = "x.pickle"};
  made.segments.push_back({.total = 1000,
                           .allocated = 512,
                           .active = 600,
                           .blocks = {{512, 500, 1, BlockState::kAllocated},
                                      {88, 80, 2, BlockState::kAwaitingFree},
                                      {400, 0, 3, BlockState::kInactive}}});
  made.segments.push_back(
      {.total = 256, .allocated = 0, .active = 0, .blocks = {{256, 0, 9, BlockState::kInactive}}});
  made.traces.push_back(
      {event(SnapshotAction::kFreeRequested, 7, 300), event(SnapshotAction::kSegmentAlloc, 9, 256),
       event(SnapshotAction::kAlloc, 2, 80), event(SnapshotAction::kOutOfMemory, 0, 0),
       event(SnapshotAction::kFreeRequested, 2, 80), event(SnapshotAction::kSnapshot, 0, 600)});
  return made;
}

SnapshotDevice only_device(const MemorySnapshot& made) {
  const std::vector<SnapshotDevice> devices = replay_snapshot(made);
  EXPECT_EQ(devices.size(), 1u);
  return devices.front();
}

TEST(MemorySnapshot, PartsOfWhatIsReserved) {
  const SnapshotMemory state = only_device(snapshot()).state;
  EXPECT_EQ(state.reserved_bytes, 1256);
  EXPECT_EQ(state.allocated_bytes, 512);
  EXPECT_EQ(state.awaiting_bytes, 88);
  EXPECT_EQ(state.split_bytes, 400);
  EXPECT_EQ(state.free_segment_bytes, 256);
  EXPECT_EQ(state.unexplained_bytes, 0);
  EXPECT_EQ(state.rounding_bytes, 12);
  EXPECT_EQ(state.out_of_memory, 1u);
  EXPECT_EQ(state.odd_blocks + state.odd_actions, 0u);
}

// Before the first action 800 were in use: 500 of the block that stays, 300 that go first.
TEST(MemorySnapshot, LostBeginningIsFoundBackwards) {
  const SnapshotDevice device = only_device(snapshot());
  EXPECT_EQ(device.memory.first_bytes, 800);
  EXPECT_EQ(device.memory.sums.peak_bytes, 800);
  EXPECT_EQ(device.memory.last_bytes, 500);
  EXPECT_EQ(device.state.first_reserved_bytes, 1000);
  EXPECT_EQ(device.memory.peak_reserved_bytes, 1256);
}

// Another thread may allocate before the file is written: the blocks do not have it yet.
TEST(MemorySnapshot, ActionsAfterTheSnapshotCountForwards) {
  MemorySnapshot made = snapshot();
  made.traces[0].push_back(event(SnapshotAction::kAlloc, 3, 350));
  const SnapshotDevice device = only_device(made);
  EXPECT_EQ(device.memory.first_bytes, 800);
  EXPECT_EQ(device.memory.last_bytes, 850);
  EXPECT_EQ(device.memory.sums.peak_bytes, 850);
  EXPECT_EQ(device.state.odd_actions, 0u);
}

TEST(MemorySnapshot, ContradictionsAreCountedAndHaveNoPeak) {
  const auto expect_odd = [](const MemorySnapshot& made, const char* what) {
    const SnapshotDevice device = only_device(made);
    EXPECT_GT(device.state.odd_actions + device.state.odd_blocks, 0u) << what;
    EXPECT_EQ(device.memory.sums.peak_bytes, -1) << what;
    EXPECT_EQ(device.memory.peak_reserved_bytes, -1) << what;
    const SnapshotMemory& state = device.state;
    EXPECT_EQ(state.reserved_bytes, state.allocated_bytes + state.awaiting_bytes +
                                        state.split_bytes + state.free_segment_bytes +
                                        state.unexplained_bytes)
        << what;
  };
  MemorySnapshot made = snapshot();
  made.traces[0].insert(made.traces[0].begin() + 5, event(SnapshotAction::kFreeRequested, 2, 80));
  expect_odd(made, "given back twice");
  made = snapshot();
  made.traces[0].insert(made.traces[0].begin(), event(SnapshotAction::kAlloc, 1, 400));
  expect_odd(made, "a block of another size");
  made = snapshot();
  made.traces[0].insert(made.traces[0].begin(), event(SnapshotAction::kAlloc, 5, 10));
  expect_odd(made, "in use without a block");
  made = snapshot();
  made.traces[0].insert(made.traces[0].begin(), event(SnapshotAction::kSegmentAlloc, 5, 5000));
  expect_odd(made, "less than nothing reserved");
  made = snapshot();
  made.segments[0].blocks.pop_back();
  expect_odd(made, "a segment that is not its blocks");
  made = snapshot();
  made.segments[0].allocated = 100;
  expect_odd(made, "a segment that says otherwise");
}

// Sums that come out right by chance: only the addresses tell.
TEST(MemorySnapshot, ReleasesOfOtherSizesAreCountedWhereTheyCancel) {
  MemorySnapshot made = snapshot();
  const std::vector<SnapshotEvent> cancel = {
      event(SnapshotAction::kAlloc, 5, 10), event(SnapshotAction::kFreeRequested, 5, 20),
      event(SnapshotAction::kAlloc, 6, 20), event(SnapshotAction::kFreeRequested, 6, 10)};
  made.traces[0].insert(made.traces[0].begin(), cancel.begin(), cancel.end());
  const SnapshotDevice device = only_device(made);
  EXPECT_EQ(device.state.odd_actions, 2u);
  EXPECT_EQ(device.memory.sums.peak_bytes, -1);
}

TEST(MemorySnapshot, HasNoPeakIfThereAreNoActions) {
  MemorySnapshot made = snapshot();
  made.traces.clear();
  const SnapshotDevice device = only_device(made);
  EXPECT_EQ(device.state.reserved_bytes, 1256);
  EXPECT_EQ(device.memory.sums.peak_bytes, -1);
  EXPECT_EQ(device.memory.first_bytes, -1);
}

}  // namespace
}  // namespace assay
