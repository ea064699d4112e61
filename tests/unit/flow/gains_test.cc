// The table of gains and what is decided on it, on runs whose truth is known: each is written so
// that one can say without a replay what limits it.

#include "flow/gains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "flow/decision.h"
#include "flow/flow.h"
#include "flow/host_order.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// One thread that works, launches and waits.
class HostProgram {
 public:
  void host(const char* name, int64_t ns) {
    maker_.op(1, name, now_ns_, ns);
    now_ns_ += ns;
  }
  void silence(int64_t ns) { now_ns_ += ns; }
  void call(const char* name, int64_t end_ns) {
    maker_.call(1, name, now_ns_, end_ns - now_ns_, ++correlation_);
    now_ns_ = end_ns;
  }
  // Begins 3 us behind its call, or when the device is free.
  void launch(int64_t ns, int64_t stream = 7, const char* name = "gemm") {
    call("cudaLaunchKernel", now_ns_ + 5'000);
    const int64_t start_ns = std::max(free_ns_, now_ns_ + 3'000);
    maker_.kernel(0, stream, name, start_ns, ns, correlation_);
    free_ns_ = start_ns + ns;
  }
  void copy_in(int64_t ns) {
    call("cudaMemcpyAsync", now_ns_ + 5'000);
    const int64_t start_ns = std::max(free_ns_, now_ns_ + 3'000);
    maker_.copy(0, 7, "Memcpy HtoD (Pinned -> Device)", start_ns, ns, correlation_);
    free_ns_ = start_ns + ns;
  }
  void wait(const char* name, int64_t behind_ns) { call(name, free_ns_ + behind_ns); }
  Trace build() { return maker_.build(); }

  TraceMaker maker_;
  int64_t now_ns_ = 0;
  int64_t free_ns_ = 0;
  uint32_t correlation_ = 0;
};

Decision of(const Trace& trace) {
  const Links links = link_trace(trace);
  return make_flow_report(trace, links, {}).decision;
}

int64_t gain(const Decision& decision, GainGroup group) {
  return decision.table.of(group).gain_ns;
}

// 200 launches; the host takes 29.5 us for each, the kernel 23: the device is busy, and its kernels
// do not matter but for the last.
TEST(Gains, ABusyDeviceMayWaitForTheHost) {
  HostProgram run;
  for (int i = 0; i < 200; ++i) {
    run.host("aten::mm", 24'000);
    run.launch(23'000);
    run.host("aten::view", 500);
  }
  const Decision d = of(run.build());
  // From the first call: 200 x 29.5 us - 24.5 of the first step's host, + 3 + 23 - 0.5.
  EXPECT_EQ(d.table.window_ns(), 200 * 29'500 - 24'000 + 3'000 + 23'000 - 500);
  EXPECT_EQ(d.relation, GainRelation::kBound);
  EXPECT_EQ(d.word, GainGroup::kHost);
  EXPECT_EQ(gain(d, GainGroup::kDevice), 23'000);  // of the last one
  EXPECT_EQ(gain(d, GainGroup::kHost), d.table.window_ns() - 200 * 23'000);
  EXPECT_EQ(d.table.of(GainGroup::kDevice).only_ns, 200 * 23'000);
  EXPECT_EQ(d.table.of(GainGroup::kDevice).pieces.count, 200U);
  EXPECT_EQ(d.table.of(GainGroup::kDevice).pieces.half_in, 100U);
  EXPECT_EQ(d.table.of(GainGroup::kDevice).pieces.median_ns, 23'000);
}

// Copy in, kernel, wait: one after the other, and no two at once but the copy and the call that
// launches the kernel, 5 us.
TEST(Gains, AChainAddsUp) {
  HostProgram run;
  for (int i = 0; i < 4; ++i) {
    run.copy_in(3'000'000);
    run.launch(9'000'000);
    run.wait("cudaDeviceSynchronize", 20'000);
  }
  const Decision d = of(run.build());
  EXPECT_EQ(d.word, GainGroup::kDevice);
  EXPECT_EQ(d.second, GainGroup::kCopy);
  EXPECT_EQ(gain(d, GainGroup::kDevice), 4 * 9'000'000);
  EXPECT_EQ(gain(d, GainGroup::kCopy), 4 * 2'995'000);
  EXPECT_EQ(d.together_ns, 4 * 11'995'000);
  // The host hides behind the copy for 5 us, and they share them: 4 x 2.5.
  EXPECT_EQ(d.table.of(GainGroup::kCopy).share_ns, 4 * 2'997'500);
}

// 40 kernels on 8 streams that nothing but the host puts in order: without its waits they still
// follow each other.
TEST(Gains, OrderThatTheHostCarriesHoldsWithoutItsWaits) {
  HostProgram run;
  for (int i = 0; i < 40; ++i) {
    run.host("prepare", 60'000);
    run.launch(400'000, 7 + i % 8, "level");
    run.wait("cudaStreamSynchronize", 8'000);
  }
  const Decision d = of(run.build());
  EXPECT_EQ(d.word, GainGroup::kDevice);
  EXPECT_EQ(gain(d, GainGroup::kDevice), 40 * 400'000);
  EXPECT_LE(d.table.order_gain_ns, d.table.window_ns() - 40 * 400'000);
  EXPECT_GT(d.table.order_gain_ns, (d.table.window_ns() - 40 * 400'000) * 9 / 10);
}

TEST(Gains, WorkFollowsWhatItsThreadWaitedFor) {
  HostProgram run;
  run.launch(100'000, 7, "a");
  run.wait("cudaStreamSynchronize", 5'000);
  run.launch(100'000, 8, "b");
  run.launch(100'000, 8, "c");  // behind b on its stream
  run.launch(100'000, 7, "d");  // behind a on its stream
  const Trace trace = run.build();
  const Links links = link_trace(trace);
  EXPECT_EQ(host_order(make_flow_run(trace, links)),
            (std::vector<uint32_t>{kNoFlowRow, 0, kNoFlowRow, kNoFlowRow}));
}

// The same two names beside each other at three places are in no order of their own.
TEST(Gains, NamesThatOverlapElsewhereAreInNoOrder) {
  for (const int places : {2, 3}) {
    HostProgram run;
    run.launch(100'000, 7, "a");
    run.wait("cudaStreamSynchronize", 5'000);
    run.launch(100'000, 8, "b");
    for (int i = 0; i < places; ++i) {
      run.silence(200'000);
      run.free_ns_ = 0;
      run.launch(100'000, 7, "a");
      run.free_ns_ = 0;
      run.launch(100'000, 8, "b");
    }
    const Trace trace = run.build();
    const Links links = link_trace(trace);
    const std::vector<uint32_t> order = host_order(make_flow_run(trace, links));
    EXPECT_EQ(order[1], places == 3 ? kNoFlowRow : 0U) << places;
  }
}

// Two silences of 850 ms among 130 of 1 ms.
// Calls of one name stage bytes for 30 ms or wait for their copy of 30 ms. How long staging takes is not the usual time
// of a call that waits.
TEST(Gains, ACallThatWaitsForItsCopyDoesNoStaging) {
  constexpr int64_t kMillisecond = 1'000'000;
  TraceMaker maker;
  int64_t now_ns = 0;
  for (uint32_t i = 0; i < 20; i += 2) {
    maker.call(1, "cudaMemcpyAsync", now_ns, 30 * kMillisecond, i + 1)
        .copy(0, 7, "Memcpy HtoD (Pageable -> Device)", now_ns + kMillisecond / 4,
              30 * kMillisecond, i + 1);
    now_ns += 31 * kMillisecond;
    maker.call(1, "cudaMemcpyAsync", now_ns, 31 * kMillisecond, i + 2)
        .copy(0, 7, "Memcpy DtoH (Device -> Pageable)", now_ns + kMillisecond / 4,
              30 * kMillisecond, i + 2);
    now_ns += 32 * kMillisecond;
  }
  const Decision decision = of(maker.build());
  EXPECT_EQ(decision.word, GainGroup::kCopy);
  EXPECT_GT(gain(decision, GainGroup::kCopy), decision.table.window_ns() * 9 / 10);
}

TEST(Gains, CountsThePiecesThatHoldHalf) {
  HostProgram run;
  for (int i = 0; i < 132; ++i) {
    run.silence(i == 40 || i == 90 ? 850'000'000 : 1'000'000);
    run.launch(1'000'000);
    run.wait("cudaDeviceSynchronize", 5'000);
  }
  const Decision d = of(run.build());
  const GainPieces& pieces = d.table.of(GainGroup::kHost).pieces;
  EXPECT_EQ(d.word, GainGroup::kHost);
  EXPECT_EQ(pieces.half_in, 2U);
  EXPECT_EQ(pieces.largest_ns, 850'000'000);
  EXPECT_EQ(d.repeats, 132U);
  EXPECT_EQ(d.relation, GainRelation::kBound);  // the run repeats, its silences do not
}

// One kernel, one long silence, one kernel: seen once.
TEST(Gains, ASingleOccurrenceIsAnEvent) {
  HostProgram run;
  run.launch(1'000'000, 7, "a");
  run.silence(80'000'000);
  run.launch(1'000'000, 7, "b");
  const Decision d = of(run.build());
  EXPECT_EQ(d.word, GainGroup::kHost);
  EXPECT_EQ(d.relation, GainRelation::kOneEvent);
}

// Behind one kernel the host reads what it wrote, page by page, up to the end.
TEST(Gains, TheHostThatReadsPagesIsMigration) {
  HostProgram run;
  run.launch(10'000'000);
  run.wait("cudaDeviceSynchronize", 9'000);
  int64_t at_ns = run.now_ns_ + 100'000;
  for (int i = 0; i < 200; ++i) {
    run.maker_.copy(0, 7, "Memcpy DtoH (Device -> Managed)", at_ns, 8'000, 0);
    at_ns += i % 6 == 5 ? 500'000 : 8'000;
  }
  run.now_ns_ = at_ns + 1'000;
  run.call("cudaFree", run.now_ns_ + 90'000);
  const Trace trace = run.build();
  const Decision d = of(trace);
  const int64_t last_ns = 8'000 * 200 + 492'000 * 33;
  EXPECT_EQ(d.word, GainGroup::kMigration);
  EXPECT_EQ(d.second, GainGroup::kDevice);
  EXPECT_EQ(gain(d, GainGroup::kMigration), last_ns);
  EXPECT_EQ(gain(d, GainGroup::kDevice), 10'000'000);
}

// Each step loads for 200 ms and then launches: loading is what the host does.
TEST(Gains, TheNarrowNameIsTheOneThatGivesHalf) {
  HostProgram run;
  for (int i = 0; i < 5; ++i) {
    run.host("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 200'000'000);
    for (int k = 0; k < 20; ++k) {
      run.host("aten::mm", 5'000);
      run.launch(990'000);
    }
    run.wait("cudaDeviceSynchronize", 10'000);
  }
  const Decision d = of(run.build());
  EXPECT_EQ(d.word, GainGroup::kHost);
  EXPECT_EQ(d.narrow, NarrowHost::kInput);
}

TEST(Gains, SharesAddUpToTheNanosecond) {
  // v({0}) = 1, v({1}) = 1, v({0, 1}) = 3: each adds 1.5; the first gets what rounding leaves.
  EXPECT_EQ(shapley_ns(2, {0, 1, 1, 3}), (std::vector<int64_t>{2, 1}));
  // The glove game: 0 and 1 have a left one, 2 the right one: 1/6, 1/6, 4/6.
  EXPECT_EQ(shapley_ns(3, {0, 0, 0, 0, 0, 600, 600, 600}), (std::vector<int64_t>{100, 100, 400}));
  EXPECT_TRUE(shapley_ns(0, {0}).empty());
}

// ---- the decision, on tables by hand ----------------------------------------------------------

Decision decided(std::vector<int64_t> host_device_unseen, int64_t together_ns) {
  Decision d;
  d.table.window = {0, 100'000'000};
  d.table.players = {GainGroup::kHost, GainGroup::kDevice, GainGroup::kUnseen};
  for (size_t i = 0; i < 3; ++i) {
    GroupGain& of = d.table.of(d.table.players[i]);
    of.gain_ns = of.low_ns = of.high_ns = of.share_ns = host_device_unseen[i] * 1'000'000;
    of.pieces.half_in = 10;
  }
  d.table.without.assign(8, 0);
  d.table.without[3] = d.table.without[5] = d.table.without[6] = together_ns * 1'000'000;
  d.repeats = 5;
  decide(d, true, true);
  return d;
}

TEST(Decision, TheLargestGainLeads) {
  EXPECT_EQ(decided({40, 10, 0}, 60).word, GainGroup::kHost);
  EXPECT_EQ(decided({10, 40, 0}, 60).word, GainGroup::kDevice);
  EXPECT_EQ(decided({10, 40, 0}, 60).relation, GainRelation::kBound);
}

TEST(Decision, TwoThatAddUpTakeTurns) {
  EXPECT_EQ(decided({50, 30, 0}, 80).relation, GainRelation::kAlternate);
  EXPECT_EQ(decided({50, 24, 0}, 74).relation, GainRelation::kBound);
  EXPECT_EQ(decided({50, 30, 0}, 90).relation, GainRelation::kBound);
}

TEST(Decision, TwoThatGiveOnlyTogetherKeepStep) {
  EXPECT_EQ(decided({5, 4, 0}, 60).relation, GainRelation::kKeepStep);
  EXPECT_EQ(decided({5, 3, 0}, 60).relation, GainRelation::kKeepStep);
  EXPECT_EQ(decided({5, 4, 0}, 18).relation, GainRelation::kBound);
}

// The copy saves nothing alone, and with the host nearly everything.
TEST(Decision, TheSecondIsTheOneThatSavesMostWithTheFirst) {
  const auto with_copy = [](int64_t host_and_copy_ms) {
    Decision d = decided({14, 8, 0}, 25);
    d.table.players = {GainGroup::kHost, GainGroup::kDevice, GainGroup::kUnseen, GainGroup::kCopy};
    d.table.without.resize(16, 0);
    d.table.without[9] = host_and_copy_ms * 1'000'000;
    decide(d, true, true);
    return d;
  };
  const Decision joint = with_copy(90);
  EXPECT_EQ(joint.relation, GainRelation::kBound);
  EXPECT_EQ(joint.word, GainGroup::kHost);
  EXPECT_EQ(joint.second, GainGroup::kCopy);
  EXPECT_EQ(joint.together_ns, 90'000'000);
  EXPECT_TRUE(joint.joint);
  const Decision alone = with_copy(41);  // less than three times 14
  EXPECT_EQ(alone.second, GainGroup::kDevice);
  EXPECT_EQ(alone.together_ns, 25'000'000);
  EXPECT_FALSE(alone.joint);
}

// The host saves more alone than collectives, both save far more together.
TEST(Decision, CollectivesThatAreExposedForLongerThanIdleTimeComeBeforeTheHost) {
  const auto weighed = [](int64_t collective_ms, int64_t idle_ms) {
    Decision d = decided({14, 1, 0}, 15);
    d.table.players = {GainGroup::kHost, GainGroup::kDevice, GainGroup::kUnseen, GainGroup::kComm};
    d.table.of(GainGroup::kComm).gain_ns = 5'000'000;
    d.table.without.resize(16, 0);
    d.table.without[9] = 90'000'000;
    decide(d, true, true);
    EXPECT_TRUE(d.joint);
    weigh_waits(collective_ms * 1'000'000, idle_ms * 1'000'000, d);
    return d;
  };
  const Decision waits = weighed(60, 15);
  EXPECT_EQ(waits.word, GainGroup::kComm);
  EXPECT_EQ(waits.second, GainGroup::kHost);
  EXPECT_EQ(waits.relation, GainRelation::kKeepStep);
  EXPECT_EQ(weighed(15, 60).word, GainGroup::kHost);
  Decision alone = decided({40, 10, 0}, 60);
  weigh_waits(60'000'000, 15'000'000, alone);
  EXPECT_EQ(alone.word, GainGroup::kHost) << "no pair that saves only together";
}

TEST(Decision, UnexplainedTimeLeadsOnlyFromAfar) {
  EXPECT_EQ(decided({10, 5, 21}, 60).word, GainGroup::kUnseen);
  EXPECT_EQ(decided({10, 5, 20}, 60).word, GainGroup::kHost);
  EXPECT_EQ(decided({10, 5, 20}, 60).relation, GainRelation::kUndecided);
}

TEST(Decision, AWideIntervalDecidesNothing) {
  Decision d = decided({40, 20, 0}, 30);
  EXPECT_EQ(d.relation, GainRelation::kBound);
  d.table.of(GainGroup::kHost).low_ns = 19'000'000;
  decide(d, true, true);
  EXPECT_EQ(d.relation, GainRelation::kUndecided);
}

TEST(Decision, SaysWhatIsMissing) {
  Decision d = decided({40, 20, 0}, 30);
  decide(d, false, true);
  EXPECT_EQ(d.relation, GainRelation::kNoGpu);
  decide(d, true, false);
  EXPECT_EQ(d.relation, GainRelation::kNoHost);
}

}  // namespace
}  // namespace assay
