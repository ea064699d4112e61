#include "diff/partition.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

DeviceWork work(int32_t window, int64_t start_ns, int64_t end_ns, int64_t launch_ns,
                WorkClass work_class = WorkClass::kCompute, int64_t gpu = 0) {
  return {gpu, window, work_class, start_ns, end_ns, launch_ns};
}

TEST(Partition, IdleTimeBelongsToTheWorkThatEndsIt) {
  const Partition p = partition_time({work(0, 20, 100, 10), work(0, 150, 180, 130)}, {{0, 200}});
  EXPECT_EQ(p.shares[0].busy_ns, 80);
  EXPECT_EQ(p.shares[0].idle, (Interval{0, 20}));
  EXPECT_EQ(p.shares[1].busy_ns, 30);
  EXPECT_EQ(p.shares[1].idle, (Interval{100, 150}));
  ASSERT_EQ(p.tails.size(), 1u);
  EXPECT_EQ(p.tails[0].idle, (std::vector<Interval>{{180, 200}}));
}

TEST(Partition, OverlapIsPaidByWhatStartedFirst) {
  const Partition p = partition_time({work(0, 0, 100, 0), work(0, 60, 130, 0)}, {{0, 130}});
  EXPECT_EQ(p.shares[0].busy_ns, 100);
  EXPECT_EQ(p.shares[1].busy_ns, 30);
}

TEST(Partition, CollectivesAndCopiesCostOnlyWhatIsExposed) {
  const Partition p = partition_time(
      {work(0, 0, 100, 0, WorkClass::kCollective), work(0, 10, 60, 0, WorkClass::kCopy),
       work(0, 40, 70, 0, WorkClass::kCompute)},
      {{0, 100}});
  EXPECT_EQ(p.shares[0].busy_ns, 70);  // 100 less the 30 of computing
  EXPECT_EQ(p.shares[1].busy_ns, 0);   // under the collective throughout
  EXPECT_EQ(p.shares[2].busy_ns, 30);
}

TEST(Partition, IdleTimeBetweenIterationsIsCutWhereTheNextOneBegins) {
  // Device idle 50..130, second iteration begins at 100 on the host.
  const Partition p =
      partition_time({work(0, 0, 50, 0), work(1, 130, 160, 120)}, {{0, 100}, {100, 160}});
  EXPECT_EQ(p.shares[1].idle, (Interval{100, 130}));
  ASSERT_EQ(p.tails.size(), 1u);
  EXPECT_EQ(p.tails[0].window, 0);
  EXPECT_EQ(p.tails[0].idle, (std::vector<Interval>{{50, 100}}));
}

TEST(Partition, LateDeviceLeavesNoTail) {
  const Partition p =
      partition_time({work(0, 10, 150, 5), work(1, 150, 260, 90)}, {{0, 80}, {80, 160}});
  EXPECT_EQ(p.shares[1].busy_ns, 110);
  EXPECT_EQ(p.shares[1].idle_ns(), 0);
  EXPECT_TRUE(p.tails.empty());
}

TEST(Partition, GpusAreCountedApart) {
  const Partition p = partition_time(
      {work(0, 0, 10, 0, WorkClass::kCompute, 0), work(0, 0, 30, 0, WorkClass::kCompute, 1)},
      {{0, 30}});
  EXPECT_EQ(p.shares[0].busy_ns, 10);
  EXPECT_EQ(p.shares[1].busy_ns, 30);
  ASSERT_EQ(p.tails.size(), 1u);
  EXPECT_EQ(p.tails[0].gpu, 0);
  EXPECT_EQ(p.tails[0].tail_ns(), 20);
}

}  // namespace
}  // namespace assay
