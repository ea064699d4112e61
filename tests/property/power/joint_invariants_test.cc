// What must hold of the joint fit whatever the job: how often a log was polled, how a kernel is
// named, what was left out of a log and how wide a prior is.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/joint_problem.h"
#include "support/power_jobs.h"

namespace assay {
namespace {

using testing::fit_of;
using testing::log_of;
using testing::make_power_job;
using testing::PowerJob;
using testing::problem_of;

constexpr size_t kGemm = 2;  // its power, the base's first

double width_of(const Span95& range) { return range.high - range.low; }

// Each update seen so many times before the next one.
std::vector<TimedPower> polled(const std::vector<TimedPower>& updates, int times) {
  std::vector<TimedPower> polls;
  for (size_t i = 0; i + 1 < updates.size(); ++i) {
    const double period_s = updates[i + 1].t_s - updates[i].t_s;
    for (int k = 0; k < times; ++k) {
      polls.push_back({updates[i].t_s + period_s * (k + 0.5) / times, updates[i].power_w});
    }
  }
  return polls;
}

// Two and eight polls an update find the same updates, and the same energies to 1 %.
TEST(JointInvariants, HowOftenALogIsPolledMovesNothing) {
  for (uint64_t seed = 70'000'000; seed < 70'000'003; ++seed) {
    const PowerJob job = make_power_job(seed);
    const std::vector<TimedPower> updates = log_of(job, {.window_s = 0.1}, seed + 10'000);
    const JointFit once = fit_of(job, updates);
    for (const int times : {2, 8}) {
      const std::vector<TimedPower> polls = polled(updates, times);
      EXPECT_NEAR(find_updates(polls).period_s, 0.1, 1e-3) << seed;
      const JointFit more = fit_of(job, polls);
      EXPECT_NEAR(more.powers_w[kGemm] / once.powers_w[kGemm], 1, 0.01) << seed << " " << times;
    }
  }
}

// One kernel under two names by chance: their sum is the kernel's, and neither is below nothing.
TEST(JointInvariants, TwoNamesOfOneKernelShareItsEnergy) {
  for (uint64_t seed = 71'000'000; seed < 71'000'003; ++seed) {
    const PowerJob job = make_power_job(seed);
    const std::vector<TimedPower> log = log_of(job, {.window_s = 0.1}, seed + 10'000);
    JointProblem problem = problem_of(job, find_updates(log).updates);
    const JointFit whole = fit_jointly(problem);
    SplitMix64 random(seed);
    std::vector<BusySpan> first;
    std::vector<BusySpan> second;
    for (const BusySpan& span : problem.classes[kGemm - 1]) {
      (random.uniform() < 0.5 ? first : second).push_back(span);
    }
    std::vector<double> both(PowerJob::kKinds + 2, 0);
    const auto seconds = [](const std::vector<BusySpan>& spans) {
      double sum = 0;
      for (const BusySpan& span : spans) sum += span.end_s - span.start_s;
      return sum;
    };
    both[kGemm] = seconds(first);
    both.back() = seconds(second);
    problem.classes[kGemm - 1] = std::move(first);
    problem.classes.push_back(std::move(second));
    const JointFit split = fit_jointly(std::move(problem));
    const Span95 sum = split.interval(both);
    const double busy_s = both[kGemm] + both.back();
    EXPECT_LE(sum.low, whole.powers_95[kGemm].high * busy_s) << seed;
    EXPECT_GE(sum.high, whole.powers_95[kGemm].low * busy_s) << seed;
    for (const size_t part : {kGemm, both.size() - 1}) {
      EXPECT_LE(split.powers_95[part].low, split.powers_w[part]) << seed;
      EXPECT_GE(split.powers_95[part].high, split.powers_w[part]) << seed;
    }
  }
}

// Of ten jobs the middle interval does not shrink when half of the readings are left out.
TEST(JointInvariants, FewerSamplesDoNotNarrowIntervals) {
  std::vector<double> ratios;
  for (uint64_t seed = 72'000'000; seed < 72'000'010; ++seed) {
    const PowerJob job = make_power_job(seed);
    JointProblem problem =
        problem_of(job, find_updates(log_of(job, {.window_s = 0.1}, seed + 10'000)).updates);
    const double all = width_of(fit_jointly(problem).powers_95[kGemm]);
    std::vector<TimedPower> fewer;
    for (size_t i = 0; i < problem.updates.size(); i += 2) fewer.push_back(problem.updates[i]);
    problem.updates = std::move(fewer);
    ratios.push_back(width_of(fit_jointly(std::move(problem)).powers_95[kGemm]) / all);
  }
  std::sort(ratios.begin(), ratios.end());
  EXPECT_GE(ratios[ratios.size() / 2], 1);
}

// What is known less narrows intervals by no more than 2 % in the mean. A single one may be
// narrower by a tenth: its end rests on places that a walk met with one prior and not with the
// other.
TEST(JointInvariants, AWiderPriorNarrowsNoInterval) {
  double narrow_w = 0;
  double wide_w = 0;
  for (uint64_t seed = 73'000'000; seed < 73'000'008; ++seed) {
    const PowerJob job = make_power_job(seed);
    JointProblem problem =
        problem_of(job, find_updates(log_of(job, {.window_s = 0.1}, seed + 10'000)).updates);
    problem.prior.most_kept = 0;
    problem.prior.window_s = {0.085, 0.115};
    const double narrow = width_of(fit_jointly(problem).powers_95[kGemm]);
    problem.prior.window_s = ResponsePrior{}.window_s;
    const double wide = width_of(fit_jointly(std::move(problem)).powers_95[kGemm]);
    EXPECT_GE(wide, 0.85 * narrow) << seed;
    narrow_w += narrow;
    wide_w += wide;
  }
  EXPECT_GE(wide_w, 0.98 * narrow_w);
}

}  // namespace
}  // namespace assay
