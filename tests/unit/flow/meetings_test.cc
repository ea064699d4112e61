#include "flow/meetings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flow/job.h"

namespace assay {
namespace {

// Two ranks with collectives that begin every 10 ms, 1 ms of it apart; the ends of the second rank
// lie `apart` after those of the first.
Meetings two_ranks(const CollectiveGroup& group, const std::vector<int64_t>& apart,
                   int64_t first_seq = -1) {
  RankParts one{{group}, {}};
  RankParts other{{group}, {}};
  int64_t now = 0;
  for (size_t k = 0; k < apart.size(); ++k) {
    now += 10'000'000;
    const int64_t seq = first_seq < 0 ? -1 : first_seq + static_cast<int64_t>(k);
    const int64_t late = k % 2 == 0 ? 500'000 : 0;
    one.parts.push_back({0, seq, now + late, now + 2'000'000});
    other.parts.push_back({0, seq, now, now + 2'000'000 + apart[k]});
  }
  return match_meetings({&one, &other});
}

const CollectiveGroup kUntold{"", "", "all_reduce", true};

TEST(Meetings, RanksOfNoGroupMeetWhereTheyLeaveTogether) {
  const Meetings found = two_ranks(kUntold, {700'000, 705'000, 698'000, 701'000});
  EXPECT_EQ(found.all.size(), 4u);  // a clock that is ahead is no distance
  EXPECT_EQ(found.unmatched, 0u);
}

TEST(Meetings, RanksOfNoGroupThatLeaveApartAreInGroupsOfTheirOwn) {
  const Meetings found = two_ranks(kUntold, {0, 900'000, -700'000, 400'000});
  EXPECT_EQ(found.all.size(), 0u);
  EXPECT_EQ(found.unmatched, 8u);
}

TEST(Meetings, ARecordedCommonEndNeedsNoProof) {
  const CollectiveGroup named{"dp", "[0, 1]", "all_reduce", true};
  EXPECT_EQ(two_ranks(named, {0, 900'000, -700'000, 400'000}).all.size(), 4u);
  EXPECT_EQ(two_ranks(kUntold, {0, 900'000, -700'000, 400'000}, 3).all.size(), 4u);
  EXPECT_EQ(two_ranks(kUntold, {900'000}).all.size(), 1u);  // one alone contradicts nothing
}

// Numbers 1 to 10 and 2 to 11: nine of them meet.
TEST(Meetings, NumbersGoBeforePlaces) {
  RankParts one{{kUntold}, {}};
  RankParts other{{kUntold}, {}};
  for (int64_t k = 1; k <= 10; ++k) {
    one.parts.push_back({0, k, k * 1000, k * 1000 + 500});
    other.parts.push_back({0, k + 1, (k + 1) * 1000, (k + 1) * 1000 + 500});
  }
  const Meetings found = match_meetings({&one, &other});
  EXPECT_EQ(found.all.size(), 9u);
  EXPECT_EQ(found.unmatched, 2u);
}

// Two stages of a pipeline, each way numbered from 0: the first sends once more before it receives.
struct Stages {
  RankParts first{{kSent, kReturned}, {}};
  RankParts second{{kSent, kReturned}, {}};
  static inline const CollectiveGroup kSent{"pp0", "[0, 4]", "send_recv", false};
  static inline const CollectiveGroup kReturned{"pp0", "[4, 0]", "send_recv", false};
};

TEST(Meetings, ASendMeetsAReceiveOfItsWay) {
  Stages stages;
  stages.first.parts = {{0, 0, 100, 200}, {0, 1, 300, 400}, {1, 0, 350, 500}, {1, 1, 600, 700}};
  stages.second.parts = {{0, 0, 100, 200}, {1, 0, 250, 500}, {0, 1, 360, 400}, {1, 1, 600, 700}};
  const Meetings found = match_meetings({&stages.first, &stages.second});
  ASSERT_EQ(found.all.size(), 4u);
  EXPECT_EQ(found.unmatched, 0u);
  for (const Meeting& meeting : found.all) {
    EXPECT_EQ(meeting.visits[0].end_ns, meeting.visits[1].end_ns);
  }
}

// The third of the first rank's transfers is a receive, that of the second one a send.
TEST(Meetings, NumbersThatCountBothWaysGoBeforeTheWay) {
  Stages stages;
  stages.first.parts = {{0, 0, 100, 200}, {0, 1, 300, 400}, {1, 2, 500, 600}};
  stages.second.parts = {{0, 0, 100, 200}, {1, 1, 300, 400}, {1, 2, 500, 600}};
  const Meetings found = match_meetings({&stages.first, &stages.second});
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.unmatched, 0u);
}

Trace trace_with_transfer(const char* kind, const char* ranks, int64_t members, int64_t peer) {
  Trace trace;
  trace.distributed.rank = 4;
  const auto text = [&trace](const char* value) { return trace.strings.intern(value); };
  trace.collectives.push_back({.activity = ActivityId(0),
                               .collective = text(kind),
                               .process_group = text("pp0"),
                               .ranks = text(ranks),
                               .group_size = members,
                               .seq = 9,
                               .peer = peer});
  return trace;
}

TEST(Meetings, ATransferIsOfTwoRanksOfItsProcessGroup) {
  const Trace sent = trace_with_transfer("send", "[0, 4, 8, 12]", 4, 8);
  EXPECT_EQ(meeting_party(sent, 0).ranks, "[4, 8]");
  EXPECT_EQ(meeting_party(sent, 0).members, 2);
  EXPECT_EQ(meeting_party(sent, 0).seq, -1);  // it counts the other pairs as well
  const Trace received = trace_with_transfer("recv", "[0, 4, 8, 12]", 4, 0);
  EXPECT_EQ(meeting_party(received, 0).ranks, "[0, 4]");
  const Trace pair = trace_with_transfer("recv", "[4, 8]", 2, -1);
  EXPECT_EQ(meeting_party(pair, 0).ranks, "[8, 4]");
  EXPECT_EQ(meeting_party(pair, 0).seq, 9);
  const Trace unknown = trace_with_transfer("recv", "[0, 4, 8, 12]", 4, -1);
  EXPECT_EQ(meeting_party(unknown, 0).ranks, "[0, 4, 8, 12]");
  const Trace all = trace_with_transfer("allreduce", "[4, 8]", 2, -1);
  EXPECT_EQ(meeting_party(all, 0).ranks, "[4, 8]");
  EXPECT_EQ(meeting_party(all, 0).seq, 9);
}

// Steps 3 to 6 and 4 to 8, two collectives each, of step 5 one rank has lost one.
TEST(Meetings, IterationsDecideIfTheNumbersOfPartsDiffer) {
  const CollectiveGroup named{"dp", "[0, 1]", "all_reduce", true};
  RankParts one{{named}, {}};
  RankParts other{{named}, {}};
  for (int32_t step = 3; step <= 8; ++step) {
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t at = step * 10'000 + k * 1000;
      if (step <= 6) one.parts.push_back({0, -1, at, at + 500, step});
      if (step >= 4 && !(step == 5 && k == 1)) other.parts.push_back({0, -1, at, at + 500, step});
    }
  }
  const Meetings found = match_meetings({&one, &other});
  ASSERT_EQ(found.all.size(), 4u);  // two of step 4, two of step 6
  for (const Meeting& meeting : found.all) {
    EXPECT_EQ(meeting.visits[0].start_ns, meeting.visits[1].start_ns);
  }
  EXPECT_EQ(found.unmatched, 2u + 3u + 4u);
}

// In kinds that tell nothing all wait where the ends say so: starts vary by 500 us, ends by 5.
TEST(Meetings, KindsOfNoRuleMeetWhereTheRanksLeaveTogether) {
  const CollectiveGroup dispatch{"", "", "ep_dispatch", false};
  const Meetings together = two_ranks(dispatch, {700'000, 705'000, 698'000, 701'000});
  ASSERT_EQ(together.all.size(), 4u);
  EXPECT_TRUE(together.all.front().group.all_wait);
  EXPECT_TRUE(together.all.front().seen);
  EXPECT_EQ(clock_meetings(together).size(), 4u);
  const Meetings apart = two_ranks(dispatch, {0, 900'000, -700'000, 400'000});
  ASSERT_EQ(apart.all.size(), 4u);
  EXPECT_FALSE(apart.all.front().group.all_wait);
  EXPECT_TRUE(clock_meetings(apart).empty());
  const CollectiveGroup send{"", "", "send_recv", false};
  const Meetings sent = two_ranks(send, {700'000, 705'000, 698'000, 701'000});
  EXPECT_FALSE(sent.all.front().group.all_wait);
}

// Two stages of two ranks. The clocks of the second are 60 us ahead: far less than kept clocks may
// differ, far more than the ends of a transfer do. varies: how much earlier some senders end.
JobClocks clocks_of_stages(int64_t varies) {
  const CollectiveGroup stages[] = {{"dp0", "[0, 1]", "all_reduce", true},
                                    {"dp1", "[2, 3]", "all_reduce", true}};
  std::vector<RankParts> ranks(4);
  for (int64_t r = 0; r < 4; ++r) {
    const std::string pair = "[" + std::to_string(r % 2) + ", " + std::to_string(r % 2 + 2) + "]";
    ranks[static_cast<size_t>(r)].groups = {stages[r / 2], {"pp", pair, "send_recv", false}};
  }
  for (int64_t k = 0; k < 4; ++k) {
    for (int64_t r = 0; r < 4; ++r) {
      const int64_t at = k * 10'000'000 + (r < 2 ? 0 : 60'000);
      std::vector<CollectivePart>& parts = ranks[static_cast<size_t>(r)].parts;
      parts.push_back({1, k, at, at + 100'000 - (r < 2 ? k * varies : 0)});
      parts.push_back({0, k, at + 1'000'000, at + 1'200'000});
    }
  }
  return job_clocks(match_meetings({&ranks[0], &ranks[1], &ranks[2], &ranks[3]}), 4);
}

TEST(Meetings, TransfersThatEndTogetherAlignClocksThatNearlyAgree) {
  const JobClocks exact = clocks_of_stages(0);
  EXPECT_TRUE(exact.aligned);
  EXPECT_EQ(exact.offsets_ns[2] - exact.offsets_ns[0], 60'000);
  EXPECT_EQ(exact.offsets_ns[3] - exact.offsets_ns[1], 60'000);
  // Senders that do not wait say nothing of a clock.
  const JobClocks loose = clocks_of_stages(30'000);
  EXPECT_TRUE(loose.aligned);
  EXPECT_EQ(loose.offsets_ns[2] - loose.offsets_ns[0], 0);
}

}  // namespace
}  // namespace assay
