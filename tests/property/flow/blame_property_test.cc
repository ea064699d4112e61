// What must hold of blame in every job: invariant 9 of the flow's definition, and that injected
// delays are found with what they cost, as a simulation of the job without any graph tells.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "flow/blame.h"
#include "support/job_maker.h"
#include "support/random.h"

namespace assay {
namespace {

using testing::JobMaker;
using Ranks = std::vector<uint32_t>;

// Ranks run the same plan: a piece of work, then a collective of all or of their half.
struct JobPlan {
  size_t ranks = 0;
  std::vector<bool> halves;                // per step: whether the halves meet apart
  std::vector<int64_t> transfer;           // per step
  std::vector<std::vector<int64_t>> work;  // per step and rank
};

// Rank by rank and step by step, with nothing but maxima.
struct Simulated {
  std::vector<std::vector<int64_t>> begin;  // per step and rank, of the work
  std::vector<std::vector<int64_t>> end;    // of the collective behind it
  int64_t makespan = 0;
};
Simulated simulate(const JobPlan& plan) {
  Simulated run;
  std::vector<int64_t> now(plan.ranks, 0);
  for (size_t s = 0; s < plan.work.size(); ++s) {
    run.begin.push_back(now);
    int64_t latest[2] = {0, 0};
    for (size_t r = 0; r < plan.ranks; ++r) {
      now[r] += plan.work[s][r];
      const size_t half = plan.halves[s] && r >= plan.ranks / 2 ? 1 : 0;
      latest[half] = std::max(latest[half], now[r]);
    }
    for (size_t r = 0; r < plan.ranks; ++r) {
      const size_t half = plan.halves[s] && r >= plan.ranks / 2 ? 1 : 0;
      now[r] = latest[half] + plan.transfer[s];
      run.makespan = std::max(run.makespan, now[r]);
    }
    run.end.push_back(now);
  }
  return run;
}

Job job_of(const JobPlan& plan, const std::vector<int64_t>& clock) {
  const Simulated run = simulate(plan);
  JobMaker maker;
  for (uint32_t r = 0; r < plan.ranks; ++r) {
    for (size_t s = 0; s < plan.work.size(); ++s) {
      const int64_t begin = run.begin[s][r] + clock[r];
      const int64_t came = begin + plan.work[s][r];
      const bool second = plan.halves[s] && r >= plan.ranks / 2;
      maker.add({r, 0, begin, came, "w" + std::to_string(s % 3)});
      maker.add({r, 0, came, run.end[s][r] + clock[r], "",
                 "c" + std::to_string(s) + (second ? "b" : "a")});
    }
  }
  return maker.build();
}

JobPlan random_plan(Dice& dice) {
  JobPlan plan;
  plan.ranks = 2 * static_cast<size_t>(2 + dice.below(7));
  const auto steps = static_cast<size_t>(3 + dice.below(20));
  for (size_t s = 0; s < steps; ++s) {
    // The last step joins all, and so does one in three before: what one half loses, all lose.
    plan.halves.push_back(s + 1 < steps && dice.below(3) != 0);
    plan.transfer.push_back(10 + dice.below(200));
    plan.work.emplace_back(plan.ranks, 500 + dice.below(2000));
  }
  return plan;
}

std::vector<int64_t> random_clocks(Dice& dice, size_t ranks) {
  std::vector<int64_t> clocks;
  for (size_t r = 0; r < ranks; ++r) clocks.push_back(dice.below(1'000'000));
  return clocks;
}

std::set<uint32_t> random_ranks(Dice& dice, size_t ranks, size_t count) {
  std::set<uint32_t> chosen;
  while (chosen.size() < count) {
    chosen.insert(static_cast<uint32_t>(dice.below(static_cast<int64_t>(ranks))));
  }
  return chosen;
}

TEST(BlameProperty, InjectedDelaysAreFoundWithWhatTheyCost) {
  uint64_t jobs = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    JobPlan plan = random_plan(dice);
    const int64_t clean = simulate(plan).makespan;
    // One to three late ranks, fewer than half of all, late in every step; each of them matters.
    const size_t most = std::min<size_t>(3, (plan.ranks - 1) / 2);
    const auto late = random_ranks(dice, plan.ranks,
                                   1 + static_cast<size_t>(dice.below(static_cast<int64_t>(most))));
    // By different amounts, so close that leaving one of them late spoils nine tenths.
    int64_t extra = 300 + dice.below(300);
    for (const uint32_t r : late) {
      for (auto& step : plan.work) step[r] += extra;
      extra += 5;
    }
    const int64_t truth = simulate(plan).makespan - clean;
    const Job job = job_of(plan, random_clocks(dice, plan.ranks));
    ASSERT_EQ(job.identity_errors(), 0u) << seed;
    EXPECT_EQ(blame_ns(job, Ranks(late.begin(), late.end())), truth) << seed;
    ++jobs;
  }
  EXPECT_EQ(jobs, 300u);
}

TEST(BlameProperty, HoldsInEveryJob) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    JobPlan plan = random_plan(dice);
    const auto clocks = random_clocks(dice, plan.ranks);
    // All at the median: nobody is to blame.
    const auto some = random_ranks(dice, plan.ranks, 1 + static_cast<size_t>(dice.below(3)));
    const Ranks set(some.begin(), some.end());
    EXPECT_EQ(blame_ns(job_of(plan, clocks), set), 0) << seed;
    // No item below the median: never negative.
    for (auto& step : plan.work) step[set[0]] += dice.below(500);
    const Job job = job_of(plan, clocks);
    const int64_t blame = blame_ns(job, set);
    EXPECT_GE(blame, 0) << seed;
    // Clocks change nothing.
    EXPECT_EQ(blame_ns(job_of(plan, random_clocks(dice, plan.ranks)), set), blame) << seed;
    // d more before a collective raises the blame by at most d.
    const int64_t more = dice.below(1000);
    const auto step = static_cast<size_t>(dice.below(static_cast<int64_t>(plan.work.size())));
    plan.work[step][set[0]] += more;
    const int64_t raised = blame_ns(job_of(plan, clocks), set);
    EXPECT_GE(raised, blame) << seed;
    EXPECT_LE(raised, blame + more) << seed;
  }
}

// Points that only pass a time on can be left out.
TEST(BlameProperty, SlimGraphsGiveTheSame) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    JobPlan plan = random_plan(dice);
    for (auto& step : plan.work) {
      for (int64_t& ns : step) ns += dice.below(300);
    }
    std::vector<RankGraph> ranks = job_of(plan, random_clocks(dice, plan.ranks)).ranks();
    const Job whole(ranks);
    for (RankGraph& rank : ranks) {
      const size_t points = rank.points();
      slim_rank_graph(rank);
      EXPECT_LT(rank.points(), points) << seed;
    }
    const Job slim(ranks);
    EXPECT_EQ(slim.identity_errors(), 0u) << seed;
    JobEdit edit;
    for (size_t w = 0; w < whole.works(); ++w) edit.work_ns.push_back(dice.below(2000));
    EXPECT_EQ(slim.ends_ns(edit), whole.ends_ns(edit)) << seed;
    edit.apart = true;
    EXPECT_EQ(slim.ends_ns(edit), whole.ends_ns(edit)) << seed;
  }
}

TEST(BlameProperty, TheOrderOfRanksChangesNothing) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    JobPlan plan = random_plan(dice);
    for (auto& step : plan.work) {
      for (int64_t& ns : step) ns += dice.below(300);
    }
    const auto clocks = random_clocks(dice, plan.ranks);
    const JobBlame forward = find_blame(job_of(plan, clocks), {});
    std::vector<RankGraph> ranks = job_of(plan, clocks).ranks();
    std::reverse(ranks.begin(), ranks.end());
    const JobBlame backward = find_blame(Job(ranks), {});
    EXPECT_EQ(forward.makespan_ns, backward.makespan_ns) << seed;
    ASSERT_EQ(forward.sets.size(), backward.sets.size()) << seed;
    for (size_t k = 0; k < forward.sets.size(); ++k) {
      EXPECT_EQ(forward.sets[k].gain_ns, backward.sets[k].gain_ns) << seed;
    }
  }
}

}  // namespace
}  // namespace assay
