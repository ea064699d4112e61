#include "breakdown/roof_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>

#include "support/flat_launch.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::op_id;
using testing::TraceMaker;

// A product of 312 GFLOP (1 ms on an A100) that took 4 ms, an addition that took less than its
// bytes need, a kernel of an operator without a model, a copy.
Trace roof_trace() {
  Trace trace = TraceMaker()
                    .op(1, "aten::mm", 0, 100)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .op(1, "aten::add", 100, 50)
                    .call(1, "cudaLaunchKernel", 115, 5, 8)
                    .op(1, "aten::strange", 200, 50)
                    .call(1, "cudaLaunchKernel", 215, 5, 9)
                    .call(1, "cudaMemcpyAsync", 315, 5, 10)
                    .kernel(0, 7, "gemm", 1'000, 4'000'000, 7)
                    .kernel(0, 7, "elementwise", 4'001'000, 1'000, 8)
                    .kernel(0, 7, "other", 4'002'000, 500, 9)
                    .copy(0, 7, "Memcpy HtoD", 4'003'000, 300, 10)
                    .build();
  trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
  const auto told = [&](std::string_view op, std::string_view dims, std::string_view types) {
    trace.op_inputs.push_back({op_id(trace, op), trace.strings.intern(dims),
                               trace.strings.intern(types), StringId(0), StringId(0)});
  };
  told("aten::mm", "[[4000,3900],[3900,10000]]", R"(["c10::Half","c10::Half"])");
  told("aten::add", "[[1019500],[1019500],[]]", R"(["float","float","Scalar"])");
  return trace;
}

JobRoof roof_of(const Trace& trace, const ClocksByGpu& clocks = {}) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  const auto kernels = given_or_built_in({}, trace.strings, trace.activities.name);
  const auto report = analyze_breakdown(trace, links, windows, {});
  const ReplayReport replays = find_replays(make_flow_run(trace, links), nullptr);
  RoofReader reader(FactBook::built_in(), "");
  reader.add(trace, links, *kernels, *report, &replays, clocks);
  return reader.finish();
}

TEST(RoofLevels, TimeIsRooflinePlusAboveMinusBelow) {
  const JobRoof roof = roof_of(roof_trace());
  ASSERT_EQ(roof.ops.size(), 2U);
  const RoofSums& mm = roof.ops[0].sums;
  EXPECT_EQ(roof.ops[0].op, "aten::mm");
  EXPECT_EQ(mm.flop, 312e9);
  EXPECT_EQ(mm.roof_ns, 1'000'000);
  EXPECT_EQ(mm.above_ns, 3'000'000);
  EXPECT_EQ(mm.beyond_ns, 0);
  EXPECT_TRUE(mm.compute_bound());
  EXPECT_DOUBLE_EQ(mm.flop_per_s(), 78e12);
  // 12,234,000 bytes at 2.039 TB/s are 6 us; they fit into 40 MB of cache.
  const RoofSums& add = roof.ops[1].sums;
  EXPECT_EQ(add.roof_ns, 6'000);
  EXPECT_EQ(add.beyond_ns, 5'000);
  EXPECT_EQ(add.calls_beyond, 1U);
  EXPECT_EQ(add.calls_cached, 0U);
  // The cache's 7.219 TB/s would take 1.695 us: in 1 us it is above that roof, too.
  EXPECT_EQ(add.calls_fitting, 1U);
  EXPECT_EQ(add.fitting_ns, 1'000);
  EXPECT_EQ(add.cache_roof_ns, 1'695);
  EXPECT_EQ(add.calls_beyond_cache, 1U);
  EXPECT_EQ(roof.known.roofed_ns, roof.known.roof_ns + roof.known.above_ns - roof.known.beyond_ns);
}

// The peaks of an A100 hold at 1,410 MHz. At 705 the product needs 2 ms of its 4; the addition is
// bound by memory, whatever the clock. What lies behind the last reading has none.
TEST(RoofLevels, ClocksScaleThePeaksOfArithmetic) {
  const ClocksByGpu clocks = {{0, {{0, 2'000'000, 5'000'000}, {600e6, 705e6, 705e6}}}};
  const JobRoof roof = roof_of(roof_trace(), clocks);
  ASSERT_EQ(roof.ops.size(), 2U);
  EXPECT_EQ(roof.ops[0].sums.roof_ns, 1'000'000);
  EXPECT_EQ(roof.ops[0].sums.clocked_ns, 4'000'000);
  EXPECT_EQ(roof.ops[0].sums.clocked_roof_ns, 2'000'000);
  EXPECT_EQ(roof.ops[1].sums.clocked_roof_ns, 6'000);
  EXPECT_DOUBLE_EQ(roof.known.clocked_roof_share(), 2'006'000.0 / 4'001'000);
  EXPECT_EQ(roof.places[0].sums.clocked_roof_ns, 2'006'000);
  const JobRoof early = roof_of(roof_trace(), {{0, {{0, 4'001'500}, {705e6, 705e6}}}});
  EXPECT_EQ(early.known.clocked_ns, 4'000'000);
  EXPECT_EQ(roof_of(roof_trace()).known.clocked_ns, 0);
}

TEST(RoofLevels, TheHighestClockAroundACallCounts) {
  const ClockReadings readings{{0, 100, 200, 300}, {1e9, 2e9, 3e9, 4e9}};
  EXPECT_EQ(readings.highest_hz(110, 150), 3e9);
  EXPECT_EQ(readings.highest_hz(100, 100), 2e9);
  EXPECT_EQ(readings.highest_hz(10, 250), 4e9);
  EXPECT_EQ(readings.highest_hz(-1, 50), 0);
  EXPECT_EQ(readings.highest_hz(250, 301), 0);
}

TEST(RoofLevels, KnownAndUnknownTimeIsKernelTime) {
  const JobRoof roof = roof_of(roof_trace());
  EXPECT_EQ(roof.kernel_ns, 4'001'500);
  EXPECT_EQ(roof.known.dur_ns + roof.unknown_total_ns(), roof.kernel_ns);
  EXPECT_EQ(roof.copy_ns, 300);
  ASSERT_EQ(roof.unknown.size(), 1U);
  EXPECT_EQ(roof.unknown[0].name, "aten::strange");
  EXPECT_EQ(roof.unknown[0].dur_ns, 500);
  int64_t places = 0;
  for (const RoofPlace& place : roof.places) places += place.sums.dur_ns + place.unknown_ns;
  EXPECT_EQ(places, roof.kernel_ns);
}

// 3 x 40.78 MB are 60 us; with 40 MB of cache full of them, 40.38 us. 50 us can be so, 30 us
// cannot.
TEST(RoofLevels, ACacheExplainsNoMoreThanItHolds) {
  for (const int64_t dur_ns : {50'000, 30'000}) {
    Trace trace = TraceMaker()
                      .op(1, "aten::add", 0, 100)
                      .call(1, "cudaLaunchKernel", 15, 5, 7)
                      .kernel(0, 7, "elementwise", 1'000, dur_ns, 7)
                      .build();
    trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
    trace.op_inputs.push_back(
        {op_id(trace, "aten::add"), trace.strings.intern("[[10195000],[10195000],[]]"),
         trace.strings.intern(R"(["float","float","Scalar"])"), StringId(0), StringId(0)});
    const JobRoof roof = roof_of(trace);
    EXPECT_EQ(roof.known.calls_beyond, 1U);
    EXPECT_EQ(roof.known.calls_cached, dur_ns == 50'000 ? 1U : 0U);
    EXPECT_EQ(roof.known.calls_fitting, 0U);  // 122 MB do not fit
  }
}

// Recorded once, replayed twice: each replay is a call of its own. 312 GFLOP are 1 ms of an A100;
// 4 ms and 2 ms are above it by 3 ms and 1 ms.
TEST(RoofLevels, ReplaysHaveTheWorkThatWasRecorded) {
  Trace trace = TraceMaker()
                    .op(1, "model", 0, 1000)
                    .call(1, "cudaStreamBeginCapture", 10, 5, 0)
                    .op(1, "aten::mm", 100, 50)
                    .call(1, "cudaLaunchKernel", 115, 5, 1)
                    .op(1, "aten::strange", 200, 50)
                    .call(1, "cudaLaunchKernel", 215, 5, 2)
                    .call(1, "cudaStreamEndCapture", 900, 5, 0)
                    .call(1, "cudaGraphLaunch", 2'000, 20, 8)
                    .kernel(0, 7, "gemm", 3'000, 4'000'000, 8)
                    .kernel(0, 7, "other", 4'003'000, 700, 8)
                    .call(1, "cudaGraphLaunch", 5'000'000, 20, 9)
                    .kernel(0, 7, "gemm", 5'001'000, 2'000'000, 9)
                    .kernel(0, 7, "other", 7'001'000, 700, 9)
                    .build();
  trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
  trace.op_inputs.push_back(
      {op_id(trace, "aten::mm"), trace.strings.intern("[[4000,3900],[3900,10000]]"),
       trace.strings.intern(R"(["c10::Half","c10::Half"])"), StringId(0), StringId(0)});
  const JobRoof roof = roof_of(trace);
  ASSERT_EQ(roof.ops.size(), 1U);
  EXPECT_EQ(roof.ops[0].op, "aten::mm");
  EXPECT_EQ(roof.ops[0].shape, "[4000,3900] [3900,10000] fp16");
  EXPECT_EQ(roof.ops[0].sums.calls, 2U);
  EXPECT_EQ(roof.ops[0].sums.flop, 624e9);
  EXPECT_EQ(roof.ops[0].sums.above_ns, 4'000'000);
  EXPECT_EQ(roof.replayed_ns, 6'000'000);
  EXPECT_EQ(roof.known.dur_ns + roof.unknown_total_ns(), roof.kernel_ns);
  ASSERT_EQ(roof.unknown.size(), 1U);
  EXPECT_EQ(roof.unknown[0].name, "aten::strange");
  EXPECT_EQ(roof.unknown[0].why, NoWork::kNoModel);
}

// Three sequences, 2 of 100 heads' worth of keys: bounds are told by time at the roof, and their
// time counts as not known. 10 us of an A100 are at least and at most these shares.
TEST(RoofLevels, BoundsHaveARowAndCountAsUnknown) {
  Trace trace = TraceMaker()
                    .op(1, "_C::paged_attention_v1", 0, 100)
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .kernel(0, 7, "paged", 1'000, 10'000, 7)
                    .build();
  trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
  const std::string half = R"("c10::Half")";
  trace.op_inputs.push_back(
      {op_id(trace, "_C::paged_attention_v1"),
       trace.strings.intern("[[32,8,128],[32,8,128],[9999,8,16,16,8],[9999,8,128,16],[],[],[32,64],"
                            "[32],[],[]]"),
       trace.strings.intern("[" + half + "," + half + "," + half + "," + half + "]"), StringId(0),
       trace.strings.intern(R"(["","","","","8","0.1","","","16","1000"])")});
  const JobRoof roof = roof_of(trace);
  EXPECT_EQ(roof.known.dur_ns, 0);
  EXPECT_EQ(roof.unknown_total_ns(), 10'000);
  ASSERT_EQ(roof.bounds.size(), 1U);
  EXPECT_EQ(roof.bounds[0].dur_ns, 10'000);
  EXPECT_EQ(roof.bounds[0].calls, 1U);
  // At least queries, results and a key each: 4 x 32 x 8 x 128 x 2 bytes. 1,000 keys each, 131 MB,
  // are more than memory carries in 10 us (20.4 MB) and twice what the cache holds (40 MB)
  // together.
  EXPECT_EQ(roof.bounds[0].least_roof_ns, std::llround(262'144 / 2.039e3));
  EXPECT_EQ(roof.bounds[0].most_roof_ns, std::llround(10'000 + 80e6 / 2.039e3));
  EXPECT_EQ(roof.bounds[0].limited_ns, 10'000);
  trace.activities.dur_ns[0] += 90'000;
  EXPECT_EQ(roof_of(trace).bounds[0].most_roof_ns,
            std::llround((2.0 + 2 * 1000) * 32 * 8 * 128 * 2 / 2.039e3));
}

// 100,000 blocks of 128 threads that add bf16, six bytes an element, move 307, 614 or 1,229 MB with
// 4, 8 or 16 elements a thread. 400 us of an A100 carry 816 MB and the cache 40: not 16. Another
// launch of the same kernel, 40,000 blocks in 60 us, is carried with 4 (123 of 122 + 40 MB) and not
// with 8: then both take 4. A GPU that is not known limits nothing.
TEST(RoofLevels, AThreadTakesNoMoreThanMemoryCarriesInEveryLaunch) {
  const char* const kAdd =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::CUDAFunctor_add<c10::BFloat16>,"
      " std::array<char*, 3ul> >(int)";
  const auto made = [&](bool both) {
    TraceMaker maker;
    maker.kernel(0, 7, kAdd, 1'000, 400'000, 7);
    if (both) maker.kernel(0, 7, kAdd, 500'000, 60'000, 9);
    Trace trace = maker.build();
    trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
    for (uint32_t a = 0; a < trace.activities.size(); ++a) {
      testing::add_flat_launch(trace, a, a == 0 ? 100'000U : 40'000U);
    }
    return trace;
  };
  const auto at_roof = [](double blocks, double each) {
    return std::llround(blocks * 128 * each * 6 / 2.039e3);
  };
  const JobRoof one = roof_of(made(false));
  ASSERT_EQ(one.bounds.size(), 1U);
  EXPECT_EQ(one.bounds[0].most_roof_ns, at_roof(100'000, 8));
  EXPECT_EQ(one.bounds[0].limited_ns, 400'000);
  const JobRoof two = roof_of(made(true));
  EXPECT_EQ(two.bounds[0].most_roof_ns, at_roof(100'000, 4) + at_roof(40'000, 4));
  Trace unknown = made(true);
  unknown.devices = {{.id = 0, .name = "Nobody's GPU"}};
  EXPECT_EQ(roof_of(unknown).bounds[0].roofed_ns, 0);
}

// 12,234,000 bytes are 6 us of an A100. A recorder of whole microseconds that shows 5 may have seen
// 6; one of nanoseconds has not. The sums stay what was recorded.
TEST(RoofLevels, FasterByTheClocksStepIsNotReported) {
  for (const bool whole : {false, true}) {
    Trace trace = roof_trace();
    for (size_t a = 0; a < trace.activities.size(); ++a) {
      if (trace.activities.dur_ns[a] == 1'000) trace.activities.dur_ns[a] = 5'000;
    }
    trace.whole_microseconds = whole;
    const JobRoof roof = roof_of(trace);
    EXPECT_EQ(roof.known.calls_beyond, whole ? 0U : 1U);
    EXPECT_EQ(roof.known.beyond_ns, 1'000);
    EXPECT_EQ(roof.known.calls_beyond_ns, whole ? 0 : 1'000);
  }
}

TEST(RoofLevels, UnknownDeviceHasARateWithoutARoofline) {
  Trace trace = roof_trace();
  trace.devices[0].name = "Somebody's GPU";
  const JobRoof roof = roof_of(trace);
  EXPECT_EQ(roof.known.roofed_ns, 0);
  EXPECT_EQ(roof.known.dur_ns, 4'001'000);
  ASSERT_EQ(roof.devices.size(), 1U);
  EXPECT_FALSE(roof.devices[0].exists());
}

// 100 MB summed over a group, on an A100.
Trace all_reduce(int64_t dur_ns, const char* ranks, int64_t group_size) {
  Trace trace = TraceMaker()
                    .call(1, "cudaLaunchKernel", 15, 5, 7)
                    .kernel(0, 7, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1'000, dur_ns, 7)
                    .build();
  trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
  trace.collectives.push_back({.activity = ActivityId(0),
                               .collective = trace.strings.intern("allreduce"),
                               .dtype = trace.strings.intern("Float"),
                               .process_group = trace.strings.intern("0"),
                               .ranks = trace.strings.intern(ranks),
                               .in_elements = 25'000'000,
                               .out_elements = 25'000'000,
                               .group_size = group_size,
                               .seq = 3,
                               .peer = -1});
  return trace;
}

// Four ranks on four machines have a card of 25 GB/s each; on one machine the GPU's own link of
// 300.
TEST(RoofLevels, AGroupOverMachinesIsHeldAgainstTheirNetwork) {
  for (const bool spread : {true, false}) {
    const Trace trace = all_reduce(1'000'000, spread ? "[0, 8, 16, 24]" : "[0, 1, 2, 3]", 4);
    const JobRoof roof = roof_of(trace);
    ASSERT_EQ(roof.comm.size(), 1U);
    EXPECT_EQ(roof.comm[0].network, spread);
    EXPECT_EQ(roof.comm[0].link_bytes_per_s, spread ? 25e9 : 300e9);
  }
}

// Groups of as many ranks and equal messages, one within a machine and one over several.
TEST(RoofLevels, GroupsOnOtherLinksHaveTheirOwnRows) {
  RoofReader reader(FactBook::built_in(), "");
  for (const char* ranks : {"[0, 1, 2, 3]", "[0, 8, 16, 24]", "[6, 7, 8, 9]", "[6, 7, 8]"}) {
    const int64_t size = 1 + std::count(ranks, ranks + std::strlen(ranks), ',');
    const Trace trace = all_reduce(1'000'000, ranks, size);
    const Links links = link_trace(trace);
    const auto kernels = given_or_built_in({}, trace.strings, trace.activities.name);
    const auto report = analyze_breakdown(trace, links, find_iterations(trace, links), {});
    reader.add(trace, links, *kernels, *report);
  }
  const JobRoof roof = reader.finish();
  std::map<int64_t, size_t> rows;
  for (const RoofComm& comm : roof.comm) ++rows[std::llround(comm.link_bytes_per_s / 1e9)];
  // Two on each of two machines: 2 cards, 3 / 4 of a message's gathers, half of which leaves.
  EXPECT_EQ(rows, (std::map<int64_t, size_t>{{0, 1}, {25, 1}, {75, 1}, {300, 1}}));
}

// The same all-reduce as two ranks saw it: the one that came last waited for nobody.
TEST(RoofLevels, RankThatWaitsLeastTimesTheTransfer) {
  RoofReader reader(FactBook::built_in(), "");
  for (const int64_t dur_ns : {9'000'000, 1'000'000}) {
    const Trace trace = all_reduce(dur_ns, "[0, 1]", 2);
    const Links links = link_trace(trace);
    const auto kernels = given_or_built_in({}, trace.strings, trace.activities.name);
    const auto report = analyze_breakdown(trace, links, find_iterations(trace, links), {});
    reader.add(trace, links, *kernels, *report);
  }
  const JobRoof roof = reader.finish();
  ASSERT_EQ(roof.comm.size(), 1U);
  EXPECT_EQ(roof.comm[0].collectives, 1U);
  EXPECT_EQ(roof.comm[0].dur_ns, 1'000'000);
  EXPECT_EQ(roof.comm[0].message_bytes, 1e8);
  EXPECT_EQ(roof.comm[0].factor, 1);
  EXPECT_EQ(roof.comm[0].link_bytes_per_s, 3e11);
  EXPECT_EQ(roof.comm_ns, 10'000'000);
}

}  // namespace
}  // namespace assay
