#include "ingest/flight/dump.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "support/random.h"
#include "support/scratch.h"

namespace assay {
namespace {

constexpr const char* kDump =
    R"({"version":"2.10","nccl_version":"2.27.3",
"pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2]"},"1":{"name":"7","desc":"tp","ranks":"[1]"}},
"pg_status":{"0":{"last_enqueued_collective":"9","last_started_collective":"-1","last_completed_collective":"8"}},
"entries":[{"record_id":3,"pg_id":0,"process_group":["0","default_pg"],"collective_seq_id":9,"p2p_seq_id":0,
"profiling_name":"nccl:all_reduce","time_created_ns":17,"input_sizes":[[4,5],[]],"output_sizes":[[20]],
"input_dtypes":["Float","Long"],"output_dtypes":["Float"],"state":"started","timeout_ms":600000,"is_p2p":false},
{"record_id":2,"profiling_name":"nccl:send 1->2","state":"completed"},{"record_id":4,"state":"odd"}]})";

FlightDump must_read(const std::string& path) {
  auto dump = read_flight_dump(path);
  EXPECT_TRUE(dump.has_value()) << dump.error().describe();
  return dump ? *std::move(dump) : FlightDump{};
}

TEST(FlightDump, JsonIsReadFieldByField) {
  const testing::Scratch file("_nine.json");
  std::ofstream(file.path) << kDump;
  const FlightDump dump = must_read(file.path);
  EXPECT_EQ(dump.version, "2.10");
  EXPECT_EQ(dump.rank, 1);  // the one rank that both groups share
  EXPECT_EQ(dump.groups.at("7").desc, "tp");
  EXPECT_EQ(dump.status.at(0).enqueued, 9);
  EXPECT_EQ(dump.status.at(0).completed, 8);
  EXPECT_EQ(dump.odd_entries, 1u);
  ASSERT_EQ(dump.entries.size(), 2u);
  EXPECT_TRUE(dump.entries[0].p2p);
  const FlightEntry& entry = dump.entries[1];
  EXPECT_EQ(entry.seq, 9);
  EXPECT_EQ(entry.in_elements, (std::vector<int64_t>{20, 1}));
  EXPECT_EQ(entry.state, FlightState::kStarted);
  EXPECT_EQ(entry.timeout_ms, 600000);
}

TEST(FlightDump, TheRankEndsTheName) {
  EXPECT_EQ(rank_in_dump_name("/tmp/nccl_trace_rank_12.json.gz"), 12);
  EXPECT_EQ(rank_in_dump_name("_dump_3"), 3);
  EXPECT_EQ(rank_in_dump_name("dump"), std::nullopt);
}

// Whatever bytes a pickle has: an answer or an error, in bounded time and memory; nothing runs.
TEST(FlightDump, ChangedPicklesAreReadOrRefused) {
  const auto sample = file_text(std::string(ASSAY_SOURCE_DIR) + "/tests/data/formats/flight_recorder.pickle");
  ASSERT_TRUE(sample) << sample.error().describe();
  Dice random(7);
  size_t read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = *sample;
    const int changes = 1 + static_cast<int>(random.below(4));
    for (int i = 0; i < changes; ++i) {
      const auto below = [&](size_t n) {
        return static_cast<size_t>(random.below(static_cast<int64_t>(n)));
      };
      const size_t at = below(bytes.size());
      switch (random.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes.erase(at, 1 + below(16));
          break;
        case 2:
          bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
          break;
        default:
          bytes[at] = "(]}teusahjR.c\x93"[below(14)];
      }
      if (bytes.empty()) bytes = "\x80";
    }
    const testing::Scratch file("_dump_10");
    std::ofstream(file.path, std::ios::binary) << bytes;
    const auto dump = read_flight_dump(file.path);
    if (!dump) {
      EXPECT_FALSE(dump.error().message.empty());
      continue;
    }
    ++read;
    EXPECT_LE(dump->entries.size(), bytes.size());
  }
  EXPECT_GT(read, 100u);
}

std::string list_of_shared(size_t doublings) {
  // A list that holds the list before it twice, and so on: 2^n values in n opcodes.
  std::string bytes = "\x80\x02}X";
  bytes += std::string("\x07\0\0\0", 4) + "entries";
  bytes += "]q";
  bytes += '\0';
  for (size_t i = 1; i <= doublings; ++i) {
    bytes += "](h";
    bytes += static_cast<char>(i - 1);
    bytes += "h";
    bytes += static_cast<char>(i - 1);
    bytes += "eq";
    bytes += static_cast<char>(i);
  }
  return bytes + "s.";
}

TEST(FlightDump, SharedAndDeepValuesDoNotMultiply) {
  const testing::Scratch file("_dump_1");
  std::ofstream(file.path, std::ios::binary) << list_of_shared(60);
  EXPECT_TRUE(read_flight_dump(file.path) || true);  // ends
  std::string deep = "\x80\x02";
  deep += std::string(200'000, '(');
  std::ofstream(file.path, std::ios::binary) << deep;
  const auto refused = read_flight_dump(file.path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
}

TEST(FlightDump, APickleThatWouldRunCodeIsRefusedByItsByte) {
  const testing::Scratch file("_dump_1");
  std::ofstream(file.path, std::ios::binary) << "\x80\x02" << "cposix\nsystem\nX";
  const auto refused = read_flight_dump(file.path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().offset, 2);
  EXPECT_NE(refused.error().message.find("would run code (GLOBAL)"), std::string::npos);
}

}  // namespace
}  // namespace assay
