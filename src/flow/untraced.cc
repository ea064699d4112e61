#include "flow/untraced.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/decimal.h"
#include "base/stats.h"
#include "base/tab_table.h"
#include "flow/replay.h"

namespace assay {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Least share of a host interval that is the program's own.
constexpr double kOwn = 0.15;
// Gap between kernels of a full queue without a recorder.
constexpr int64_t kNextKernelNs = 700;
// Share of the cost per border that appears between two kernels.
constexpr double kGapPart = 0.4;
constexpr double kMostPace = 0.85;
constexpr size_t kFewestWitnesses = 20;
// Added to costs before comparison: small costs vary by more than their size.
constexpr double kFewNs = 400;
// Safety factors, because few pairs may not show the full variation.
constexpr double kMorePairs = 1.5;
constexpr double kMorePlain = 1.25;
constexpr double kCoverage = 0.9;
// Variation of a run from one measurement to the next.
constexpr double kScatter = 0.03;
constexpr double kSlower = 1.05;

double number(std::string_view text) {
  double value = 0;
  return parse_double(text, value) ? value : kNaN;
}

// Theil-Sen line.
struct Line {
  double slope = 0;
  double offset = 0;
};
Line robust_line(const std::vector<std::pair<double, double>>& points) {
  constexpr double kApart = 50;  // ns; closer points give no slope
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); ++i) {
    for (size_t k = i + 1; k < points.size(); ++k) {
      const double apart = points[k].first - points[i].first;
      if (std::abs(apart) > kApart) {
        slopes.push_back((points[k].second - points[i].second) / apart);
      }
    }
  }
  if (slopes.empty()) return {};
  Line line{median(slopes), 0};
  std::vector<double> offsets;
  for (const auto& [x, y] : points) offsets.push_back(y - line.slope * x);
  line.offset = median(offsets);
  return line;
}

// Copies a trace; ids stay valid.
Trace copy_of(const Trace& trace) {
  Trace copy;
  copy.source = trace.source;
  copy.source_bytes = trace.source_bytes;
  copy.content_bytes = trace.content_bytes;
  copy.source_checksum = trace.source_checksum;
#define ASSAY_COPY(member, Row, COLUMNS, doc) copy.member = trace.member;
  ASSAY_TABLES(ASSAY_COPY)
#undef ASSAY_COPY
  copy.strings.merge(trace.strings);
  copy.threads = trace.threads;
  copy.streams = trace.streams;
  copy.devices = trace.devices;
  copy.distributed = trace.distributed;
  copy.tracer = trace.tracer;
  copy.metadata = trace.metadata;
  copy.counts = trace.counts;
  copy.log = trace.log;
  copy.whole_microseconds = trace.whole_microseconds;
  copy.unrecorded = trace.unrecorded;
  copy.base_time_ns = trace.base_time_ns;
  return copy;
}

template <typename Table>
bool in_order(const Table& table, const auto& lane) {
  for (size_t i = 1; i < table.size(); ++i) {
    if (lane[i] == lane[i - 1] && table.start_ns[i] < table.start_ns[i - 1]) return false;
  }
  return true;
}

}  // namespace

RecordingCost recording_cost(CostShape shape, double strength) {
  switch (shape) {
    case CostShape::kRows:
      return {strength, strength, kGapPart * strength, 0};
    case CostShape::kOps:
      return {strength, 0, kGapPart * strength, 0};
    case CostShape::kCalls:
      return {0, strength, kGapPart * strength, 0};
    case CostShape::kPace:
      return {0, 0, 0, strength};
  }
  return {};
}

std::string_view untraced_source_name(UntracedSource source) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "anchor", "estimate", "refused"};
  return kNames[static_cast<size_t>(source)];
}

std::string_view untraced_refusal_name(UntracedRefusal refusal) {
  constexpr std::array<std::string_view, 7> kNames = {
      "", "no_iterations", "no_pairs", "frames", "slower", "other_work", "out_of_order"};
  return kNames[static_cast<size_t>(refusal)];
}

// ---- constants ----------------------------------------------------------------------------------

CostFit fit_recording_cost(std::string_view table, std::string_view recorder,
                           std::string_view left_out) {
  std::vector<std::pair<double, double>> points;  // witness, cost
  std::vector<double> costs;
  for (const auto& row : tab_rows(table, 9)) {
    const double cost_ns = 1000 * number(row[8]);
    if (row[0] != recorder || std::isnan(cost_ns)) continue;
    if (!left_out.empty() && row[1] == left_out) continue;
    costs.push_back(cost_ns);
    const double witness_ns = 1000 * number(row[7]);
    if (!std::isnan(witness_ns)) points.emplace_back(witness_ns, cost_ns);
  }
  if (points.size() < 3) return {};
  const Line line = robust_line(points);
  CostFit fit{.pairs = points.size(), .slope = line.slope, .offset_ns = line.offset};
  std::vector<double> misses;
  for (const auto& [witness_ns, cost_ns] : points) {
    const double fitted_ns = std::max(0.0, line.slope * witness_ns + line.offset);
    misses.push_back(std::abs(cost_ns - fitted_ns) / (kFewNs + fitted_ns));
  }
  std::sort(misses.begin(), misses.end());
  // The order statistic that covers the next pair with that probability.
  const auto n = static_cast<double>(misses.size());
  const double place = std::min(n, std::ceil(kCoverage * (n + 1)));
  fit.spread = kMorePairs * misses[static_cast<size_t>(place) - 1];
  fit.plain_high_ns = kMorePlain * *std::max_element(costs.begin(), costs.end());
  fit.plain_ns = median(std::move(costs));
  return fit;
}

CostFit::Cost CostFit::cost(double witness_ns) const {
  if (std::isnan(witness_ns)) return {plain_ns, 0, plain_high_ns};
  const double ns = std::max(0.0, slope * witness_ns + offset_ns);
  const double half = spread * (kFewNs + ns);
  return {ns, std::max(0.0, ns - half), ns + half};
}

// ---- replay -------------------------------------------------------------------------------------

// Maps recorded times to new ones by linear interpolation between anchors; both ascend.
struct UntracedReplay::Clock {
  std::vector<std::pair<int64_t, int64_t>> anchors = {};

  // Keeps both sides ascending.
  void add(int64_t from_ns, int64_t to_ns) {
    if (!anchors.empty() && from_ns == anchors.back().first) return;
    if (!anchors.empty()) to_ns = std::max(to_ns, anchors.back().second);
    anchors.emplace_back(from_ns, to_ns);
  }
  int64_t at(int64_t time_ns) const {
    const auto after = std::upper_bound(
        anchors.begin(), anchors.end(), time_ns,
        [](int64_t time, const std::pair<int64_t, int64_t>& anchor) { return time < anchor.first; });
    if (after == anchors.begin()) {
      return anchors.empty() ? time_ns : after->second - (after->first - time_ns);
    }
    const auto& [from_ns, to_ns] = *(after - 1);
    if (after == anchors.end()) return to_ns + (time_ns - from_ns);
    const double share = static_cast<double>(time_ns - from_ns) /
                         static_cast<double>(after->first - from_ns);
    return to_ns + static_cast<int64_t>(share * static_cast<double>(after->second - to_ns));
  }
};

UntracedReplay::UntracedReplay(const FlowModel& model, const Windows& iterations)
    : model_(model), iterations_(iterations), lines_(model.run.threads.size()), witness_ns_(kNaN) {
  find_lines();
  find_parts();
}

void UntracedReplay::find_lines() {
  const FlowRun& run = model_.run;
  const Trace& trace = *run.trace;
  struct Mark {
    int64_t time_ns = 0;
    uint8_t end = 0;  // starts sort first
    bool is_call = false;
    bool is_op = false;
  };
  std::vector<std::vector<Mark>> marks(run.threads.size());
  const auto add_rows = [&](const auto& table, bool is_call, bool is_op) {
    for (size_t i = 0; i < table.size(); ++i) {
      const size_t thread = table.thread[i].index();
      if (run.threads[thread].call_count == 0) continue;
      marks[thread].push_back({table.start_ns[i], 0, is_call, is_op});
      marks[thread].push_back({table.start_ns[i] + table.dur_ns[i], 1, is_call, is_op});
    }
  };
  add_rows(trace.ops, false, true);
  add_rows(trace.frames, false, false);
  add_rows(trace.annotations, false, false);
  add_rows(trace.api_calls, true, false);
  Interval judged{INT64_MIN, INT64_MAX};
  if (has_iterations()) {
    judged = {iterations_.windows.front().start_ns, iterations_.windows.back().end_ns};
  }
  std::vector<double> witnesses;
  uint64_t most = 0;
  for (uint32_t t = 0; t < marks.size(); ++t) {
    std::vector<Mark>& of = marks[t];
    std::stable_sort(of.begin(), of.end(), [](const Mark& a, const Mark& b) {
      return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.end < b.end;
    });
    const bool launches = run.threads[t].launches > 0;
    if (run.threads[t].launches > most) {
      most = run.threads[t].launches;
      main_ = t;
    }
    lines_[t].borders.reserve(of.size());
    for (size_t i = 0; i < of.size(); ++i) {
      lines_[t].borders.push_back({of[i].time_ns, of[i].is_call});
      const bool inside = of[i].time_ns >= judged.start_ns && of[i].time_ns <= judged.end_ns;
      if (!launches || !inside) continue;
      rows_ += of[i].end == 0;
      const bool starts = i > 0 && of[i].end == 0 && of[i].is_op;
      if (starts && of[i - 1].end == 0 && of[i - 1].is_op) {
        witnesses.push_back(static_cast<double>(of[i].time_ns - of[i - 1].time_ns));
      }
    }
    of = {};
  }
  if (witnesses.size() < kFewestWitnesses) return;
  std::sort(witnesses.begin(), witnesses.end());
  witness_ns_ = quantile_sorted(witnesses, 0.25);
}

void UntracedReplay::add_part(uint32_t edge, const SegmentSpan& span) {
  if (span.span.end_ns <= span.span.start_ns) return;
  const std::vector<Border>& borders = lines_[span.thread.index()].borders;
  const auto at = [&borders](int64_t time_ns) {
    const auto found = std::lower_bound(
        borders.begin(), borders.end(), time_ns,
        [](const Border& border, int64_t time) { return border.time_ns < time; });
    return static_cast<size_t>(found - borders.begin());
  };
  parts_.push_back({edge, span.thread.value, span.span.start_ns, span.span.end_ns,
                    at(span.span.start_ns), at(span.span.end_ns)});
}

// Finds the edges that are host time: segments, and calls from their begin.
void UntracedReplay::find_parts() {
  const FlowRun& run = model_.run;
  const FlowGraph& graph = model_.graph;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      const EdgeKind kind = graph.kind[e];
      if (kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver) {
        for (const SegmentSpan& span : segment_spans(run, graph, p, kind)) add_part(e, span);
      } else if (kind == EdgeKind::kCall || kind == EdgeKind::kLaunch) {
        const Point point = graph.point(p);
        const uint32_t c = kind == EdgeKind::kCall ? point.row : run.works[point.row].call;
        if (c == kNoFlowRow) continue;
        // A launch edge from its call's end is not host time.
        if (graph.source[e] != graph.call_point(c, false)) continue;
        add_part(e, {run.calls[c].thread, {run.calls[c].start_ns, run.calls[c].end_ns}});
      }
    }
  }
}

UntracedReplay::HostTimes UntracedReplay::host_times(const RecordingCost& cost) const {
  HostTimes times(lines_.size());
  for (size_t t = 0; t < lines_.size(); ++t) {
    const std::vector<Border>& borders = lines_[t].borders;
    times[t].reserve(borders.size());
    int64_t before_ns = model_.run.start_ns;
    double before_cost = 0;  // no recording before the first event
    int64_t sum_ns = 0;
    for (const Border& border : borders) {
      const double own_cost = border.is_call ? cost.call_ns : cost.op_ns;
      const auto length = static_cast<double>(std::max<int64_t>(border.time_ns - before_ns, 0));
      const double left =
          length * (1 - cost.pace) - (own_cost + before_cost) / 2;
      // Round up, so that events with different starts stay different. The epsilon absorbs rounding
      // errors.
      sum_ns += static_cast<int64_t>(std::ceil(std::max(kOwn * length, left) - 1e-6));
      times[t].push_back(sum_ns);
      before_ns = border.time_ns;
      before_cost = own_cost;
    }
  }
  return times;
}

// Host time of a thread up to time_ns. `at`: first border at or after it.
int64_t UntracedReplay::host_ns(const HostTimes& times, uint32_t line, size_t at,
                                int64_t time_ns) const {
  const std::vector<Border>& borders = lines_[line].borders;
  if (at < borders.size() && borders[at].time_ns == time_ns) return times[line][at];
  const int64_t before_ns = at == 0 ? model_.run.start_ns : borders[at - 1].time_ns;
  const int64_t sum_ns = at == 0 ? 0 : times[line][at - 1];
  if (at == borders.size() || borders[at].time_ns <= before_ns) return sum_ns + time_ns - before_ns;
  const double share = static_cast<double>(time_ns - before_ns) /
                       static_cast<double>(borders[at].time_ns - before_ns);
  return sum_ns + static_cast<int64_t>(share * static_cast<double>(times[line][at] - sum_ns));
}

std::vector<int64_t> UntracedReplay::lags(const RecordingCost& cost) const {
  const FlowRun& run = model_.run;
  const FlowGraph& graph = model_.graph;
  const HostTimes times = host_times(cost);
  std::vector<int64_t> lags = graph.lag_ns;
  for (size_t i = 0; i < parts_.size();) {
    const uint32_t edge = parts_[i].edge;
    int64_t own_ns = 0;
    int64_t length_ns = 0;
    for (; i < parts_.size() && parts_[i].edge == edge; ++i) {
      const EdgePart& part = parts_[i];
      own_ns += host_ns(times, part.line, part.last, part.end_ns) -
                host_ns(times, part.line, part.first, part.start_ns);
      length_ns += part.end_ns - part.start_ns;
    }
    const EdgeKind kind = graph.kind[edge];
    if (kind == EdgeKind::kSegment || kind == EdgeKind::kHandOver) {
      lags[edge] = own_ns;
    } else if (kind == EdgeKind::kLaunch || lags[edge] == length_ns) {
      // The own time of a waiting call is a typical value: its overhead is unknown.
      const double left = static_cast<double>(own_ns) / static_cast<double>(length_ns);
      lags[edge] = static_cast<int64_t>(static_cast<double>(lags[edge]) * left);
    }
  }
  if (cost.gap_ns <= 0) return lags;
  for (uint32_t p = 0; p < graph.points(); ++p) {
    const Point point = graph.point(p);
    if (point.kind != PointKind::kWorkBegin) continue;
    const FlowWork& work = run.works[point.row];
    for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
      if (graph.kind[e] != EdgeKind::kStream || graph.source[e] == kNoPoint) continue;
      const bool queued = work.in_graph || work.call == kNoFlowRow ||
                          graph.time_ns[graph.source[e]] > run.calls[work.call].start_ns;
      const auto shorter = static_cast<int64_t>(static_cast<double>(lags[e]) - cost.gap_ns);
      if (queued) lags[e] = std::max(std::min(lags[e], kNextKernelNs), shorter);
    }
  }
  return lags;
}

// Calls get the graph's times. Events in between divide the time in proportion to host_times.
UntracedReplay::Clock UntracedReplay::thread_clock(uint32_t thread, const HostTimes& host,
                                                   const std::vector<int64_t>& points) const {
  const FlowRun& run = model_.run;
  const HostThread& of = run.threads[thread];
  const std::vector<Border>& borders = lines_[thread].borders;
  Clock fixed;
  for (uint32_t c = of.first_call; c < of.first_call + of.call_count; ++c) {
    fixed.add(run.calls[c].start_ns, points[model_.graph.call_point(c, false)]);
    fixed.add(run.calls[c].end_ns, points[model_.graph.call_point(c, true)]);
  }
  Clock clock;
  clock.anchors.reserve(borders.size());
  size_t next = 0;  // index of the first fixed time after the border
  int64_t host_at_ns = 0;  // host time at the fixed time before it
  int64_t host_next_ns = 0;
  const auto host_of = [&](int64_t time_ns) {
    const auto at = std::lower_bound(
        borders.begin(), borders.end(), time_ns,
        [](const Border& border, int64_t time) { return border.time_ns < time; });
    return host_ns(host, thread, static_cast<size_t>(at - borders.begin()), time_ns);
  };
  host_next_ns = host_of(fixed.anchors.front().first);
  for (size_t i = 0; i < borders.size(); ++i) {
    const int64_t time_ns = borders[i].time_ns;
    while (next < fixed.anchors.size() && fixed.anchors[next].first <= time_ns) {
      ++next;
      host_at_ns = host_next_ns;
      if (next < fixed.anchors.size()) host_next_ns = host_of(fixed.anchors[next].first);
    }
    const int64_t own_ns = host[thread][i];
    if (next == 0) {
      clock.add(time_ns, fixed.anchors.front().second - (host_next_ns - own_ns));
      continue;
    }
    const auto& [from_ns, to_ns] = fixed.anchors[next - 1];
    if (from_ns == time_ns || next == fixed.anchors.size()) {
      clock.add(time_ns, to_ns + (from_ns == time_ns ? 0 : own_ns - host_at_ns));
      continue;
    }
    const auto whole = static_cast<double>(host_next_ns - host_at_ns);
    const double share =
        whole > 0 ? static_cast<double>(own_ns - host_at_ns) / whole
                  : static_cast<double>(time_ns - from_ns) /
                        static_cast<double>(fixed.anchors[next].first - from_ns);
    clock.add(time_ns, to_ns + static_cast<int64_t>(
                                   share * static_cast<double>(fixed.anchors[next].second - to_ns)));
  }
  return clock;
}

UntracedReplay::Clock UntracedReplay::stream_clock(const std::vector<uint32_t>& works,
                                                   const std::vector<int64_t>& points) const {
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const uint32_t w : works) {
    const FlowWork& work = model_.run.works[w];
    times.emplace_back(work.start_ns, points[model_.graph.work_point(w, false)]);
    times.emplace_back(work.end_ns, points[model_.graph.work_point(w, true)]);
  }
  std::sort(times.begin(), times.end());
  Clock clock;
  for (const auto& [from_ns, to_ns] : times) clock.add(from_ns, to_ns);
  return clock;
}

int64_t UntracedReplay::iteration_ns(const RecordingCost& cost) const {
  if (!has_iterations() || main_ == UINT32_MAX) return 0;
  const std::vector<int64_t> lags = this->lags(cost);
  const std::vector<int64_t> points = replay(model_.graph, {.lags_ns = &lags});
  const Clock clock = thread_clock(main_, host_times(cost), points);
  std::vector<int64_t> lengths;
  for (const Window& window : iterations_.windows) {
    lengths.push_back(clock.at(window.end_ns) - clock.at(window.start_ns));
  }
  return median_ns(std::move(lengths));
}

double UntracedReplay::rows_per_iteration() const {
  const size_t n = has_iterations() ? iterations_.windows.size() : 1;
  return static_cast<double>(rows_) / static_cast<double>(n);
}

std::optional<double> UntracedReplay::solve(CostShape shape, int64_t iteration_ns,
                                            double most_border_ns) const {
  const auto length = [&](double strength) {
    return this->iteration_ns(recording_cost(shape, strength));
  };
  double low = 0;
  double high = shape == CostShape::kPace ? kMostPace : most_border_ns;
  if (length(low) <= iteration_ns) return 0;
  if (length(high) > iteration_ns) return std::nullopt;
  for (int i = 0; i < 20; ++i) {  // precision 0.02 ns per border
    const double middle = (low + high) / 2;
    (length(middle) > iteration_ns ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::optional<RetimedTrace> UntracedReplay::retimed(const RecordingCost& cost) const {
  const FlowRun& run = model_.run;
  if (main_ == UINT32_MAX) return std::nullopt;
  const std::vector<int64_t> lags = this->lags(cost);
  const std::vector<int64_t> points = replay(model_.graph, {.lags_ns = &lags});
  const HostTimes host = host_times(cost);
  RetimedTrace made{copy_of(*run.trace), iterations_};
  Trace& trace = made.trace;
  const Clock main = thread_clock(main_, host, points);
  std::vector<Clock> threads(run.threads.size());
  for (uint32_t t = 0; t < threads.size(); ++t) {
    if (run.threads[t].call_count > 0) threads[t] = thread_clock(t, host, points);
  }
  // Threads without calls use the clock of the one that launches most.
  const auto clock_of = [&](ThreadId thread) -> const Clock& {
    const Clock& own = threads[thread.index()];
    return own.anchors.empty() ? main : own;
  };
  const auto move_span = [](const Clock& clock, int64_t& start_ns, int64_t& dur_ns) {
    const int64_t end_ns = clock.at(start_ns + dur_ns);
    start_ns = clock.at(start_ns);
    dur_ns = std::max<int64_t>(end_ns - start_ns, 0);
  };
  const auto move_rows = [&](auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      move_span(clock_of(table.thread[i]), table.start_ns[i], table.dur_ns[i]);
    }
  };
  move_rows(trace.ops);
  move_rows(trace.frames);
  move_rows(trace.api_calls);
  move_rows(trace.annotations);
  move_rows(trace.other_events);
  std::vector<std::vector<uint32_t>> works(trace.streams.size());
  std::vector<uint32_t> work_of(trace.activities.size(), kNoFlowRow);
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    works[run.works[w].stream].push_back(w);
    work_of[run.works[w].activity.index()] = w;
  }
  std::vector<Clock> streams(trace.streams.size());
  for (size_t s = 0; s < streams.size(); ++s) {
    streams[s] = works[s].empty() ? main : stream_clock(works[s], points);
  }
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    int64_t& start_ns = trace.activities.start_ns[a];
    int64_t& dur_ns = trace.activities.dur_ns[a];
    const uint32_t w = work_of[a];
    if (w == kNoFlowRow) {
      move_span(streams[trace.activities.stream[a].index()], start_ns, dur_ns);
      continue;
    }
    start_ns = points[model_.graph.work_point(w, false)];
    dur_ns = points[model_.graph.work_point(w, true)] - start_ns;
  }
  for (size_t i = 0; i < trace.gpu_annotations.size(); ++i) {
    move_span(streams[trace.gpu_annotations.stream[i].index()], trace.gpu_annotations.start_ns[i],
              trace.gpu_annotations.dur_ns[i]);
  }
  for (size_t i = 0; i < trace.overheads.size(); ++i) {
    move_span(main, trace.overheads.start_ns[i], trace.overheads.dur_ns[i]);
  }
  for (int64_t& time_ns : trace.counters.time_ns) time_ns = main.at(time_ns);
  for (int64_t& time_ns : trace.memory_events.time_ns) time_ns = main.at(time_ns);
  auto& flows = trace.forward_backward_flows;
  for (size_t i = 0; i < flows.size(); ++i) {
    flows.time_ns[i] = clock_of(flows.thread[i]).at(flows.time_ns[i]);
  }
  for (Interval& span : trace.unrecorded) span = {main.at(span.start_ns), main.at(span.end_ns)};
  for (Window& window : made.iterations.windows) {
    window.start_ns = main.at(window.start_ns);
    window.end_ns = main.at(window.end_ns);
  }
  const bool ordered = in_order(trace.ops, trace.ops.thread) &&
                       in_order(trace.api_calls, trace.api_calls.thread) &&
                       in_order(trace.activities, trace.activities.stream);
  if (!ordered) return std::nullopt;
  return made;
}

// ---- the iteration ------------------------------------------------------------------------------

bool rows_tell(const UntracedReplay& replay) {
  const auto recorded_ns = static_cast<double>(replay.iteration_ns({}));
  const auto less_ns =
      static_cast<double>(replay.iteration_ns(recording_cost(CostShape::kRows, 3'000)));
  return recorded_ns - less_ns > 0.1 * recorded_ns;
}

// Median busy time per iteration of the busiest device: a faster host cannot make an iteration
// shorter.
int64_t device_ns_per_iteration(const FlowRun& run, const Windows& iterations) {
  std::vector<std::vector<Interval>> busy(iterations.windows.size() * run.devices.size());
  for (const FlowWork& work : run.works) {
    if (work.call == kNoFlowRow) continue;
    const int32_t at = window_at(iterations, run.calls[work.call].start_ns);
    if (at >= 0) busy[work.device * iterations.windows.size() + static_cast<size_t>(at)].push_back({work.start_ns, work.end_ns});
  }
  int64_t most_ns = 0;
  for (size_t d = 0; d < run.devices.size(); ++d) {
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < iterations.windows.size(); ++i) {
      lengths.push_back(length_ns(merge_intervals(std::move(busy[d * iterations.windows.size() + i]))));
    }
    most_ns = std::max(most_ns, median_ns(std::move(lengths)));
  }
  return most_ns;
}

std::string_view recorder_of(const Trace& trace) {
  if (trace.tracer != Tracer::kPyTorchProfiler || trace.ops.empty()) return "";
  for (const StringId name : trace.api_calls.name) {
    if (trace.text(name).starts_with("hip")) return "";
    if (trace.text(name).starts_with("cu")) return "kineto";
  }
  return "";
}

Untraced find_untraced(const FlowModel& model, const UntracedReplay& replay,
                       const std::optional<UntracedTime>& anchor, const CostFit& fit) {
  Untraced found;
  const auto refused = [&found](UntracedRefusal refusal) {
    found.source = UntracedSource::kRefused;
    found.refusal = refusal;
    return found;
  };
  found.rows_per_iteration = replay.rows_per_iteration();
  const double witness_ns = replay.witness_ns();
  if (!std::isnan(witness_ns)) found.witness_ns = std::llround(witness_ns);
  found.recorded_iteration_ns = replay.iteration_ns({});
  if (found.recorded_iteration_ns <= 0) return refused(UntracedRefusal::kNoIterations);
  // A host that runs ahead ends an iteration before the device does.
  const int64_t device_ns = device_ns_per_iteration(model.run, replay.iterations());
  found.recorded_iteration_ns = std::max(found.recorded_iteration_ns, device_ns);
  const auto row_ns = [](double border_ns) { return std::llround(2 * border_ns); };
  if (anchor) {
    found.iteration_ns = anchor->ns;
    found.low_ns = anchor->low_ns;
    found.high_ns = anchor->high_ns;
    if (static_cast<double>(anchor->ns) >
        kSlower * static_cast<double>(found.recorded_iteration_ns)) {
      return refused(UntracedRefusal::kSlower);
    }
    // Any cost that the estimate of this recording would allow explains a measurement.
    const double most_ns =
        std::max(kMostBorderNs, fit.pairs == 0 ? 0 : fit.cost(witness_ns).high_ns);
    const auto solved = [&](int64_t ns) { return replay.solve(CostShape::kRows, ns, most_ns); };
    auto cost = solved(anchor->ns);
    // Rows of a GPU-bound run cannot explain differences that one run has to the next.
    const double least_ns = (1 - kScatter) * static_cast<double>(found.recorded_iteration_ns);
    if (!cost && static_cast<double>(anchor->ns) >= least_ns) cost = 0;
    // Both the recorded and the measured iteration vary.
    const auto shortest_ns =
        static_cast<double>(replay.iteration_ns(recording_cost(CostShape::kRows, most_ns)));
    if (!cost && static_cast<double>(anchor->ns) >=
                     (1 - kScatter) * (1 - kScatter) * std::max<double>(shortest_ns, device_ns)) {
      cost = most_ns;
    }
    if (!cost) return refused(UntracedRefusal::kOtherWork);
    found.source = UntracedSource::kAnchor;
    found.row_cost_ns = row_ns(*cost);
    found.row_cost_low_ns = row_ns(solved(anchor->high_ns).value_or(*cost));
    found.row_cost_high_ns = row_ns(solved(anchor->low_ns).value_or(*cost));
    return found;
  }
  if (!model.run.trace->frames.empty()) return refused(UntracedRefusal::kFrames);
  if (fit.pairs == 0) return refused(UntracedRefusal::kNoPairs);
  const CostFit::Cost cost = fit.cost(witness_ns);
  const auto iteration = [&replay](double border_ns) {
    return static_cast<double>(replay.iteration_ns(recording_cost(CostShape::kRows, border_ns)));
  };
  const auto at_least = [device_ns](double ns) { return std::max<int64_t>(std::llround(ns), device_ns); };
  found.source = UntracedSource::kEstimate;
  found.iteration_ns = at_least(iteration(cost.ns));
  found.low_ns = at_least(iteration(cost.high_ns) * (1 - kScatter));
  // Recording makes no run faster.
  found.high_ns = std::min(at_least(iteration(cost.low_ns) * (1 + kScatter)),
                           std::max(found.recorded_iteration_ns, found.iteration_ns));
  found.row_cost_ns = row_ns(cost.ns);
  found.row_cost_low_ns = row_ns(cost.low_ns);
  found.row_cost_high_ns = row_ns(cost.high_ns);
  return found;
}

}  // namespace assay
