#include "ingest/columnar/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/checksum.h"
#include "base/random.h"
#include "ingest/columnar/layout.h"
#include "ingest/load.h"
#include "support/scratch.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void spill(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

Trace small_trace() {
  return testing::TraceMaker()
      .op(1, "aten::mm", 0, 100, 5)
      .op(1, "aten::add", 200, 50, 6)
      .call(1, "cudaLaunchKernel", 10, 20, 7, 5)
      .kernel(0, 7, "gemm", 50, 500, 7, 5)
      .copy(0, 7, "Memcpy HtoD", 600, 10, 8)
      .annotation(1, "ProfilerStep#1", 0, 1000)
      .build();
}

// The bytes of the file of `trace`.
std::string file_of(const Trace& trace, const std::string& path) {
  const Status written = write_columnar(trace, {.path = "/x/t.json", .bytes = 5}, path);
  EXPECT_TRUE(written) << (written ? "" : written.error().describe());
  return slurp(path);
}

// The file again after `change` to one block, with every checksum made right.
template <typename Change>
std::string with_block(std::string file, size_t number, Change change) {
  columnar::Head head{};
  std::memcpy(&head, file.data(), sizeof(head));
  std::vector<columnar::Block> directory(head.blocks);
  std::memcpy(directory.data(), file.data() + sizeof(head), head.blocks * sizeof(columnar::Block));
  columnar::Block& block = directory[number];
  change(file.data() + block.offset, block.bytes);
  block.hash = checksum(file.data() + block.offset, block.bytes);
  const size_t bytes = directory.size() * sizeof(columnar::Block);
  head.directory_hash = checksum(directory.data(), bytes);
  head.head_hash = checksum(&head, offsetof(columnar::Head, head_hash));
  std::memcpy(file.data(), &head, sizeof(head));
  std::memcpy(file.data() + sizeof(head), directory.data(), bytes);
  return file;
}

template <typename Change>
std::string with_head(std::string file, Change change) {
  columnar::Head head{};
  std::memcpy(&head, file.data(), sizeof(head));
  change(head);
  head.head_hash = checksum(&head, offsetof(columnar::Head, head_hash));
  std::memcpy(file.data(), &head, sizeof(head));
  return file;
}

std::string error_of(const std::string& path, const std::string& bytes) {
  spill(path, bytes);
  const auto trace = read_columnar(path);
  return trace ? "it was read" : trace.error().message;
}

TEST(ColumnarFile, EveryFlippedBitIsNoticed) {
  const testing::Scratch scratch(".assay");
  const std::string& path = scratch.path;
  const std::string good = file_of(small_trace(), path);
  ASSERT_TRUE(read_columnar(path));
  // In place: the file is written once, not once per byte.
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&file](size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte).flush();
  };
  for (size_t at = 0; at < good.size(); ++at) {
    put(at, static_cast<char>(good[at] ^ (1 << (at % 8))));
    ASSERT_FALSE(read_columnar(path)) << "byte " << at << " of " << good.size();
    put(at, good[at]);
  }
  EXPECT_TRUE(read_columnar(path));
}

TEST(ColumnarFile, EveryCutIsNoticed) {
  const testing::Scratch scratch(".assay");
  const std::string& path = scratch.path;
  const std::string good = file_of(small_trace(), path);
  for (size_t size = good.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    ASSERT_FALSE(read_columnar(path)) << size << " bytes";
  }
  EXPECT_NE(error_of(path, good + std::string(64, '\0')), "it was read");
}

// Correct checksums prove nothing about who wrote the bytes.
TEST(ColumnarFile, AnyBlockContentEndsInATraceOrAnError) {
  const testing::Scratch scratch(".assay");
  const std::string& path = scratch.path;
  const std::string good = file_of(small_trace(), path);
  columnar::Head head{};
  std::memcpy(&head, good.data(), sizeof(head));
  SplitMix64 random(20261121);
  size_t refused = 0;
  for (int round = 0; round < 1000; ++round) {
    const size_t number = random.next() % head.blocks;
    const std::string bad = with_block(good, number, [&random](char* bytes, uint64_t size) {
      for (int change = 0; change < 3 && size > 0; ++change) {
        const uint64_t bits = random.next();
        bytes[bits % size] = static_cast<char>((bits >> 32) % 3 == 0 ? 0xFF : bits >> 40);
      }
    });
    spill(path, bad);
    const auto trace = read_columnar(path);
    refused += !trace;
    if (trace) {
      EXPECT_TRUE(columnar::check_trace(*trace));
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST(ColumnarFile, NamesWhatIsWrongWithIt) {
  const testing::Scratch scratch(".assay");
  const std::string& path = scratch.path;
  const std::string good = file_of(small_trace(), path);
  EXPECT_THAT(error_of(path, with_head(good, [](auto& h) { h.byte_order = 0x04030201; })),
              HasSubstr("other byte order"));
  EXPECT_THAT(error_of(path, with_head(good, [](auto& h) { h.version = 2; })),
              HasSubstr("format version 2, this Assay reads version 1"));
  EXPECT_THAT(error_of(path, with_head(good, [](auto& h) { h.schema_hash ^= 1; })),
              HasSubstr("other tables"));
  EXPECT_THAT(error_of(path, with_head(good, [](auto& h) { h.reader_stamp ^= 1; })),
              HasSubstr("other readers"));
  EXPECT_THAT(error_of(path, good.substr(0, good.size() - 64)), HasSubstr("cut short"));
  EXPECT_THAT(error_of(path, with_head(good, [](auto& h) { h.blocks = UINT64_MAX / 8; })),
              HasSubstr("number of blocks"));
  EXPECT_THAT(error_of(path, with_block(good, columnar::kFirstColumn + 2,
                                        [](char* bytes, uint64_t) { bytes[2] = 1; })),
              HasSubstr("impossible values in ops.name"));
  // No id at all: what a text that is not told has, but a row always has a name.
  EXPECT_THAT(
      error_of(path, with_block(good, columnar::kFirstColumn + 2,
                                [](char* bytes, uint64_t) { std::memset(bytes, 0xFF, 4); })),
      HasSubstr("impossible values in ops.name"));
  EXPECT_THAT(error_of(path, with_block(good, columnar::kFirstColumn + 1,
                                        [](char* bytes, uint64_t) { bytes[7] = '\x80'; })),
              HasSubstr("impossible values in ops.dur_ns"));
  EXPECT_THAT(error_of(path, with_block(good, columnar::kFirstColumn,
                                        [](char* bytes, uint64_t) { bytes[2] = 1; })),
              HasSubstr("impossible values in ops.order of rows"));
}

TEST(ColumnarFile, GivesBackTheTraceThatWasWritten) {
  const testing::Scratch scratch(".assay");
  const std::string& path = scratch.path;
  Trace trace = small_trace();
  trace.threads[0].name = "main";
  trace.devices.push_back({.id = 3, .name = "H100", .total_memory_bytes = 80, .compute_major = 9});
  trace.distributed = {.rank = 4, .world_size = {}, .backend = "nccl"};
  trace.tracer = Tracer::kNsightSystems;
  trace.metadata.push_back({"key", "value"});
  trace.counts.instants = 12;
  trace.log.add(ImportCode::kTruncated, 77, 2);
  trace.log.add(ImportCode::kWrongType, -1, 3);
  trace.whole_microseconds = true;
  trace.base_time_ns = -5;
  trace.content_bytes = 99;
  trace.op_inputs.push_back({.op = OpId(size_t{1}), .dims = trace.strings.intern("[[8]]")});
  file_of(trace, path);
  const auto back = read_columnar(path);
  ASSERT_TRUE(back) << back.error().describe();
  size_t columns = 0;
  std::vector<std::string> before;
  std::vector<std::string> after;
  const auto dump = [&columns](std::vector<std::string>& to) {
    return [&to, &columns](std::string_view table, std::string_view name, const auto& column) {
      std::string text = std::string(table) + "." + std::string(name) + "=";
      text.append(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(column[0]));
      to.push_back(std::move(text));
      ++columns;
    };
  };
  columnar::for_each_column(trace, dump(before));
  columnar::for_each_column(*back, dump(after));
  EXPECT_EQ(before, after);
  EXPECT_GT(columns, 100u);
  EXPECT_EQ(back->strings.size(), trace.strings.size());
  for (size_t i = 0; i < trace.strings.size(); ++i) {
    EXPECT_EQ(back->text(StringId(i)), trace.text(StringId(i)));
  }
  EXPECT_EQ(back->threads[0].name, "main");
  EXPECT_EQ(back->streams.size(), trace.streams.size());
  EXPECT_EQ(back->devices[0].name, "H100");
  EXPECT_EQ(back->devices[0].compute_major, 9);
  EXPECT_EQ(back->distributed.rank, 4);
  EXPECT_FALSE(back->distributed.world_size);
  EXPECT_EQ(back->distributed.backend, "nccl");
  EXPECT_EQ(back->tracer, Tracer::kNsightSystems);
  EXPECT_EQ(back->metadata[0].value, "value");
  EXPECT_EQ(back->counts.instants, 12u);
  EXPECT_EQ(back->log.entry(ImportCode::kTruncated).first_offset, 77);
  EXPECT_EQ(back->log.entry(ImportCode::kTruncated).count, 2u);
  EXPECT_EQ(back->log.entry(ImportCode::kWrongType).count, 3u);
  EXPECT_TRUE(back->whole_microseconds);
  EXPECT_EQ(back->base_time_ns, -5);
  EXPECT_EQ(back->content_bytes, 99u);

  // What was cut short needs the same word as its source.
  const auto refused = load_trace(path, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTruncated);
  EXPECT_TRUE(load_trace(path, {.allow_truncated = true}));
}

}  // namespace
}  // namespace assay
