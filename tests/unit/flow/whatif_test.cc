// Edits and what they give, on runs whose times were worked out by hand. Fewer than eight samples:
// a launch takes 3000 ns, a successor 1500.

#include "flow/whatif.h"
#include "flow/edited_lags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "flow/path_parts.h"
#include "flow/replay.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// A trace with all that a replay needs.
struct Traced {
  explicit Traced(Trace made, Windows steps = {})
      : trace(std::move(made)),
        links(link_trace(trace)),
        model(make_flow_model(trace, links)),
        iterations(std::move(steps)),
        report(make_flow_report(model, {})) {}

  static EditRequest request(const std::string& text) {
    const auto parsed = parse_edit(text);
    EXPECT_TRUE(parsed) << text;
    return *parsed;
  }
  Edit edit(const std::string& text) const {
    return EditMaker(model.run, iterations).make(request(text));
  }
  int64_t makespan(const std::vector<std::string>& texts) const {
    std::vector<Edit> edits;
    for (const std::string& text : texts) edits.push_back(edit(text));
    std::vector<const Edit*> applied;
    for (const Edit& each : edits) applied.push_back(&each);
    const EditedLags lags = edited_lags(model.run, model.graph, applied);
    return makespan_ns(model.run, model.graph, replay(model.graph, {.lags_ns = &lags.lag_ns}));
  }
  int64_t gain(const std::vector<std::string>& texts) const {
    return makespan({}) - makespan(texts);
  }
  WhatIf explore(const std::vector<std::string>& texts, WhatIfOptions options = {}) const {
    for (const std::string& text : texts) options.edits.push_back(request(text));
    return explore_edits(model, iterations, report, options);
  }

  Trace trace;
  Links links;
  FlowModel model;
  Windows iterations;
  FlowReport report;
};

// One product of 312 GFLOP, a millisecond at the roof of an A100, that took four in two kernels;
// then a kernel of nothing known.
Traced product_run(const char* device, bool shapes = true) {
  Trace trace = TraceMaker()
                    .op(1, "aten::mm", 0, 20'000)
                    .call(1, "cudaLaunchKernel", 1'000, 4'000, 1)
                    .call(1, "cudaLaunchKernel", 6'000, 4'000, 2)
                    .call(1, "cudaLaunchKernel", 21'000, 4'000, 3)
                    .kernel(0, 7, "gemm", 10'000, 3'000'000, 1)
                    .kernel(0, 7, "splitk", 3'010'000, 1'000'000, 2)
                    .kernel(0, 7, "other", 4'010'000, 500'000, 3)
                    .build();
  trace.devices = {{.id = 0, .name = device}};
  if (shapes) {
    trace.op_inputs.push_back({assay::testing::op_id(trace, "aten::mm"),
                               trace.strings.intern("[[4000,3900],[3900,10000]]"),
                               trace.strings.intern(R"(["c10::Half","c10::Half"])"), StringId(0),
                               StringId(0)});
  }
  return Traced(std::move(trace));
}

TEST(Edits, AtTheRoofACallTakesWhatItsShapesNeed) {
  const Traced run = product_run("NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(run.gain({"roof"}), 3'000'000);
  EXPECT_EQ(run.gain({"roof:aten::m*"}), 3'000'000);
  EXPECT_EQ(run.edit("roof").affected, 2U);
  EXPECT_FALSE(run.edit("roof").predicted);  // at most
  EXPECT_EQ(run.edit("roof:aten::bmm").refusal, EditRefusal::kNothing);
  EXPECT_EQ(product_run("Somebody's GPU").edit("roof").refusal, EditRefusal::kNoPeaks);
  EXPECT_EQ(product_run("NVIDIA A100-SXM4-80GB", false).edit("roof").refusal,
            EditRefusal::kNoShapes);
}

// The same product recorded into a graph, and replayed; the name of the GPU tells nothing.
TEST(Edits, TheRoofOfAReplayIsThatOfItsRecordingByTheUsersFacts) {
  Trace trace = TraceMaker()
                    .call(1, "cudaStreamBeginCapture", 0, 500, 0)
                    .op(1, "aten::mm", 1'000, 20'000)
                    .call(1, "cudaLaunchKernel", 2'000, 1'000, 1)
                    .call(1, "cudaStreamEndCapture", 30'000, 500, 0)
                    .call(1, "cudaGraphLaunch", 40'000, 4'000, 2)
                    .kernel(0, 7, "gemm", 50'000, 4'000'000, 2)
                    .build();
  trace.devices = {{.id = 0, .name = "Somebody's GPU"}};
  trace.op_inputs.push_back(
      {assay::testing::op_id(trace, "aten::mm"), trace.strings.intern("[[4000,3900],[3900,10000]]"),
       trace.strings.intern(R"(["c10::Half","c10::Half"])"), StringId(0), StringId(0)});
  const Traced run(std::move(trace));
  FactBook facts = FactBook::built_in();
  ASSERT_TRUE(
      facts.add("[hardware Somebody's GPU]\nsource = a test\ntflops = 312\n"
                "bandwidth_tb_s = 2\n",
                "test"));
  const auto edit = [&run](const RoofSources& sources) {
    return EditMaker(run.model.run, run.iterations, sources).make(Traced::request("roof"));
  };
  EXPECT_EQ(edit({}).refusal, EditRefusal::kNoShapes);
  EXPECT_EQ(edit({.replays = &run.report.replays}).refusal, EditRefusal::kNoPeaks);
  const Edit known = edit({.facts = &facts, .replays = &run.report.replays});
  EXPECT_EQ(known.refusal, EditRefusal::kNone);
  EXPECT_EQ(known.affected, 1U);
  ASSERT_EQ(known.works_left.size(), 1U);
  EXPECT_FLOAT_EQ(known.works_left[0], 0.25F);  // a millisecond of four
}

// Example 6 of the definition: a sync, then a frame in which the device has nothing to do.
Traced sync_run() {
  return Traced(TraceMaker()
                    .call(1, "cudaLaunchKernel", 0, 4000, 1)
                    .call(1, "cudaStreamSynchronize", 4000, 34000, 2)
                    .frame(1, "train.py(3): step", 38000, 40000)
                    .call(1, "cudaLaunchKernel", 78000, 4000, 3)
                    .kernel(0, 7, "k1", 6000, 30000, 1)
                    .kernel(0, 7, "k2", 84000, 30000, 3)
                    .build());
}

// A step every 20 us: two launches of 4 us with 2 us between them, kernels of 1 us, then silence.
Traced step_run(int steps, bool same_kernels = true) {
  TraceMaker maker;
  Windows windows{WindowSource::kProfilerStep, {}, 0};
  for (int i = 0; i < steps; ++i) {
    const int64_t t = 20'000 * i;
    const auto id = static_cast<uint32_t>(10 * i + 1);
    maker.call(1, "cudaLaunchKernel", t, 4000, id);
    maker.call(1, "cudaLaunchKernel", t + 6000, 4000, id + 1);
    maker.call(1, "cudaLaunchKernel", t + 12000, 4000, id + 2);
    const std::string last = same_kernels ? "c" : "c" + std::to_string(i);
    maker.kernel(0, 7, "a", t + 7000, 1000, id);
    maker.kernel(0, 7, "b", t + 13000, 1000, id + 1);
    maker.kernel(0, 7, last, t + 19000, 1000, id + 2);
    windows.windows.push_back({"step", t, t + 20'000});
  }
  return Traced(maker.build(), windows);
}

TEST(Edits, AreWrittenAsTheyAreRead) {
  for (const char* text : {"sync",
                           "sync:cudaStreamSynchronize",
                           "input",
                           "alloc",
                           "warm",
                           "host",
                           "host=0.5",
                           "faster_cpu=1.3",
                           "kernel:gemm*=0.5",
                           "kernel:a<b=c>",
                           "family:gemm=0.25",
                           "op:aten::mm",
                           "frame:train.py(3): step",
                           "call:cuda*=0.5",
                           "copies",
                           "comm",
                           "cuda_graph",
                           "fuse:a+b*+c",
                           "roof",
                           "roof:aten::mm"}) {
    const auto request = parse_edit(text);
    ASSERT_TRUE(request) << text;
    EXPECT_EQ(edit_text(*request), text);
  }
  EXPECT_EQ(parse_edit("kernel:gemm*=0.5")->factor, 0.5);
  EXPECT_EQ(parse_edit("kernel:gemm*=0.5")->pattern, "gemm*");
  EXPECT_EQ(parse_edit("faster_cpu")->factor, 1.3);
  EXPECT_EQ(parse_edit("fuse:a+b*+c")->chain, (std::vector<std::string>{"a", "b*", "c"}));
  for (const char* text :
       {"", "synch", "kernel", "kernel:", "kernel:a=1", "kernel:a=-0.1", "input=2", "input:x",
        "faster_cpu=1", "fuse:a", "fuse:a++b", "sync=0", "kernel:a=nan"}) {
    EXPECT_FALSE(parse_edit(text)) << text;
  }
}

TEST(WhatIf, ExamplesOfTheDefinition) {
  const Traced allocation(TraceMaker()
                              .call(1, "hipLaunchKernel", 0, 4000, 1)
                              .call(1, "hipFree", 5000, 55000, 2)
                              .call(1, "hipLaunchKernel", 61000, 4000, 3)
                              .kernel(0, 0, "k1", 6000, 10000, 1)
                              .kernel(0, 0, "k2", 67000, 10000, 3)
                              .build());
  EXPECT_EQ(allocation.gain({"alloc"}), 49500);
  EXPECT_EQ(allocation.gain({"call:hipFree"}), 49500);

  const Traced run = sync_run();
  EXPECT_EQ(run.gain({"sync"}), 34000);
  EXPECT_EQ(run.gain({"sync:cudaStream*"}), 34000);
  EXPECT_EQ(run.gain({"frame:train.py(3): step"}), 40000);
  EXPECT_EQ(run.gain({"sync", "frame:*step"}), 46500);
  EXPECT_EQ(run.gain({"sync:cudaDevice*"}), 0);
  EXPECT_EQ(run.edit("sync:cudaDevice*").refusal, EditRefusal::kNothing);
}

TEST(WhatIf, KernelsShrinkByNameAndKind) {
  const Traced run = sync_run();
  // k1 ends 15000 earlier, and so do the sync, the frame and k2.
  EXPECT_EQ(run.gain({"kernel:k1=0.5"}), 15000);
  EXPECT_EQ(run.gain({"kernel:k?=0.5"}), 30000);
  // Of two edits of one thing the stronger holds.
  EXPECT_EQ(run.gain({"kernel:k1=0.5", "kernel:k*=0.9"}), 18000);
  // Without k1 the sync itself still takes 5000, and returns 29000 earlier.
  EXPECT_EQ(run.gain({"family:other"}), 59000);
  EXPECT_EQ(run.edit("family:gemm").refusal, EditRefusal::kNothing);
}

// A copy call that starts the device up for 10 ms before its copy of 1 ms.
Traced start_run() {
  TraceMaker maker;
  maker.call(1, "hipMemcpy", 0, 11'020'000, 1)
      .copy(0, 7, "CopyHostToDevice", 10'000'000, 1'000'000, 1);
  for (uint32_t i = 2; i < 6; ++i) {
    const int64_t at_ns = 12'000'000 + i * 100'000;
    maker.call(1, "hipLaunchKernel", at_ns, 5'000, i).kernel(0, 7, "k", at_ns + 7'000, 50'000, i);
  }
  return Traced(maker.build());
}

TEST(WhatIf, InitializationRemainsWithoutTheWaitForACopy) {
  const Traced run = start_run();
  EXPECT_EQ(run.gain({"warm"}), 10'000'000);
  EXPECT_EQ(run.gain({"sync"}), 1'020'000);
  EXPECT_EQ(run.gain({"copies"}), 1'000'000);
  EXPECT_LT(run.gain({"faster_cpu=2"}), 1'000'000);
  const CriticalPath& path = run.report.path;
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kCold)], 10'000'000);
  const std::vector<PathPart> parts = path_parts(path_slices(run.model.run, run.model.graph, path));
  EXPECT_EQ(run.trace.text(parts.front().of.name), "hipMemcpy");
  EXPECT_EQ(parts.front().of.cause, FlowCause::kCold);
}

// A launch call of 5 ms in which its kernel begins at the end: the call's own time, and no latency.
TEST(WhatIf, TimeOfALaunchBeforeItsKernelStartsIsTheCalls) {
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 5'000'000, 1)
                       .kernel(0, 7, "k", 4'999'000, 10'000'000, 1)
                       .build());
  const CriticalPath& path = run.report.path;
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kCall)], 4'999'000);
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kLatency)], 0);
  EXPECT_EQ(run.gain({"call:cudaLaunchKernel=0"}), 4'999'000);
}

// Two copies that the host stages within one call, one after the other.
TEST(WhatIf, CopiesOfOneCallFollowEachOther) {
  TraceMaker maker;
  maker.call(1, "hipMemcpy", 0, 300'000, 1)
      .copy(0, 7, "CopyHostToDevice", 20'000, 90'000, 1)
      .copy(0, 7, "CopyHostToDevice", 130'000, 150'000, 1)
      .call(1, "hipLaunchKernel", 400'000, 5'000, 2)
      .kernel(0, 7, "k", 408'000, 100'000, 2);
  EXPECT_EQ(Traced(maker.build()).gain({"copies"}), 240'000);
}

// What a sync costs that waited each time is told nowhere, 1 to 10 us; and nothing follows a kernel
// soon: 0.5 to 10 us.
TEST(WhatIf, GainsAreIntervalsIfTypicalTimesAreUnknown) {
  const Traced run = sync_run();
  const WhatIf found = run.explore({"family:other", "frame:*step"});
  // Without k1, which would begin at 6000, the sync takes 4000 to 9000, to 8000 (its return) or to
  // 14000.
  const Gain& sync = found.levers[0].alone;
  EXPECT_EQ(sync.run_ns, 59000);
  EXPECT_EQ(sync.run_low_ns, 54000);
  EXPECT_EQ(sync.run_high_ns, 60000);
  // k1 ends at 36000: without the frame k2 begins at 44000, or 10000 later than that end.
  const Gain& frame = found.levers[1].alone;
  EXPECT_EQ(frame.run_ns, 40000);
  EXPECT_EQ(frame.run_low_ns, 38000);
  EXPECT_EQ(frame.run_high_ns, 40000);
}

// What a slider stops at, and levers that are switched on together, lie between what they do when
// they are asked for.
TEST(WhatIf, PointsAndSetsHaveIntervalsOfTheirOwn) {
  const Traced run = sync_run();
  WhatIfOptions options;
  options.joint = false;
  options.points = true;
  options.together = 2;
  const WhatIf found = run.explore({"family:other", "frame:*step"}, options);
  const auto same = [](const Gain& told, const Gain& asked) {
    EXPECT_EQ(told.run_ns, asked.run_ns);
    EXPECT_EQ(told.run_low_ns, asked.run_low_ns);
    EXPECT_EQ(told.run_high_ns, asked.run_high_ns);
  };
  ASSERT_EQ(found.levers[0].points.size(), 5u);
  for (const TriedLever& lever : found.levers) {
    for (const GainAt& point : lever.points) {
      SCOPED_TRACE(edit_text(point.request));
      same(point.gain, run.explore({edit_text(point.request)}).levers[0].alone);
    }
  }
  EXPECT_EQ(found.levers[0].points.back().gain.run_low_ns, 54000);
  EXPECT_EQ(found.levers[1].points.back().gain.run_low_ns, 38000);
  ASSERT_EQ(found.together.size(), 1u);
  const Gain& both = run.explore({"family:other", "frame:*step"}).joint;
  EXPECT_LT(both.run_low_ns, both.run_high_ns);
  same(found.together[0].gain, both);
}

// Each kernel follows the one before 15 us later and nothing else: longer than is usual, and kept.
TEST(WhatIf, TimesAboveTypicalStay) {
  TraceMaker maker;
  for (int i = 0; i < 40; ++i) {
    const int64_t t = 115'000 * i;
    maker.call(1, "cudaLaunchKernel", t == 0 ? 0 : t - 9'000, 3'000, static_cast<uint32_t>(i + 1));
    maker.kernel(0, 7, "k", t + 10'000, 100'000, static_cast<uint32_t>(i + 1));
  }
  const Traced run(maker.build());
  EXPECT_EQ(run.model.run.floors.stream.typical_ns, 15'000);
  EXPECT_EQ(run.model.run.floors.stream.high_ns, 15'000);
  const Gain host = run.explore({"host"}).levers[0].alone;
  EXPECT_LE(host.run_low_ns, host.run_ns);
  EXPECT_GE(host.run_high_ns, host.run_ns);
  EXPECT_GT(host.run_high_ns - host.run_low_ns, 100'000);
}

// One iteration ends sooner with half of a long kernel, the next takes longer from there, the run
// ends as it did.
TEST(WhatIf, IntervalsBeginAtNothingWhereTheRunIsNoLonger) {
  TraceMaker maker;
  Windows windows{WindowSource::kProfilerStep, {}, 0};
  uint32_t id = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t t = 1'000'000 * i;
    windows.windows.push_back({"step", t, t + 999'000});
    maker.call(1, "cudaLaunchKernel", t + 50'000, 4'000, ++id);
    maker.kernel(0, 7, "k_common", t + 60'000, 300'000, id);
    if (i == 2) {
      maker.call(1, "cudaLaunchKernel", t + 100'000, 4'000, ++id);
      maker.kernel(0, 7, "k_a", t + 361'500, 620'000, id);
    }
    maker.call(1, "cudaLaunchKernel", t + 700'000, 4'000, ++id);
    maker.kernel(0, 8, "k_b", t + 710'000, 200'000, id);
  }
  const Traced run(maker.build(), windows);
  const WhatIf found = run.explore({"kernel:k_a=0.5"});
  EXPECT_EQ(found.levers[0].alone.run_ns, 0);
  EXPECT_EQ(found.levers[0].alone.low_ns, 0);
  EXPECT_EQ(found.levers[0].alone.run_low_ns, 0);
}

// A sync that waited for k1 begins at 20000; with half of it, k1 ends at 19000. A sync costs 1000,
// a return took 4000.
TEST(WhatIf, ACallAfterAFinishedActivityDoesNotWait) {
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 4000, 1)
                       .kernel(0, 7, "k1", 6000, 26000, 1)
                       .op(1, "prepare", 4000, 16000)
                       .call(1, "cudaStreamSynchronize", 20000, 16000, 2)
                       .call(1, "cudaStreamSynchronize", 50000, 1000, 3)
                       .call(1, "cudaLaunchKernel", 60000, 4000, 4)
                       .kernel(0, 7, "k2", 66000, 1000, 4)
                       .build());
  const Edit edit = run.edit("kernel:k1=0.5");
  const std::vector<const Edit*> edits{&edit};
  const EditedLags lags = edited_lags(run.model.run, run.model.graph, edits);
  const auto returns_at = [&](bool skips) {
    const auto times = replay(run.model.graph, {.lags_ns = &lags.lag_ns, .skips_ended = skips});
    return times[run.model.graph.call_point(1, true)] - run.model.graph.start_ns;
  };
  EXPECT_EQ(returns_at(false), 23000);
  EXPECT_EQ(returns_at(true), 21000);
}

// A graph takes the launch and what prepares it and leaves the pause before it; without pauses
// nothing is left of that, whichever comes first.
TEST(WhatIf, TheStrongerOfTwoChangesHolds) {
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 4000, 1)
                       .kernel(0, 7, "k1", 6000, 1000, 1)
                       .op(1, "prepare", 4000, 8'000'000)
                       .call(1, "cudaLaunchKernel", 8'004'000, 4000, 2)
                       .kernel(0, 7, "k2", 8'010'000, 1000, 2)
                       .build());
  const Edit pauses = run.edit("pauses");
  Edit graph = run.edit("call:nothing");
  graph.free_calls.assign(run.model.run.calls.size(), true);
  graph.cause.fill(1);
  const auto left_ns = [&](const std::vector<const Edit*>& edits) {
    const EditedLags lags = edited_lags(run.model.run, run.model.graph, edits);
    const auto times = replay(run.model.graph, {.lags_ns = &lags.lag_ns});
    return times[run.model.graph.call_point(1, true)] - run.model.graph.start_ns;
  };
  EXPECT_EQ(left_ns({&pauses}), 8000);
  EXPECT_EQ(left_ns({&graph}), 8'000'000);
  EXPECT_EQ(left_ns({&graph, &pauses}), 0);
  EXPECT_EQ(left_ns({&pauses, &graph}), 0);
}

// The call that becomes the launch of a graph took 8 ms: a pause, which the graph alone leaves. A
// part of it is none, and goes with the graph: touched, though the graph alone changes nothing.
TEST(WhatIf, ASlowLaunchIsTouchedByAGraphThatLeavesIt) {
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 8'000'000, 1)
                       .kernel(0, 7, "k1", 8'001'000, 1000, 1)
                       .build());
  const Edit faster = run.edit("call:*=0.03");
  Edit graph = run.edit("call:nothing");
  graph.short_calls.assign(run.model.run.calls.size(), true);
  graph.cause.fill(1);
  const EditSlots slots(run.model.run, run.model.graph, INT64_MIN);
  LagEditor editor(slots);
  const Edit* const one = &graph;
  const StrongestEdits alone = sum_of({&one, 1});
  const Edit* const other = &faster;
  const StrongestEdits taken = sum_of({&other, 1});
  EditedLags lags = editor.lags(alone);
  EXPECT_EQ(lags.lag_ns, run.model.graph.lag_ns);
  const std::vector<uint32_t> touched = editor.touched(alone, lags);
  lags = editor.lags(taken);
  EXPECT_TRUE(editor.edit(taken, graph, touched, lags));
  const auto left = std::count(lags.lag_ns.begin(), lags.lag_ns.end(), kGraphLaunchNs);
  EXPECT_EQ(left, 1);
}

TEST(WhatIf, FasterHost) {
  const Traced run = sync_run();
  // 40000 of frame become 20000, the launch call before k1 2000 and that before k2 2000.
  EXPECT_EQ(run.gain({"faster_cpu=2"}), 24000);
  EXPECT_EQ(run.gain({"host"}), 48000);
}

TEST(WhatIf, StallsAndGaps) {
  // A launch; 3 ms of an operator; a launch; 2 ms of which nothing tells; a launch.
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 4000, 1)
                       .kernel(0, 7, "k", 6000, 10000, 1)
                       .op(1, "save", 4000, 3'000'000)
                       .call(1, "cudaLaunchKernel", 3'004'000, 4000, 2)
                       .kernel(0, 7, "k", 3'010'000, 10000, 2)
                       .call(1, "cudaLaunchKernel", 5'008'000, 4000, 3)
                       .kernel(0, 7, "k", 5'014'000, 10000, 3)
                       .build());
  // Without both the third launch ends at 12000, and the kernels follow each other: the first ends
  // at 16000, the third 2 x (1500 + 10000) later instead of at 5024000.
  EXPECT_EQ(run.gain({"pauses"}), 5'024'000 - 39'000);
  // The operator takes half, and each call; the silence stays.
  EXPECT_EQ(run.gain({"faster_cpu=2"}), 1'500'000 + 3 * 2000);
}

TEST(WhatIf, OperatorsCountWithAllInsideThem) {
  const Traced run(TraceMaker()
                       .op(1, "outer", 0, 50000)
                       .op(1, "inner", 10000, 20000)
                       .call(1, "cudaLaunchKernel", 40000, 4000, 1)
                       .kernel(0, 7, "k", 46000, 10000, 1)
                       .build());
  EXPECT_EQ(run.gain({"op:inner"}), 20000);
  EXPECT_EQ(run.gain({"op:inner=0.5"}), 10000);
  EXPECT_EQ(run.gain({"op:outer"}), 44000);
  EXPECT_EQ(run.gain({"op:outer", "op:inner=0.5"}), 44000);
}

TEST(WhatIf, ListAddsUpToTheJointGain) {
  const WhatIf found = sync_run().explore({"sync", "frame:*step", "input"});
  ASSERT_EQ(found.order.size(), 2u);
  EXPECT_EQ(found.order[0], 1u);
  EXPECT_EQ(found.levers[1].in_order_ns, 40000);
  EXPECT_EQ(found.levers[0].in_order_ns, 6500);
  EXPECT_EQ(found.joint.run_ns, 46500);
  EXPECT_EQ(found.levers[0].alone.run_ns, 34000);
  EXPECT_EQ(found.levers[2].edit.refusal, EditRefusal::kNothing);
  // Then k1 and k2 follow each other: 1500 between them.
  EXPECT_EQ(found.after.compute_ns, 60000);
  EXPECT_EQ(found.after.window_ns, 61500);
  EXPECT_EQ(found.after.cause_ns[static_cast<size_t>(FlowCause::kLatency)], 1500);
  EXPECT_EQ(found.before.window_ns, 108000);
  EXPECT_EQ(found.before.cause_ns[static_cast<size_t>(FlowCause::kPython)], 40000);
}

TEST(WhatIf, SetsOfTheBestActionsHaveTheirJointGain) {
  WhatIfOptions options;
  options.together = 2;
  const WhatIf found = sync_run().explore({"faster_cpu", "sync", "frame:*step", "input"}, options);
  ASSERT_EQ(found.together.size(), 1u);  // of the two that give most; none is refused
  EXPECT_EQ(found.together[0].levers, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(found.together[0].gain.run_ns, 46500);
  options.together = 3;
  const WhatIf more = sync_run().explore({"faster_cpu", "sync", "frame:*step", "input"}, options);
  ASSERT_EQ(more.together.size(), 4u);
  for (const TogetherGain& set : more.together) {
    for (const size_t lever : set.levers) {
      EXPECT_GE(set.gain.run_ns, more.levers[lever].alone.run_ns);
    }
  }
}

TEST(WhatIf, GraphOfEachIteration) {
  const Traced run = step_run(8);
  const WhatIf found = run.explore({"cuda_graph"});
  ASSERT_EQ(found.levers[0].edit.refusal, EditRefusal::kNone);
  // Of 16000 ns of host time a step the first call's 4000 are left; between steps nothing is
  // recorded for 4000: that stays.
  EXPECT_EQ(found.joint.before.median_ns, 20000);
  EXPECT_EQ(found.joint.after.median_ns, 8000);
  EXPECT_EQ(found.joint.step_ns, 12000);
  EXPECT_EQ(found.joint.before.n, 7u);
  EXPECT_EQ(found.joint.low_ns, 12000);
}

TEST(WhatIf, GraphIsRefused) {
  EXPECT_EQ(step_run(1).edit("cuda_graph").refusal, EditRefusal::kFewIterations);
  EXPECT_EQ(step_run(5, false).edit("cuda_graph").refusal, EditRefusal::kVaries);
  EXPECT_EQ(sync_run().edit("cuda_graph").refusal, EditRefusal::kFewIterations);
}

TEST(WhatIf, NoGraphHoldsACopyOfPageableMemory) {
  const auto refusal_with = [](const char* copy) {
    TraceMaker maker;
    Windows windows{WindowSource::kProfilerStep, {}, 0};
    for (uint32_t i = 0; i < 24; ++i) {
      const int64_t at_ns = i * 20'000;
      if (i % 4 == 0) windows.windows.push_back({"step", at_ns, at_ns + 80'000});
      maker.call(1, "cudaMemcpyAsync", at_ns, 4'000, 2 * i + 1)
          .copy(0, 7, copy, at_ns + 5'000, 1'000, 2 * i + 1)
          .call(1, "cudaLaunchKernel", at_ns + 8'000, 4'000, 2 * i + 2)
          .kernel(0, 7, "k", at_ns + 14'000, 3'000, 2 * i + 2);
    }
    return Traced(maker.build(), windows).edit("cuda_graph").refusal;
  };
  EXPECT_EQ(refusal_with("Memcpy HtoD (Pageable -> Device)"), EditRefusal::kNotCapturable);
  EXPECT_EQ(refusal_with("Memcpy HtoD (Pinned -> Device)"), EditRefusal::kNone);
}

TEST(WhatIf, ChainBecomesOneKernel) {
  const Traced run = step_run(2);
  // The first step ends 8000 earlier for 12000 less host time: kernels a, b and c back to back,
  // 4000 after a began at 7000; the second likewise.
  EXPECT_EQ(run.edit("fuse:a+b+c").affected, 2u);
  EXPECT_EQ(run.makespan({}), 40000);
  // Call 1 ends at 4000, the second step's begins 4000 after the first's last call: at 8000 to
  // 12000; a at 15000 (residual and launch 3000), then b and c at once.
  EXPECT_EQ(run.makespan({"fuse:a+b+c"}), 18000);
  EXPECT_EQ(run.edit("fuse:b+a").refusal, EditRefusal::kNothing);
  EXPECT_EQ(step_run(3, false).edit("fuse:b+c0").refusal, EditRefusal::kChainVaries);
}

TEST(WhatIf, ASyncThatBringsAValueSaysSo) {
  const Traced run(TraceMaker()
                       .call(1, "cudaLaunchKernel", 0, 4000, 1)
                       .call(1, "cudaMemcpyAsync", 5000, 40000, 2)
                       .kernel(0, 7, "k", 6000, 30000, 1)
                       .copy(0, 7, "Memcpy DtoH (Device -> Pageable)", 37000, 2000, 2)
                       .build());
  EXPECT_TRUE(run.edit("sync").value_is_read);
  EXPECT_FALSE(sync_run().edit("sync").value_is_read);
}

TEST(WhatIf, IntervalOfTheMedian) {
  std::vector<int64_t> values(17);
  std::iota(values.begin(), values.end(), 1);
  // 17 coins show 4 heads or fewer with 2.45 %: the 5th and the 13th value.
  const MedianInterval interval = median_interval(values);
  EXPECT_EQ(interval.median_ns, 9);
  EXPECT_EQ(interval.low_ns, 5);
  EXPECT_EQ(interval.high_ns, 13);
  std::vector<int64_t> five = {5, 1, 4, 2, 3};
  EXPECT_EQ(median_interval(five).low_ns, 1);
  EXPECT_EQ(median_interval(five).high_ns, 5);
}

// Kernels alone: neither the few microseconds between them nor the pauses are said to be launches'.
TEST(CriticalPathParts, OfKernelsAloneSpeakOfNoLaunch) {
  TraceMaker maker;
  for (uint32_t i = 0; i < 40; ++i) {
    const int64_t at_ns = i * 60'000 + (i >= 20 ? 500'000 : 0);
    maker.kernel(0, 7, "k", at_ns, 52'000, 0);
  }
  const Traced run(maker.build());
  const CriticalPath& path = run.report.path;
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kLatency)], 0);
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kUnseen)], 0);
  EXPECT_EQ(path.cause_ns[static_cast<size_t>(FlowCause::kNoEvidence)], 39 * 8'000 + 500'000);
  for (const PathPart& part :
       path_parts(path_slices(run.model.run, run.model.graph, run.report.path))) {
    if (part.of.kind == PathPartKind::kWork) continue;
    EXPECT_EQ(part.of.cause, FlowCause::kNoEvidence);
  }
}

TEST(CriticalPathParts, AreTheRun) {
  const Traced run = sync_run();
  const auto slices = path_slices(run.model.run, run.model.graph, run.report.path);
  ASSERT_FALSE(slices.empty());
  EXPECT_EQ(slices.front().span.start_ns, 0);
  EXPECT_EQ(slices.back().span.end_ns, 114000);
  for (size_t i = 1; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i - 1].span.end_ns, slices[i].span.start_ns);
  }
  const auto parts = path_parts(slices);
  EXPECT_EQ(run.trace.text(parts[0].of.name), "train.py(3): step");
  EXPECT_EQ(parts[0].ns, 40000);
  EXPECT_EQ(path_part_kind_name(parts[1].of.kind), "work");
  EXPECT_EQ(parts[1].ns, 30000);
  int64_t sum = 0;
  for (const PathPart& part : parts) sum += part.ns;
  EXPECT_EQ(sum, 114000);
}

// Device rows 0 and 1 are in layers 4 and 5, row 2 outside; operator 0 is in layer 4, operator 1
// has work of several, operator 2 none.
TEST(PathParts, ByLayerWhatNoRowPlacesStandsBetweenTwo) {
  const LayerOfRows of{{4, 5, kPathLayerOutside}, {4, kPathLayerMixed, kPathLayerNotTold}};
  int64_t now_ns = 0;
  std::vector<PathSlice> slices;
  const auto host = [&](int64_t ns, OpId op = {}) {
    slices.push_back({.span = {now_ns, now_ns + ns}, .kind = PathPartKind::kHost, .op = op});
    now_ns += ns;
  };
  const auto work = [&](int64_t ns, uint32_t row) {
    slices.push_back({.span = {now_ns, now_ns + ns}, .op = OpId(1), .activity = ActivityId(row)});
    now_ns += ns;
  };
  host(1);            // before all: between
  host(20, OpId(0));  // layer 4
  host(300);          // between two of layer 4
  work(4000, 0);
  host(50'000, OpId(1));  // from layer 4 to 5: between, whatever stands around it
  work(600'000, 1);
  host(7'000'000, OpId(2));  // from layer 5 to outside
  work(80'000'000, 2);
  host(900'000'000);  // behind all: between
  const auto layers = sum_by_layer(slices, of);
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0].layer, kPathLayerNotTold);
  EXPECT_EQ(layers[0].ns, 907'050'001);
  EXPECT_EQ(layers[0].device_ns, 0);
  EXPECT_EQ(layers[1].layer, kPathLayerOutside);
  EXPECT_EQ(layers[1].ns, 80'000'000);
  EXPECT_EQ(layers[1].device_ns, 80'000'000);
  EXPECT_EQ(layers[2].layer, 5);
  EXPECT_EQ(layers[2].ns, 600'000);
  EXPECT_EQ(layers[3].layer, 4);
  EXPECT_EQ(layers[3].ns, 4320);
  EXPECT_EQ(layers[3].device_ns, 4000);
}

}  // namespace
}  // namespace assay
