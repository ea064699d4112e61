#include "flow/replay_bar.h"

#include <algorithm>

#include "base/numbers.h"

namespace assay {
namespace {

// Attributes the idle time of a replay gap by gap: follows the binding edges from the work that
// ends a gap back to the gap's begin.
class BarMaker {
 public:
  BarMaker(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed)
      : run_(run), graph_(graph), replayed_(replayed) {}

  ReplayBar make() {
    std::vector<std::vector<uint32_t>> works(run_.devices.size());
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      if (inside(w)) works[run_.works[w].device].push_back(w);
    }
    for (auto& of_device : works) {
      std::stable_sort(of_device.begin(), of_device.end(),
                       [this](uint32_t a, uint32_t b) { return begin_ns(a) < begin_ns(b); });
      if (!of_device.empty()) add_device(of_device);
    }
    return bar_;
  }

  // Breaks down the critical path from `from_ns` to the end of the last work.
  ReplayBar make_path(int64_t from_ns) {
    uint32_t last = kNoPoint;
    for (uint32_t w = 0; w < run_.works.size(); ++w) {
      const uint32_t p = graph_.work_point(w, true);
      if (!inside(w)) continue;
      if (last == kNoPoint || replayed_.times_ns[p] > replayed_.times_ns[last]) last = p;
    }
    if (last == kNoPoint || replayed_.times_ns[last] <= from_ns) return bar_;
    counts_work_ = true;
    bar_.window_ns = replayed_.times_ns[last] - from_ns;
    add_stretch({from_ns, replayed_.times_ns[last]}, last);
    // Unrecorded time is left out: no edit shortens it.
    bar_.window_ns -=
        take_unrecorded(length_in(run_.unrecorded, {from_ns, graph_.time_ns[last]}), bar_.cause_ns);
    return bar_;
  }

 private:
  bool inside(uint32_t w) const {
    return !graph_.bounded || (run_.works[w].start_ns >= graph_.start_ns &&
                               run_.works[w].end_ns <= graph_.end_ns);
  }
  int64_t begin_ns(uint32_t w) const { return replayed_.times_ns[graph_.work_point(w, false)]; }
  int64_t end_ns(uint32_t w) const { return replayed_.times_ns[graph_.work_point(w, true)]; }

  void add_device(const std::vector<uint32_t>& works) {
    std::vector<Interval> by_kind[3];  // compute, collective, copy
    int64_t reached_ns = begin_ns(works.front());
    const int64_t first_ns = reached_ns;
    for (const uint32_t w : works) {
      const WorkKind kind = run_.works[w].kind;
      const size_t k = kind == WorkKind::kCompute ? 0 : kind == WorkKind::kCollective ? 1 : 2;
      by_kind[k].push_back({begin_ns(w), end_ns(w)});
      if (begin_ns(w) > reached_ns)
        add_stretch({reached_ns, begin_ns(w)}, graph_.work_point(w, false));
      reached_ns = std::max(reached_ns, end_ns(w));
    }
    const std::vector<Interval> compute = merge_intervals(std::move(by_kind[0]));
    const std::vector<Interval> collective =
        subtract(merge_intervals(std::move(by_kind[1])), compute);
    std::vector<Interval> copy = subtract(merge_intervals(std::move(by_kind[2])), compute);
    copy = subtract(copy, collective);
    bar_.window_ns += reached_ns - first_ns;
    bar_.compute_ns += length_ns(compute);
    bar_.collective_ns += length_ns(collective);
    bar_.copy_ns += length_ns(copy);
  }

  int64_t& of(FlowCause cause) { return bar_.cause_ns[static_cast<size_t>(cause)]; }

  // Attributes the interval that ends at a point.
  void add_stretch(Interval gap, uint32_t p) {
    int64_t open_ns = gap.end_ns;  // the interval up to here is not explained yet
    while (p != kNoPoint && open_ns > gap.start_ns) {
      const PathStep step = binding_step(graph_, replayed_, p);
      const uint32_t source = graph_.source[step.edge];
      const int64_t from_ns = source == kNoPoint ? graph_.start_ns : replayed_.times_ns[source];
      const int64_t lag_end_ns = std::max(from_ns + step.lag_ns, gap.start_ns);
      if (lag_end_ns < open_ns) {
        of(residual_cause(run_, step.residual_ns)) += open_ns - lag_end_ns;
        open_ns = lag_end_ns;
      }
      const int64_t lag_begin_ns = std::max(from_ns, gap.start_ns);
      if (lag_begin_ns < open_ns) {
        add_lag(step, open_ns - lag_begin_ns);
        open_ns = lag_begin_ns;
      }
      p = source;
    }
    of(FlowCause::kNoEvidence) += open_ns - gap.start_ns;
  }

  void add_lag(const PathStep& step, int64_t ns) {
    switch (step.kind) {
      case EdgeKind::kSegment:
      case EdgeKind::kHandOver:
        add_parts(step, ns);
        break;
      case EdgeKind::kCall:
        of(own_cause(run_.calls[graph_.point(step.point).row], graph_.lag_ns[step.edge])) += ns;
        break;
      case EdgeKind::kReturn:
        of(return_cause(run_.calls[graph_.point(step.point).row])) += ns;
        break;
      case EdgeKind::kAwait:
        of(await_cause(run_.calls[graph_.point(step.point).row])) += ns;
        break;
      case EdgeKind::kLaunch:
        of(hand_over_cause(run_, run_.works[graph_.point(step.point).row])) += ns;
        break;
      case EdgeKind::kStream:
      case EdgeKind::kEvent:
        of(follow_cause(run_)) += ns;
        break;
      case EdgeKind::kWork:
        add_work(run_.works[graph_.point(step.point).row].kind, ns);
        break;
      case EdgeKind::kStaged:
        add_work(WorkKind::kCopy, ns);
        break;
      case EdgeKind::kQueue:
      case EdgeKind::kOrder:
        of(FlowCause::kWaitOther) += ns;
        break;
      case EdgeKind::kStart:
        of(FlowCause::kNoEvidence) += ns;
        break;
    }
  }

  // In a gap of one device, this is work of another.
  void add_work(WorkKind kind, int64_t ns) {
    if (!counts_work_) {
      of(FlowCause::kWaitOther) += ns;
    } else if (kind == WorkKind::kCompute) {
      bar_.compute_ns += ns;
    } else {
      (kind == WorkKind::kCollective ? bar_.collective_ns : bar_.copy_ns) += ns;
    }
  }

  // A partly covered segment counts by the shares of its parts: their order is not kept.
  void add_parts(const PathStep& step, int64_t ns) {
    const size_t s = graph_.segment_of(step.edge);
    int64_t whole_ns = 0;
    for (uint32_t k = graph_.first_part[s]; k < graph_.first_part[s + 1]; ++k) {
      whole_ns += replayed_.part_ns[k];
    }
    int64_t left_ns = ns;
    FlowCause last = FlowCause::kHostGap;
    for (uint32_t k = graph_.first_part[s]; k < graph_.first_part[s + 1]; ++k) {
      last = graph_.part_cause[k];
      const auto part_ns =
          static_cast<int64_t>(static_cast<double>(ns) * share(replayed_.part_ns[k], whole_ns));
      const int64_t taken_ns = std::min(part_ns, left_ns);
      of(last) += taken_ns;
      left_ns -= taken_ns;
    }
    of(last) += left_ns;
  }

  const FlowRun& run_;
  const FlowGraph& graph_;
  const Replayed& replayed_;
  bool counts_work_ = false;
  ReplayBar bar_;
};

}  // namespace

ReplayBar replay_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed) {
  return BarMaker(run, graph, replayed).make();
}

ReplayBar path_bar(const FlowRun& run, const FlowGraph& graph, const Replayed& replayed,
                   int64_t from_ns) {
  return BarMaker(run, graph, replayed).make_path(from_ns);
}

}  // namespace assay
