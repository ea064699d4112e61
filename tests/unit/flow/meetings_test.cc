#include "flow/meetings.h"

#include <gtest/gtest.h>

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

TEST(Meetings, ATogetherThatIsToldNeedsNoProof) {
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

}  // namespace
}  // namespace assay
