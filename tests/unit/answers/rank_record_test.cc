#include "answers/job/rank_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using testing::TraceMaker;

TEST(RankRecord, TheHostIsReadFromPyTorchsFileName) {
  EXPECT_EQ(host_in_name("/x/gpu-node-7_4711.1706850122862342.pt.trace.json.gz"), "gpu-node-7");
  EXPECT_EQ(host_in_name("gpu_7_4711.pt.trace.json"), "gpu_7");
  EXPECT_EQ(host_in_name("rank0.json"), "");
  EXPECT_EQ(host_in_name("trace.pt.trace.json"), "");
  EXPECT_EQ(host_in_name("_12.pt.trace.json"), "");
}

LoadedTrace loaded_of(Trace trace) {
  LoadedTrace loaded;
  loaded.trace = std::move(trace);
  loaded.links = link_trace(loaded.trace);
  loaded.kernels = std::make_shared<const KernelNames>(
      loaded.trace.strings, loaded.trace.activities.name, KernelBook::built_in());
  loaded.windows = find_iterations(loaded.trace, loaded.links);
  return loaded;
}

// Two steps, each with a kernel and a collective; in the second two collectives beside each other.
TEST(RankRecord, OwnWorkIsTheTimeSinceTheLatestEndOfAnEarlierCollective) {
  const char* reduce = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";
  const char* gather = "ncclDevKernel_AllGather_RING_LL";
  TraceMaker maker;
  maker.annotation(1, "ProfilerStep#3", 0, 1000).annotation(1, "ProfilerStep#4", 1000, 1000);
  uint32_t id = 0;
  const auto work = [&](int64_t stream, const char* name, int64_t start_ns, int64_t dur_ns) {
    ++id;
    maker.call(1, "cudaLaunchKernel", start_ns - 50, 10, id);
    maker.kernel(0, stream, name, start_ns, dur_ns, id);
  };
  work(7, "gemm", 100, 200);
  work(20, reduce, 310, 90);  // ends at 400: nothing before it
  work(7, "gemm", 1100, 300);
  work(20, reduce, 1450, 200);  // 1050 after that
  work(21, gather, 1500, 50);   // while it runs: 1100 after the first
  work(7, "gemm", 1660, 100);
  work(20, reduce, 1800, 100);  // after the end at 1650, not that at 1550
  const auto record = make_rank_record(loaded_of(maker.build()));
  ASSERT_TRUE(record) << record.error().describe();
  std::vector<int64_t> own;
  std::vector<int32_t> iterations;
  for (const RecordArrival& one : record->arrivals) {
    own.push_back(one.work_ns);
    iterations.push_back(one.iteration);
  }
  EXPECT_THAT(own, ElementsAre(-1, 1050, 1100, 150));
  EXPECT_THAT(iterations, ElementsAre(3, 4, 4, 4));
  EXPECT_EQ(record->groups.size(), 2u);
  EXPECT_EQ(record->groups.front().kind, "all_reduce");  // used most
  ASSERT_EQ(record->iterations.size(), 2u);
  EXPECT_EQ(record->iterations[1].number, 4);
  EXPECT_EQ(record->iterations[1].kernel_ns, 400);
  EXPECT_EQ(record->iterations[1].collectives, 3u);
  EXPECT_EQ(record->kernels.front().count, 3u);
  const RecordCauses& causes = record->causes;
  int64_t idle_ns = 0;
  for (const int64_t ns : causes.idle_ns) idle_ns += ns;
  EXPECT_EQ(causes.compute_ns + causes.collective_ns + causes.copy_ns + idle_ns, causes.window_ns);
}

TEST(RankRecord, AWholeTraceIsNotAnIteration) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 10, 1)
      .kernel(0, 20, "ncclDevKernel_AllReduce_Sum_f16_RING_LL", 100, 50, 1);
  const auto record = make_rank_record(loaded_of(maker.build()));
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->iterations.empty());
  ASSERT_EQ(record->arrivals.size(), 1u);
  EXPECT_EQ(record->arrivals.front().iteration, kNoRecordIteration);
}

}  // namespace
}  // namespace assay
