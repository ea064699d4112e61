#pragma once

// Assigns time slices to lanes in which they nest. Viewers draw a lane as a stack, which cannot
// show a slice that begins inside another one and outlives it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace assay {

class Lanes {
 public:
  // Perfetto drops slices nested deeper than its limit (255 in old versions).
  static constexpr size_t kMostNested = 250;

  // Lane of the next slice: the first in which it nests in the open slices or does not overlap
  // them, otherwise a new one. Call it in order of start, longer slices first if equal. Intervals
  // are half-open: a slice that starts at the end of another one does not overlap it. An empty
  // slice counts as one nanosecond long, to limit the stacking of many slices at one instant.
  uint32_t place(int64_t start_ns, int64_t dur_ns);
  size_t count() const { return open_.size(); }

 private:
  using Closing = std::pair<int64_t, uint32_t>;  // end of a slice, its lane

  void close_until(int64_t time_ns);
  int64_t room_of(uint32_t lane) const;
  void update(uint32_t lane);
  void add_lane();
  uint32_t first_with_room(int64_t end_ns) const;

  std::vector<std::vector<int64_t>> open_;  // per lane: ends of its open slices, the innermost last
  std::priority_queue<Closing, std::vector<Closing>, std::greater<>> closing_;
  // Max-tree over the lanes: the latest end of a slice that starts now and fits in the lane.
  std::vector<int64_t> room_ = {INT64_MIN, INT64_MIN};
  size_t leaves_ = 1;
};

}  // namespace assay
