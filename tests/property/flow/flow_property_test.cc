// Invariants of docs/metrics.md, Flow, on random traces: some of rows that fit together in no way,
// some of programs that launch, wait and work as real ones do.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "flow/causes.h"
#include "flow/decision.h"
#include "flow/edited_lags.h"
#include "flow/gain_finder.h"
#include "flow/gains.h"
#include "flow/graph.h"
#include "flow/lanes.h"
#include "flow/lever_order.h"
#include "flow/moved_lags.h"
#include "flow/names.h"
#include "flow/path.h"
#include "flow/path_parts.h"
#include "flow/pieces.h"
#include "flow/replay.h"
#include "flow/verdict.h"
#include "flow/whatif.h"
#include "support/scaled_lags.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <size_t n>
  const char* any(const char* const (&names)[n]) {
    return names[below(n)];
  }

 private:
  std::mt19937 random_;
};

constexpr const char* kCalls[] = {
    "cudaLaunchKernel",      "cudaGraphLaunch",     "cudaMemcpyAsync",
    "cudaDeviceSynchronize", "cudaMalloc",          "cuModuleLoadData",
    "cudaEventRecord",       "cudaStreamWaitEvent", "cudaStreamSynchronize",
    "cudaEventQuery"};
constexpr const char* kOps[] = {"aten::mm", "aten::add", "enumerate(DataLoader)#x",
                                "ProfilerStep#1"};
constexpr const char* kFrames[] = {"train.py(1): step", "<built-in method sleep of x>",
                                   "torch/utils/data/dataloader.py(7): __next__",
                                   "triton/compiler/compiler.py(3): compile"};
constexpr const char* kWorks[] = {"gemm", "ncclKernel_AllReduce",
                                  "Memcpy HtoD (Pageable -> Device)",
                                  "Memcpy DtoH (Device -> Pinned)"};

// What to leave out of a trace, and by how much to shift it.
struct Change {
  bool ops = true;
  bool frames = true;
  bool calls = true;
  int64_t shift_ns = 0;
  int64_t device_shift_ns = 0;  // of device times alone
  bool one_stream = false;
  int copies = 1;        // of the whole process
  bool renamed = false;  // other names that mean as much
  // Rows that nothing follows from: labels, and markers of no length.
  bool markers = false;
};

Change without_markers(Change change) {
  change.markers = false;
  return change;
}

// Another name of the same meaning.
std::string named(const char* name, const Change& change) {
  return change.renamed ? std::string(name) + "_renamed" : name;
}

// Labels that are no data loader, and markers of no length, on lanes that are there already and
// between their first row and their last.
void add_markers(TraceMaker& maker, const Trace& plain, const Change& change) {
  const auto add = [&](ThreadId thread, int64_t start_ns, int64_t dur_ns, const char* name) {
    const int64_t lane = std::stoll(plain.threads[thread.index()].tid);
    maker.annotation(lane, name, start_ns, dur_ns);
    if (dur_ns > 0) return;
    if (plain.ops.size() > 0) maker.op(lane, "marker", start_ns, 0);
    if (plain.frames.size() > 0) maker.frame(lane, "marker.py(1): mark", start_ns, 0);
  };
  if (!change.markers) return;
  const ApiCallTable& calls = plain.api_calls;
  for (size_t c = 0; c + 1 < calls.size(); ++c) {
    if (calls.thread[c] != calls.thread[c + 1] || calls.dur_ns[c + 1] == 0) continue;
    const int64_t between_ns = calls.start_ns[c + 1] - calls.start_ns[c];
    add(calls.thread[c], calls.start_ns[c] + between_ns / 3, between_ns / 2, "part of the step");
    add(calls.thread[c], calls.start_ns[c] + between_ns / 2, 0, "marker");
  }
}

// Rows that know nothing of each other: overlapping, unlinked, before their calls, of no length.
Trace chaos(uint32_t seed, const Change& change = {}) {
  Random random(seed);
  const int64_t line_ns = 20'000 + random.below(300'000);
  const auto start = [&] { return random.below(line_ns) + change.shift_ns; };
  const auto dur = [&] { return random.chance(20) ? 0 : random.below(line_ns / 8); };
  TraceMaker maker;
  for (int64_t i = random.below(25); i > 0; --i) {
    const int64_t thread = random.below(3);
    const char* name = random.any(kOps);
    const int64_t start_ns = start();
    const int64_t dur_ns = dur();
    if (change.ops) maker.op(thread, named(name, change), start_ns, dur_ns);
  }
  for (int64_t i = random.below(25); i > 0; --i) {
    const int64_t thread = random.below(3);
    const char* name = random.any(kFrames);
    const int64_t start_ns = start();
    const int64_t dur_ns = dur();
    if (change.frames) maker.frame(thread, named(name, change), start_ns, dur_ns);
  }
  for (int64_t i = random.below(40); i > 0; --i) {
    const int64_t thread = random.below(3);
    const char* name = random.any(kCalls);
    const int64_t start_ns = start();
    const int64_t dur_ns = dur();
    const auto correlation = static_cast<uint32_t>(random.below(30));
    if (change.calls) maker.call(thread, name, start_ns, dur_ns, correlation);
  }
  for (int64_t i = random.below(40); i > 0; --i) {
    const auto kind = static_cast<ActivityKind>(random.below(5));
    const int64_t device = random.below(2);
    const int64_t stream = random.below(3);
    const char* name = random.any(kWorks);
    const int64_t start_ns = start();
    maker.activity(kind, device, stream, name, start_ns, dur(),
                   static_cast<uint32_t>(random.below(30)));
  }
  if (change.markers) add_markers(maker, chaos(seed, without_markers(change)), change);
  return maker.build();
}

// One process: operators launch kernels on streams that run in order, now and then it waits, copies
// or allocates. Its lanes are its own.
void add_program(TraceMaker& maker, Random& random, const Change& change, int64_t process) {
  int64_t now_ns = change.shift_ns;
  int64_t free_ns[2] = {now_ns, now_ns};
  auto correlation = static_cast<uint32_t>(1 + 1000 * process);
  for (int64_t step = 20 + random.below(40); step > 0; --step) {
    const int64_t begin_ns = now_ns;
    now_ns += 500 + random.below(3000);
    const char* call = random.chance(80) ? "cudaLaunchKernel" : random.any(kCalls);
    const int64_t call_ns = 1000 + random.below(4000);
    const int64_t drawn_stream = random.chance(80) ? 0 : 1;
    const int64_t stream = change.one_stream ? 0 : drawn_stream;
    const std::string_view name = call;
    int64_t end_ns = now_ns + call_ns;
    if (name.ends_with("Synchronize")) end_ns = std::max(end_ns, std::max(free_ns[0], free_ns[1]));
    if (change.calls) maker.call(process, call, now_ns, end_ns - now_ns, correlation);
    if (name == "cudaLaunchKernel") {
      const int64_t late_ns = random.chance(3) ? 100'000 : 0;
      const int64_t start_ns = std::max(end_ns + 2000, free_ns[stream] + 800) + late_ns;
      free_ns[stream] = start_ns + random.below(30'000);
      maker.kernel(process, stream, random.any(kWorks), start_ns + change.device_shift_ns,
                   free_ns[stream] - start_ns, correlation);
    }
    ++correlation;
    now_ns = end_ns + random.below(1500);
    const char* op = random.any(kOps);
    const char* frame = random.any(kFrames);
    if (change.ops) maker.op(process, named(op, change), begin_ns, now_ns - begin_ns);
    now_ns += random.chance(10) ? random.below(80'000) : 0;
    if (change.frames) maker.frame(process, named(frame, change), begin_ns, now_ns - begin_ns);
  }
}

Trace program(uint32_t seed, const Change& change = {}) {
  TraceMaker maker;
  for (int64_t copy = 0; copy < change.copies; ++copy) {
    Random random(seed);
    add_program(maker, random, change, copy);
  }
  if (change.markers) add_markers(maker, program(seed, without_markers(change)), change);
  Trace trace = maker.build();
  for (size_t t = 0; t < trace.threads.size(); ++t) trace.threads[t].pid = trace.threads[t].tid;
  return trace;
}

using Make = Trace (*)(uint32_t, const Change&);

class FlowProperty : public ::testing::TestWithParam<Make> {
 protected:
  // check(trace, run) for many traces.
  template <typename Check>
  void each(Check check, const Change& change = {}) {
    for (uint32_t seed = 1; seed <= 300; ++seed) {
      SCOPED_TRACE(seed);
      const Trace trace = GetParam()(seed, change);
      const Links links = link_trace(trace);
      check(trace, make_flow_run(trace, links));
      if (HasFatalFailure()) return;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Traces, FlowProperty, ::testing::Values(chaos, program));

int64_t sum(const CauseTimes& times) {
  return std::accumulate(times.begin(), times.end(), int64_t{0});
}

FlowTotals all_totals(const FlowRun& run) {
  FlowTotals totals;
  for (const DeviceFlow& device : device_flows(run)) {
    totals += totals_in(device, {run.start_ns, run.work_end_ns});
  }
  return totals;
}

int64_t covered(const std::vector<FlowSlice>& slices) {
  int64_t sum_ns = 0;
  for (const FlowSlice& slice : slices) sum_ns += slice.span.end_ns - slice.span.start_ns;
  return sum_ns;
}

void expect_in_order(const std::vector<FlowSlice>& slices) {
  for (size_t i = 0; i < slices.size(); ++i) {
    ASSERT_LT(slices[i].span.start_ns, slices[i].span.end_ns);
    if (i == 0) continue;
    ASSERT_LE(slices[i - 1].span.end_ns, slices[i].span.start_ns);
    ASSERT_LE(slices[i - 1].gap, slices[i].gap);
  }
}

// 1: causes, compute, communication and copies are the window, per device and stream.
TEST_P(FlowProperty, EveryIdleNanosecondHasOneCause) {
  each([](const Trace& trace, const FlowRun& run) {
    const Interval window{run.start_ns, run.work_end_ns};
    std::vector<std::vector<Interval>> busy(run.devices.size());
    std::vector<std::vector<Interval>> of_stream(trace.streams.size());
    for (const FlowWork& work : run.works) {
      busy[work.device].push_back({work.start_ns, work.end_ns});
      of_stream[work.stream].push_back({work.start_ns, work.end_ns});
    }
    const auto devices = device_flows(run);
    for (size_t d = 0; d < devices.size(); ++d) {
      const FlowTotals totals = totals_in(devices[d], window);
      ASSERT_EQ(totals.idle_ns, window.end_ns - window.start_ns - union_ns(busy[d]));
      ASSERT_EQ(totals.compute_ns + totals.collective_ns + totals.copy_ns, union_ns(busy[d]));
      ASSERT_EQ(sum(totals.cause_ns), totals.idle_ns);
      for (size_t c = 0; c < kFlowCauses; ++c) {
        const auto& opened = totals.opened_ns[c];
        ASSERT_EQ(std::accumulate(opened.begin(), opened.end(), int64_t{0}), totals.cause_ns[c]);
        const auto& evidence = totals.evidence_ns[c];
        ASSERT_EQ(std::accumulate(evidence.begin(), evidence.end(), int64_t{0}),
                  totals.cause_ns[c]);
      }
      ASSERT_EQ(covered(devices[d].idle), totals.idle_ns);
      expect_in_order(devices[d].idle);
    }
    for (uint32_t s = 0; s < of_stream.size(); ++s) {
      if (of_stream[s].empty()) continue;
      const auto slices = stream_idle(run, StreamId(s));
      ASSERT_EQ(covered(slices), window.end_ns - window.start_ns - union_ns(of_stream[s]));
      expect_in_order(slices);
    }
  });
}

// Windows that touch each other share nothing out and lose nothing.
TEST_P(FlowProperty, WindowsAddUp) {
  each([](const Trace&, const FlowRun& run) {
    const int64_t third_ns = (run.work_end_ns - run.start_ns) / 3;
    for (const DeviceFlow& device : device_flows(run)) {
      const int64_t cut_ns = run.start_ns + third_ns;
      FlowTotals parts = totals_in(device, {run.start_ns, cut_ns});
      parts += totals_in(device, {cut_ns, run.work_end_ns});
      const FlowTotals whole = totals_in(device, {run.start_ns, run.work_end_ns});
      ASSERT_EQ(parts.cause_ns, whole.cause_ns);
      ASSERT_EQ(parts.compute_ns, whole.compute_ns);
      ASSERT_EQ(parts.window_ns, whole.window_ns);
    }
  });
}

// 2: the replay without edits is the record; the path is the makespan.
TEST_P(FlowProperty, ReplayIsTheRecord) {
  each([](const Trace& trace, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    ASSERT_EQ(graph.points(), 2 * (run.calls.size() + run.works.size()));
    ASSERT_EQ(identity_errors(graph), 0u);
    for (uint32_t p = 0; p < graph.points(); ++p) {
      ASSERT_GE(graph.residual_ns[p], 0);
      for (uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e) {
        ASSERT_TRUE(graph.source[e] == kNoPoint || graph.source[e] < p);
      }
    }
    const CriticalPath path = critical_path(run, graph);
    const int64_t work = std::accumulate(path.work_ns.begin(), path.work_ns.end(), int64_t{0});
    ASSERT_EQ(sum(path.cause_ns) + work + path.queue_ns + path.start_ns, path.makespan_ns);
    ASSERT_EQ(path.makespan_ns, makespan_ns(run, graph, graph.time_ns));
    const std::vector<int64_t> slack = slack_ns(run, graph);
    for (const int64_t ns : slack) ASSERT_GE(ns, 0);
    for (const PathStep& step : path.steps) ASSERT_EQ(slack[step.point], 0);
    std::vector<std::vector<Interval>> busy(trace.streams.size());
    for (const FlowWork& each_work : run.works) {
      busy[each_work.stream].push_back({each_work.start_ns, each_work.end_ns});
    }
    for (auto& stream : busy) ASSERT_LE(union_ns(std::move(stream)), path.makespan_ns);
  });
}

// Other usual times move what binds, and neither points nor the record.
TEST_P(FlowProperty, OtherTypicalTimesKeepTheRecord) {
  uint32_t draw = 0;
  each([&draw](const Trace&, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    Random random(++draw);
    FlowFloors floors = run.floors;
    for (FlowFloor* floor : {&floors.launch, &floors.stream, &floors.event, &floors.returns}) {
      floor->typical_ns = random.below(10'000);
    }
    const FlowGraph other = make_flow_graph(run, floors);
    ASSERT_EQ(other.item, graph.item);
    ASSERT_EQ(other.point_of, graph.point_of);
    ASSERT_EQ(identity_errors(other), 0u);
  });
}

// Parts of segments are what their lags consist of.
TEST_P(FlowProperty, LanesWithEverythingAreTheRecord) {
  each([](const Trace&, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    const int64_t middle_ns = run.start_ns + (run.work_end_ns - run.start_ns) / 3;
    for (const int64_t from_ns : {run.start_ns, middle_ns}) {
      const LaneGraph lanes = make_lane_graph(run, graph, {from_ns, INT64_MAX}, {});
      std::vector<LaneTimes> times;
      for (const bool pins : {false, true}) {
        const LaneTimes spans = replay_lanes(lanes, LaneMasks(), pins, times);
        for (const int64_t span_ns : spans) ASSERT_EQ(span_ns, lanes.window_ns());
        for (size_t p = 0; p < graph.points(); ++p) {
          for (const int64_t at_ns : times[p]) ASSERT_EQ(at_ns + graph.start_ns, graph.time_ns[p]);
        }
      }
    }
  });
}

TEST_P(FlowProperty, GainsAddUpAndStayWithinBounds) {
  each([](const Trace&, const FlowRun& run) {
    if (run.works.empty()) return;
    const FlowGraph graph = make_flow_graph(run);
    const GainTable table = find_gains(run, graph, {run.start_ns, INT64_MAX});
    const int64_t window_ns = table.window_ns();
    int64_t sum_ns = table.rest_ns;
    for (const GroupGain& gain : table.groups) {
      sum_ns += gain.share_ns;
      EXPECT_LE(0, gain.low_ns);
      EXPECT_LE(gain.low_ns, gain.gain_ns);
      EXPECT_LE(gain.gain_ns, gain.high_ns);
      EXPECT_LE(gain.high_ns, window_ns);
      EXPECT_LE(gain.gain_ns, gain.total_ns);
      EXPECT_LE(gain.pieces.half_in, gain.pieces.count);
    }
    ASSERT_EQ(sum_ns, window_ns);
    EXPECT_EQ(table.keep_ns, window_ns);
    EXPECT_LE(table.of(GainGroup::kHost).gain_ns, table.idle_ns);
    EXPECT_LE(table.order_gain_ns, table.idle_ns);
    for (const int64_t ns : table.host_gain_ns) EXPECT_LE(ns, table.idle_ns);
    for (size_t set = 0; set < table.without.size(); ++set) {
      for (size_t bit = 1; bit < table.without.size(); bit <<= 1) {
        ASSERT_LE(table.without[set], table.without[set | bit]);
      }
    }
  });
}

// Without one kind of device work the table of gains and a replay of the equal edit save the same.
// The table counts the gaps that a device needs between works with its kernels, an edit leaves them.
void expect_table_saves_as_edits(const FlowRun& run) {
  if (run.works.empty()) return;
  const FlowGraph graph = make_flow_graph(run);
  const GainTable table = find_gains(run, graph, {run.start_ns, INT64_MAX});
  int64_t gaps_ns = 0;
  for (size_t e = 0; e < graph.kind.size(); ++e) {
    const bool gap = graph.kind[e] == EdgeKind::kStream || graph.kind[e] == EdgeKind::kEvent;
    if (gap) gaps_ns += std::max<int64_t>(graph.lag_ns[e], 0);
  }
  const bool moves = table.of(GainGroup::kMigration).total_ns > 0;  // copies of another group
  for (size_t i = 0; i < table.players.size(); ++i) {
    const GainGroup group = table.players[i];
    Edit edit;
    edit.cause.fill(1);
    edit.work.fill(1);
    if (group == GainGroup::kDevice) edit.work[static_cast<size_t>(WorkKind::kCompute)] = 0;
    if (group == GainGroup::kComm) edit.work[static_cast<size_t>(WorkKind::kCollective)] = 0;
    if (group == GainGroup::kCopy && !moves) {
      edit.work[static_cast<size_t>(WorkKind::kCopy)] = 0;
      edit.work[static_cast<size_t>(WorkKind::kFill)] = 0;
    }
    if (std::all_of(edit.work.begin(), edit.work.end(), [](double left) { return left == 1; }))
      continue;
    SCOPED_TRACE(gain_group_name(group));
    const Edit* const edits = &edit;
    const EditedLags lags = edited_lags(run, graph, {&edits, 1}, run.start_ns);
    const std::vector<int64_t> times = replay(graph, {.lags_ns = &lags.lag_ns});
    const auto end_ns = [&](const std::vector<int64_t>& at_ns) {
      return at_ns[last_work(run, graph, at_ns)];
    };
    const int64_t saved_ns = end_ns(graph.time_ns) - end_ns(times);
    const int64_t table_ns = table.without[size_t{1} << i];
    EXPECT_LE(saved_ns, table_ns);
    EXPECT_LE(table_ns - saved_ns, group == GainGroup::kDevice ? gaps_ns : 0);
  }
}

TEST_P(FlowProperty, TheTableSavesWhatTheEqualEditSaves) {
  each([](const Trace&, const FlowRun& run) { expect_table_saves_as_edits(run); });
}

// Kernels ahead of a copy from pageable memory, whose call the device's clock lets return up to 3 us
// before the copy ends.
TEST(FlowGains, TheTableSavesWhatTheEqualEditSavesWhereCallsWaitForTheirCopies) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    TraceMaker maker;
    int64_t now_ns = 0;
    for (uint32_t i = 1; i < 40; i += 2) {
      const int64_t kernel_ns = 10'000 + random.below(400'000);
      const int64_t copy_ns = 2000 + random.below(60'000);
      const int64_t copied_ns = now_ns + 8000 + kernel_ns + 2000 + copy_ns;
      maker.call(1, "hipLaunchKernel", now_ns, 5000, i)
          .kernel(0, 7, "gemm", now_ns + 8000, kernel_ns, i)
          .call(1, "hipMemcpyWithStream", now_ns + 7000,
                copied_ns - random.below(3000) - now_ns - 7000, i + 1)
          .copy(0, 7, "Memcpy HtoD (Host -> Device)", copied_ns - copy_ns, copy_ns, i + 1);
      now_ns = copied_ns + random.below(50'000);
    }
    const Trace trace = maker.build();
    const Links links = link_trace(trace);
    const FlowRun run = make_flow_run(trace, links);
    SCOPED_TRACE(seed);
    expect_table_saves_as_edits(run);
    const FlowGraph graph = make_flow_graph(run);
    const GainTable table = find_gains(run, graph, {run.start_ns, INT64_MAX});
    EXPECT_GT(table.of(GainGroup::kDevice).gain_ns, 0);
  }
}

TEST_P(FlowProperty, NoActionOnTheHostGainsMoreThanIdleTime) {
  each([](const Trace& trace, const FlowRun& run) {
    const Links links = link_trace(trace);
    const FlowModel model = make_flow_model(trace, links);
    const FlowReport report = make_flow_report(model, {});
    const GainFinder finder(model, {}, report, false);
    const Interval window{finder.from_ns(), finder.from_ns() + finder.run_ns()};
    const int64_t idle_ns = std::max<int64_t>(0, finder.run_ns() - working_ns(run, window));
    const EditMaker maker(model.run, {});
    Trial trial(finder.slots());
    for (const EditKind kind : {EditKind::kSync, EditKind::kHost, EditKind::kAlloc}) {
      const Edit edit = maker.make({.kind = kind});
      const Edit* const edits = &edit;
      EXPECT_LE(finder.gain(sum_of({&edits, 1}), trial, INT64_MAX).run_ns, idle_ns);
    }
  });
}

TEST_P(FlowProperty, SegmentsAreTheirParts) {
  each([](const Trace&, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    for (size_t s = 0; s < graph.segment_edge.size(); ++s) {
      int64_t parts_ns = 0;
      for (uint32_t k = graph.first_part[s]; k < graph.first_part[s + 1]; ++k) {
        parts_ns += graph.part_ns[k];
      }
      ASSERT_EQ(parts_ns, graph.lag_ns[graph.segment_edge[s]]);
    }
  });
}

// 3: a larger edit never gives less, and none gives more than there is.
TEST_P(FlowProperty, LargerEditsGiveMore) {
  uint32_t draw = 0;
  each([&draw](const Trace&, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    Random random(++draw);
    FlowScale small;
    FlowScale large;
    for (size_t c = 0; c < kFlowCauses; ++c) {
      if (random.chance(40)) small.cause[c] = large.cause[c] = 0;
      if (random.chance(30)) large.cause[c] = 0;
    }
    if (random.chance(50)) large.work[0] = 0;
    const auto makespan = [&](const FlowScale& scale, Residuals residuals) {
      const std::vector<int64_t> lags = scaled_lags(run, graph, scale);
      return makespan_ns(run, graph, replay(graph, {residuals, &lags, 10'000}));
    };
    const int64_t recorded_ns = makespan_ns(run, graph, graph.time_ns);
    const int64_t small_ns = makespan(small, Residuals::kKeep);
    const int64_t large_ns = makespan(large, Residuals::kKeep);
    ASSERT_LE(small_ns, recorded_ns);
    ASSERT_LE(large_ns, small_ns);
    ASSERT_GE(large_ns, 0);
    // What does not move can only keep the run longer.
    ASSERT_LE(small_ns, makespan(small, Residuals::kPin));
    ASSERT_LE(makespan(small, Residuals::kPin), recorded_ns);
  });
}

// 4: it does not matter when a run took place, nor what else the machine did.
TEST_P(FlowProperty, ShiftChangesNothing) {
  std::vector<CauseTimes> recorded;
  each([&](const Trace&, const FlowRun& run) { recorded.push_back(all_totals(run).cause_ns); });
  size_t next = 0;
  each([&](const Trace&,
           const FlowRun& run) { ASSERT_EQ(all_totals(run).cause_ns, recorded[next++]); },
       {.shift_ns = 1'700'000'000'000'000'000});
}

// 4: device clocks that are off by some time move no more than that of each gap to the host.
TEST(FlowClocks, AShiftOfTheDeviceMovesNoMoreThanItself) {
  static constexpr FlowCause kHost[] = {
      FlowCause::kCall,  FlowCause::kDispatch, FlowCause::kPython,
      FlowCause::kAlloc, FlowCause::kInput,    FlowCause::kHostGap,
      FlowCause::kSync,  FlowCause::kCold,     FlowCause::kNothingAsked};
  const auto host_ns = [](const FlowTotals& totals) {
    int64_t sum_ns = 0;
    for (const FlowCause cause : kHost) sum_ns += totals[cause];
    return sum_ns;
  };
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t shift_ns = 100 * (1 + seed % 19);
    const Trace trace = program(seed);
    const Trace later = program(seed, {.device_shift_ns = shift_ns});
    const Links links = link_trace(trace);
    const Links later_links = link_trace(later);
    const FlowRun run = make_flow_run(trace, links);
    const FlowRun later_run = make_flow_run(later, later_links);
    size_t gaps = 0;
    for (const DeviceFlow& device : device_flows(run)) {
      for (size_t i = 0; i < device.idle.size(); ++i) {
        gaps += i == 0 || device.idle[i].gap != device.idle[i - 1].gap;
      }
    }
    const int64_t moved_ns = host_ns(all_totals(later_run)) - host_ns(all_totals(run));
    ASSERT_LE(std::abs(moved_ns), static_cast<int64_t>(gaps) * shift_ns);
  }
}

// 7: where the path lies on the host while the device waits for the host, both name the same.
TEST(FlowPath, NamesWhatTheDeviceWaitsFor) {
  size_t compared = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = program(seed, {.one_stream = true});
    const Links links = link_trace(trace);
    const FlowRun run = make_flow_run(trace, links);
    const FlowGraph graph = make_flow_graph(run);
    const std::vector<PathSlice> path = path_slices(run, graph, critical_path(run, graph));
    const std::vector<DeviceFlow> devices = device_flows(run);
    for (const PathSlice& on_path : path) {
      if (on_path.kind != PathPartKind::kHost && on_path.kind != PathPartKind::kCall) continue;
      for (const FlowSlice& idle : devices.front().idle) {
        const bool device = idle.cause == FlowCause::kLatency || idle.cause == FlowCause::kUnseen;
        const bool meet =
            idle.span.start_ns < on_path.span.end_ns && on_path.span.start_ns < idle.span.end_ns;
        if (device || !meet) continue;
        ++compared;
        ASSERT_EQ(flow_cause_name(on_path.cause), flow_cause_name(idle.cause));
        ASSERT_EQ(trace.text(on_path.name), trace.text(row_name(trace, idle.source, idle.row)));
      }
    }
  }
  EXPECT_GT(compared, 1000U);
}

// What every instant is told as, names apart.
using Told = std::vector<std::tuple<int64_t, int64_t, FlowCause, CauseEvidence, OpenedBy>>;
Told told(const FlowRun& run) {
  Told all;
  for (const DeviceFlow& device : device_flows(run)) {
    for (const FlowSlice& slice : device.idle) {
      const auto same = [&slice](const auto& last) {
        return std::get<1>(last) == slice.span.start_ns && std::get<2>(last) == slice.cause &&
               std::get<3>(last) == slice.evidence && std::get<4>(last) == slice.opened_by;
      };
      if (!all.empty() && same(all.back())) {
        std::get<1>(all.back()) = slice.span.end_ns;
      } else {
        all.emplace_back(slice.span.start_ns, slice.span.end_ns, slice.cause, slice.evidence,
                         slice.opened_by);
      }
    }
  }
  return all;
}

// 4: names that mean as much change names only.
TEST_P(FlowProperty, ARenameChangesNamesOnly) {
  std::vector<Told> recorded;
  each([&](const Trace&, const FlowRun& run) { recorded.push_back(told(run)); });
  size_t next = 0;
  each([&](const Trace&, const FlowRun& run) { ASSERT_EQ(told(run), recorded[next++]); },
       {.renamed = true});
}

// Labels and markers that nothing follows from change nothing: not a cause, not the verdict.
TEST_P(FlowProperty, RowsWithoutEffectChangeNothing) {
  std::vector<Told> recorded;
  std::vector<std::pair<BoundBy, double>> verdicts;
  const auto verdict_of = [](const Trace& trace) {
    const Links links = link_trace(trace);
    const FlowReport report = make_flow_report(trace, links, {});
    const FlowVerdict verdict = judge_flow(trace, report, {});
    return std::pair(verdict.bound, report.fit.run_ns / 1e9);
  };
  each([&](const Trace& trace, const FlowRun& run) {
    recorded.push_back(told(run));
    verdicts.push_back(verdict_of(trace));
  });
  size_t next = 0;
  each(
      [&](const Trace& trace, const FlowRun& run) {
        ASSERT_EQ(told(run), recorded[next]);
        ASSERT_EQ(verdict_of(trace), verdicts[next]);
        ++next;
      },
      {.markers = true});
}

TEST(FlowProcesses, ASecondAlikeDoublesSums) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Trace one = program(seed);
    const Trace two = program(seed, {.copies = 2});
    const Links one_links = link_trace(one);
    const Links two_links = link_trace(two);
    const FlowRun one_run = make_flow_run(one, one_links);
    if (one_run.floors.launch.samples < 8 || one_run.floors.stream.samples < 8) continue;
    const FlowTotals single = all_totals(one_run);
    const FlowTotals both = all_totals(make_flow_run(two, two_links));
    for (size_t c = 0; c < kFlowCauses; ++c) ASSERT_EQ(both.cause_ns[c], 2 * single.cause_ns[c]);
    ASSERT_EQ(both.compute_ns, 2 * single.compute_ns);
  }
}

// 5: what the device waits for does not depend on what is known of the host; the sum never changes.
TEST_P(FlowProperty, LessHostRenamesHostTimeOnly) {
  constexpr Change kLess[] = {{.ops = false}, {.frames = false}, {.ops = false, .frames = false}};
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Trace full = GetParam()(seed, {});
    const Links full_links = link_trace(full);
    const FlowRun full_run = make_flow_run(full, full_links);
    const Interval window{full_run.start_ns, full_run.work_end_ns};
    for (const Change& change : kLess) {
      const Trace trace = GetParam()(seed, change);
      const Links links = link_trace(trace);
      const FlowRun run = make_flow_run(trace, links);
      const auto devices = device_flows(run);
      const auto full_devices = device_flows(full_run);
      for (size_t d = 0; d < devices.size(); ++d) {
        // Rows of the host may be what begins the run: compare where both have one.
        const Interval both{std::max(run.start_ns, window.start_ns), window.end_ns};
        const FlowTotals less = totals_in(devices[d], both);
        const FlowTotals more = totals_in(full_devices[d], both);
        ASSERT_EQ(less.idle_ns, more.idle_ns);
        for (const FlowCause cause : {FlowCause::kUnseen, FlowCause::kLatency,
                                      FlowCause::kNoEvidence, FlowCause::kWaitOther}) {
          if (trace.api_calls.empty()) break;
          ASSERT_EQ(less[cause], more[cause]) << flow_cause_name(cause);
        }
        ASSERT_TRUE(change.ops || less[FlowCause::kDispatch] == 0);
        ASSERT_TRUE(change.frames || less[FlowCause::kPython] == 0);
      }
    }
  }
}

TEST_P(FlowProperty, NothingIsKnownIfCallsAreMissing) {
  each(
      [](const Trace&, const FlowRun& run) {
        const FlowTotals totals = all_totals(run);
        ASSERT_EQ(totals[FlowCause::kNoEvidence], totals.idle_ns);
      },
      {.calls = false});
}

// 2 and 6 of the rule, told in the plainest way: at an instant, look at every piece of work.
FlowCause device_cause_at(const FlowRun& run, uint32_t device, int64_t time_ns) {
  bool ready = false;
  bool held = false;
  for (const FlowWork& work : run.works) {
    if (work.device != device || work.submit_ns == kUnknownNs || work.start_ns <= time_ns) continue;
    const int64_t limit_ns = run.floors.of(work.ready_by).limit_ns;
    if (work.ready_ns + limit_ns <= time_ns) return FlowCause::kUnseen;
    ready |= work.ready_ns <= time_ns;
    held |= work.submit_ns <= time_ns && work.ready_ns > time_ns;
  }
  if (ready) return FlowCause::kLatency;
  return held ? FlowCause::kWaitOther : FlowCause::kHostGap;  // some cause of the host
}

bool is_host(FlowCause cause) { return cause >= FlowCause::kSync; }

TEST_P(FlowProperty, CausesOfTheDeviceMatchEachInstant) {
  each([](const Trace&, const FlowRun& run) {
    const auto devices = device_flows(run);
    for (uint32_t d = 0; d < devices.size(); ++d) {
      for (const FlowSlice& slice : devices[d].idle) {
        if (slice.cause == FlowCause::kNoEvidence || slice.evidence == CauseEvidence::kInferred)
          continue;
        for (const int64_t at : {slice.span.start_ns, slice.span.end_ns - 1}) {
          const FlowCause told = device_cause_at(run, d, at);
          if (is_host(told)) {
            ASSERT_TRUE(is_host(slice.cause)) << flow_cause_name(slice.cause);
          } else if (told != FlowCause::kWaitOther) {
            ASSERT_EQ(slice.cause, told) << at;
          }
        }
      }
    }
  });
}

// With one launching thread the host's cause is what that thread did, piece by piece.
TEST_P(FlowProperty, CausesOfTheHostAreThoseOfItsThread) {
  each([](const Trace&, const FlowRun& run) {
    const auto devices = device_flows(run);
    for (uint32_t d = 0; d < devices.size(); ++d) {
      for (const FlowSlice& slice : devices[d].idle) {
        if (!is_host(slice.cause) || slice.source == RowSource::kNone) continue;
        if (slice.source == RowSource::kActivity) continue;  // pages that no call moves
        const int64_t at = slice.span.start_ns;
        const FlowWork* next = nullptr;
        const FlowWork* last = nullptr;
        for (const FlowWork& work : run.works) {
          const bool later =
              work.device == d && work.submit_ns != kUnknownNs && work.submit_ns > at;
          if (later && (next == nullptr || work.submit_ns < next->submit_ns)) next = &work;
          const bool known = work.device == d && work.submit_ns != kUnknownNs;
          if (known && (last == nullptr || work.submit_ns >= last->submit_ns)) last = &work;
        }
        // After its last launch the thread is still the one that answers for rows without calls.
        if (next == nullptr) next = last;
        ASSERT_NE(next, nullptr);
        const HostThread& thread = run.threads[run.calls[next->call].thread.index()];
        if (!thread.colleagues.empty()) continue;
        const size_t piece = piece_at(thread, at);
        ASSERT_LT(piece, thread.pieces.size());
        ASSERT_EQ(thread.pieces[piece].cause, slice.cause);
        ASSERT_EQ(thread.pieces[piece].row, slice.row);
      }
    }
  });
}

// 10: no verdict loses more time than there is.
TEST_P(FlowProperty, DiagnosesStayWithinTheWindow) {
  each([](const Trace& trace, const FlowRun& run) {
    const Links links = link_trace(trace);
    const FlowReport report = make_flow_report(trace, links, {});
    const FlowVerdict verdict = judge_flow(trace, report, {});
    const int64_t window_ns = report.window.end_ns - report.window.start_ns;
    int64_t lost_ns = 0;
    for (const LostGroup& group : verdict.lost) lost_ns += group.ns;
    ASSERT_LE(lost_ns, window_ns * static_cast<int64_t>(run.devices.size()));
    for (const Contributor& contributor : verdict.leading) {
      ASSERT_LE(contributor.ns, report.total.idle_ns);
    }
    const int64_t waits_ns = report.decision.table.order_gain_ns;
    ASSERT_GE(waits_ns, 0);
    // A thread's last call may outlast the device's work.
    ASSERT_LE(waits_ns, std::max(run.end_ns, run.work_end_ns) - report.window.start_ns);
  });
}

// ---- edits
// ----------------------------------------------------------------------------------------

constexpr const char* kEdits[] = {"sync",
                                  "sync:cudaStream*",
                                  "input",
                                  "alloc",
                                  "warm",
                                  "pauses",
                                  "host",
                                  "host=0.5",
                                  "faster_cpu",
                                  "faster_cpu=4",
                                  "kernel:gemm=0.5",
                                  "kernel:*",
                                  "family:communication=0.25",
                                  "op:aten::*",
                                  "op:*mm=0.5",
                                  "frame:*step=0.3",
                                  "call:cuda*=0.7",
                                  "copies",
                                  "comm",
                                  "cuda_graph",
                                  "fuse:gemm+gemm",
                                  "fuse:gemm+nccl*"};

// Four windows of equal length.
Windows quarters(const FlowRun& run) {
  Windows windows{WindowSource::kRepeatedRoot, {}, 0};
  const int64_t quarter_ns = (run.work_end_ns - run.start_ns) / 4;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t start_ns = run.start_ns + i * quarter_ns;
    windows.windows.push_back({"quarter", start_ns, start_ns + quarter_ns});
  }
  return windows;
}

// A run with every edit of the list.
struct Edited {
  explicit Edited(const FlowRun& of) : run(of), graph(make_flow_graph(of)), windows(quarters(of)) {
    const EditMaker maker(run, windows);
    for (const char* text : kEdits) edits.push_back(maker.make(*parse_edit(text)));
  }
  EditedLags lags(const std::vector<size_t>& of) const {
    std::vector<const Edit*> applied;
    for (const size_t e : of) {
      if (edits[e].refusal == EditRefusal::kNone) applied.push_back(&edits[e]);
    }
    return edited_lags(run, graph, applied);
  }
  int64_t makespan(const std::vector<size_t>& of, Residuals residuals) const {
    const EditedLags edited = lags(of);
    return makespan_ns(run, graph, replay(graph, {residuals, &edited.lag_ns, 10'000}));
  }

  const FlowRun& run;
  FlowGraph graph;
  Windows windows;
  std::vector<Edit> edits;
};

StrongestEdits only(const Edit& edit) {
  const Edit* const one = &edit;
  return sum_of({&one, 1});
}

FlowModel model_of(const FlowRun& run) {
  FlowModel model;
  model.run = run;
  model.graph = make_flow_graph(run);
  return model;
}

// A report of a run that is not refused.
FlowReport unrefused(const FlowModel& model) {
  FlowReport report = make_flow_report(model, {});
  report.fit.model_error = report.fit.unexplained_share = 0;
  report.evidence.linked_ns = report.evidence.work_ns = 1;
  report.total.idle_ns = 0;
  return report;
}

// 3 for every edit: lags only shrink, edges only go, so that no point comes later than it did; what
// does not move can only keep the run longer.
TEST_P(FlowProperty, NoEditMakesAnythingLater) {
  std::vector<bool> applied(std::size(kEdits), false);
  each([&applied](const Trace&, const FlowRun& run) {
    const Edited edited(run);
    const int64_t recorded_ns = makespan_ns(run, edited.graph, edited.graph.time_ns);
    for (size_t e = 0; e < edited.edits.size(); ++e) {
      SCOPED_TRACE(kEdits[e]);
      if (edited.edits[e].refusal != EditRefusal::kNone) continue;
      applied[e] = true;
      const EditedLags lags = edited.lags({e});
      for (size_t k = 0; k < lags.lag_ns.size(); ++k) {
        ASSERT_LE(lags.lag_ns[k], edited.graph.lag_ns[k]);
      }
      const std::vector<int64_t> times =
          replay(edited.graph, {.residuals = Residuals::kKeep, .lags_ns = &lags.lag_ns});
      for (size_t p = 0; p < times.size(); ++p) ASSERT_LE(times[p], edited.graph.time_ns[p]);
      const int64_t kept_ns = edited.makespan({e}, Residuals::kKeep);
      const int64_t pinned_ns = edited.makespan({e}, Residuals::kPin);
      ASSERT_GE(kept_ns, 0);
      ASSERT_LE(kept_ns, pinned_ns);
      ASSERT_LE(pinned_ns, recorded_ns);
    }
  });
  // Every edit was tried on some run: "warm" and "fuse" need luck, which the seeds have.
  EXPECT_GE(std::count(applied.begin(), applied.end(), true), 18);
}

// 3: more edits never give less, and it does not matter in which order they are named.
TEST_P(FlowProperty, MoreEditsGiveMore) {
  uint32_t draw = 0;
  each([&draw](const Trace&, const FlowRun& run) {
    const Edited edited(run);
    Random random(++draw);
    std::vector<size_t> some;
    std::vector<size_t> more;
    for (size_t e = 0; e < edited.edits.size(); ++e) {
      const bool in_some = random.chance(20);
      if (in_some) some.push_back(e);
      if (in_some || random.chance(20)) more.push_back(e);
    }
    const int64_t some_ns = edited.makespan(some, Residuals::kKeep);
    const int64_t more_ns = edited.makespan(more, Residuals::kKeep);
    ASSERT_LE(more_ns, some_ns);
    std::reverse(more.begin(), more.end());
    ASSERT_EQ(edited.makespan(more, Residuals::kKeep), more_ns);
    more.insert(more.end(), some.begin(), some.end());
    ASSERT_EQ(edited.makespan(more, Residuals::kKeep), more_ns);
  });
}

// What a search for the order of levers takes from edits that were made before is what these make
// from nothing.
TEST_P(FlowProperty, EditsOnTopAreThoseFromNothing) {
  uint32_t draw = 0;
  each([&draw](const Trace&, const FlowRun& run) {
    const Edited edited(run);
    Random random(++draw);
    const EditSlots slots(run, edited.graph, INT64_MIN);
    LagEditor editor(slots);
    StrongestEdits taken;
    EditedLags lags = editor.lags(taken);
    for (size_t e = 0; e < edited.edits.size(); ++e) {
      const Edit& edit = edited.edits[e];
      if (edit.refusal != EditRefusal::kNone) continue;
      SCOPED_TRACE(kEdits[e]);
      const StrongestEdits alone = only(edit);
      const std::vector<uint32_t> touched = editor.touched(alone, editor.lags(alone));
      StrongestEdits both = taken;
      add_edit(edit, both);
      const EditedLags from_nothing = editor.lags(both);
      EditedLags on_top = lags;
      if (editor.fits(taken, edit, lags)) {
        ASSERT_EQ(editor.edit(taken, edit, touched, on_top), from_nothing.lag_ns != lags.lag_ns);
        ASSERT_EQ(on_top, from_nothing);
        editor.copy(touched, lags, on_top);
        ASSERT_EQ(on_top, lags);
      }
      if (!random.chance(40)) continue;
      taken = std::move(both);
      lags = from_nothing;
    }
  });
}

// A lever's place in the order is that of replaying all that are left on top of those taken.
TEST_P(FlowProperty, OrdersAreThoseOfReplayingAll) {
  each([](const Trace&, const FlowRun& run) {
    if (run.works.empty()) return;
    const FlowModel model = model_of(run);
    const FlowReport report = unrefused(model);
    const Edited edited(run);
    const GainFinder finder(model, edited.windows, report, false);
    Trial trial(finder.slots());
    std::vector<OrderedLever> levers;
    for (const Edit& edit : edited.edits) {
      if (edit.refusal != EditRefusal::kNone) continue;
      const Gain gain = finder.gain(only(edit), trial, INT64_MAX);
      levers.push_back({&edit, trial.editor.touched(only(edit), trial.lags), gain.run_ns});
    }
    const std::vector<TakenLever> order = order_levers(finder, levers, 0, 1);
    std::vector<bool> is_taken(levers.size(), false);
    StrongestEdits taken;
    int64_t taken_ns = 0;
    for (const TakenLever& next : order) {
      size_t best = levers.size();
      int64_t best_ns = INT64_MIN;
      for (size_t i = 0; i < levers.size(); ++i) {
        if (is_taken[i]) continue;
        StrongestEdits with = taken;
        add_edit(*levers[i].edit, with);
        const int64_t more_ns = finder.gain(with, trial, INT64_MAX).run_ns - taken_ns;
        if (more_ns > best_ns) {
          best = i;
          best_ns = more_ns;
        }
      }
      ASSERT_EQ(next.lever, best);
      ASSERT_EQ(next.more_ns, best_ns);
      is_taken[best] = true;
      add_edit(*levers[best].edit, taken);
      taken_ns += best_ns;
    }
    const std::vector<TakenLever> in_threads = order_levers(finder, levers, 0, 3);
    ASSERT_EQ(in_threads.size(), order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(in_threads[i].lever, order[i].lever);
      ASSERT_EQ(in_threads[i].more_ns, order[i].more_ns);
    }
  });
}

// Edits on a graph with other usual times are those on the graph that is made with them.
TEST_P(FlowProperty, MovedLagsAreThoseOfTheGraphMadeSo) {
  uint32_t draw = 0;
  each([&draw](const Trace&, const FlowRun& run) {
    const Edited edited(run);
    Random random(++draw);
    FlowFloors floors = run.floors;
    for (FlowFloor* floor :
         {&floors.launch, &floors.stream, &floors.event, &floors.returns, &floors.unseen_call}) {
      floor->typical_ns = random.below(10'000);
    }
    for (FlowFloor& own : floors.own_calls) own.typical_ns = random.below(10'000);
    const EditSlots slots(run, edited.graph, INT64_MIN);
    const MovedLags moved = moved_lags(slots, floors);
    const FlowGraph other = make_flow_graph(run, floors);
    LagEditor editor(slots);
    for (size_t e = 0; e < edited.edits.size(); ++e) {
      const Edit& edit = edited.edits[e];
      if (edit.refusal != EditRefusal::kNone) continue;
      SCOPED_TRACE(kEdits[e]);
      std::vector<int64_t> moved_ns;
      move_lags(editor, only(edit), editor.lags(only(edit)), moved, moved_ns);
      const std::vector<int64_t> times =
          replay(edited.graph, {.residuals = Residuals::kDrop, .lags_ns = &moved_ns});
      const Edit* const one = &edit;
      const EditedLags of_other = edited_lags(run, other, {&one, 1});
      ASSERT_EQ(times, replay(other, {.lags_ns = &of_other.lag_ns}));
    }
  });
}

// 2 for every edit: the path of the replay sums to its makespan, and what the devices do sums to
// the time between their first and their last work.
TEST_P(FlowProperty, EditedPathsAddUp) {
  each([](const Trace&, const FlowRun& run) {
    const Edited edited(run);
    for (size_t e = 0; e < edited.edits.size(); ++e) {
      SCOPED_TRACE(kEdits[e]);
      const EditedLags lags = edited.lags({e});
      const std::vector<int64_t> times =
          replay(edited.graph, {.residuals = Residuals::kKeep, .lags_ns = &lags.lag_ns});
      const Replayed replayed{times, lags.lag_ns, lags.part_ns};
      const CriticalPath path = critical_path(run, edited.graph, replayed);
      const int64_t work = std::accumulate(path.work_ns.begin(), path.work_ns.end(), int64_t{0});
      ASSERT_EQ(sum(path.cause_ns) + work + path.queue_ns + path.start_ns, path.makespan_ns);
      ASSERT_EQ(path.makespan_ns, makespan_ns(run, edited.graph, times));
      const ReplayBar bar = replay_bar(run, edited.graph, replayed);
      ASSERT_EQ(bar.compute_ns + bar.collective_ns + bar.copy_ns + sum(bar.cause_ns),
                bar.window_ns);
      for (const int64_t ns : bar.cause_ns) ASSERT_GE(ns, 0);
    }
  });
}

// The list of levers adds up to what they give together.
TEST_P(FlowProperty, ListsAddUp) {
  each([](const Trace&, const FlowRun& run) {
    if (run.works.empty()) return;
    const FlowModel model = model_of(run);
    const FlowReport report = unrefused(model);
    WhatIfOptions options;
    for (const char* text : kEdits) options.edits.push_back(*parse_edit(text));
    const WhatIf found = explore_edits(model, quarters(run), report, options);
    int64_t sum_ns = 0;
    for (const size_t i : found.order) sum_ns += found.levers[i].in_order_ns;
    ASSERT_EQ(sum_ns, found.joint.run_ns);
  });
}

// The recorded path as stretches of time covers the run.
TEST_P(FlowProperty, PathSlicesCoverTheRun) {
  each([](const Trace&, const FlowRun& run) {
    const FlowGraph graph = make_flow_graph(run);
    const CriticalPath path = critical_path(run, graph);
    int64_t reached_ns = run.start_ns;
    const std::vector<PathSlice> slices = path_slices(run, graph, path);
    for (const PathSlice& slice : slices) {
      ASSERT_EQ(slice.span.start_ns, reached_ns);
      ASSERT_LT(slice.span.start_ns, slice.span.end_ns);
      reached_ns = slice.span.end_ns;
    }
    ASSERT_EQ(reached_ns - run.start_ns, path.makespan_ns);
    int64_t parts_ns = 0;
    for (const PathPart& part : path_parts(slices)) parts_ns += part.ns;
    int64_t ops_ns = 0;
    for (const PathOp& op : path_ops(run, slices)) ops_ns += op.ns;
    ASSERT_EQ(parts_ns, path.makespan_ns);
    ASSERT_EQ(ops_ns, path.makespan_ns);
  });
}

}  // namespace
}  // namespace assay
