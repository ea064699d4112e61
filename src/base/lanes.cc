#include "base/lanes.h"

#include <algorithm>

namespace assay {

uint32_t Lanes::place(int64_t start_ns, int64_t dur_ns) {
  close_until(start_ns);
  const int64_t end_ns = start_ns + std::max<int64_t>(dur_ns, 1);
  if (open_.empty() || room_[1] < end_ns) add_lane();
  const uint32_t lane = first_with_room(end_ns);
  open_[lane].push_back(end_ns);
  closing_.emplace(end_ns, lane);
  update(lane);
  return lane;
}

// Pops all slices that end by time_ns. Slices nest, so the innermost of a lane ends first.
void Lanes::close_until(int64_t time_ns) {
  while (!closing_.empty() && closing_.top().first <= time_ns) {
    const uint32_t lane = closing_.top().second;
    closing_.pop();
    open_[lane].pop_back();
    update(lane);
  }
}

int64_t Lanes::room_of(uint32_t lane) const {
  const std::vector<int64_t>& ends = open_[lane];
  if (ends.empty()) return INT64_MAX;
  return ends.size() < kMostNested ? ends.back() : INT64_MIN;
}

void Lanes::update(uint32_t lane) {
  size_t node = leaves_ + lane;
  room_[node] = room_of(lane);
  for (node /= 2; node > 0; node /= 2) room_[node] = std::max(room_[2 * node], room_[2 * node + 1]);
}

void Lanes::add_lane() {
  open_.emplace_back();
  if (open_.size() > leaves_) {
    leaves_ *= 2;
    room_.assign(2 * leaves_, INT64_MIN);
    for (uint32_t lane = 0; lane < open_.size(); ++lane) update(lane);
    return;
  }
  update(static_cast<uint32_t>(open_.size() - 1));
}

uint32_t Lanes::first_with_room(int64_t end_ns) const {
  size_t node = 1;
  while (node < leaves_) node = room_[2 * node] >= end_ns ? 2 * node : 2 * node + 1;
  return static_cast<uint32_t>(node - leaves_);
}

}  // namespace assay
