// What the overhead room tells a reader: sentences, levers beside those of the launch room, keys.

#include "report/overhead/section.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/writers/writers.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

HostOverheadDiagnosis host_diagnosis() {
  HostOverheadDiagnosis d;
  d.largest = HostOverheadLayer::kDispatch;
  d.largest_share = 0.5;
  d.levers = {{"compile", 400, 0.4, "idle"},
              {"cuda_graphs", 400, 0.4, "idle"},
              {"device_work", 300, 0.3, "busy"},
              {"library_path", 50, 0.05, "excess"}};
  return d;
}

const HostOverheadAdvice* find(const std::vector<HostOverheadAdvice>& advice,
                               const std::string& key) {
  for (const HostOverheadAdvice& a : advice) {
    if (a.lever.key == key) return &a;
  }
  return nullptr;
}

Lever replayed(std::string key, int64_t gain_ns) {
  return {.key = std::move(key),
          .what = "",
          .edit = "",
          .gain_ns = gain_ns,
          .share_of_window = static_cast<double>(gain_ns) / 1000,
          .basis = "a replay"};
}

TEST(HostOverheadAdvice, NothingIsAdvisedWithoutAnActionOfTheHeadline) {
  EXPECT_TRUE(overhead_advice(host_diagnosis(), {}).empty());
  const auto device = overhead_advice(host_diagnosis(), {replayed("device_work", 20)});
  ASSERT_EQ(device.size(), 1u);
  EXPECT_EQ(device[0].lever.key, "device_work");
}

TEST(HostOverheadAdvice, TheReplaysNumberIsReportedAndTheBoundStays) {
  const auto advice = overhead_advice(host_diagnosis(),
                                      {replayed("cheaper_host", 100), replayed("device_work", 20)});
  const HostOverheadAdvice* compile = find(advice, "compile");
  ASSERT_NE(compile, nullptr);
  EXPECT_EQ(compile->replayed.key, "cheaper_host");
  EXPECT_EQ(compile->replayed.gain_ns, 100);
  EXPECT_EQ(compile->lever.at_most_ns, 400);
  EXPECT_EQ(find(advice, "device_work")->replayed.gain_ns, 20);
  EXPECT_EQ(find(advice, "library_path")->replayed.key, "cheaper_host");
}

// 300 ns of device work are more than 100 of the host, but the host is what the verdict names.
TEST(HostOverheadAdvice, TheHeadlinesFirstActionComesFirst) {
  const auto advice = overhead_advice(host_diagnosis(),
                                      {replayed("cheaper_host", 100), replayed("device_work", 20)});
  ASSERT_EQ(advice.size(), 4u);
  EXPECT_EQ(advice.front().lever.key, "compile");
  EXPECT_EQ(advice.back().lever.key, "device_work");
}

TEST(HostOverheadAdvice, OneActionIsRecommendedOnce) {
  const auto levers = recommended(overhead_advice(
      host_diagnosis(), {replayed("cheaper_host", 100), replayed("device_work", 20)}));
  ASSERT_EQ(levers.size(), 2u);
  EXPECT_EQ(levers[0].gain_ns, 100);
  EXPECT_EQ(levers[1].key, "device_work");
}

HostOverheadReport small_report() {
  HostOverheadReport report;
  HostOverheadSums& s = report.whole.sums;
  s.n = 10;
  s.n_launch = 10;
  s.t_py_ns = 1000;
  s.ft_dispatch_ns = 60'000;
  s.ft_ns = 61'000;
  s.kt_ns = 45'000;
  s.t_orch_ns = 106'000;
  s.t_device_ns = 106'000;
  s.hdbi = 0.5;
  report.whole.t_e2e_ns = 50'000;
  report.whole.exclusive.total_ns = 40'000;
  report.whole.literal = s;
  report.whole.literal.t_orch_ns = 306'000;
  report.whole.literal.hdbi = 0.257;
  report.floor.source = FloorSource::kGiven;
  return report;
}

TEST(HostOverheadWords, SayTheBalanceWithoutAClassAndNoShareOfLatency) {
  const HostOverheadReport report = small_report();
  const auto words = overhead_verdict_words(Trace{}, report, host_diagnosis(), {});
  ASSERT_FALSE(words.empty());
  EXPECT_EQ(words[0],
            "The host is charged 106 µs (T_Orch) for 10 kernels that keep the GPU busy for 106 µs "
            "(T_DeviceActive): HDBI 0.50, 10.6 µs per launch.");
  std::string all;
  for (const std::string& sentence : words) all += sentence + "\n";
  EXPECT_EQ(all.find("bound"), std::string::npos) << all;
  EXPECT_NE(all.find("Literally by the paper's sums T_Orch is 306 µs, HDBI 0.26 (as printed; may "
                     "exceed wall)."),
            std::string::npos)
      << all;
}

// Of one-off costs that the causes of idle time tell; copies may run where no kernel does.
TEST(HostOverheadWords, SayWhatAStartCosts) {
  HostOverheadReport report = small_report();
  report.whole.t_e2e_ns = 1'000'000;
  const auto said = [&](int64_t cold_ns, size_t devices) {
    std::string all;
    for (const std::string& words :
         overhead_verdict_words(Trace{}, report, host_diagnosis(), {}, cold_ns, devices)) {
      all += words + "\n";
    }
    return all;
  };
  EXPECT_NE(said(500'000, 1)
                .find("One-time initialization delays the GPU by 500 µs: a run past its start does "
                      "not pay it."),
            std::string::npos);
  EXPECT_NE(said(500'000, 4).find("delays the GPUs by 500 µs in sum"), std::string::npos);
  EXPECT_EQ(said(500'000, 8).find("One-time initialization delays"), std::string::npos);
  EXPECT_NE(said(0, 1).find("the GPU ran no kernel for"), std::string::npos);
}

TEST(HostOverheadWords, WithoutAFloorTheLiteralSumIsALowerBoundAndNamed) {
  HostOverheadReport report = small_report();
  report.mode = HostOverheadMode::kPaper;
  report.floor.source = FloorSource::kNone;
  EXPECT_EQ(
      overhead_verdict_words(Trace{}, report, host_diagnosis(), {}).at(0),
      "The host is charged at least 106 µs (T_Orch, as printed; may exceed wall) for 10 kernels "
      "that keep the GPU busy for 106 µs (T_DeviceActive): HDBI at most 0.50, 10.6 µs per launch; "
      "the launch-overhead floor is not known (--floor).");
  // No floor is in what the calls themselves took.
  report.mode = HostOverheadMode::kExclusive;
  EXPECT_EQ(overhead_verdict_words(Trace{}, report, host_diagnosis(), {}).at(0),
            overhead_verdict_words(Trace{}, small_report(), host_diagnosis(), {}).at(0));
}

// The floor of 10 launches is charged and nothing else can be: a bound, as without a floor.
TEST(HostOverheadWords, TheSumIsALowerBoundIfOperatorsAreMissing) {
  HostOverheadReport report = small_report();
  report.whole.orphans.without_op = report.whole.sums.n_launch;
  const auto words = overhead_verdict_words(Trace{}, report, host_diagnosis(), {});
  EXPECT_EQ(words.at(0),
            "The host is charged at least 106 µs (T_Orch) for 10 kernels that keep the GPU busy "
            "for 106 µs (T_DeviceActive): HDBI at most 0.50, 10.6 µs per launch.");
  const std::string page = write_markdown(
      {.sections = {overhead_section(
           {.report = report, .diagnosis = HostOverheadDiagnosis{}, .advice = {}})}});
  EXPECT_NE(page.find("no operator around a launch"), std::string::npos) << page;
  EXPECT_NE(page.find("sum, at least"), std::string::npos) << page;
  EXPECT_NE(page.find("at most: T"), std::string::npos) << page;
}

TEST(HostOverheadWords, TheyMatchTheReportIfThereAreNoKernels) {
  const Trace trace = assay::testing::TraceMaker().copy(0, 7, "Memcpy DtoH", 0, 10, 1).build();
  const auto words = overhead_verdict_words(trace, HostOverheadReport{}, {}, {});
  EXPECT_EQ(words, std::vector<std::string>{no_kernels_words(trace)});
}

TEST(HostOverheadWords, WithoutAFloorAndOperatorsTheyDoNotSayZero) {
  HostOverheadReport report = small_report();
  report.floor.source = FloorSource::kNone;
  report.whole.sums.t_orch_ns = 0;
  const std::string answer = overhead_verdict_words(Trace{}, report, host_diagnosis(), {}).at(0);
  EXPECT_NE(answer.find("is not known from this trace"), std::string::npos) << answer;
}

TEST(HostOverheadWords, TheyDoNotNameTheFloorIfTheLaunchCallIsMissing) {
  HostOverheadReport report = small_report();
  report.whole.sums.t_orch_ns = 0;
  report.whole.sums.n_launch = 0;
  report.whole.exclusive.total_ns = 0;
  report.whole.orphans.without_call = 10;
  const auto words = overhead_verdict_words(Trace{}, report, {}, {});
  EXPECT_NE(words.at(0).find("no launch call of theirs is in it"), std::string::npos) << words[0];
  std::string all;
  for (const std::string& sentence : words) all += sentence + "\n";
  EXPECT_EQ(all.find("host threads spent"), std::string::npos) << all;
  EXPECT_EQ(all.find("--floor"), std::string::npos) << all;
}

TEST(HostOverheadSection, UnchargedTimeIsNotZero) {
  HostOverheadReport report = small_report();
  report.whole.sums = {};
  report.whole.sums.n = 10;
  report.whole.sums.t_device_ns = 106'000;
  const std::string json =
      write_json({.sections = {overhead_section(
                      {.report = report, .diagnosis = HostOverheadDiagnosis{}, .advice = {}})}});
  for (const char* key : {"t_orch_ns", "hdbi", "ft_ns", "ct_ns", "kt_ns", "t_py_ns"}) {
    EXPECT_NE(json.find("\"" + std::string(key) + "\": null"), std::string::npos) << key;
  }
  EXPECT_NE(json.find("\"t_device_ns\": 106000"), std::string::npos);
}

TEST(HostOverheadAdvice, TheWordsAreTheHeadlines) {
  HostOverheadDiagnosis diagnosis;
  diagnosis.levers = {{.key = "faster_core"}};
  const auto advice = overhead_advice(diagnosis, {{.key = "faster_cpu", .what = "Use a faster core"}});
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].replayed.what, "Use a faster core");
}

TEST(HostOverheadWords, SaySoIfThereAreNoKernels) {
  const auto words = overhead_verdict_words(Trace{}, HostOverheadReport{}, {}, {});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].rfind("No GPU work in this trace", 0), 0u);
  EXPECT_TRUE(overhead_report_words(HostOverheadReport{}, {}).empty());
}

TEST(HostOverheadSweepWords, HaveTheCrossoverOrTheSide) {
  HostOverheadPoint one, two;
  one.batch = 4;
  one.t_orch_ns = 60;
  one.t_device_ns = 40;
  two.batch = 8;
  two.t_orch_ns = 40;
  two.t_device_ns = 60;
  EXPECT_EQ(overhead_sweep_words({{"a", {one, two}}})[0],
            "HDBI passes 0.5 between batch 4 and 8, at about 5.66: beyond it the device has more "
            "to do than the host is charged.");
  two.t_orch_ns = 75;
  two.t_device_ns = 25;
  EXPECT_EQ(overhead_sweep_words({{"a", {one, two}}})[0],
            "HDBI stays on one side of 0.5, from 0.25 to 0.40: the host is charged more than the "
            "device has to do throughout.");
  EXPECT_EQ(overhead_sweep_words({{"a", {one}}})[0], "HDBI is 0.40 at its only point.");
}

HostOverheadPoint sized_point(double batch, double seq_len, double t_orch, double t_device) {
  HostOverheadPoint point;
  point.batch = batch;
  point.seq_len = seq_len;
  point.t_orch_ns = t_orch;
  point.t_device_ns = t_device;
  return point;
}

TEST(HostOverheadSweepWords, PointsOnBothSidesNeverStayOnOne) {
  EXPECT_EQ(
      overhead_sweep_words({{"a", {sized_point(1, 512, 89, 11), sized_point(4, 2048, 48, 52)}}})[0],
      "HDBI passes 0.5 somewhere between batch 1, length 512 (0.11) and batch 4, length 2048 "
      "(0.52): they share no size, so the size that turns it is not known.");
}

TEST(HostOverheadSweepWords, ACrossoverNamesTheSizeThatIsKept) {
  const HostOverheadPoint first = sized_point(1, 512, 60, 40);
  const HostOverheadPoint longer = sized_point(1, 2048, 40, 60);
  EXPECT_EQ(overhead_sweep_words({{"a", {first, longer}}})[0],
            "HDBI passes 0.5 between length 512 and 2048 at batch 1, at about 1,024: beyond it "
            "the device has more to do than the host is charged.");
  EXPECT_EQ(overhead_sweep_words({{"a", {first, longer, sized_point(4, 512, 40, 60)}}})[0],
            "HDBI passes 0.5 in 2 places, the first between batch 1 and 4 at length 512, at about "
            "2.00.");
}

TEST(HostOverheadMeasuredWords, CompareWithTheTraceAndCountWhatWasReplayed) {
  MeasuredReport measured;
  measured.sums.n = 10;
  measured.sums.t_orch_ns = 53'000;
  measured.sums.hdbi = 0.667;
  measured.tier_invocations[static_cast<size_t>(MatchTier::kNone)] = 3;
  measured.guarded = {0, 1};
  EXPECT_EQ(
      overhead_measured_words(small_report(), measured),
      "Measured by replay through C++, T_Orch is 53.0 µs (-50.0 % against the trace alone), HDBI "
      "0.67: 7 of 10 kernels have a replay, of which the launch time of 2 unique kernels was "
      "rejected as contaminated.");
  measured.through = ReplayThrough::kPython;
  EXPECT_EQ(overhead_measured_words(small_report(), measured).substr(0, 38),
            "Measured by replay through Python, T_O");
}

}  // namespace
}  // namespace assay
