#include "job/sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Ranks 0 to 7 but 3.
FleetJob seven_ranks() {
  FleetJob job;
  job.world_size = 8;
  for (const int64_t number : {0, 1, 2, 4, 5, 6, 7}) {
    job.ranks.emplace_back();
    job.ranks.back().number = number;
  }
  return job;
}

std::vector<std::string> told(const FleetSets& sets) {
  std::vector<std::string> texts;
  for (const FleetSet& set : sets.sets) {
    texts.push_back(set.kind + " " + set.name + ":");
    for (const uint32_t rank : set.ranks) texts.back() += " " + std::to_string(rank);
  }
  return texts;
}

TEST(FleetSetsTest, ATableWithAHeadNamesItsKinds) {
  const auto sets = fleet_sets(seven_ranks(),
                               "rank\tnode\tswitch\n0\ta\ts\n1\ta\ts\n2\tb\ts\n3\tb\ts\n4\tc\tt\n"
                               "5\tc\tt\n6\td\tt\n",
                               "hosts");
  ASSERT_TRUE(sets);
  EXPECT_EQ(sets->source, SetSource::kFile);
  // Places, not numbers: rank 3 has no record. A node of which one rank is left is no set.
  EXPECT_THAT(told(*sets),
              ElementsAre("node a: 0 1", "node c: 3 4", "switch s: 0 1 2", "switch t: 3 4 5"));
  EXPECT_EQ(sets->unplaced, 1u);
}

TEST(FleetSetsTest, AHostfileGivesItsSlotsInOrder) {
  const auto sets = fleet_sets(seven_ranks(), "a slots=4\nb slots=4 max_slots=8\n", "hosts");
  ASSERT_TRUE(sets);
  EXPECT_THAT(told(*sets), ElementsAre("node a: 0 1 2", "node b: 3 4 5 6"));
}

TEST(FleetSetsTest, OtherTextsAreRefusedByTheirLine) {
  for (const char* text : {"0 a\n1", "a slots=4\nb", "a slots=x", "0 a\nx b", "0 a b c d e"}) {
    const auto sets = fleet_sets(seven_ranks(), text, "hosts");
    ASSERT_FALSE(sets) << text;
    EXPECT_NE(sets.error().message.find("line "), std::string::npos);
  }
}

TEST(FleetSetsTest, NodesComeFromRecordsOrAreGuessedIfThereIsNoFile) {
  FleetJob job = seven_ranks();
  EXPECT_THAT(told(*fleet_sets(job, "", "")), IsEmpty());
  for (FleetRank& rank : job.ranks) rank.device_count = 4;
  const auto guessed = fleet_sets(job, "", "");
  EXPECT_EQ(guessed->source, SetSource::kGuess);
  EXPECT_THAT(told(*guessed),
              ElementsAre("node of ranks 0 to 3: 0 1 2", "node of ranks 4 to 7: 3 4 5 6"));
  for (FleetRank& rank : job.ranks) rank.host = rank.number < 2 ? "x" : "y";
  const auto recorded = fleet_sets(job, "", "");
  EXPECT_EQ(recorded->source, SetSource::kRecords);
  EXPECT_THAT(told(*recorded), ElementsAre("node x: 0 1", "node y: 2 3 4 5 6"));
}

TEST(FleetSetsTest, HostsThatCannotBeNodesAreNone) {
  FleetJob job = seven_ranks();
  for (FleetRank& rank : job.ranks) rank.device_count = 4;
  for (FleetRank& rank : job.ranks) rank.host = "localhost";  // seven ranks of four devices
  const auto one = fleet_sets(job, "", "");
  EXPECT_EQ(one->odd_hosts, OddHosts::kOneForAll);
  EXPECT_EQ(one->source, SetSource::kGuess);
  for (FleetRank& rank : job.ranks) rank.host = "c" + std::to_string(rank.number);
  const auto each = fleet_sets(job, "", "");
  EXPECT_EQ(each->odd_hosts, OddHosts::kOneEach);
  EXPECT_EQ(each->source, SetSource::kGuess);
  // A machine of eight devices holds seven ranks, and machines of one device one each.
  for (FleetRank& rank : job.ranks) rank.device_count = 1;
  EXPECT_EQ(fleet_sets(job, "", "")->odd_hosts, OddHosts::kNone);
  for (FleetRank& rank : job.ranks) {
    rank.device_count = 8;
    rank.host = "a";
  }
  const auto node = fleet_sets(job, "", "");
  EXPECT_EQ(node->odd_hosts, OddHosts::kNone);
  EXPECT_THAT(told(*node), ElementsAre("node a: 0 1 2 3 4 5 6"));
}

TEST(FleetSetsTest, GroupsAreSetsUnlessTheyAreANodeOrMoreThanHalf) {
  FleetJob job = seven_ranks();
  job.groups = {{.key = {"tp0", "", "all_reduce", 2, true}, .members = {0, 1}},
                {.key = {"tp1", "", "all_reduce", 2, true}, .members = {2, 3}},
                {.key = {"dp", "", "all_reduce", 8, true}, .members = {0, 1, 2, 3, 4}}};
  const auto sets = fleet_sets(job, "0 a\n1 a\n", "hosts");
  EXPECT_THAT(told(*sets), ElementsAre("node a: 0 1", "group tp1: 2 3"));
}

}  // namespace
}  // namespace assay
