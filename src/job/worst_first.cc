#include "job/worst_first.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

class WorstFirst {
 public:
  WorstFirst(const FleetJob& job, const FleetExcess& excess, FleetFindings& found)
      : job_(job), excess_(excess), found_(found) {
    taken_.ranks.assign(job.ranks.size(), 0);
    taken_.groups.assign(job.groups.size(), 0);
  }

  void run() {
    std::vector<size_t> left;
    for (size_t f = 0; f < found_.worst.size(); ++f) left.push_back(f);
    const std::vector<int64_t> alone = spans_with(left);
    for (size_t f = 0; f < left.size(); ++f) {
      found_.worst[f].saved_alone_ns = found_.span_ns - alone[f];
    }
    std::vector<FleetFinding> order;
    int64_t span_ns = found_.span_ns;
    while (!left.empty()) {
      const std::vector<int64_t> spans = spans_with(left);
      size_t best = 0;
      for (size_t k = 1; k < left.size(); ++k) {
        if (std::pair(spans[k], -weight(left[k])) < std::pair(spans[best], -weight(left[best]))) {
          best = k;
        }
      }
      FleetFinding& one = found_.worst[left[best]];
      one.saved_ns = span_ns - spans[best];
      found_.saved_by_worst_ns += one.saved_ns;
      span_ns = spans[best];
      add(one, kEveryLane, taken_);
      order.push_back(std::move(one));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    }
    found_.worst = std::move(order);
    tell_the_rest(span_ns);
  }

 private:
  static constexpr uint8_t kEveryLane = 0xFF;

  int64_t weight(size_t f) const {
    return found_.worst[f].excess.total_ns() + found_.worst[f].link_excess_ns;
  }

  static void add(const FleetFinding& one, uint8_t lanes, FleetMasks& masks) {
    if (one.kind != FindingKind::kLinks) {
      for (const uint32_t rank : one.ranks) masks.ranks[rank] |= lanes;
    }
    for (const uint32_t group : one.groups) masks.groups[group] |= lanes;
  }

  // The span without what is taken and each of `which` beside it.
  std::vector<int64_t> spans_with(const std::vector<size_t>& which) {
    std::vector<int64_t> spans;
    for (size_t begin = 0; begin < which.size(); begin += kLanes) {
      FleetMasks masks = taken_;
      const size_t end = std::min(begin + kLanes, which.size());
      for (size_t k = begin; k < end; ++k) {
        add(found_.worst[which[k]], static_cast<uint8_t>(1u << (k - begin)), masks);
      }
      const auto lanes = fleet_spans(job_, excess_, masks, ends_);
      spans.insert(spans.end(), lanes.begin(),
                   lanes.begin() + static_cast<std::ptrdiff_t>(end - begin));
    }
    return spans;
  }

  void tell_the_rest(int64_t span_ns) {
    FleetMasks masks = taken_;
    masks.absent = 0b11;
    for (uint8_t& mask : masks.ranks) mask |= 0b10;
    for (uint8_t& mask : masks.groups) mask |= 0b10;
    const auto lanes = fleet_spans(job_, excess_, masks, ends_);
    found_.saved_by_absent_ns = span_ns - lanes[0];
    found_.saved_by_rest_ns = lanes[0] - lanes[1];
  }

  const FleetJob& job_;
  const FleetExcess& excess_;
  FleetFindings& found_;
  FleetMasks taken_;
  std::vector<int64_t> ends_;
};

}  // namespace

void put_worst_first(const FleetJob& job, const FleetExcess& excess, FleetFindings& found) {
  WorstFirst(job, excess, found).run();
}

}  // namespace assay
