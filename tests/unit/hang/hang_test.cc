#include "hang/hang.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay {
namespace {

// Four ranks in one group of all and two of two; each requested `calls` of these in turn.
FlightDump dump_of(int64_t rank, int64_t calls, int64_t finished) {
  FlightDump dump{.rank = rank};
  const std::string pair = rank < 2 ? "p0" : "p1";
  dump.groups["world"] = {"world", {0, 1, 2, 3}};
  dump.groups[pair] = {"pair", rank < 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3}};
  for (int64_t i = 0; i < calls; ++i) {
    FlightEntry entry{.record = i,
                      .pg = i % 2,
                      .group = i % 2 == 0 ? "world" : pair,
                      .desc = i % 2 == 0 ? "world" : "pair",
                      .seq = i / 2 + 1,
                      .call = "nccl:all_reduce"};
    entry.in_elements = entry.out_elements = {8};
    entry.in_types = entry.out_types = {"Float"};
    entry.state = i < finished ? FlightState::kCompleted : FlightState::kScheduled;
    dump.entries.push_back(std::move(entry));
  }
  return dump;
}

std::vector<FlightDump> alike(int64_t calls, int64_t finished) {
  std::vector<FlightDump> dumps;
  for (int64_t rank = 0; rank < 4; ++rank) dumps.push_back(dump_of(rank, calls, finished));
  return dumps;
}

std::vector<int64_t> ranks_of(const HangReport& report) {
  std::vector<int64_t> ranks;
  for (const HangCulprit& culprit : report.culprits) ranks.push_back(culprit.rank);
  return ranks;
}

TEST(Hang, AFinishedJobDoesNotHang) {
  const HangReport report = find_hang(alike(12, 12));
  EXPECT_FALSE(report.hangs);
  EXPECT_TRUE(report.culprits.empty());
}

// Rank 2 stops after call 10; rank 3 waits for it in their pair, and 0 and 1 for both.
TEST(Hang, ARankThatLagsAndWaitsForNoOtherIsTheCulprit) {
  std::vector<FlightDump> dumps = alike(14, 10);
  dumps[2] = dump_of(2, 11, 11);
  dumps[3] = dump_of(3, 12, 11);
  dumps[0] = dump_of(0, 14, 11);
  dumps[1] = dump_of(1, 14, 11);
  const HangReport report = find_hang(dumps);
  ASSERT_EQ(ranks_of(report), std::vector<int64_t>{2});
  EXPECT_EQ(report.culprits[0].reason, HangReason::kNeverRequested);
  EXPECT_EQ(report.groups[report.culprits[0].group].desc, "pair");
  EXPECT_EQ(report.culprits[0].at, 5);
  EXPECT_EQ(report.culprits[0].others_at, 6);
  EXPECT_EQ(report.waiting, (std::vector<int64_t>{0, 1, 3}));
}

TEST(Hang, ADeviceThatFinishedLessThanTheOthersStopped) {
  std::vector<FlightDump> dumps = alike(14, 10);
  dumps[1] = dump_of(1, 14, 9);
  const HangReport report = find_hang(dumps);
  ASSERT_EQ(ranks_of(report), std::vector<int64_t>{1});
  EXPECT_EQ(report.culprits[0].reason, HangReason::kDevice);
}

// Rank 0's device stopped in five groups, rank 1's in one: how many groups a rank has does not
// clear another.
TEST(Hang, ADeviceThatStoppedInOneGroupIsNamedLikeOneThatStoppedInFive) {
  using Groups = std::vector<std::pair<std::string, std::vector<int64_t>>>;
  std::vector<FlightDump> dumps;
  const auto dump = [&dumps](int64_t rank, const Groups& groups, FlightState last) {
    FlightDump& one = dumps.emplace_back(FlightDump{.rank = rank});
    for (const auto& [name, members] : groups) {
      one.groups[name] = {name, members};
      for (int64_t seq = 1; seq <= 2; ++seq) {
        one.entries.push_back({.record = static_cast<int64_t>(one.entries.size()),
                               .group = name,
                               .desc = name,
                               .seq = seq,
                               .call = "nccl:all_reduce",
                               .state = seq == 1 ? FlightState::kCompleted : last});
      }
    }
  };
  Groups of_zero;
  for (int64_t peer = 2; peer < 7; ++peer) {
    of_zero.push_back({"p" + std::to_string(peer), {0, peer}});
    dump(peer, {of_zero.back()}, FlightState::kCompleted);
  }
  dump(0, of_zero, FlightState::kScheduled);
  dump(1, {{"p7", {1, 7}}}, FlightState::kScheduled);
  dump(7, {{"p7", {1, 7}}}, FlightState::kCompleted);
  EXPECT_EQ(ranks_of(find_hang(dumps)), (std::vector<int64_t>{0, 1}));
}

TEST(Hang, AnotherSizeIsNamedInAGroupOfTwo) {
  std::vector<FlightDump> dumps = alike(14, 11);
  dumps[3].entries[11].in_elements = {9};
  const HangReport report = find_hang(dumps);
  ASSERT_EQ(ranks_of(report), std::vector<int64_t>{3});
  EXPECT_EQ(report.culprits[0].reason, HangReason::kSize);
}

TEST(Hang, OneDumpMissingIsBlamedAndADamagedOneIsNot) {
  std::vector<FlightDump> dumps = alike(14, 10);
  dumps.erase(dumps.begin() + 1);
  EXPECT_EQ(ranks_of(find_hang(dumps)), std::vector<int64_t>{1});
  EXPECT_TRUE(find_hang(dumps, {1}).culprits.empty());
}

TEST(Hang, AllInOneCollectiveNamesNoRank) {
  std::vector<FlightDump> dumps = alike(14, 10);
  for (FlightDump& dump : dumps) dump.entries[10].state = FlightState::kStarted;
  const HangReport report = find_hang(dumps);
  EXPECT_TRUE(report.hangs);
  EXPECT_TRUE(report.culprits.empty());
  EXPECT_EQ(report.groups[0].started.size(), 4u);
}

TEST(Hang, AMissingReceiveIsOfTheReceiver) {
  std::vector<FlightDump> dumps = alike(10, 10);
  dumps[0].entries.push_back({.record = 10,
                              .group = "p0",
                              .desc = "pair",
                              .p2p = true,
                              .call = "nccl:send 0->1"});
  EXPECT_EQ(ranks_of(find_hang(dumps)), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace assay
