#include "report/breakdown/job.h"

#include <gtest/gtest.h>

#include <limits>

#include "report/breakdown/section.h"

namespace assay {
namespace {

JobGpu gpu(int64_t number, int64_t span_ns, int64_t dur_ns, int64_t launch_ns) {
  JobGpu one;
  one.gpu = number;
  one.rank = number;
  one.file = "rank_" + std::to_string(number) + ".json";
  one.span_ns = span_ns;
  one.compute.kernels = 10;
  one.compute.dur_ns = dur_ns;
  one.compute.launch_ns = launch_ns;
  one.compute.comm_wait_ns = span_ns - dur_ns - launch_ns;
  one.compute_ratio = 1;
  return one;
}

Arrivals arrivals(int64_t number, uint64_t last, int64_t waited_ns, int64_t last_margin_ns) {
  Arrivals one;
  one.gpu = number;
  one.collectives = 10;
  one.last = last;
  one.waited_ns = waited_ns;
  one.last_margin_ns = last_margin_ns;
  return one;
}

// GPU 1 is last at 7 of 10 collectives because its host is behind.
JobLevels job() {
  JobLevels two;
  two.ranks = 2;
  two.gpus = {gpu(0, 1'000'000, 500'000, 50'000), gpu(1, 1'000'000, 500'000, 400'000)};
  two.arrivals = {arrivals(0, 3, 350'000, 30'000), arrivals(1, 7, 20'000, 330'000)};
  two.alignment.matched = 10;
  two.alignment.residual_p95_ns = 100;
  return two;
}

TEST(JobWords, NameEachWaitAndTheLateHost) {
  EXPECT_EQ(
      job_words(job()),
      (std::vector<std::string>{
          "Waiting for the last to arrive takes from 20.0 \u00b5s on GPU 1, 2.0 % of its span to "
          "350 \u00b5s on GPU 0, 35.0 % of its span.",
          "Compute kernels take the same time on every GPU, within 0 %.",
          "The host is late on GPU 1 (40.0 % of its span is launch overhead); the other has 5.0 "
          "%."}));
}

// Of 1,000 ns of device time 250 have no phase; then all of it.
TEST(BreakdownWords, SayHowMuchHasNoKnownPhase) {
  JobLevels one;
  one.gpus = {gpu(0, 1000, 1000, 0)};
  one.placement.all = {4, 1000};
  one.placement.no_phase = {1, 250};
  ASSERT_EQ(breakdown_words(one).size(), 2u);
  EXPECT_EQ(breakdown_words(one)[1], "The phase of 25.0 % of the device time is not known.");
  one.placement.no_phase = one.placement.all;
  EXPECT_EQ(breakdown_words(one)[1],
            "The phase is not known: no operator or label separates forward from backward work.");
  one.placement.no_phase = {};
  EXPECT_EQ(breakdown_words(one).size(), 1u);
}

// Iteration 6 and the end of one before it; without any, the trace as a whole.
TEST(BreakdownTree, TheRootSaysWhatItHolds) {
  JobLevels one;
  one.gpus = {gpu(0, 1000, 1000, 0)};
  one.window_source = WindowSource::kProfilerStep;
  one.spans.resize(2);
  one.spans[1].iter = 6;
  const auto root = [&one] {
    for (const Block& block : breakdown_section(one, {}).blocks) {
      if (const auto* tree = std::get_if<Tree>(&block)) return tree->nodes.front().label;
    }
    return std::string();
  };
  EXPECT_EQ(root(), "1 iteration and work outside of it on 1 GPU");
  one.spans[0].iter = 5;
  EXPECT_EQ(root(), "2 iterations on 1 GPU");
  for (LevelSpan& span : one.spans) span.iter = kNoIteration;
  EXPECT_EQ(root(), "work outside of the iterations on 1 GPU");
  one.window_source = WindowSource::kWholeTrace;
  EXPECT_EQ(root(), "the whole trace on 1 GPU");
}

TEST(BreakdownWords, SayWhatTheSpanLeavesOut) {
  JobLevels one;
  one.gpus = {gpu(0, 1000, 1000, 0)};
  one.gpus[0].copy_outside_ns = 9;
  EXPECT_EQ(breakdown_words(one).size(), 1u) << "under a hundredth of the span";
  one.gpus[0].copy_outside_ns = 70'000;
  one.gpus[0].comm_outside_ns = 2'000;
  ASSERT_EQ(breakdown_words(one).size(), 2u);
  EXPECT_EQ(breakdown_words(one)[0], "The compute kernels span 1.00 \u00b5s: 100.0 % kernels.");
  EXPECT_EQ(breakdown_words(one)[1],
            "Not in this span: 70.0 \u00b5s of copies and fills and 2.00 \u00b5s of collectives "
            "before the first compute kernel or after the last.");
}

TEST(JobWords, TheLastArrivalIsNotCalledTheStraggler) {
  EXPECT_EQ(straggler_words(job()),
            "GPU 1 arrives last by most: at 7 of 10 collectives, 330 \u00b5s after the second to "
            "last. Two stragglers hide each other here; assay report has the straggler analysis.");
}

TEST(JobWords, SayNothingOfWhatTheClocksExplain) {
  JobLevels uncertain = job();
  uncertain.alignment.residual_p95_ns = 50'000;  // times 7 collectives: more than 330 us
  EXPECT_NE(straggler_words(uncertain).find("no more than the clocks' residual"),
            std::string::npos);
  // What each GPU saw on its own clock: 450 us and 100 us.
  EXPECT_EQ(job_words(uncertain).at(0),
            "Waiting for collectives takes from 100 \u00b5s on GPU 1, 10.0 % of its span to 450 "
            "\u00b5s on GPU 0, 45.0 % of its span.");
}

TEST(JobWords, NameTheGpuThatComputesLongest) {
  JobLevels slow = job();
  slow.gpus[0].compute_ratio = 0.4;
  slow.gpus[1].compute_ratio = 2.5;
  slow.gpus[1].compute.dur_ns = 1'250'000;
  slow.gpus[1].slowest_op = "mlp";
  slow.gpus[1].slowest_op_ratio = 3;
  EXPECT_EQ(job_words(slow).at(1),
            "GPU 1 computes longest, 2.50 times the other GPU; furthest above the other in mlp "
            "(3.00 times).");
  slow.gpus.push_back(gpu(2, 1'000'000, 500'000, 50'000));
  EXPECT_EQ(job_words(slow).at(1),
            "GPU 1 computes longest, 2.50 times the median of the other GPUs; furthest above the "
            "others in mlp (3.00 times).");
}

TEST(JobWords, SayNothingOfTheSlowestWhereTheOthersDoNotCompute) {
  JobLevels alone = job();
  alone.gpus[0].compute.dur_ns = 0;
  alone.gpus[0].compute_ratio = 0;
  alone.gpus[1].compute_ratio = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& sentence : job_words(alone)) {
    EXPECT_EQ(sentence.find("ompute"), std::string::npos) << sentence;
  }
}

// 31 % are more than 1.5 times the other's 20 %, and 1.2 times the mean of both.
TEST(JobWords, AHostIsHeldAgainstTheOthersWithoutItself) {
  JobLevels two = job();
  two.gpus = {gpu(0, 1'000'000, 500'000, 200'000), gpu(1, 1'000'000, 500'000, 310'000)};
  EXPECT_EQ(
      job_words(two).back(),
      "The host is late on GPU 1 (31.0 % of its span is launch overhead); the other has 20.0 %.");
  two.gpus.pop_back();
  EXPECT_EQ(job_words(two).back().find("host is late"), std::string::npos);
}

TEST(JobWords, SayWhyMatchedCollectivesDoNotAlignTheClocks) {
  JobLevels unaligned = job();
  unaligned.arrivals.clear();
  unaligned.alignment.unused_kinds = {"broadcast", "send_recv"};
  EXPECT_EQ(job_words(unaligned).front(),
            "10 collectives are matched, but the clocks could not be aligned on them because a "
            "rank may leave these (broadcast, send_recv) before all arrive. Which rank waits for "
            "which is not known.");
  unaligned.alignment.matched = 1;
  unaligned.alignment.unused_kinds = {"send_recv"};
  EXPECT_EQ(job_words(unaligned).front(),
            "1 collective is matched, but the clocks could not be aligned on it because a rank may "
            "leave it (send_recv) before all arrive. Which rank waits for which is not known.");
}

TEST(JobWords, BreakdownAlsoExplainsMissingWaits) {
  JobLevels unaligned = job();
  unaligned.arrivals.clear();
  unaligned.alignment.unused_kinds = {"send_recv"};
  EXPECT_EQ(straggler_words(unaligned), job_words(unaligned).front());
  unaligned.ranks = 1;
  EXPECT_EQ(straggler_words(unaligned), "");
}

TEST(JobWords, NameTheFirstThreeLateHosts) {
  JobLevels many = job();
  many.gpus.clear();
  for (int64_t i = 0; i < 12; ++i) {
    many.gpus.push_back(gpu(i, 1'000'000, 500'000, i < 4 ? 100'000 * (i + 1) : 10'000));
  }
  EXPECT_EQ(job_words(many).back(),
            "The host is late on GPU 3 (40.0 % of its span is launch overhead), GPU 2 (30.0 %), "
            "GPU 1 (20.0 %) and 1 more; the median of the others is 1.0 %.");
}

TEST(JobWords, AreForRanksOfOneJobOnly) {
  EXPECT_TRUE(is_one_job(job()));
  JobLevels strangers = job();
  strangers.arrivals.clear();
  strangers.alignment.matched = 0;
  EXPECT_TRUE(is_one_job(strangers));  // the traces tell different ranks
  EXPECT_EQ(job_words(strangers).front(),
            "No collective is matched over these ranks: who waits for whom is not known.");
  strangers.gpus[1].rank = strangers.gpus[0].rank;
  EXPECT_FALSE(is_one_job(strangers));
  EXPECT_TRUE(job_words(strangers).empty());
  JobLevels repeated = job();
  repeated.gpus[1].rank = 0;
  EXPECT_FALSE(is_one_job(repeated));  // two runs of rank 0, though their collectives match
  JobLevels idle = job();
  for (JobGpu& one : idle.gpus) one.compute.kernels = 0;
  EXPECT_FALSE(is_one_job(idle));
}

}  // namespace
}  // namespace assay
