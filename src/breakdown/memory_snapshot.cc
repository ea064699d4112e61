#include "breakdown/memory_snapshot.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;

// Bytes that an action adds to allocated or to reserved memory.
int64_t allocated_by(const SnapshotEvent& event) {
  if (event.action == SnapshotAction::kAlloc) return event.size;
  return event.action == SnapshotAction::kFreeRequested ? -event.size : 0;
}
int64_t reserved_by(const SnapshotEvent& event) {
  if (event.action == SnapshotAction::kSegmentAlloc) return event.size;
  return event.action == SnapshotAction::kSegmentFree ? -event.size : 0;
}

void add_segment(const SnapshotSegment& segment, SnapshotMemory& state) {
  int64_t allocated = 0;
  int64_t awaiting = 0;
  int64_t inactive = 0;
  for (const SnapshotBlock& block : segment.blocks) {
    allocated += block.state == BlockState::kAllocated ? block.size : 0;
    awaiting += block.state == BlockState::kAwaitingFree ? block.size : 0;
    inactive += block.state == BlockState::kInactive ? block.size : 0;
    state.odd_blocks += block.state == BlockState::kUnknown ? 1 : 0;
    if (block.state != BlockState::kAllocated) continue;
    ++state.blocks;
    state.rounding_bytes += block.size - block.requested;
  }
  const int64_t unexplained = segment.total - allocated - awaiting - inactive;
  const bool odd = unexplained != 0 || (segment.allocated >= 0 && segment.allocated != allocated) ||
                   (segment.active >= 0 && segment.active != allocated + awaiting);
  state.odd_blocks += odd ? 1 : 0;
  ++state.segments;
  state.reserved_bytes += segment.total;
  state.allocated_bytes += allocated;
  state.awaiting_bytes += awaiting;
  state.unexplained_bytes += unexplained;
  const bool unused = allocated + awaiting == 0;
  (unused ? state.free_segment_bytes : state.split_bytes) += inactive;
}

// Number of events before the snapshot of the blocks: more may follow before the file was written.
size_t events_before(const std::vector<SnapshotEvent>& events) {
  for (size_t i = events.size(); i > 0; --i) {
    if (events[i - 1].action == SnapshotAction::kSnapshot) return i;
  }
  return events.size();
}

// Checks that actions and blocks agree about the state of each address.
class AddressCheck {
 public:
  void see(const SnapshotEvent& event) {
    if (event.action == SnapshotAction::kAlloc) {
      Known& known = known_[event.address];
      odd_ += known.live ? 1 : 0;
      known = {event.size, true};
    } else if (event.action == SnapshotAction::kFreeRequested) {
      const auto [found, is_new] = known_.try_emplace(event.address, Known{event.size, true});
      if (is_new) before_bytes_ += event.size;  // allocated before the first action
      odd_ += !found->second.live || found->second.size != event.size ? 1 : 0;
      found->second.live = false;
    }
  }

  // For blocks in use at the snapshot; call it after the actions before the snapshot.
  void see(const SnapshotBlock& block) {
    const auto found = known_.find(block.address);
    if (found == known_.end()) {
      before_bytes_ += block.requested;
      return;
    }
    odd_ += !found->second.live || found->second.size != block.requested ? 1 : 0;
    found->second.live = false;
  }

  // first_bytes: memory in use at the first action, computed backwards.
  uint64_t odd(int64_t first_bytes) const {
    uint64_t odd = odd_;
    for (const auto& [address, known] : known_) odd += known.live ? 1 : 0;
    return odd + (odd == 0 && first_bytes != before_bytes_ ? 1 : 0);
  }

 private:
  struct Known {
    int64_t size = 0;
    bool live = false;
  };
  std::unordered_map<uint64_t, Known> known_;
  int64_t before_bytes_ = 0;
  uint64_t odd_ = 0;
};

// Replays the actions of a device in order, starting with the memory in use before them.
struct Replay {
  const MemorySnapshot& snapshot;
  SnapshotDevice& device;
  bool told = false;  // the totals are known
  int64_t allocated = 0;
  int64_t reserved = 0;
  int64_t ahead = 0;
  std::map<uint32_t, MemorySums> sites = {};

  void step(const SnapshotEvent& event) {
    const int64_t bytes = allocated_by(event);
    allocated += bytes;
    reserved += reserved_by(event);
    ahead += bytes;
    DeviceMemory& memory = device.memory;
    memory.grown_bytes = std::max(memory.grown_bytes, ahead);
    if (event.action == SnapshotAction::kAlloc || event.action == SnapshotAction::kFreeRequested) {
      const int64_t most_before = memory.sums.peak_bytes;
      const int64_t total = told ? allocated : -1;
      add(event, total, memory.sums);
      add(event, total, sites[event.site]);
      if (memory.sums.peak_bytes > most_before) memory.peak.op = snapshot.sites[event.site];
    }
    if (!told) return;
    memory.peak_reserved_bytes = std::max(memory.peak_reserved_bytes, reserved);
    if (event.time_us >= 0)
      memory.samples.push_back({event.time_us * kNanosecondsPerMicrosecond, allocated, reserved});
  }

  // A free of zero bytes also counts as a free.
  static void add(const SnapshotEvent& event, int64_t total, MemorySums& sums) {
    if (event.action == SnapshotAction::kAlloc) return sums.add(event.size, total);
    ++sums.frees;
    sums.freed_bytes += event.size;
    sums.peak_bytes = std::max(sums.peak_bytes, total);
  }
};

void count_actions(const std::vector<SnapshotEvent>& events, SnapshotMemory& state) {
  for (const SnapshotEvent& event : events) {
    ++state.actions;
    state.segment_allocations += event.action == SnapshotAction::kSegmentAlloc ? 1 : 0;
    state.segment_frees += event.action == SnapshotAction::kSegmentFree ? 1 : 0;
    state.out_of_memory += event.action == SnapshotAction::kOutOfMemory ? 1 : 0;
    state.unknown_actions += event.action == SnapshotAction::kUnknown ? 1 : 0;
  }
}

// Memory in use and reserved before the first action, computed backwards from the blocks.
MemorySample before_actions(const std::vector<SnapshotEvent>& events, size_t until,
                            const SnapshotMemory& state) {
  MemorySample before{.allocated_bytes = state.allocated_bytes - state.rounding_bytes,
                      .reserved_bytes = state.reserved_bytes};
  for (size_t i = 0; i < until; ++i) {
    before.allocated_bytes -= allocated_by(events[i]);
    before.reserved_bytes -= reserved_by(events[i]);
  }
  return before;
}

using BlocksInUse = std::vector<const SnapshotBlock*>;

void replay_actions(const MemorySnapshot& snapshot, const std::vector<SnapshotEvent>& events,
                    const BlocksInUse& in_use, SnapshotDevice& device) {
  SnapshotMemory& state = device.state;
  DeviceMemory& memory = device.memory;
  count_actions(events, state);
  if (events.empty()) return;
  const size_t until = events_before(events);
  const MemorySample before = before_actions(events, until, state);
  AddressCheck addresses;
  for (size_t i = 0; i < until; ++i) addresses.see(events[i]);
  for (const SnapshotBlock* block : in_use) addresses.see(*block);
  state.odd_actions = addresses.odd(before.allocated_bytes) + (before.reserved_bytes < 0 ? 1 : 0);
  Replay replay{.snapshot = snapshot,
                .device = device,
                .told = state.odd_actions + state.odd_blocks + state.unknown_actions == 0,
                .allocated = before.allocated_bytes,
                .reserved = before.reserved_bytes};
  if (replay.told) {
    memory.first_bytes = before.allocated_bytes;
    state.first_reserved_bytes = before.reserved_bytes;
    memory.sums.peak_bytes = before.allocated_bytes;
    memory.peak_reserved_bytes = before.reserved_bytes;
  }
  for (const SnapshotEvent& event : events) replay.step(event);
  if (replay.told) memory.last_bytes = replay.allocated;
  memory.phases.push_back({.sums = memory.sums});
  for (const auto& [site, sums] : replay.sites)
    memory.ops.push_back({.op = snapshot.sites[site], .sums = sums});
  std::stable_sort(memory.ops.begin(), memory.ops.end(),
                   [](const MemoryPlace& a, const MemoryPlace& b) {
                     return a.sums.allocated_bytes > b.sums.allocated_bytes;
                   });
}

void add_holders(const MemorySnapshot& snapshot, const BlocksInUse& in_use, SnapshotMemory& state) {
  std::map<uint32_t, MemoryHolder> holders;
  for (const SnapshotBlock* block : in_use) {
    MemoryHolder& holder = holders[block->site];
    holder.site = snapshot.sites[block->site];
    ++holder.blocks;
    holder.bytes += block->size;
  }
  for (auto& [site, holder] : holders) state.holders.push_back(std::move(holder));
  std::stable_sort(state.holders.begin(), state.holders.end(),
                   [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes > b.bytes; });
}

}  // namespace

std::vector<SnapshotDevice> replay_snapshot(const MemorySnapshot& snapshot) {
  std::map<int64_t, SnapshotDevice> devices;
  std::map<int64_t, BlocksInUse> in_use;
  for (const SnapshotSegment& segment : snapshot.segments) {
    add_segment(segment, devices[segment.device].state);
    for (const SnapshotBlock& block : segment.blocks) {
      if (block.state == BlockState::kAllocated) in_use[segment.device].push_back(&block);
    }
  }
  for (size_t i = 0; i < snapshot.traces.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    if (snapshot.traces[i].empty()) continue;
    replay_actions(snapshot, snapshot.traces[i], in_use[number], devices[number]);
  }
  std::vector<SnapshotDevice> found;
  for (auto& [number, device] : devices) {
    device.memory.file = snapshot.file;
    device.memory.device = number;
    add_holders(snapshot, in_use[number], device.state);
    found.push_back(std::move(device));
  }
  return found;
}

}  // namespace assay
