#include "base/byte_source.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <vector>

#include "base/checksum.h"
#include "support/bytes.h"
#include "support/no_threads.h"

namespace assay {
namespace {

using testing::bytes_of;
using testing::NoThreads;
using testing::read_all;
using testing::TempFile;

std::string gzip_of_zlib(std::string text) {
  std::vector<uint8_t> out(text.size() + 4096);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<uint8_t*>(text.data());
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  return std::string(reinterpret_cast<char*>(out.data()), stream.total_out);
}

std::string zstd_frame(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "event " + std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

TEST(ByteSource, GzipRoundTripInAnyCrumbs) {
  const std::string text = sample();
  for (const size_t crumb : {size_t{1}, size_t{13}, SIZE_MAX}) {
    auto got = read_all(gunzip(bytes_of(gzip_of_zlib(text), crumb)));
    ASSERT_TRUE(got.has_value()) << got.error().describe();
    EXPECT_EQ(*got, text);
  }
}

TEST(ByteSource, GzipMembersAreJoinedAndPaddingIgnored) {
  auto got = read_all(
      gunzip(bytes_of(gzip_of_zlib("one,") + gzip_of_zlib("two") + std::string(512, '\0'), 5)));
  ASSERT_TRUE(got.has_value()) << got.error().describe();
  EXPECT_EQ(*got, "one,two");
}

TEST(ByteSource, CutGzipIsTruncatedNotDamaged) {
  const std::string packed = gzip_of_zlib(sample());
  for (const size_t keep : {packed.size() - 1, packed.size() / 2, size_t{12}}) {
    auto got = read_all(gunzip(bytes_of(packed.substr(0, keep))));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, ErrorCode::kTruncated);
  }
}

TEST(ByteSource, DamagedGzipIsRefused) {
  std::string packed = gzip_of_zlib(sample());
  packed[packed.size() - 6] ^= 0x55;  // in the checksum
  auto got = read_all(gunzip(bytes_of(packed)));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kFormat);
}

TEST(ByteSource, RepeatedReadsReturnTheSameDamage) {
  std::string stored = gzip_of_zlib(sample());
  for (size_t at = 40; at < stored.size(); at += 97) stored[at] = static_cast<char>(~stored[at]);
  const ReadFn read = gunzip(bytes_of(stored, SIZE_MAX));
  char block[512];
  Result<size_t> got = size_t{1};
  while (got && *got > 0) got = read(block, sizeof(block));
  ASSERT_FALSE(got);
  for (int again = 0; again < 100; ++again) {
    const auto next = read(block, sizeof(block));
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().describe(), got.error().describe());
  }
}

TEST(ByteSource, NamesBytesAfterGzip) {
  const auto got = read_all(gunzip(bytes_of(gzip_of_zlib("one") + "xy", SIZE_MAX)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kFormat);
  EXPECT_NE(got.error().message.find("follow the end"), std::string::npos);
}

TEST(ByteSource, SkippableFramesOfPzstdAreRead) {
  // RFC 8878, 3.1.2: magic number, size, that many bytes of anything.
  const std::string skipped(
      "\x50\x2a\x4d\x18\x04\x00\x00\x00"
      "abcd",
      12);
  const TempFile file(skipped + zstd_frame("two"));
  auto source = ByteSource::open(file.path());
  ASSERT_TRUE(source);
  EXPECT_EQ(source->compression(), Compression::kZstd);
  auto got = read_all(source->stream(false));
  ASSERT_TRUE(got) << got.error().describe();
  EXPECT_EQ(*got, "two");
}

TEST(ByteSource, ZstdRoundTripFramesAndTruncation) {
  const std::string text = sample();
  auto got = read_all(unzstd(bytes_of(zstd_frame(text) + zstd_frame("tail"), 11)));
  ASSERT_TRUE(got.has_value()) << got.error().describe();
  EXPECT_EQ(*got, text + "tail");
  const std::string packed = zstd_frame(text);
  auto cut = read_all(unzstd(bytes_of(packed.substr(0, packed.size() - 3))));
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().code, ErrorCode::kTruncated);
}

TEST(ByteSource, DecompressionBombIsRefused) {
  // 3 GiB of spaces in frames of 64 MiB each, more than 1000:1.
  const std::string member = zstd_frame(std::string(64 << 20, ' '));
  size_t members = 0;
  size_t at = 0;
  ReadFn packed = [&](char* dst, size_t n) -> Result<size_t> {
    if (at == member.size()) {
      at = 0;
      if (++members == 48) return size_t{0};
    }
    const size_t give = std::min(n, member.size() - at);
    std::memcpy(dst, member.data() + at, give);
    at += give;
    return give;
  };
  const ReadFn plain = unzstd(packed);
  std::vector<char> block(1 << 20);
  uint64_t total = 0;
  for (;;) {
    auto got = plain(block.data(), block.size());
    if (!got) {
      EXPECT_EQ(got.error().code, ErrorCode::kUnsupported);
      EXPECT_GE(total, 2ull << 30);
      return;
    }
    ASSERT_GT(*got, 0u) << "the bomb went through after " << total;
    total += *got;
  }
}

TEST(ByteSource, ReadAheadDeliversEverythingInOrderAndPassesErrors) {
  const std::string text = sample();
  auto got = read_all(read_ahead(bytes_of(text, 777)));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, text);
  int calls = 0;
  auto failed = read_all(read_ahead([&calls](char* dst, size_t) -> Result<size_t> {
    if (++calls > 3) return Error{ErrorCode::kIo, "gone", "", -1};
    dst[0] = 'x';
    return size_t{1};
  }));
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().message, "gone");
}

TEST(ByteSource, DoesNotReadAheadIfThereIsNoThread) {
  const NoThreads none;
  const std::string text = sample();
  auto got = read_all(read_ahead(bytes_of(text, 777)));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, text);
}

TEST(ByteSource, ReadAheadStopsWhenDropped) {
  ReadFn endless = [](char* dst, size_t n) -> Result<size_t> {
    std::memset(dst, 'x', n);
    return n;
  };
  char byte = 0;
  {
    const ReadFn ahead = read_ahead(std::move(endless));
    ASSERT_TRUE(ahead(&byte, 1).has_value());
  }
  EXPECT_EQ(byte, 'x');
}

TEST(ByteSource, DetectsCompressionByContentNotByName) {
  const TempFile packed(gzip_of_zlib("abc"), ".json");
  auto source = ByteSource::open(packed.path());
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->compression(), Compression::kGzip);
  EXPECT_FALSE(source->seekable());
  EXPECT_EQ(*read_all(source->stream(true)), "abc");

  const TempFile plain("abcdef", ".json.gz");
  auto seekable = ByteSource::open(plain.path());
  ASSERT_TRUE(seekable.has_value());
  EXPECT_TRUE(seekable->seekable());
  EXPECT_EQ(seekable->stored_bytes(), 6u);
  EXPECT_EQ(*read_all(seekable->range(2, 5)), "cde");
}

TEST(ByteSource, MissingFilesAndFoldersAreErrors) {
  auto missing = ByteSource::open("/nonexistent/trace.json");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  auto folder = ByteSource::open("/tmp");
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, ErrorCode::kInvalidArgument);
}

// The literals are XXH3's own, of 64 bits without a seed, as `xxhsum -H3` prints them.
TEST(Checksum, IsXxh3AsOthersComputeIt) {
  EXPECT_EQ(checksum_text(checksum("", 0)), "xxh3:2d06800538d394c2");
  EXPECT_EQ(checksum_text(checksum("a", 1)), "xxh3:e6c632b61e964e1f");
  EXPECT_EQ(checksum_text(checksum("abc", 3)), "xxh3:78af5f94892f3950");
}

// One that grows is refused, but by who expects it; one that became shorter always is.
TEST(ByteSource, AFileMayGrowWhereThatIsExpected) {
  for (const bool expected : {false, true}) {
    const TempFile file("begin ");
    auto source = ByteSource::open(file.path());
    ASSERT_TRUE(source);
    if (expected) source->may_grow();
    std::ofstream(file.path(), std::ios::app) << "more";
    EXPECT_EQ(read_all(source->stream(false)).has_value(), expected);
    std::ofstream(file.path(), std::ios::trunc) << "b";
    EXPECT_FALSE(source->check_unchanged());
  }
}

TEST(Checksum, OfAFileAPassAndAStreamAreOne) {
  const std::string plain = sample();
  const std::string packed = gzip_of_zlib(plain);
  for (const std::string& bytes : {plain, packed, std::string()}) {
    const TempFile file(bytes);
    const std::string path = file.path();
    const uint64_t whole = checksum(bytes.data(), bytes.size());
    EXPECT_EQ(*file_checksum(path), whole);
    auto source = ByteSource::open(path);
    ASSERT_TRUE(source);
    EXPECT_EQ(*source->stored_checksum(), std::optional(whole));  // a pass of its own
    ASSERT_TRUE(read_all(source->stream(true)));
    EXPECT_EQ(*source->stored_checksum(), std::optional(whole));  // what went by
  }
}

TEST(Checksum, OfAHalfReadStreamIsThatOfTheFile) {
  const TempFile file(gzip_of_zlib(sample()));
  const std::string path = file.path();
  auto source = ByteSource::open(path);
  ASSERT_TRUE(source);
  char byte = 0;
  ASSERT_TRUE(source->stream(false)(&byte, 1));
  EXPECT_EQ(*source->stored_checksum(), std::optional(*file_checksum(path)));
  const std::atomic<bool> stop = true;
  EXPECT_EQ(*source->stored_checksum(&stop), std::nullopt);
  for (int pass = 0; pass < 2; ++pass) {
    const ReadFn read = source->summed();
    char part[3];
    EXPECT_EQ(*read(part, 1), 1U);
    EXPECT_EQ(*source->stored_checksum(&stop), std::nullopt);  // not at its end
    while (*read(part, sizeof part) > 0) continue;
    EXPECT_EQ(*source->stored_checksum(&stop), std::optional(*file_checksum(path)));
  }
}

}  // namespace
}  // namespace assay
