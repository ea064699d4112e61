// Levers and their bounds, worked by hand.

#include "overhead/diagnosis.h"

#include <gtest/gtest.h>
#include <algorithm>

#include <string>
#include <vector>

namespace assay {
namespace {

HostOverheadReport host_report() {
  HostOverheadReport report;
  HostOverheadWindow& w = report.whole;
  w.t_e2e_ns = 1000;
  w.exclusive.between_ns = 30;
  w.exclusive.py_ns = 70;
  w.exclusive.dispatch_ns = 150;
  w.exclusive.call_ns = 60;
  w.exclusive.waiting_ns = 50;
  w.sums.n = w.sums.n_launch = 4;
  w.sums.t_py_ns = 500;
  w.sums.ft_dispatch_ns = 700;
  w.sums.ft_ns = 1200;
  w.sums.ct_ns = 40;
  w.sums.kt_ns = 300;
  w.sums.t_orch_ns = 1540;
  w.sums.t_device_ns = 700;
  report.base_ns = 175;
  return report;
}

std::vector<std::string> keys(const HostOverheadDiagnosis& diagnosis) {
  std::vector<std::string> found;
  for (const HostOverheadLever& lever : diagnosis.levers) found.push_back(lever.key);
  return found;
}

// Stack 30 + 70 + 150 = 250, path 310, idle 300: graphs and fusion are capped by idle.
TEST(DiagnoseOverhead, BoundsHostActionsByHostTimeSpentOnceAndByIdle) {
  const HostOverheadReport report = host_report();
  const HostOverheadDiagnosis d = diagnose_overhead(report, report.whole.sums, {300, 700});
  EXPECT_EQ(d.largest, HostOverheadLayer::kDispatch);
  EXPECT_NEAR(d.largest_share, 700.0 / 1540, 1e-12);
  EXPECT_EQ(d.stack_ns, 1240);
  EXPECT_EQ(d.launch_path_ns, 300);
  EXPECT_EQ(keys(d), (std::vector<std::string>{"device_work", "fusion", "cuda_graphs", "compile",
                                               "faster_core", "library_path"}));
  EXPECT_EQ(d.levers[0].at_most_ns, 700);
  EXPECT_EQ(d.levers[1].at_most_ns, 300);
  EXPECT_EQ(d.levers[1].basis.rfind("time in which the GPU ran no kernel", 0), 0u);
  EXPECT_EQ(d.levers[3].at_most_ns, 250);
  EXPECT_NEAR(d.levers[3].share_of_e2e, 0.25, 1e-12);
  EXPECT_EQ(d.levers[4].at_most_ns, 90);  // 0.29 x 310 = 89.9
  EXPECT_EQ(d.levers[5].at_most_ns, 40);
}

TEST(DiagnoseOverhead, ThereIsNoLibraryPartToShortenIfThereIsNoBase) {
  HostOverheadReport report = host_report();
  report.base_ns.reset();
  const std::vector<std::string> found =
      keys(diagnose_overhead(report, report.whole.sums, {300, 700}));
  EXPECT_EQ(std::count(found.begin(), found.end(), "library_path"), 0);
  EXPECT_EQ(std::count(found.begin(), found.end(), "compile"), 1);
}

TEST(DiagnoseOverhead, LayersThatAreNotSeparatedAreNeverTheLargest) {
  HostOverheadReport report = host_report();
  report.whole.sums.split_known = false;
  report.whole.sums.ct_ns = report.whole.sums.ft_dispatch_ns = 10'000;
  report.whole.sums.t_orch_ns = 20'400;
  EXPECT_EQ(diagnose_overhead(report, report.whole.sums, {300, 700}).largest,
            HostOverheadLayer::kNone);
  report.whole.sums.kt_ns = 30'000;
  EXPECT_EQ(diagnose_overhead(report, report.whole.sums, {300, 700}).largest,
            HostOverheadLayer::kLaunch);
}

TEST(DiagnoseOverhead, ActivitiesInGraphsAreNotAdvisedToUseThem) {
  HostOverheadReport report = host_report();
  report.whole.orphans.graph_followers = 2;  // of 4
  const std::vector<std::string> found =
      keys(diagnose_overhead(report, report.whole.sums, {300, 700}));
  EXPECT_EQ(std::count(found.begin(), found.end(), "cuda_graphs"), 0);
  EXPECT_EQ(std::count(found.begin(), found.end(), "fusion"), 1);
}

TEST(DiagnoseOverhead, DeviceTimeThatIsMostlyCollectivesIsCommunication) {
  HostOverheadReport report = host_report();
  FamilyOverhead collectives;
  collectives.name = "Communication";
  collectives.t_device_ns = 351;
  report.families = {collectives};
  EXPECT_EQ(communication_ns(report), 351);
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {300, 700})).front(),
            "communication");
  report.families[0].t_device_ns = 350;  // half, and not more
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {300, 700})).front(), "device_work");
}

TEST(DiagnoseOverhead, EqualBoundsFollowTheDominantLayer) {
  HostOverheadReport report = host_report();
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {20, 980})).at(1), "compile");
  report.whole.sums.kt_ns = 5000;
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {20, 980})).at(1), "fusion");
  report.whole.sums.kt_ns = 0;
  report.whole.sums.ct_ns = 2000;
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {20, 980})).at(1), "library_path");
}

TEST(DiagnoseOverhead, ABusyGpuLeavesNothingToHostChanges) {
  const HostOverheadReport report = host_report();
  EXPECT_EQ(keys(diagnose_overhead(report, report.whole.sums, {0, 1000})),
            std::vector<std::string>{"device_work"});
  EXPECT_TRUE(diagnose_overhead(HostOverheadReport{}, HostOverheadSums{}, {0, 0}).levers.empty());
}

}  // namespace
}  // namespace assay
