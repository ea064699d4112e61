// Each question to a trace: which sections and numbers its answer has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/breakdown/breakdown.h"
#include "answers/breakdown/configs.h"
#include "answers/diff.h"
#include "answers/energy.h"
#include "answers/launch.h"
#include "answers/overhead.h"
#include "answers/report.h"
#include "answers/sweep.h"
#include "answers/tables.h"
#include "answers/whatif.h"
#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using testing::block_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::in_repository;
using testing::integer_of;
using testing::keys_of;
using ::testing::Not;
using testing::one_kernel_trace;
using testing::traces_at;

TEST(Answers, LaunchHasTheRequestedParts) {
  const Folder folder("launch");
  LaunchRequest request{.traces = traces_at({folder.add("a.json", one_kernel_trace(100))})};
  request.tree = TreeOptions{};
  request.graph = true;
  const auto answer = answer_launch(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->document.title, "Launch");
  EXPECT_THAT(keys_of(answer->document.sections), ElementsAre("launch", "", "", ""));
  EXPECT_EQ(block_of<Table>(answer->document.sections, "kernels").rows.size(), 1u);
}

// The reason of the short answer's trust, and what `why` and `whatif` list, come from one place.
TEST(Answers, CaveatsAreTheSameInEveryVerb) {
  const Folder folder("caveats");
  // Of the second one the profiler's cost is the reason: without it something else may bound the
  // run.
  for (const std::string& file :
       {folder.add("a.json", one_kernel_trace(100)),
        in_repository("tests/data/h200_pairs/pointwise.after.json.zst")}) {
    const TraceRequest traces = traces_at({file});
    const auto report = answer_report({.traces = traces});
    const auto why = answer_why({.traces = traces});
    const auto whatif = answer_whatif({.traces = traces});
    const auto other_gpu = answer_whatif({.traces = traces, .on = {.gpus = {"H100 SXM"}}});
    ASSERT_TRUE(report && why && whatif && other_gpu);
    ASSERT_TRUE(report->document.answer);
    ASSERT_NE(report->document.answer->confidence, findings::Confidence::kHigh);
    for (const Document* document :
         {&report->document, &why->document, &whatif->document, &other_gpu->document}) {
      const Table& trust = block_of<Table>(document->sections, "caveats");
      std::vector<std::string> effects;
      for (const std::vector<Value>& row : trust.rows) {
        if (const auto* effect = row.back().get<std::string>()) effects.push_back(*effect);
      }
      EXPECT_THAT(effects, Contains(report->document.answer->reason)) << file << document->title;
    }
  }
}

TEST(Answers, AnInvalidFloorFileIsAnError) {
  const Folder folder("floor");
  const auto answer = answer_launch(
      {.traces = traces_at({folder.add("a.json", one_kernel_trace(100))}), .floor = "nix"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(answer.error().message, HasSubstr("nix"));
}

TEST(Answers, FusionInfoBoundOverheadLevels) {
  const Folder folder("rooms");
  const TraceRequest traces = traces_at({folder.add("a.json", one_kernel_trace(100))});
  const auto fusion = answer_fusion({.traces = traces});
  ASSERT_TRUE(fusion);
  EXPECT_THAT(keys_of(fusion->document.sections), ElementsAre("fusion", ""));
  const auto info = answer_info(traces);
  ASSERT_TRUE(info);
  EXPECT_THAT(keys_of(info->document.sections), Contains("tables"));
  const auto bound = answer_bound({.traces = traces});
  ASSERT_TRUE(bound);
  EXPECT_THAT(keys_of(bound->document.sections), ElementsAre("", "", ""));
  const auto overhead = answer_overhead({.traces = traces});
  ASSERT_TRUE(overhead);
  EXPECT_THAT(keys_of(overhead->document.sections), ElementsAre("host_overhead", "untraced", ""));
  const auto breakdown = answer_breakdown({.traces = traces});
  ASSERT_TRUE(breakdown);
  EXPECT_THAT(keys_of(breakdown->document.sections), ElementsAre("breakdown", "roofline", ""));
}

// The screen itself says to name the device, and to tell its facts.
TEST(Answers, TheRoofTakesADeviceAndFactsWithoutCounters) {
  const Folder folder("roof");
  BreakdownRequest request{.traces = traces_at({folder.add("a.json", one_kernel_trace(100))})};
  request.roof = true;
  request.counters.peaks = "My GPU";
  request.counters.facts =
      folder.add("my.ini", "[hardware My GPU]\ntflops = 1\nbandwidth_tb_s = 2\nsource = mine\n");
  const auto answer = answer_breakdown(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(block_of<Table>(answer->document.sections, "peaks").rows.size(), 2u);
  request.counters.peaks = "tflops=1";  // would be passed over
  EXPECT_FALSE(answer_breakdown(request));
  request.counters.peaks = "My GPU";
  request.roof = false;
  EXPECT_FALSE(answer_breakdown(request));
}

TEST(Answers, HostOverheadGivesItsKernelsAndPassesOnWhatTheirTakerSays) {
  const Folder folder("kernels");
  HostOverheadRequest request{.traces = traces_at({folder.add("a.json", one_kernel_trace(100))})};
  size_t entries = 0;
  request.kernels = [&entries](const KernelDatabase& database) -> Status {
    entries = database.entries.size();
    return Error{ErrorCode::kIo, "disk full", "", -1};
  };
  const auto answer = answer_overhead(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "disk full");
  EXPECT_EQ(entries, 1u);
}

TEST(Answers, SweepHasAPointPerBatchAndNoBatchTwice) {
  const Folder folder("sweep");
  const std::string a = folder.add("a.json", one_kernel_trace(100));
  const std::string b = folder.add("b.json", one_kernel_trace(200));
  HostOverheadSweepRequest sweep;
  sweep.platforms = {{"platform", "--batch", {"1=" + a, "2=" + b}}};
  const auto answer = answer_overhead_sweep(sweep);
  ASSERT_TRUE(answer) << answer.error().describe();
  ASSERT_EQ(answer->document.inputs.size(), 2u);
  EXPECT_EQ(answer->document.inputs[1].items.front().key, "batch");
  EXPECT_EQ(answer->document.inputs[1].items.front().value.number(), 2.0);
  sweep.platforms = {{"platform", "--batch", {"1=" + a, "1=" + b}}};
  const auto twice = answer_overhead_sweep(sweep);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("this size is there already"));
}

TEST(Answers, BoundNeedsTracesOrASweepNotBoth) {
  EXPECT_FALSE(answer_bound({}));
  const Folder folder("bound");
  const std::string a = folder.add("a.json", one_kernel_trace(100));
  BoundRequest both{.traces = traces_at({a})};
  both.platform.batches = {"1=" + a};
  const auto answer = answer_bound(both);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("not both"));
}

TEST(Answers, LevelConfigurationsAreParts) {
  const Folder folder("configs");
  const std::string a = folder.add("a.json", one_kernel_trace(100));
  LevelConfigsRequest request;
  request.configs = {{.name = "x", .traces = a}, {.name = "y", .traces = a}};
  const auto answer = answer_level_configs(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->document.parts_key, "configs");
  ASSERT_EQ(answer->document.parts.size(), 2u);
  EXPECT_EQ(answer->document.parts[1].name, "y");
  request.configs[1].name = "x";
  EXPECT_FALSE(answer_level_configs(request));
  request.configs[1].name = "y";
  request.detail = {"z"};
  EXPECT_FALSE(answer_level_configs(request));
}

TEST(Answers, DiffComparesBothSidesAndHoldsGates) {
  const Folder folder("diff");
  DiffRequest request;
  request.a = folder.add("a.json", one_kernel_trace(100));
  request.b = folder.add("b.json", one_kernel_trace(150));
  request.fail_on_any = true;
  auto gate = parse_gate("time>+40%");
  ASSERT_TRUE(gate);
  request.gates = {*gate};
  const auto made = answer_diff(request);
  ASSERT_TRUE(made) << made.error().describe();
  EXPECT_THAT(keys_of(made->answer.document.sections), Contains("diff"));
  ASSERT_EQ(made->answer.document.inputs.size(), 2u);
  EXPECT_EQ(made->answer.document.inputs[1].items.front().value, Value("B"));
  ASSERT_EQ(made->gates.size(), 1u);
  // 112 us against 162 us: 44.6 % more.
  EXPECT_EQ(made->gates[0].outcome, GateOutcome::kCrossed);
  EXPECT_EQ(made->gates[0].a, 112000);
  EXPECT_EQ(made->gates[0].b, 162000);
  request.b = folder.scratch.path + "/none.json";
  EXPECT_FALSE(answer_diff(request));
}

TEST(Answers, EnergyErrorsAreReturned) {
  const Folder folder("energy");
  AttributeRequest attribute;
  attribute.traces = traces_at({folder.add("a.json", one_kernel_trace(100))});
  attribute.samples = folder.scratch.path + "/none.csv";
  const auto energy = answer_attribution(attribute);
  ASSERT_FALSE(energy);
  EXPECT_EQ(energy.error().file, attribute.samples);
  ProfileRequest profile;
  profile.folders = {folder.scratch.path + "/none"};
  EXPECT_FALSE(answer_profile(profile));
}

TEST(Answers, EnergyIsAttributedToKernelsLayersAndPhases) {
  const Folder folder("joules");
  AttributeRequest request;
  request.traces = traces_at({folder.add("a.json", one_kernel_trace(1'000'000))});
  std::string log = "t_ns,power_w\n";
  for (int ms = 0; ms <= 1000; ms += 10) {
    log += std::to_string(int64_t{ms} * 1'000'000) + ",300\n";
  }
  request.samples = folder.add("samples.csv", log);
  request.at_start = true;
  const auto answer = answer_attribution(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->document.title, "Energy");
  EXPECT_THAT(keys_of(answer->document.sections), Contains("energy"));
}

// One kernel is too little for a diagnosis: the first headline rule that holds says so.
TEST(Answers, WhyListsEveryRuleAndWhetherItHolds) {
  const Folder folder("rules");
  const TraceRequest traces = traces_at({folder.add("a.json", one_kernel_trace(100))});
  const auto without = answer_why({.traces = traces});
  const auto with = answer_why({.traces = traces, .rules = true});
  ASSERT_TRUE(without && with);
  EXPECT_EQ(with->document.sections.size(), without->document.sections.size() + 1);
  const Table& rules = block_of<Table>(with->document.sections, "rules");
  ASSERT_EQ(rules.columns.size(), 4u);
  std::string first_headline;
  for (const std::vector<Value>& row : rules.rows) {
    if (first_headline.empty() && row[1] == Value("headline") && row[2] == Value(true)) {
      first_headline = *row[0].get<std::string>();
    }
  }
  EXPECT_EQ(first_headline, "insufficient_data.few");
}

TEST(Answers, ReportContainsEveryModulesResults) {
  const Folder folder("report");
  ReportRequest request{.traces = traces_at({folder.add("a.json", one_kernel_trace(100))})};
  int timelines = 0;
  request.timeline = [&timelines](const LoadedTrace& loaded, const Timeline&) -> Status {
    timelines += loaded.trace.activities.size() == 1;
    return Ok{};
  };
  const auto answer = answer_report(request);
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->document.title, "Report");
  EXPECT_THAT(
      keys_of(answer->document.sections),
      ElementsAre("", "diagnosis", "untraced", "", "launch", "host_overhead", "breakdown", "roofline", "fusion", ""));
  EXPECT_FALSE(answer->document.verdict.empty());
  EXPECT_EQ(timelines, 1);
  request.telemetry.files = {folder.scratch.path + "/none.csv"};
  EXPECT_FALSE(answer_report(request));
}

TEST(AnswerTables, TracesAreCalledByTheirRanksWhereThoseDiffer) {
  const RankNumbers told({3, 1});
  EXPECT_EQ(told.of(0), 3);
  EXPECT_EQ(told.of(1), 1);
  const RankNumbers repeated({3, 3});
  EXPECT_EQ(repeated.of(0), 0);
  EXPECT_EQ(repeated.of(1), 1);
  const RankNumbers unknown({3, std::nullopt});
  EXPECT_EQ(unknown.of(0), 0);
}

TEST(AnswerTables, EverythingIsTheTraceAndWhatTheReportSaysOfIt) {
  const Folder folder("tables");
  const TraceRequest traces = traces_at({folder.add("r0.json", one_kernel_trace(100, 0, 2)),
                                         folder.add("r1.json", one_kernel_trace(150, 1, 2))});
  auto inputs = QueryInputs::load(traces);
  ASSERT_TRUE(inputs) << inputs.error().describe();
  ASSERT_NE(inputs->trace_tables().find("ops"), nullptr);
  EXPECT_EQ(inputs->trace_tables().find("ops")->rows(), 2u);
  EXPECT_EQ(inputs->trace_tables().find("launch_top_kernels"), nullptr);
  const auto everything = inputs->everything({});
  ASSERT_TRUE(everything);
  ASSERT_NE((*everything)->find("launch_top_kernels"), nullptr);
  EXPECT_EQ((*everything)->find("launch_top_kernels")->rows(), 2u);
  const Document report = inputs->report();
  EXPECT_EQ(report.inputs.size(), 2u);
  EXPECT_FALSE(report.verdict.empty());
  EXPECT_FALSE(QueryInputs::load(traces_at({folder.scratch.path + "/none.json"})));
}

}  // namespace
}  // namespace assay
