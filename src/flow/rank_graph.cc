// One rank's dependency graph for its job: edges with the own work they contain, and the positions
// of its parts in collectives.

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/checksum.h"
#include "flow/job.h"
#include "flow/names.h"
#include "flow/pieces.h"
#include "roof/inputs.h"

namespace assay {
namespace {

// Host pieces that wait are not the thread's own work.
bool waits(FlowCause cause) {
  return cause == FlowCause::kSync || cause == FlowCause::kNothingAsked;
}

// Hashes that are equal on ranks of the same program: of the previous collective, host or device,
// the name, and its count since that collective.
class Matches {
 public:
  // Restarts the counts at a collective, so that extra work on one rank shifts nothing beyond the
  // next collective.
  void meet(std::string_view kind, int64_t number) {
    anchor_ = mixed(checksum(kind.data(), kind.size()), static_cast<uint64_t>(number));
  }
  uint64_t next(bool host, std::string_view name) {
    const uint64_t key = mixed(anchor_, mixed(checksum(name.data(), name.size()), host ? 1 : 2));
    return mixed(key, ++seen_[key]);
  }

 private:
  static uint64_t mixed(uint64_t a, uint64_t b) {
    const uint64_t both[] = {a, b};
    return checksum(both, sizeof both);
  }

  uint64_t anchor_ = 0;
  std::unordered_map<uint64_t, uint64_t> seen_;
};

class RankGraphMaker {
 public:
  RankGraphMaker(const FlowRun& run, const FlowGraph& graph, const Windows* steps)
      : run_(run), graph_(graph), trace_(*run.trace), cursor_(run.threads.size()) {
    if (steps == nullptr || steps->source != WindowSource::kProfilerStep) return;
    steps_ = steps;
    step_numbers_ = iteration_numbers(*steps);
  }

  RankGraph make() {
    made_.file = trace_.source;
    made_.rank = trace_.distributed.rank;
    made_.world_size = trace_.distributed.world_size;
    if (!run_.works.empty()) made_.device = run_.devices[run_.works.front().device];
    for (const DeviceProperties& device : trace_.devices) {
      if (device.id == made_.device) made_.device_name = device.name;
    }
    made_.start_ns = graph_.start_ns;
    made_.time_ns = graph_.time_ns;
    find_next_launches();
    list_parts();
    list_works();
    made_.first_edge.reserve(graph_.points() + 1);
    made_.ends.reserve(graph_.points());
    for (uint32_t p = 0; p < graph_.points(); ++p) add_point(p);
    made_.first_edge.push_back(static_cast<uint32_t>(made_.edges.size()));
    name_host_works();
    return std::move(made_);
  }

 private:
  // ---- collectives ------------------------------------------------------------------------------

  void list_parts() {
    std::vector<uint32_t> details(trace_.activities.size(), kNoFlowRow);
    for (uint32_t i = 0; i < trace_.collectives.size(); ++i) {
      details[trace_.collectives.activity[i].index()] = i;
    }
    std::vector<uint32_t> collectives;
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      if (run_.works[w].kind == WorkKind::kCollective) collectives.push_back(w);
    }
    part_of_.assign(run_.works.size(), kNoFlowRow);
    std::map<CollectiveGroup, std::vector<uint32_t>> by_group;
    for (const uint32_t w : collectives) {
      by_group[group_of(w, details[run_.works[w].activity.index()])].push_back(w);
    }
    for (const auto& [group, works] : by_group) {
      const auto id = static_cast<uint32_t>(made_.parts.groups.size());
      made_.parts.groups.push_back(group);
      for (const uint32_t w : works) {
        add_part(id, w, details[run_.works[w].activity.index()]);
      }
    }
  }

  CollectiveGroup group_of(uint32_t w, uint32_t detail) const {
    const ActivityId activity = run_.works[w].activity;
    CollectiveGroup group;
    StringId told;
    if (detail != kNoFlowRow) {
      told = trace_.collectives.collective[detail];
      MeetingParty party = meeting_party(trace_, detail);
      group.name = std::move(party.name);
      group.ranks = std::move(party.ranks);
    }
    group.kind = collective_kind(trace_, *run_.links, *run_.kernels, told, activity,
                                 run_.links->activity_op[activity.index()]);
    group.all_wait = all_wait(group.kind);
    return group;
  }

  void add_part(uint32_t group, uint32_t w, uint32_t detail) {
    const FlowWork& work = run_.works[w];
    part_of_[w] = static_cast<uint32_t>(made_.parts.parts.size());
    RankPart part{graph_.work_point(w, false), graph_.work_point(w, true), work.device};
    int64_t seq = -1;
    if (detail != kNoFlowRow) {
      const MeetingParty party = meeting_party(trace_, detail);
      seq = party.seq;
      part.bytes = bytes_of(detail);
      part.elements = elements_of(detail);
      part.members = party.members;
      const int64_t in = trace_.collectives.in_elements[detail];
      const int64_t out = trace_.collectives.out_elements[detail];
      part.uneven = in >= 0 && out >= 0 && in != out;
    }
    made_.parts.parts.push_back({group, seq, work.start_ns, work.end_ns, iteration_of(work)});
    made_.part_points.push_back(part);
  }

  // The number given by a label; -1 = unknown.
  int32_t iteration_of(const FlowWork& work) const {
    if (steps_ == nullptr) return -1;
    const int64_t at_ns = work.call == kNoFlowRow ? work.start_ns : run_.calls[work.call].start_ns;
    const int32_t window = window_at(*steps_, at_ns);
    return window < 0 ? -1 : step_numbers_[static_cast<size_t>(window)];
  }

  int64_t elements_of(uint32_t detail) const {
    return std::max(trace_.collectives.in_elements[detail],
                    trace_.collectives.out_elements[detail]);
  }

  // Bytes of the larger side, e.g. the output of an all-gather; -1 = unknown.
  int64_t bytes_of(uint32_t detail) const {
    const int64_t elements = elements_of(detail);
    const auto size = static_cast<int64_t>(
        element_bytes(element_type_named(trace_.text(trace_.collectives.dtype[detail]))));
    const bool told = elements > 0 && size > 0 && elements <= INT64_MAX / size;
    return told ? elements * size : -1;
  }

  // ---- own work ---------------------------------------------------------------------------------

  // Host time until a launch belongs to that launch.
  void find_next_launches() {
    launch_of_.assign(run_.calls.size(), kNoFlowRow);
    for (size_t c = run_.calls.size(); c-- > 0;) {
      const FlowCall& call = run_.calls[c];
      const bool last = c + 1 == run_.calls.size() || run_.calls[c + 1].thread != call.thread;
      if (call.work_count > 0) {
        launch_of_[c] = static_cast<uint32_t>(c);
      } else {
        launch_of_[c] = last ? kNoFlowRow : launch_of_[c + 1];
      }
    }
  }

  // Works in the order of their launches, which is the same on all ranks of a program.
  std::vector<uint32_t> works_as_launched() const {
    std::vector<uint32_t> order(run_.works.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto launched_ns = [this](uint32_t w) {
      const FlowWork& work = run_.works[w];
      return work.call == kNoFlowRow ? work.start_ns : run_.calls[work.call].start_ns;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return launched_ns(a) < launched_ns(b); });
    return order;
  }

  void list_works() {
    work_of_call_.assign(run_.calls.size(), kNoWork);
    work_of_work_.assign(run_.works.size(), kNoWork);
    std::vector<uint64_t> met(made_.parts.groups.size(), 0);
    Matches matches;
    for (const uint32_t w : works_as_launched()) {
      const FlowWork& work = run_.works[w];
      const std::string_view name = trace_.text(trace_.activities.name[work.activity.index()]);
      if (work.call != kNoFlowRow && work_of_call_[work.call] == kNoWork) {
        work_of_call_[work.call] = add_work(matches.next(true, name), 0, work);
      }
      if (part_of_[w] == kNoFlowRow) {
        work_of_work_[w] = add_work(matches.next(false, name), work.end_ns - work.start_ns, work);
        made_.works[work_of_work_[w]].name =
            name_id({.host = false, .kind = work.kind, .name = std::string(name)});
        continue;
      }
      const CollectivePart& part = made_.parts.parts[part_of_[w]];
      const CollectiveGroup& group = made_.parts.groups[part.group];
      ++met[part.group];
      if (group.all_wait) {
        matches.meet(group.kind, part.seq >= 0 ? part.seq : static_cast<int64_t>(met[part.group]));
      }
    }
    longest_.resize(made_.works.size());
  }

  uint32_t add_work(uint64_t match, int64_t ns, const FlowWork& of) {
    made_.works.push_back({.match = match, .iteration = iteration_of(of), .ns = ns});
    return static_cast<uint32_t>(made_.works.size() - 1);
  }

  uint32_t name_id(WorkName name) {
    const auto [found, is_new] =
        names_.try_emplace(std::move(name), static_cast<uint32_t>(made_.names.size()));
    if (is_new) made_.names.push_back(found->first);
    return found->second;
  }

  // ---- edges ------------------------------------------------------------------------------------

  void add_point(uint32_t p) {
    const Point point = graph_.point(p);
    made_.first_edge.push_back(static_cast<uint32_t>(made_.edges.size()));
    made_.ends.push_back(is_end_point(run_, point));
    for (uint32_t e = graph_.first_edge[p]; e < graph_.first_edge[p + 1]; ++e) {
      if (graph_.kind[e] == EdgeKind::kOrder) continue;  // redundant: replays of jobs cut no waits
      const bool binds = e == graph_.first_edge[p];
      RankEdge edge;
      edge.source = graph_.source[e];
      edge.work = work_of(graph_.kind[e], point.row);
      if (edge.work != kNoWork) edge.own_ns = own_ns(e, point);
      edge.fixed_ns = graph_.lag_ns[e] - edge.own_ns + (binds ? graph_.residual_ns[p] : 0);
      if (edge.own_ns == 0) edge.work = kNoWork;
      made_.edges.push_back(edge);
      if (edge.work != kNoWork && point.kind == PointKind::kCallBegin && binds) {
        note_segment(edge, e, point.row);
      }
      if (edge.work != kNoWork && graph_.kind[e] == EdgeKind::kCall) note_call(edge, point.row);
    }
  }

  uint32_t work_of(EdgeKind kind, uint32_t row) const {
    switch (kind) {
      case EdgeKind::kSegment:
      case EdgeKind::kHandOver:
      case EdgeKind::kCall:
        return launch_of_[row] == kNoFlowRow ? kNoWork : work_of_call_[launch_of_[row]];
      case EdgeKind::kWork:
        return work_of_work_[row];
      default:
        return kNoWork;
    }
  }

  // The part of an edge's lag that is own work.
  int64_t own_ns(uint32_t e, Point point) {
    switch (graph_.kind[e]) {
      case EdgeKind::kCall: {
        const FlowCall& call = run_.calls[point.row];
        const bool waits_unseen = call.kind == FlowCause::kSync && call.target_count == 0;
        return waits_unseen ? 0 : graph_.lag_ns[e];
      }
      case EdgeKind::kWork:
        return graph_.lag_ns[e];
      default:
        break;
    }
    const auto at = std::lower_bound(graph_.segment_edge.begin(), graph_.segment_edge.end(), e);
    if (at == graph_.segment_edge.end() || *at != e) return 0;
    const auto s = static_cast<size_t>(at - graph_.segment_edge.begin());
    int64_t sum_ns = 0;
    for (uint32_t i = graph_.first_part[s]; i < graph_.first_part[s + 1]; ++i) {
      if (!waits(graph_.part_cause[i])) sum_ns += graph_.part_ns[i];
    }
    return std::min(sum_ns, graph_.lag_ns[e]);
  }

  // ---- names of host work -----------------------------------------------------------------------

  struct Longest {
    int64_t ns = -1;
    FlowCause cause = FlowCause::kHostGap;
    StringId name = {};
  };

  void note(uint32_t work, int64_t ns, FlowCause cause, StringId name) {
    Longest& longest = longest_[work];
    if (ns > longest.ns) longest = {ns, cause, name};
  }

  void note_call(const RankEdge& edge, uint32_t row) {
    const FlowCall& call = run_.calls[row];
    made_.works[edge.work].ns += edge.own_ns;
    note(edge.work, edge.own_ns, call.kind, trace_.api_calls.name[call.row.index()]);
  }

  // Notes what the binding thread did before a call.
  void note_segment(const RankEdge& edge, uint32_t e, uint32_t row) {
    const FlowCall& call = run_.calls[row];
    made_.works[edge.work].ns += edge.own_ns;
    const uint32_t source = graph_.source[e];
    const int64_t from_ns = source == kNoPoint ? graph_.start_ns : graph_.time_ns[source];
    const ThreadId thread = graph_.kind[e] == EdgeKind::kHandOver
                                ? run_.calls[graph_.point(source).row].thread
                                : call.thread;
    for_each_piece(run_, run_.threads[thread.index()], {from_ns, call.start_ns}, cursor_,
                   [&](const PieceSpan& span) {
                     if (span.piece == nullptr || waits(span.piece->cause)) return;
                     note(edge.work, span.end_ns - span.start_ns, span.piece->cause,
                          row_name(trace_, span.piece->source, span.piece->row));
                   });
  }

  void name_host_works() {
    for (size_t w = 0; w < made_.works.size(); ++w) {
      if (longest_[w].ns < 0) continue;
      const StringId name = longest_[w].name;
      made_.works[w].name =
          name_id({.host = true,
                   .cause = longest_[w].cause,
                   .name = name ? std::string(trace_.text(name)) : std::string()});
    }
  }

  const FlowRun& run_;
  const FlowGraph& graph_;
  const Trace& trace_;
  PieceCursor cursor_;
  RankGraph made_;
  std::vector<uint32_t> launch_of_;     // per call: it or the thread's next call that launches
  std::vector<uint32_t> part_of_;       // per FlowWork: index into parts; kNoFlowRow = none
  std::vector<uint32_t> work_of_call_;  // per launching call: host work until it
  std::vector<uint32_t> work_of_work_;  // per FlowWork
  std::vector<Longest> longest_;        // per own work of the host
  std::map<WorkName, uint32_t> names_;
  const Windows* steps_ = nullptr;
  std::vector<int32_t> step_numbers_;
};

}  // namespace

RankGraph make_rank_graph(const FlowRun& run, const FlowGraph& graph,
                          const std::vector<DeviceFlow>& devices, std::span<const Interval> windows,
                          const Windows* steps) {
  RankGraph made = RankGraphMaker(run, graph, steps).make();
  slim_rank_graph(made);
  for (size_t d = 0; d < devices.size(); ++d) {
    made.exposed.push_back(clip(devices[d].collective, windows[d]));
  }
  return made;
}

}  // namespace assay
