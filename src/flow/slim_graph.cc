// Reduces a rank's graph by contracting redundant points: a job holds the graphs of all its ranks
// at once.

#include <utility>

#include "flow/job.h"

namespace assay {
namespace {

constexpr uint32_t kManyWorks = UINT32_MAX - 1;

class Slimmer {
 public:
  explicit Slimmer(RankGraph& graph) : graph_(graph), points_(graph.points()) {}

  void slim() {
    look_ahead();
    for (const RankPart& part : graph_.part_points) stays_[part.begin] = stays_[part.end] = true;
    for (uint32_t p = 0; p < points_; ++p) place(p);
    slim_.first_edge.push_back(static_cast<uint32_t>(slim_.edges.size()));
    for (RankPart& part : graph_.part_points) {
      part.begin = place_[part.begin];
      part.end = place_[part.end];
    }
    slim_.edges.shrink_to_fit();
    slim_.first_edge.shrink_to_fit();
    slim_.time_ns.shrink_to_fit();
    graph_.time_ns = std::move(slim_.time_ns);
    graph_.first_edge = std::move(slim_.first_edge);
    graph_.edges = std::move(slim_.edges);
    graph_.ends = std::move(slim_.ends);
  }

 private:
  // Per point: the own work on its outgoing edges, and whether an end point always follows it, so
  // that the run never ends with it.
  void look_ahead() {
    out_work_.assign(points_, kNoWork);
    followed_.assign(points_, false);
    stays_.assign(points_, false);
    for (uint32_t p = static_cast<uint32_t>(points_); p-- > 0;) {
      for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
        const RankEdge& edge = graph_.edges[e];
        if (edge.source == kNoPoint) continue;
        if (edge.fixed_ns >= 0 && (graph_.ends[p] || followed_[p])) followed_[edge.source] = true;
        uint32_t& work = out_work_[edge.source];
        if (edge.work == kNoWork || edge.work == work) continue;
        work = work == kNoWork ? edge.work : kManyWorks;
      }
    }
  }

  // The edge, rerouted to start at the last point that stays.
  RankEdge from_staying(RankEdge edge) const {
    if (edge.source == kNoPoint) return edge;
    if (stays_[edge.source]) {
      edge.source = place_[edge.source];
      return edge;
    }
    const RankEdge& before = through_[place_[edge.source]];
    edge.source = before.source;
    edge.fixed_ns += before.fixed_ns;
    edge.own_ns += before.own_ns;
    if (edge.work == kNoWork) edge.work = before.work;
    return edge;
  }

  // Contracts a point with one incoming edge if its outgoing edges contain no other own work than
  // that edge.
  void place(uint32_t p) {
    const uint32_t first = graph_.first_edge[p];
    const bool ends = graph_.ends[p] && !followed_[p];
    const bool single = graph_.first_edge[p + 1] - first == 1;
    if (single && !ends && !stays_[p]) {
      const RankEdge edge = from_staying(graph_.edges[first]);
      const uint32_t out = out_work_[p];
      if (edge.work == kNoWork || out == kNoWork || out == edge.work) {
        place_.push_back(static_cast<uint32_t>(through_.size()));
        through_.push_back(edge);
        return;
      }
    }
    stays_[p] = true;
    place_.push_back(static_cast<uint32_t>(slim_.time_ns.size()));
    slim_.time_ns.push_back(graph_.time_ns[p]);
    slim_.ends.push_back(ends);
    slim_.first_edge.push_back(static_cast<uint32_t>(slim_.edges.size()));
    for (uint32_t e = first; e < graph_.first_edge[p + 1]; ++e) {
      slim_.edges.push_back(from_staying(graph_.edges[e]));
    }
  }

  RankGraph& graph_;
  const size_t points_;
  std::vector<uint32_t> out_work_;  // per point; kManyWorks = several works
  std::vector<bool> followed_;
  std::vector<bool> stays_;
  std::vector<uint32_t> place_;    // per point: index into slim_, or into through_ if contracted
  std::vector<RankEdge> through_;  // per contracted point: edge from the last point that stays
  RankGraph slim_;
};

}  // namespace

void slim_rank_graph(RankGraph& graph) { Slimmer(graph).slim(); }

}  // namespace assay
