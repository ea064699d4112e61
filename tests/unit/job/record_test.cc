#include "job/record.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace assay {
namespace {

RankRecord small_record(int64_t rank) {
  RankRecord record;
  record.stamp = {"rank" + std::to_string(rank) + ".json", 1234, 99, "test"};
  record.rank = rank;
  record.world_size = 4;
  record.host = "node-1";
  record.devices = {"NVIDIA H100"};
  record.device_count = 8;
  record.window_source = "profiler_step";
  record.notes = {{"whole_microseconds", 1}};
  record.groups = {{"0", "[0, 1]", "all_reduce", 2, true}, {"1", "", "broadcast", 4, false}};
  record.iterations = {{3, 1000, 500, 300, 50, 20, 10, 40, -1, 2},
                       {4, 1500, 510, 300, 50, 20, 10, 40, 7, 1}};
  record.arrivals = {{3, 0, 17, 1000, 1100, -1},
                     {3, 0, 18, 1150, 1260, 50},
                     {3, 1, -1, 1200, 1210, 100},  // beside the one before
                     {4, 0, 20, 1600, 1700, 340}};
  Histogram durations;
  durations.add(100, 3);
  record.operations = {{"mlp", 3, 300, 50, 20, 10, durations}};
  record.kernels = {{"gemm", 42, 3, 300, durations}};
  record.causes = {1000, 300, 200, 10, {}};
  record.causes.idle_ns[static_cast<size_t>(FlowCause::kInput)] = 490;
  return record;
}

RankRecord read_back(const std::string& bytes) {
  const RecordScan scan = scan_records(bytes);
  EXPECT_TRUE(scan.damage.empty());
  EXPECT_EQ(scan.records.size(), 1u);
  auto record = read_record(scan.records.front());
  EXPECT_TRUE(record.has_value());
  return *record;
}

TEST(Record, EverythingComesBack) {
  const RankRecord record = small_record(1);
  const RankRecord back = read_back(record_bytes(record));
  EXPECT_EQ(back.stamp, record.stamp);
  EXPECT_EQ(back.rank, 1);
  EXPECT_EQ(back.world_size, 4);
  EXPECT_EQ(back.host, "node-1");
  EXPECT_EQ(back.devices, record.devices);
  EXPECT_EQ(back.device_count, 8u);
  EXPECT_EQ(back.window_source, "profiler_step");
  EXPECT_EQ(back.notes.front().what, "whole_microseconds");
  EXPECT_EQ(back.groups, record.groups);
  ASSERT_EQ(back.iterations.size(), 2u);
  EXPECT_EQ(back.iterations[1].tokens, 7);
  ASSERT_EQ(back.arrivals.size(), 4u);
  for (size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(back.arrivals[k].start_ns, record.arrivals[k].start_ns) << k;
    EXPECT_EQ(back.arrivals[k].end_ns, record.arrivals[k].end_ns) << k;
    EXPECT_EQ(back.arrivals[k].seq, record.arrivals[k].seq) << k;
    EXPECT_EQ(back.arrivals[k].work_ns, record.arrivals[k].work_ns) << k;
    EXPECT_EQ(back.arrivals[k].iteration, record.arrivals[k].iteration) << k;
  }
  EXPECT_EQ(back.operations.front().durations, record.operations.front().durations);
  EXPECT_EQ(back.kernels.front().hash, 42u);
  EXPECT_EQ(back.causes.idle_ns, record.causes.idle_ns);
  EXPECT_EQ(record_bytes(back), record_bytes(record));
}

TEST(Record, AnUnknownSectionIsSkipped) {
  const std::string bytes = record_bytes(small_record(1));
  FoundRecord found = scan_records(bytes).records.front();
  const std::string payload = std::string("\x63\x03xyz", 5) + std::string(found.payload);
  found.payload = payload;
  const auto record = read_record(found);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->rank, 1);
}

TEST(Record, EntriesThatDoNotFitAreCutAndCounted) {
  RankRecord record = small_record(1);
  record.arrivals.clear();
  // 100 iterations of 1,000 collectives, four bytes or more each: not all fit into 64 KiB.
  for (int32_t iteration = 0; iteration < 100; ++iteration) {
    for (int64_t k = 0; k < 1000; ++k) {
      const int64_t start_ns = (iteration * 1000 + k) * 20000;
      record.arrivals.push_back({iteration, 0, -1, start_ns, start_ns + 10000, 10000});
    }
  }
  record.groups[1].members = std::string(9000, 'x');
  for (int k = 0; k < 300; ++k) record.kernels.push_back(record.kernels.front());
  for (int k = 0; k < 3000; ++k) record.notes.push_back({"a note of some length", 1});
  const std::string bytes = record_bytes(record);
  EXPECT_LE(bytes.size(), kMostRecordBytes);
  const RankRecord back = read_back(bytes);
  EXPECT_EQ(back.arrivals.size() + back.cuts.arrivals, 100'000u);
  EXPECT_EQ(back.cuts.arrivals, back.cuts.arrival_iterations * 1000);  // whole ones
  EXPECT_GT(back.arrivals.size(), 8'000u);
  EXPECT_EQ(back.kernels.size() + back.cuts.kernels, 301u);
  EXPECT_EQ(back.notes.size() + back.cuts.notes, 3001u);
  EXPECT_EQ(back.groups[1].members.size(), kMembersKept);
  // A rank with half as many in each keeps these and others: the order is the same.
  RankRecord lighter = record;
  std::erase_if(lighter.arrivals,
                [](const RecordArrival& one) { return one.start_ns % 40000 != 0; });
  const RankRecord more = read_back(record_bytes(lighter));
  std::set<int32_t> kept;
  for (const RecordArrival& one : more.arrivals) kept.insert(one.iteration);
  for (const RecordArrival& one : back.arrivals) EXPECT_TRUE(kept.contains(one.iteration));
}

TEST(Record, DamageIsSkippedToTheNextRecordAndNamed) {
  const std::string one = record_bytes(small_record(1));
  const std::string two = record_bytes(small_record(2));
  const std::string three = record_bytes(small_record(3));
  std::string flipped = two;
  flipped[two.size() / 2] ^= 1;
  const std::string bytes = one + flipped + three + one.substr(0, one.size() - 3);
  const RecordScan scan = scan_records(bytes);
  ASSERT_EQ(scan.records.size(), 2u);
  EXPECT_EQ(scan.records[1].offset, one.size() + two.size());
  EXPECT_EQ(read_record(scan.records[1])->rank, 3);
  ASSERT_EQ(scan.damage.size(), 2u);
  EXPECT_EQ(scan.damage[0].offset, one.size());
  EXPECT_NE(scan.damage[0].why.find("checksum"), std::string::npos);
  EXPECT_EQ(scan.damage[1].offset, one.size() + two.size() + three.size());
  EXPECT_NE(scan.damage[1].why.find("cut off"), std::string::npos);
  EXPECT_EQ(scan_records("no records at all").damage.size(), 1u);
}

TEST(Record, AHigherVersionIsRefusedByItsNumber) {
  const std::string one = record_bytes(small_record(1));
  std::string later = one;
  later[8] = 3;
  const RecordScan scan = scan_records(later + one);
  ASSERT_EQ(scan.damage.size(), 1u);
  EXPECT_EQ(scan.damage[0].why, "a record of version 3: this Assay reads version 2");
  EXPECT_EQ(scan.records.size(), 1u);
}

TEST(Record, AnOlderVersionIsRefusedWithWhatToDo) {
  std::string older = record_bytes(small_record(1));
  older[8] = 1;
  const RecordScan scan = scan_records(older);
  ASSERT_EQ(scan.damage.size(), 1u);
  EXPECT_EQ(scan.damage[0].why,
            "a record of version 1, made by an older Assay: make it again with assay summarize");
}

TEST(Record, NoFlippedOrCutByteIsTakenForARecord) {
  const std::string whole = record_bytes(small_record(1));
  std::mt19937_64 generator(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    bytes[generator() % bytes.size()] ^= static_cast<char>(1u << (generator() % 8));
    if (generator() % 4 == 0) bytes.resize(generator() % bytes.size());
    const RecordScan scan = scan_records(bytes);
    ASSERT_TRUE(scan.records.empty());
    ASSERT_FALSE(scan.damage.empty() && !bytes.empty());
  }
}

TEST(Record, AHostilePayloadNeitherCrashesNorFits) {
  const std::string bytes = record_bytes(small_record(1));
  const FoundRecord found = scan_records(bytes).records.front();
  std::mt19937_64 generator(2);
  for (int round = 0; round < 5000; ++round) {
    std::string payload(found.payload);
    for (uint64_t n = 1 + generator() % 4; n > 0; --n) {
      payload[generator() % payload.size()] = static_cast<char>(generator());
    }
    FoundRecord other = found;
    other.payload = payload;
    const auto record = read_record(other);
    if (!record) continue;
    for (const RecordArrival& one : record->arrivals) {
      ASSERT_LT(one.group, record->groups.size());
    }
  }
}

}  // namespace
}  // namespace assay
