// A recording cut at any byte or with any byte changed: no crash, only whole blocks, the loss told.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "ingest/assaytrace/reader.h"
#include "support/bytes.h"
#include "support/recording_maker.h"

namespace assay {
namespace {

using wire::Kind;

constexpr int kBlocks = 4;
constexpr int kKernelsPerBlock = 5;

std::string recording() {
  std::string file = testing::recording_head();
  uint64_t time = 1'000'000;
  for (uint32_t block = 0; block < kBlocks; ++block) {
    std::string payload;
    for (uint32_t i = 0; i < kKernelsPerBlock; ++i) {
      wire::Kernel kernel = {};
      kernel.correlation = block * kKernelsPerBlock + i + 1;
      kernel.start = time += 1000;
      kernel.end = time + 500;
      kernel.stream = 7;
      testing::add_record(payload, Kind::kKernel, kernel);
    }
    if (block + 1 == kBlocks) testing::add_record(payload, Kind::kFooter, wire::Footer{});
    testing::add_block(file, payload, block, kKernelsPerBlock + (block + 1 == kBlocks ? 1 : 0));
  }
  return file;
}

Result<Trace> read(const std::string& bytes) {
  return read_assaytrace(testing::bytes_of(bytes), {});
}

uint64_t count(const Trace& trace, ImportCode code) { return trace.log.entry(code).count; }

TEST(AssayTraceDamage, TheWholeFileHasAllRowsAndNoIrregularity) {
  const Result<Trace> trace = read(recording());
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->activities.size(), kBlocks * kKernelsPerBlock);
  EXPECT_FALSE(trace->log.data_lost());
}

TEST(AssayTraceDamage, AFileCutAtAnyByteGivesItsWholeBlocksAndSaysSo) {
  const std::string whole = recording();
  const size_t block_bytes = sizeof(wire::BlockHeader) + kKernelsPerBlock * sizeof(wire::Kernel);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    const Result<Trace> trace = read(whole.substr(0, cut));
    const size_t blocks =
        cut < sizeof(wire::FileHeader)
            ? 0
            : std::min<size_t>((cut - sizeof(wire::FileHeader)) / block_bytes, kBlocks - 1);
    ASSERT_EQ(trace.has_value(), blocks > 0) << cut;
    if (!trace) continue;
    EXPECT_EQ(trace->activities.size(), blocks * kKernelsPerBlock) << cut;
    EXPECT_EQ(count(*trace, ImportCode::kNotClosed), 1u) << cut;
    const bool between = cut - sizeof(wire::FileHeader) == blocks * block_bytes;
    EXPECT_EQ(count(*trace, ImportCode::kTruncated), between ? 0u : 1u) << cut;
  }
}

TEST(AssayTraceDamage, AChangedBitCostsAtMostItsBlockAndIsReported) {
  const std::string whole = recording();
  for (size_t place = sizeof(wire::kMagic); place < whole.size(); ++place) {
    const int bit = static_cast<int>(place % 8);
    std::string broken = whole;
    broken[place] = static_cast<char>(broken[place] ^ (1 << bit));
    const Result<Trace> trace = read(broken);
    ASSERT_TRUE(trace) << place;
    EXPECT_GE(trace->activities.size(), (kBlocks - 1) * kKernelsPerBlock) << place;
    EXPECT_TRUE(trace->log.data_lost()) << place << " bit " << bit;
  }
}

TEST(AssayTraceDamage, ANewerFormatIsRefused) {
  std::string file = recording();
  wire::FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.version = wire::kVersion + 1;
  header.checksum = wire::file_checksum(header);
  std::memcpy(file.data(), &header, sizeof(header));
  const Result<Trace> trace = read(file);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace assay
