#include "flow/host_peers.h"

#include <gtest/gtest.h>

#include "support/job_maker.h"

namespace assay {
namespace {

using testing::JobMaker;
using Spells = std::vector<std::vector<HostSpell>>;

// Ranks that work for 100 ms and reduce, so that their clocks are known.
Job job_of(uint32_t ranks) {
  JobMaker made;
  for (uint32_t r = 0; r < ranks; ++r) {
    made.add({r, 0, 0, 100'000'000, "work"});
    made.add({r, 0, 100'000'000, 101'000'000, "", "sum"});
  }
  return made.build();
}

HostSpell spell(int64_t from_ms, int64_t to_ms, const char* name, bool waits) {
  return {{from_ms * 1'000'000, to_ms * 1'000'000}, name, waits};
}

TEST(HostPeers, AHostThatIsBusyWhileOthersWaitBlocksThem) {
  const Spells spells = {{spell(10, 30, "barrier", true), spell(50, 60, "barrier", true)},
                         {spell(10, 30, "save", false), spell(50, 60, "save", false)},
                         {spell(12, 30, "barrier", true), spell(50, 60, "barrier", true)}};
  const auto found = hosts_waiting(job_of(3), spells);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1u);
  EXPECT_EQ(found->waiting, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(found->times, 2u);
  EXPECT_EQ(found->wait_ns, 29'000'000);  // of 30 and 28
  EXPECT_EQ(found->in, "barrier");
  EXPECT_EQ(found->held, "save");
}

// A rank whose device is busy meanwhile, or in a collective, has no spell: it may be waited for, or
// wait itself.
TEST(HostPeers, NoneIsNamedThatShowsNothing) {
  const Spells spells = {{spell(10, 40, "recv", true)}, {}};
  EXPECT_FALSE(hosts_waiting(job_of(2), spells));
}

TEST(HostPeers, NoRankIsNamedIfTheBlockingOneChanges) {
  const Spells spells = {{spell(10, 30, "barrier", true), spell(40, 60, "save", false)},
                         {spell(10, 30, "save", false), spell(40, 60, "barrier", true)}};
  EXPECT_FALSE(hosts_waiting(job_of(2), spells));
}

TEST(HostPeers, AShortWaitIsNotReported) {
  const Spells spells = {{spell(10, 13, "barrier", true)}, {spell(10, 13, "save", false)}};
  EXPECT_FALSE(hosts_waiting(job_of(2), spells));
}

// Of three ranks one computes while the others wait; of two, the other may wait for something else.
TEST(HostPeers, ADeviceThatComputesHoldsTheOthersUp) {
  const HostSpell computes{.span = {10'000'000, 40'000'000}, .name = "", .device = true};
  const HostSpell waits = spell(10, 40, "barrier", true);
  const auto found = hosts_waiting(job_of(3), {{waits}, {computes}, {waits}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1u);
  EXPECT_TRUE(found->on_device);
  EXPECT_EQ(found->held, "");
  EXPECT_FALSE(hosts_waiting(job_of(2), {{waits}, {computes}}));
}

// What all leave together, each time another one last: of four times each rank waits in three.
TEST(HostPeers, RanksWaitedForInTurnAreReported) {
  Spells spells(4);
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at = k * 25;
    for (uint32_t r = 0; r < 4; ++r) {
      const bool last = r == k;
      if (last) spells[r].push_back(spell(at, at + 20, "merge", false));
      spells[r].push_back(spell(last ? at + 20 : at, at + 21, "acme_sync", false));
    }
  }
  const auto found = hosts_waiting(job_of(4), spells);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->in_turn);
  EXPECT_EQ(found->waiting.size(), 4u);
  EXPECT_EQ(found->times, 4u);
  EXPECT_EQ(found->wait_ns, 60'000'000);
  EXPECT_EQ(found->in, "acme_sync");
  EXPECT_EQ(found->held, "merge");
}

// The name says nothing, and clocks are 5 s apart; all leave together, and came apart.
TEST(HostPeers, ACommonEndIsAWaitAndAlignsClocks) {
  JobMaker made;
  for (uint32_t r = 0; r < 3; ++r) made.add({r, 0, 0, 100'000'000, "work"});
  Spells spells(3);
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at = k * 25;
    for (uint32_t r = 0; r < 3; ++r) {
      const int64_t clock = r == 2 ? 5000 : 0;
      const int64_t came = r == 1 ? at + 20 : at + (k + r) % 3;
      if (r == 1) spells[r].push_back(spell(clock + at, clock + came, "pack", false));
      spells[r].push_back(spell(clock + came, clock + at + 24, "acme_sync", false));
    }
  }
  const auto found = hosts_waiting(made.build(), spells);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1u);
  EXPECT_EQ(found->in, "acme_sync");
  EXPECT_EQ(found->held, "pack");
}

}  // namespace
}  // namespace assay
