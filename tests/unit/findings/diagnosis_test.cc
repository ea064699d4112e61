#include "findings/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "findings/actions.h"
#include "findings/causes.h"
#include "findings/rules/rule.h"
#include "support/trace_maker.h"
#include "trace/page_faults.h"

namespace assay::findings {
namespace {

using assay::testing::TraceMaker;

// Kernels, each launched at the end of an operator of `host_ns`.
Trace run_of(int64_t kernel_ns, int64_t host_ns, int works = 100) {
  TraceMaker maker;
  int64_t now_ns = 0;
  int64_t free_ns = 0;
  for (int i = 0; i < works; ++i) {
    const auto correlation = static_cast<uint32_t>(i + 1);
    maker.op(1, "aten::mm", now_ns, host_ns + 4500);
    now_ns += host_ns;
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, correlation);
    now_ns += 5000;
    const int64_t start_ns = std::max(now_ns + 3000, free_ns + 1000);
    free_ns = start_ns + kernel_ns;
    maker.kernel(0, 7, "gemm", start_ns, kernel_ns, correlation);
  }
  return maker.build();
}

Diagnosis diagnose_run(const Trace& trace, const ReadingEvidence& reading = {}) {
  const Links links = link_trace(trace);
  const FlowReport report = make_flow_report(trace, links, {});
  const FlowVerdict verdict = judge_flow(trace, report, {});
  return diagnose(RunFacts({trace, report, verdict, nullptr}, reading));
}

TEST(Diagnosis, ABusyDeviceIsGpuBoundByItsKernelKind) {
  const Diagnosis diagnosis = diagnose_run(run_of(500'000, 20'000));
  EXPECT_EQ(diagnosis.headline.code, Code::kGpuBoundKernelKind);
  EXPECT_GT(*diagnosis.headline.find("compute")->value.number(), 0.95);
  EXPECT_EQ(diagnosis.headline.subjects.front().name, "gemm");
}

// The codes of details of a run with such an MFU.
std::vector<Code> details_with(const Trace& trace, const Utilisation& use) {
  const Links links = link_trace(trace);
  const FlowReport report = make_flow_report(trace, links, {});
  const FlowVerdict verdict = judge_flow(trace, report, {});
  std::vector<Code> codes;
  for (const Finding& detail :
       diagnose(RunFacts({trace, report, verdict, nullptr, nullptr, &use}, {})).details) {
    codes.push_back(detail.code);
  }
  return codes;
}

TEST(Diagnosis, MfuIsADetailOfGpuBoundRunsWhereItIsNarrow) {
  const auto shows = [](const Trace& trace, Code code, const Utilisation& use) {
    const std::vector<Code> codes = details_with(trace, use);
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  const Trace gpu = run_of(500'000, 20'000);
  Utilisation use{.mfu = 0.4, .mfu_low = 0.4, .mfu_high = 0.401, .hfu = 0.5, .known_share = 0.9};
  EXPECT_TRUE(shows(gpu, Code::kUseMfu, use));
  EXPECT_FALSE(shows(run_of(20'000, 100'000), Code::kUseMfu, use));
  use.known_share = 0.4;
  EXPECT_FALSE(shows(gpu, Code::kUseMfu, use));
  use = {.mfu = 0.4, .mfu_low = 0.4, .mfu_high = 0.43, .hfu = 0.5, .known_share = 0.9};
  EXPECT_FALSE(shows(gpu, Code::kUseMfu, use));
  EXPECT_TRUE(shows(gpu, Code::kUseMfuRange, use));
  use.mfu_high = 0.45;
  EXPECT_FALSE(shows(gpu, Code::kUseMfuRange, use));
  EXPECT_FALSE(shows(gpu, Code::kUseMfu, {}));
}

TEST(Diagnosis, OperatorsThatPrepareTheNextKernelAreHostBound) {
  const Diagnosis diagnosis = diagnose_run(run_of(20'000, 100'000));
  EXPECT_EQ(diagnosis.headline.code, Code::kHostBoundLaunching);
  EXPECT_EQ(diagnosis.headline.subjects.front().kind, SubjectKind::kCause);
  EXPECT_EQ(diagnosis.headline.subjects.front().name, "dispatch");
}

// Kernels that the host waits for, with 4 ms between them in which the CPU has `faults` page faults.
Trace run_with_faults(int faults) {
  TraceMaker maker;
  std::vector<int64_t> at_ns;
  int64_t now_ns = 0;
  for (uint32_t i = 1; i <= 6; ++i) {
    maker.call(1, "cudaLaunchKernel", now_ns, 10'000, i);
    maker.kernel(0, 7, "step", now_ns + 15'000, 2'000'000, i);
    maker.call(1, "cudaDeviceSynchronize", now_ns + 10'000, 2'010'000, 0);
    now_ns += 2'020'000;
    for (int k = 0; k < faults; ++k) at_ns.push_back(now_ns + k * 4'000'000 / faults);
    now_ns += 4'000'000;
  }
  Trace trace = maker.build();
  const StringId name = trace.strings.intern(kCpuPageFault);
  const StringId category = trace.strings.intern(kPageFaultCategory);
  for (const int64_t start_ns : at_ns) {
    trace.other_events.push_back({start_ns, 0, name, category, ThreadId()});
  }
  return trace;
}

TEST(Diagnosis, PageFaultsThatFollowEachOtherNameAStall) {
  const Diagnosis diagnosis = diagnose_run(run_with_faults(40));
  EXPECT_EQ(diagnosis.headline.code, Code::kHostBoundStallsPageFaults);
  EXPECT_NEAR(*diagnosis.headline.find("host")->value.number(), 0.6, 0.1);
  for (const int few : {0, 1, 3}) {
    EXPECT_EQ(diagnose_run(run_with_faults(few)).headline.code, Code::kHostBoundStallsUnrecorded);
  }
}

TEST(Diagnosis, AFewKernelsAreNotEnoughAndHaveANoteInPlaceOfActions) {
  const Diagnosis diagnosis = diagnose_run(run_of(2'000, 4'000, 3));
  EXPECT_EQ(diagnosis.headline.code, Code::kInsufficientDataFew);
  EXPECT_EQ(diagnosis.confidence, Confidence::kNone);
  EXPECT_TRUE(diagnosis.actions.empty());
  EXPECT_FALSE(diagnosis.notes.empty());
}

TEST(Diagnosis, AnEmptyTraceHasAHeadline) {
  EXPECT_EQ(diagnose_run(Trace()).headline.code, Code::kNoGpuWorkNothing);
}

TEST(Diagnosis, LossOnImportLowersTheConfidence) {
  const Diagnosis diagnosis =
      diagnose_run(run_of(500'000, 20'000), {.data_lost = true, .iterations = 8});
  EXPECT_EQ(diagnosis.confidence, Confidence::kMedium);
  EXPECT_EQ(diagnosis.reason.code, Code::kConfidenceDataLost);
}

// A rank of a run whose host and collectives gain little alone and half the run together: the first
// action is about both.
TEST(Diagnosis, APairOfHostAndCollectivesAsksForAllRanks) {
  const Trace trace = run_of(20'000, 100'000);
  const Links links = link_trace(trace);
  const FlowReport report = make_flow_report(trace, links, {});
  const FlowVerdict verdict = judge_flow(trace, report, {});
  RunFacts facts({trace, report, verdict, nullptr}, {});
  const auto compares = [&facts](GainGroup word, GainGroup second, bool joint) {
    facts.decision.word = word;
    facts.decision.second = second;
    facts.decision.joint = joint;
    facts.decision.together_ns = facts.window_ns / 2;
    const std::vector<Action> actions = actions_of(facts);
    return !actions.empty() && actions.front().key == "compare_ranks" &&
           actions.front().gain_ns == facts.window_ns / 2;
  };
  EXPECT_TRUE(compares(GainGroup::kComm, GainGroup::kHost, true));
  EXPECT_TRUE(compares(GainGroup::kHost, GainGroup::kComm, true));
  EXPECT_FALSE(compares(GainGroup::kComm, GainGroup::kHost, false));
  EXPECT_FALSE(compares(GainGroup::kDevice, GainGroup::kComm, true));
  facts.misfit = Misfit::kModelError;
  EXPECT_FALSE(compares(GainGroup::kComm, GainGroup::kHost, true));
}

// Products of a GPU-bound run, 0.5 ms each.
struct ProductRun {
  Trace trace = run_of(500'000, 20'000);
  Links links = link_trace(trace);
  FlowReport report = make_flow_report(trace, links, {});
  FlowVerdict verdict = judge_flow(trace, report, {});
  RunFacts facts{{trace, report, verdict, nullptr}, {}};

  // 0 if there is no such action.
  double share_of(std::string_view key) const {
    for (const Action& action : actions_of(facts)) {
      if (action.key == key) return action.share;
    }
    return 0;
  }
};

TEST(Actions, TwiceTheSequencesOfADecodeStepSaveHalfOfTheProducts) {
  ProductRun run;
  ASSERT_EQ(run.facts.bottleneck, BoundBy::kGpu);
  run.facts.kernel_kind = KernelKind::kGemm;
  run.facts.unit = StretchUnit::kDecode;
  run.facts.serving.batch = 32;
  EXPECT_NEAR(run.share_of("batch"), 0.49, 0.03);
  run.facts.matrix_types.ridge = 60;  // 64 rows reach it
  EXPECT_EQ(run.share_of("batch"), 0);
  run.facts.matrix_types.ridge = 300;
  run.facts.serving.batch = Serving::kUntold;
  EXPECT_EQ(run.share_of("batch"), 0);
  run.facts.serving.batch = 32;
  run.facts.unit = StretchUnit::kPrefill;
  EXPECT_EQ(run.share_of("batch"), 0);
}

TEST(Actions, KernelsSaveAtMostWhatTheyTakeAboveTheRoofline) {
  ProductRun run;
  run.facts.misfit = Misfit::kModelError;  // no replay: exposed time
  run.facts.kind_ns = run.facts.evidence.kernel_ns;
  const double most = run.share_of("device_work");
  EXPECT_GT(most, 0.9);
  run.facts.kind_roofed_ns = run.facts.kind_ns;
  run.facts.kind_roof_ns = run.facts.kind_ns * 8 / 10;
  EXPECT_NEAR(run.share_of("device_work"), most / 5, 0.01);
  run.facts.kind_roof_ns = run.facts.kind_ns;
  EXPECT_EQ(run.share_of("device_work"), 0);
}

void count_in_ranges(Trace& trace) {
  trace.other_events.push_back({.start_ns = 0,
                                .dur_ns = 1000,
                                .name = trace.strings.intern("gemm"),
                                .category = trace.strings.intern("cuda_profiler_range"),
                                .thread = ThreadId(0)});
}

TEST(Diagnosis, CountersOfRangesLowerTheConfidence) {
  Trace trace = run_of(20'000, 100'000);
  EXPECT_NE(diagnose_run(trace).reason.code, Code::kConfidenceCounters);
  count_in_ranges(trace);
  const Diagnosis diagnosis = diagnose_run(trace);
  EXPECT_EQ(diagnosis.reason.code, Code::kConfidenceCounters);
  EXPECT_EQ(diagnosis.confidence, Confidence::kLow);
}

TEST(Diagnosis, CountersOfRangesExplainLaunchesWithoutKernels) {
  TraceMaker maker;
  for (uint32_t i = 1; i < 100; ++i) maker.call(1, "cudaLaunchKernel", i * 10'000, 4000, i);
  Trace trace = maker.build();
  ASSERT_FALSE(diagnose_run(trace).notes.empty());
  EXPECT_EQ(diagnose_run(trace).notes.front().code, Code::kNoteLikelyProfilerConflict);
  count_in_ranges(trace);
  EXPECT_EQ(diagnose_run(trace).notes.front().code, Code::kNoteLikelyCounters);
}

TEST(Rules, TheLastHeadlineAndTheLastReasonAlwaysHold) {
  EXPECT_EQ(headline_rules().back().when, "true");
  EXPECT_EQ(confidence_rules().back().when, "true");
}

TEST(Rules, TheRoleOfARuleIsThatOfItsTable) {
  const auto all_of = [](std::span<const RunRule> rules, Role role) {
    for (const RunRule& rule : rules) EXPECT_EQ(info(rule.code).role, role) << name(rule.code);
  };
  all_of(headline_rules(), Role::kHeadline);
  all_of(detail_rules(), Role::kDetail);
  all_of(note_rules(), Role::kNote);
  all_of(confidence_rules(), Role::kConfidence);
  all_of(confidence_remark_rules(), Role::kConfidence);
}

TEST(Causes, EveryCauseOfTheGraphHasOneRow) {
  std::set<std::string_view> keys;
  for (const CauseInfo& cause : all_causes()) EXPECT_TRUE(keys.insert(cause.key).second);
  for (size_t c = 0; c < kFlowCauses; ++c) {
    const std::string_view key = flow_cause_name(static_cast<FlowCause>(c));
    ASSERT_NE(find_cause(key), nullptr) << key;
    EXPECT_EQ(find_cause(key)->host, is_host_work(static_cast<FlowCause>(c))) << key;
  }
}

TEST(Causes, EveryBottleneckHasOneRow) {
  for (size_t b = 0; b < kBounds; ++b) {
    const std::string_view key = bound_by_word(static_cast<BoundBy>(b));
    EXPECT_NE(find_bottleneck(key), nullptr) << key;
  }
}

}  // namespace
}  // namespace assay::findings
