// Who makes a job wait: worked examples 4 and 5 of docs/metrics.md, Flow, and what else was worked
// out by hand. Times are nanoseconds.

#include "flow/blame.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flow/last_ranks.h"
#include "support/job_maker.h"

namespace assay {
namespace {

using testing::JobItem;
using testing::JobMaker;
using Ranks = std::vector<uint32_t>;

// Four ranks work, meet in an all-reduce of 20, and work for 50 more.
Job four_ranks(const std::vector<int64_t>& work) {
  const int64_t met = *std::max_element(work.begin(), work.end()) + 20;
  JobMaker maker;
  for (uint32_t r = 0; r < work.size(); ++r) {
    maker.add({r, 0, 0, work[r], "mm"});
    maker.add({r, 0, work[r], met, "", "c0"});
    maker.add({r, 0, met, met + 50, "opt"});
  }
  return maker.build();
}

// What the job's solver would say.
JobBlame blame_of(const Job& job, const Ranks& late = {}, double slow_link = 0) {
  return find_blame(job, {.late = late, .gain_ns = blame_ns(job, late), .slow_link = slow_link});
}

TEST(Blame, TwoStragglersThatHideEachOtherAreExplainedTogether) {
  const Job job = four_ranks({100, 100, 160, 170});
  EXPECT_EQ(job.identity_errors(), 0u);
  EXPECT_EQ(job.makespan_ns({}), 240);
  EXPECT_EQ(blame_ns(job, {0}), 0);
  EXPECT_EQ(blame_ns(job, {1}), 0);
  EXPECT_EQ(blame_ns(job, {2}), 0);
  EXPECT_EQ(blame_ns(job, {3}), 10);
  EXPECT_EQ(blame_ns(job, {2, 3}), 70);
  const JobBlame blame = blame_of(job, {2, 3});
  ASSERT_TRUE(blame.late);
  EXPECT_EQ(blame.late->ranks, (Ranks{2, 3}));
  EXPECT_EQ(blame.late->gain_ns, 70);
  // Alone each would take 170, 170, 230 and 240. The others' median work is 160 for ranks 0 and 1,
  // 100 for 2 and 3: it would gain them -60, -60, 60 and 70. What that gives the others in the
  // middle is 60, 60, -60 and -60, of which only gains count.
  EXPECT_EQ(blame.excess_ns, (std::vector<int64_t>{-120, -120, 60, 70}));
  ASSERT_FALSE(blame.parts.empty());
  EXPECT_EQ(blame.parts[0].what.name, "mm");
  EXPECT_EQ(blame.parts[0].gain_ns, 70);
  EXPECT_EQ(blame.device_gain_ns, 70);
  EXPECT_EQ(blame.host_gain_ns, 0);
}

// 0 -> 2 and 1 -> 3 by transfers of 20; only 2 and 3 all-reduce.
JobMaker pipeline() {
  JobMaker maker;
  maker.add({0, 0, 0, 200, "f"}).add({1, 0, 0, 700, "f"});
  maker.add({0, 0, 200, 220, "", "p0", "p2p"}).add({1, 0, 700, 720, "", "p1", "p2p"});
  maker.add({2, 0, 0, 220, "", "p0", "p2p"}).add({3, 0, 0, 720, "", "p1", "p2p"});
  maker.add({2, 0, 220, 430, "g"}).add({3, 0, 720, 930, "g"});
  maker.add({2, 0, 430, 1030, "", "d"}).add({3, 0, 930, 1030, "", "d"});
  return maker;
}

TEST(Blame, ALaterStageThatArrivesLastIsNotTheStraggler) {
  const Job job = pipeline().build();
  EXPECT_EQ(job.identity_errors(), 0u);
  EXPECT_EQ(job.makespan_ns({}), 1030);
  EXPECT_EQ(blame_ns(job, {0}), 0);
  EXPECT_EQ(blame_ns(job, {1}), 500);
  EXPECT_EQ(blame_ns(job, {2}), 0);
  EXPECT_EQ(blame_ns(job, {3}), 0);
  const JobBlame blame = blame_of(job);
  EXPECT_EQ(blame.peers, (std::vector<uint32_t>{1, 1, 1, 1}));
}

// A rank with a kernel that its three peers do not have.
TEST(Blame, WorkThatOnlyOneRankHasIsItsOwn) {
  JobMaker maker;
  for (uint32_t r = 0; r < 4; ++r) {
    const int64_t done = r == 3 ? 150 : 100;
    maker.add({r, 0, 0, 100, "mm"});
    if (r == 3) maker.add({r, 0, 100, 150, "mm"});
    maker.add({r, 0, done, 170, "", "c0"});
    for (int64_t k = 0; k < 5; ++k) maker.add({r, 0, 170 + 10 * k, 180 + 10 * k, "opt"});
  }
  const JobBlame blame = blame_of(maker.build(), {3});
  ASSERT_TRUE(blame.late);
  EXPECT_EQ(blame.late->gain_ns, 50);
  EXPECT_EQ(blame.excess_ns, (std::vector<int64_t>{0, 0, 0, 50}));
}

// Every rank is struck once, each in another step: no set is late, and yet all lose.
TEST(Blame, OfDelaysThatStrikeEveryRankEachRankHasItsPart) {
  JobMaker maker;
  int64_t now = 0;
  for (uint32_t step = 0; step < 4; ++step) {
    const std::string number = std::to_string(step);
    for (uint32_t r = 0; r < 4; ++r) {
      const int64_t work = r == step ? 160 : 100;
      maker.add({r, 0, now, now + work, "mm"});
      maker.add({r, 0, now + work, now + 180, "", "c" + number});
    }
    now += 180;
  }
  const JobBlame blame = blame_of(maker.build());
  EXPECT_EQ(blame.makespan_ns, 720);
  EXPECT_EQ(blame.excess_ns, (std::vector<int64_t>{0, 0, 0, 0}));
  // One rank at its peers' median saves the step in which it was struck.
  EXPECT_EQ(blame.sets.front().gain_ns, 60);
}

TEST(Blame, ASendThatEndedBeforeItsReceiverArrivedDoesNotWait) {
  JobMaker maker;
  maker.add({0, 0, 0, 100, "f"}).add({0, 0, 100, 110, "", "p", "p2p"});
  maker.add({0, 0, 110, 210, "f"});
  maker.add({1, 0, 0, 300, "g"}).add({1, 0, 300, 305, "", "p", "p2p"});
  maker.add({0, 0, 210, 420, "", "end"}).add({1, 0, 305, 420, "", "end"});
  const Job job = maker.build();
  EXPECT_EQ(job.identity_errors(), 0u);
  // The receiver still waits for the sender: with the sender's first work at 350 it would leave at
  // 350 + 5, and the sender, whose second work then ends at 460, comes last.
  JobEdit edit;
  edit.work_ns = {350, -1, -1};
  EXPECT_EQ(job.makespan_ns(edit), 460 + 115);
}

// A named group is preferred to the same ranks without a name.
TEST(Blame, AGroupThatIsLateAsAWholeIsNamed) {
  std::vector<RankGraph> ranks = [] {
    JobMaker maker;
    for (uint32_t r = 0; r < 8; ++r) {
      const int64_t work = r < 4 ? 160 : 100;
      maker.add({r, 0, 0, work, "mm"}).add({r, 0, work, 180, "", "all"});
    }
    return maker.ranks();
  }();
  for (uint32_t r = 0; r < 8; ++r) ranks[r].device = r % 4;
  const JobBlame blame = blame_of(Job(ranks), {0, 1, 2, 3});
  ASSERT_TRUE(blame.late);
  EXPECT_EQ(blame.late->name, "node 0");
  EXPECT_EQ(blame.late->gain_ns, 60);
}

// Two pairs of ranks transfer the same amount; the second pair's link is three times slower.
TEST(Blame, ASlowLinkIsDistinguishedFromSlowRanks) {
  std::vector<RankGraph> ranks = [] {
    JobMaker maker;
    for (uint32_t r = 0; r < 4; ++r) {
      const bool slow = r >= 2;
      maker.add({r, 0, 0, 100, "mm"});
      maker.add({r, 0, 100, slow ? 400 : 200, "", slow ? "b" : "a"});
      maker.add({r, 0, slow ? 400 : 200, 420, "", "end", "barrier"});
    }
    return maker.ranks();
  }();
  for (RankGraph& rank : ranks) rank.part_points[0].bytes = 1 << 20;
  const Job job{ranks};
  const JobBlame blame = blame_of(job, {}, 3);
  EXPECT_FALSE(blame.late);
  EXPECT_TRUE(blame.network);
  ASSERT_EQ(blame.links.size(), 3u);
  const auto slow = std::find_if(blame.links.begin(), blame.links.end(),
                                 [](const LinkClass& link) { return link.suspect; });
  ASSERT_NE(slow, blame.links.end());
  EXPECT_EQ(job.groups()[slow->group].name, "b");
  EXPECT_EQ(slow->transfer_ns, 300);
  EXPECT_EQ(slow->peers_ns, 100);
  EXPECT_EQ(slow->gain_ns, 200);
}

// The second pair carries 1.9 times as much, as tokens for experts may, and takes as much longer.
TEST(Blame, ALargerTransferIsNotASlowLink) {
  const auto suspects_at = [](int64_t end_ns) {
    std::vector<RankGraph> ranks = [end_ns] {
      JobMaker maker;
      for (uint32_t r = 0; r < 4; ++r) {
        const bool larger = r >= 2;
        maker.add({r, 0, 0, 100, "mm"});
        maker.add({r, 0, 100, larger ? end_ns : 200, "", larger ? "b" : "a"});
        maker.add({r, 0, larger ? end_ns : 200, 720, "", "end", "barrier"});
      }
      return maker.ranks();
    }();
    for (uint32_t r = 0; r < 4; ++r)
      ranks[r].part_points[0].bytes = r < 2 ? 1 << 20 : (1 << 20) * 19 / 10;
    const JobBlame blame = blame_of(Job(ranks));
    return std::count_if(blame.links.begin(), blame.links.end(),
                         [](const LinkClass& link) { return link.suspect; });
  };
  EXPECT_EQ(suspects_at(290), 0);
  EXPECT_EQ(suspects_at(500), 1);  // 400 of 190
}

// 1 MiB in 100 ns, of which half stays on its rank of two. Ranks that take different amounts, or
// one that takes more than it gives, as with tokens for experts: what stays was not recorded.
TEST(Blame, AnUnevenAllToAllHasNoBusBandwidth) {
  const auto bandwidth = [](int64_t of_second, bool uneven) {
    std::vector<RankGraph> ranks = [] {
      JobMaker maker;
      for (uint32_t r = 0; r < 2; ++r) {
        maker.add({r, 0, 0, 100, "mm"}).add({r, 0, 100, 200, "", "a", "all_to_all"});
      }
      return maker.ranks();
    }();
    for (uint32_t r = 0; r < 2; ++r) {
      RankPart& part = ranks[r].part_points[0];
      part.elements = r == 0 ? 1 << 19 : of_second;
      part.bytes = 2 * part.elements;
      part.uneven = uneven && r == 1;
    }
    const JobBlame blame = blame_of(Job(ranks));
    EXPECT_EQ(blame.links.size(), 1u);
    return blame.links[0].bus_bytes_per_s;
  };
  EXPECT_DOUBLE_EQ(bandwidth(1 << 19, false), (1 << 20) * 0.5 * 1e9 / 100);
  EXPECT_TRUE(std::isnan(bandwidth(3 << 18, false)));
  EXPECT_TRUE(std::isnan(bandwidth(1 << 19, true)));
}

// Of ten transfers of one size nine take 100 and one takes 200,000 more: it is told apart, and the
// run would be that much shorter with it like the others.
TEST(Blame, ATransferFarAboveTheOthersIsReported) {
  std::vector<RankGraph> ranks = [] {
    JobMaker maker;
    for (uint32_t r = 0; r < 2; ++r) {
      int64_t now = 0;
      for (int64_t k = 0; k < 10; ++k) {
        const int64_t ends = now + 1000 + (k == 6 ? 200'100 : 100);
        maker.add({r, 0, now, now + 1000, "mm"});
        maker.add({r, 0, now + 1000, ends, "", "c"});
        now = ends;
      }
    }
    return maker.ranks();
  }();
  for (RankGraph& rank : ranks) {
    for (RankPart& part : rank.part_points) part.bytes = 1 << 20;
  }
  const JobBlame blame = blame_of(Job{ranks});
  ASSERT_EQ(blame.links.size(), 1u);
  const LinkClass& link = blame.links[0];
  EXPECT_EQ(link.transfer_ns, 100);
  EXPECT_EQ(link.ranks, (Ranks{0, 1}));
  ASSERT_TRUE(link.slow);
  EXPECT_EQ(link.slow->count, 1u);
  EXPECT_EQ(link.slow->longest_ns, 200'100);
  EXPECT_EQ(link.slow->gain_ns, 200'000);
  EXPECT_EQ(link.slow->span.start_ns, 6 * 1100 + 1000);
  EXPECT_EQ(link.slow->span.end_ns, 6 * 1100 + 1000 + 200'100);
}

// Rank 4's kernels take twice as long, rank 5's host 60 longer.
TEST(Blame, EachStragglerHasItsReason) {
  std::vector<RankGraph> ranks = [] {
    JobMaker maker;
    for (uint32_t r = 0; r < 6; ++r) {
      const int64_t host = r == 5 ? 160 : 100;
      const int64_t done = host + (r == 4 ? 100 : 50);
      maker.add({r, 0, 0, host, "load"});
      maker.add({r, 0, host, done, "mm"});
      maker.add({r, 0, done, 230, "", "c"});
    }
    return maker.ranks();
  }();
  for (RankGraph& rank : ranks) {
    for (WorkName& name : rank.names) name.host = name.name == "load";
  }
  const JobBlame blame = blame_of(Job{ranks}, {4, 5});
  ASSERT_EQ(blame.reasons.size(), 2u);
  EXPECT_EQ(blame.reasons[0].rank, 4u);
  EXPECT_EQ(blame.reasons[0].what.name, "mm");
  EXPECT_EQ(blame.reasons[0].device_ns, 50);
  EXPECT_EQ(blame.reasons[0].host_ns, 0);
  EXPECT_EQ(blame.reasons[1].rank, 5u);
  EXPECT_EQ(blame.reasons[1].what.name, "load");
  EXPECT_EQ(blame.reasons[1].excess_ns, 60);
}

// Ten steps of two kernels and an all-reduce; rank 3's take longer.
JobBlame of_steps(int64_t mm, int64_t add, int slow_from, int slow_until) {
  JobMaker maker;
  for (uint32_t r = 0; r < 4; ++r) {
    for (int step = 0; step < 10; ++step) {
      const bool slow = r == 3 && step >= slow_from && step < slow_until;
      const std::string at = std::to_string(step);
      const int64_t begin = step * 1000;
      const int64_t middle = begin + (slow ? mm : 200);
      const int64_t end = middle + (slow ? add : 100);
      maker.add({r, 0, begin, middle, "mm" + at});
      maker.add({r, 0, middle, end, "add" + at});
      maker.add({r, 0, end, begin + 1000, "", "c" + at});
    }
  }
  std::vector<RankGraph> ranks = maker.ranks();
  for (RankGraph& rank : ranks) {
    for (OwnWork& work : rank.works) {
      std::string& name = rank.names[work.name].name;
      work.iteration = name.back() - '0';
    }
    for (WorkName& name : rank.names) name.name.pop_back();
  }
  return blame_of(Job{ranks}, {3});
}

TEST(Blame, OfARankThatIsSlowInAllNoNameIsTheReason) {
  const JobBlame all = of_steps(300, 150, 0, 10);
  ASSERT_TRUE(all.late);
  ASSERT_EQ(all.reasons.size(), 1u);
  EXPECT_TRUE(all.reasons[0].alike());
  EXPECT_FALSE(all.reasons[0].in_one());
  EXPECT_EQ(all.reasons[0].side_ns(), 1500);
  EXPECT_EQ(all.reasons[0].side_usual_ns, 3000);
  EXPECT_FALSE(all.when);
  const JobBlame one = of_steps(300, 110, 0, 10);
  ASSERT_EQ(one.reasons.size(), 1u);
  EXPECT_FALSE(one.reasons[0].alike());
  EXPECT_TRUE(one.reasons[0].in_one());
}

TEST(Blame, LateIterationsOfARankAreReported) {
  const JobBlame few = of_steps(300, 150, 7, 8);
  ASSERT_TRUE(few.when);
  EXPECT_EQ(few.when->kind, BlameSpan::Kind::kFew);
  EXPECT_EQ(few.when->iteration, 7);
  EXPECT_EQ(few.when->count, 1u);
  EXPECT_EQ(few.when->of, 10u);
  const JobBlame from = of_steps(300, 150, 4, 10);
  ASSERT_TRUE(from.when);
  EXPECT_EQ(from.when->kind, BlameSpan::Kind::kFrom);
  EXPECT_EQ(from.when->iteration, 4);
  const JobBlame until = of_steps(300, 150, 0, 6);
  ASSERT_TRUE(until.when);
  EXPECT_EQ(until.when->kind, BlameSpan::Kind::kUntil);
  EXPECT_EQ(until.when->iteration, 5);
}

// Who comes last: the two of another program at each meeting of all, whatever the rest does among
// itself.
TEST(LastRanks, ASetThatArrivesLastTogetherIsFound) {
  JobMaker maker;
  for (uint32_t r = 0; r < 6; ++r) {
    int64_t now = 0;
    for (int64_t k = 0; k < 3; ++k) {
      const std::string step = std::to_string(k);
      const int64_t work = r >= 4 ? 500 : 100 + r;
      maker.add({r, 0, now, now + work, r >= 4 ? "rollout" : "train"});
      maker.add({r, 0, now + work, now + 520, "", "all" + step});
      now += 520;
    }
  }
  const LastRanks last = usually_last(maker.build());
  EXPECT_EQ(last.ranks, (Ranks{4, 5}));
  EXPECT_EQ(last.times, 3u);
  EXPECT_EQ(last.behind_ns, 3 * 397);  // 500 - 103
}

// Two groups wait at the same time for one rank: the job cannot save both waits.
TEST(LastRanks, WaitsThatOverlapCountOnce) {
  JobMaker maker;
  for (uint32_t r = 0; r < 5; ++r) {
    const int64_t work = r == 4 ? 900 : 100;
    maker.add({r, 0, 0, work, "a"});
    maker.add({r, 0, work, 1000, "", "first"});
    maker.add({r, 1, 0, work, "b"});
    maker.add({r, 1, work, 1000, "", "second"});
  }
  const LastRanks last = usually_last(maker.build());
  EXPECT_EQ(last.ranks, Ranks{4});
  EXPECT_EQ(last.times, 2u);
  EXPECT_EQ(last.behind_ns, 800);
}

TEST(LastRanks, AMajorityIsNotLast) {
  JobMaker maker;
  for (uint32_t r = 0; r < 6; ++r) {
    const int64_t work = r == 0 ? 100 : 500;
    maker.add({r, 0, 0, work, "mm"});
    maker.add({r, 0, work, 520, "", "c"});
  }
  EXPECT_TRUE(usually_last(maker.build()).ranks.empty());
}

// Clocks that disagree, ranks in another order: nothing of it changes who is to blame.
TEST(Blame, ClocksOfRanksAreBroughtTogether) {
  JobMaker maker;
  const int64_t clock[] = {0, 5000, -3000};
  const int64_t work[] = {100, 130, 100};
  for (uint32_t r = 0; r < 3; ++r) {
    maker.add({r, 0, clock[r], clock[r] + work[r], "mm"});
    maker.add({r, 0, clock[r] + work[r], clock[r] + 150, "", "c"});
  }
  const Job job = maker.build();
  EXPECT_EQ(job.offsets_ns(), (std::vector<int64_t>{0, 5000, -3000}));
  EXPECT_EQ(job.makespan_ns({}), 150);
  EXPECT_EQ(blame_ns(job, {1}), 30);
}

}  // namespace
}  // namespace assay
