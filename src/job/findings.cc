#include "job/findings.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "job/record_graph.h"

namespace assay {
namespace {

void find_short_ranks(const FleetJob& job, FleetFindings& found) {
  const size_t columns = job.columns.size();
  const auto has = [&](size_t r, size_t c) { return found.cells_ns[r * columns + c] >= 0; };
  std::vector<size_t> common;
  for (size_t c = 0; c < columns; ++c) {
    size_t ranks = 0;
    for (size_t r = 0; r < job.ranks.size(); ++r) ranks += has(r, c) ? 1 : 0;
    if (ranks * 2 >= job.ranks.size()) common.push_back(c);
  }
  found.usual_iterations = static_cast<uint32_t>(common.size());
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    uint32_t own = 0;
    for (const size_t c : common) own += has(r, c) ? 1 : 0;
    if (own < found.usual_iterations) found.short_ranks.push_back({r, own});
  }
}

// Larger sets first. A process group follows any other set with the same ranks.
std::vector<StorySet> story_sets(const FleetSets& sets) {
  std::vector<StorySet> made;
  for (const FleetSet& set : sets.sets) made.push_back({set.kind, set.name, set.ranks});
  std::stable_sort(made.begin(), made.end(), [](const StorySet& a, const StorySet& b) {
    if (a.ranks.size() != b.ranks.size()) return a.ranks.size() > b.ranks.size();
    return (a.kind != "group") > (b.kind != "group");
  });
  return made;
}

FindingKind kind_of(const StoryFinding& story) {
  if (story.kind == StoryKind::kLink) return FindingKind::kLinks;
  if (story.kind == StoryKind::kAll) return FindingKind::kAll;
  if (story.pauses) return FindingKind::kPauses;
  return story.set_kind.empty() ? FindingKind::kRank : FindingKind::kSet;
}

void list_worst(FleetFindings& found) {
  for (const StoryFinding& story : found.solution.findings) {
    FleetFinding row{.kind = kind_of(story),
                     .set_kind = story.set_kind,
                     .set_name = story.set_name,
                     .ranks = story.ranks,
                     .score = story.factor - 1,
                     .peers = story.peers,
                     .saved_ns = story.saved_ns,
                     .saved_alone_ns = story.saved_alone_ns};
    if (row.kind == FindingKind::kPauses || row.kind == FindingKind::kAll) {
      row.hits = static_cast<uint32_t>(story.iterations.size());
      if (!story.iterations.empty()) {
        row.first_hit = story.iterations.front();
        row.last_hit = story.iterations.back();
      }
      row.score = share(story.longest_ns, std::max<int64_t>(found.iteration_ns, 1));
    }
    const bool kernels = story.kind == StoryKind::kDevice || story.kind == StoryKind::kWork;
    (row.kind == FindingKind::kLinks ? row.link_excess_ns
     : kernels                       ? row.kernel_excess_ns
                                     : row.other_excess_ns) = story.excess_ns;
    found.worst.push_back(std::move(row));
  }
}

// Fills cells_ns for iterations in which the rank has a collective.
void list_cells(const FleetJob& job, const JobGraph& graph, FleetFindings& found) {
  const size_t columns = job.columns.size();
  found.cells_ns.assign(job.ranks.size() * columns, -1);
  for (size_t r = 0; r < graph.folds().size(); ++r) {
    const RankFold& fold = graph.folds()[r];
    if (!fold.numbered) continue;
    const std::map<int32_t, int64_t>& above_ns = found.solution.above_ns[r];
    for (const FoldPart& part : fold.parts) {
      const int32_t iteration = fold.points[part.begin].iteration;
      const auto column = std::lower_bound(job.columns.begin(), job.columns.end(), iteration);
      if (column == job.columns.end() || *column != iteration) continue;
      const auto own = above_ns.find(iteration);
      const auto at = static_cast<size_t>(column - job.columns.begin());
      found.cells_ns[r * columns + at] = own == above_ns.end() ? 0 : own->second;
    }
  }
}

// Shortest stay of a rank in the collective: the transfer time, measured by a single clock.
int64_t shortest_part_ns(const JobGraph& graph, const GraphMeeting& meeting) {
  if (meeting.begins.size() != meeting.ends.size()) return meeting.transfer_ns;
  int64_t shortest_ns = INT64_MAX;
  for (size_t k = 0; k < meeting.begins.size(); ++k) {
    const int64_t length_ns =
        graph.point(meeting.ends[k]).time_ns - graph.point(meeting.begins[k]).time_ns;
    shortest_ns = std::min(shortest_ns, length_ns);
  }
  return shortest_ns;
}

void list_transfers(const JobGraph& graph, FleetFindings& found) {
  for (const GraphMeeting& meeting : graph.meetings()) {
    if (meeting.ranks.size() < 2) continue;
    const GraphGroup& group = graph.groups()[meeting.group];
    found.transfers[{group.group.kind, group.recorded > 0 ? group.recorded : -1}].add(
        shortest_part_ns(graph, meeting));
  }
}

size_t points_of(const std::vector<RankFold>& folds) {
  size_t points = 0;
  for (const RankFold& fold : folds) points += fold.points.size();
  return points;
}

}  // namespace

int64_t FleetFindings::rank_excess_ns(uint32_t rank) const {
  const size_t columns = cells_ns.size() / solution.scores.size();
  int64_t sum_ns = 0;
  for (size_t c = 0; c < columns; ++c) {
    sum_ns += std::max<int64_t>(cells_ns[rank * columns + c], 0);
  }
  return sum_ns;
}

Result<FleetFindings> find_in_fleet(FleetJob& job, const FleetSets& sets,
                                    std::vector<RankFold> folds) {
  const int32_t last = cut_alike(folds);
  if (const size_t points = points_of(folds); points > kMostPoints) {
    return Error{ErrorCode::kInvalidArgument,
                 "the job is too large: one iteration of " + std::to_string(job.ranks.size()) +
                     " ranks has " + std::to_string(points) + " points, and at most " +
                     std::to_string(kMostPoints) + " are compared. Give records of fewer ranks",
                 "", -1};
  }
  const JobGraph graph(std::move(folds));
  FleetFindings found;
  found.iterations = static_cast<size_t>(
      std::upper_bound(job.columns.begin(), job.columns.end(), last) - job.columns.begin());
  job.counts.matched = graph.matched();
  job.counts.unmatched = graph.unmatched();
  job.counts.contradicting = graph.cut();
  job.counts.ambiguous_groups = graph.ambiguous();
  found.clocks = align_fleet(graph);
  found.solution = solve_job(graph, story_sets(sets));
  const JobSolution& solved = found.solution;
  found.iteration_ns =
      found.iterations == 0 ? 0 : solved.span_ns / static_cast<int64_t>(found.iterations);
  found.saved_by_rest_ns =
      std::max<int64_t>(solved.span_ns - solved.usual_span_ns - solved.saved_ns, 0);
  list_worst(found);
  list_cells(job, graph, found);
  list_transfers(graph, found);
  find_short_ranks(job, found);
  return found;
}

}  // namespace assay
