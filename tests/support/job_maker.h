#pragma once

// Jobs by hand: ranks of items on lanes. An item begins when the last item of each lane that ended
// before it began is over, after what was left between; a part in a collective ends when all came.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "flow/job.h"

namespace assay::testing {

struct JobItem {
  uint32_t rank = 0;
  int64_t lane = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string key = {};
  std::string meeting = {};  // name of the collective that this is a part in; empty = own work
  std::string kind = "all_reduce";
};

// Names of collectives become process groups with one collective each.
class JobMaker {
 public:
  JobMaker& add(JobItem item) {
    items_.push_back(std::move(item));
    return *this;
  }
  // tolerance_ns: an item follows one that ended so much later than it began, too. joint_start: the
  // source writes one start for all parts, the moment all had come; a part then came when the work
  // before it ended.
  std::vector<RankGraph> ranks(int64_t tolerance_ns = 0, bool joint_start = false) const {
    std::map<uint32_t, std::vector<JobItem>> by_rank;
    for (const JobItem& item : items_) by_rank[item.rank].push_back(item);
    std::vector<RankGraph> ranks;
    for (auto& [rank, items] : by_rank) {
      ranks.push_back(graph_of(rank, std::move(items), tolerance_ns, joint_start));
    }
    return ranks;
  }
  Job build() const { return Job(ranks()); }

 private:
  struct Placed {
    JobItem item;
    std::vector<size_t> before = {};
    int64_t begin_ns = 0;
    uint32_t points[2] = {kNoPoint, kNoPoint};
  };

  static void find_before(std::vector<Placed>& placed, int64_t tolerance_ns) {
    for (size_t i = 0; i < placed.size(); ++i) {
      std::map<int64_t, size_t> last;
      for (size_t k = 0; k < i; ++k) {
        if (placed[k].item.end_ns > placed[i].item.start_ns + tolerance_ns) continue;
        const auto found = last.find(placed[k].item.lane);
        if (found == last.end() || placed[k].item.end_ns >= placed[found->second].item.end_ns) {
          last[placed[k].item.lane] = k;
        }
      }
      for (const auto& [lane, k] : last) placed[i].before.push_back(k);
    }
  }

  static RankGraph graph_of(uint32_t rank, std::vector<JobItem> items, int64_t tolerance_ns,
                            bool joint_start) {
    std::stable_sort(items.begin(), items.end(), [](const JobItem& a, const JobItem& b) {
      return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
    });
    RankGraph graph;
    graph.rank = rank;
    graph.start_ns = items.front().start_ns;
    std::vector<Placed> placed;
    for (JobItem& item : items) placed.push_back({std::move(item)});
    find_before(placed, tolerance_ns);
    std::vector<std::tuple<int64_t, size_t, bool>> order;
    for (size_t i = 0; i < placed.size(); ++i) {
      Placed& one = placed[i];
      one.begin_ns = one.item.start_ns;
      if (joint_start && !one.item.meeting.empty()) {
        one.begin_ns = graph.start_ns;
        for (const size_t k : one.before) {
          one.begin_ns = std::max(one.begin_ns, placed[k].item.end_ns);
        }
      }
      order.emplace_back(one.begin_ns, i, false);
      order.emplace_back(one.item.end_ns, i, true);
    }
    place_all(placed, order, graph);
    return graph;
  }

  // Points in the order of their times, each behind those that it follows.
  static void place_all(std::vector<Placed>& placed,
                        std::vector<std::tuple<int64_t, size_t, bool>>& order, RankGraph& graph) {
    std::stable_sort(order.begin(), order.end());
    std::map<std::string, uint64_t> seen;
    std::vector<std::tuple<int64_t, size_t, bool>> left = std::move(order);
    while (!left.empty()) {
      std::vector<std::tuple<int64_t, size_t, bool>> later;
      for (const auto& at : left) {
        if (!place(placed, std::get<1>(at), std::get<2>(at), seen, graph)) later.push_back(at);
      }
      left = std::move(later);
    }
    graph.first_edge.push_back(static_cast<uint32_t>(graph.edges.size()));
  }

  static bool place(std::vector<Placed>& placed, size_t i, bool end,
                    std::map<std::string, uint64_t>& seen, RankGraph& graph) {
    Placed& one = placed[i];
    if (end && one.points[0] == kNoPoint) return false;
    if (!end) {
      for (const size_t k : one.before) {
        if (placed[k].points[1] == kNoPoint) return false;
      }
    }
    const auto point = static_cast<uint32_t>(graph.points());
    one.points[end] = point;
    graph.time_ns.push_back(end ? one.item.end_ns : one.begin_ns);
    graph.first_edge.push_back(static_cast<uint32_t>(graph.edges.size()));
    graph.ends.push_back(end);
    if (!end) {
      add_begin_edges(placed, one, graph);
    } else if (one.item.meeting.empty()) {
      add_work(one, seen, graph);
    } else {
      add_part(one, graph);
    }
    return true;
  }

  static void add_begin_edges(const std::vector<Placed>& placed, const Placed& one,
                              RankGraph& graph) {
    int64_t latest_ns = INT64_MIN;
    for (const size_t k : one.before) latest_ns = std::max(latest_ns, placed[k].item.end_ns);
    for (const size_t k : one.before) {
      graph.edges.push_back({placed[k].points[1], kNoWork, one.begin_ns - latest_ns, 0});
    }
    if (one.before.empty()) {
      graph.edges.push_back({kNoPoint, kNoWork, one.begin_ns - graph.start_ns, 0});
    }
  }

  static void add_work(const Placed& one, std::map<std::string, uint64_t>& seen, RankGraph& graph) {
    const std::string key = one.item.key + '#' + std::to_string(++seen[one.item.key]);
    const WorkName name{.name = one.item.key};
    const auto found = std::find(graph.names.begin(), graph.names.end(), name);
    const auto id = static_cast<uint32_t>(found - graph.names.begin());
    if (found == graph.names.end()) graph.names.push_back(name);
    const int64_t ns = one.item.end_ns - one.item.start_ns;
    graph.edges.push_back({one.points[0], static_cast<uint32_t>(graph.works.size()), 0, ns});
    graph.works.push_back({.match = checksum(key.data(), key.size()), .name = id, .ns = ns});
  }

  static void add_part(const Placed& one, RankGraph& graph) {
    const int64_t ns = one.item.end_ns - one.begin_ns;
    graph.edges.push_back({one.points[0], kNoWork, ns, 0});
    const bool waits = one.item.kind != "send" && one.item.kind != "p2p";
    graph.parts.groups.push_back({one.item.meeting, "", one.item.kind, waits});
    graph.parts.parts.push_back(
        {static_cast<uint32_t>(graph.parts.groups.size() - 1), -1, one.begin_ns, one.item.end_ns});
    graph.part_points.push_back({one.points[0], one.points[1]});
  }

  std::vector<JobItem> items_;
};

}  // namespace assay::testing
