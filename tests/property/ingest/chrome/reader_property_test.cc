// However the bytes arrive and however the file is cut, the trace is the same, row for row.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ingest/chrome/reader.h"
#include "support/bytes.h"

namespace assay {
namespace {

using testing::bytes_of;
using testing::TempFile;

// Names that look like event boundaries, so that guesses at them must fail and be noticed.
std::string random_name(std::mt19937& rng) {
  static const char* names[] = {
      "aten::mm", "}, {\\\"ph\\\": \\\"X\\\"", "a },\\n  { \\\"b", "k<int, {x}>", "é", ""};
  return names[rng() % 6];
}

std::string random_event(std::mt19937& rng) {
  static const char* cats[] = {"cpu_op",          "kernel",          "cuda_runtime",
                               "python_function", "user_annotation", "odd"};
  std::string event = R"({"ph":"X","cat":")" + std::string(cats[rng() % 6]) + R"(","name":")" +
                      random_name(rng) + R"(","pid":7)" + R"(,"tid":)" +
                      std::to_string(rng() % 3) + R"(,"ts":)" + std::to_string(rng() % 100000) +
                      "." + std::to_string(rng() % 1000) + R"(,"dur":)" +
                      std::to_string(rng() % 50);
  if (rng() % 2) {
    event += R"(,"args":{"correlation":)" + std::to_string(rng() % 40) + R"(,"stream":)" +
             std::to_string(rng() % 3) +
             R"(,"nested":[{"a":1},{"b":[{},{"c":"}, {"}]}],"External id":)" +
             std::to_string(rng() % 60) + "}";
  }
  return event + "}";
}

std::string random_trace(uint32_t seed, size_t events) {
  std::mt19937 rng(seed);
  const char* joints[] = {",", ", ", ",\n  ", "\n,\n"};
  std::string json =
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"x"},{"id":1}],"traceEvents":[)";
  for (size_t i = 0; i < events; ++i) {
    if (i > 0) json += joints[rng() % 4];
    json += random_event(rng);
  }
  return json + R"(],"baseTimeNanoseconds":1700000000000000000})";
}

void expect_same(const Trace& a, const Trace& b) {
#define ASSAY_COLUMN(type, name, unit, doc) EXPECT_EQ(x.name, y.name) << #name;
#define ASSAY_MEMBER(member, Row, COLUMNS, doc) \
  {                                             \
    const Row##Table& x = a.member;             \
    const Row##Table& y = b.member;             \
    COLUMNS(ASSAY_COLUMN)                       \
  }
  ASSAY_TABLES(ASSAY_MEMBER)
#undef ASSAY_MEMBER
#undef ASSAY_COLUMN
  ASSERT_EQ(a.strings.size(), b.strings.size());
  for (size_t i = 0; i < a.strings.size(); ++i) EXPECT_EQ(a.text(StringId(i)), b.text(StringId(i)));
  for (size_t i = 0; i < kImportCodes; ++i) {
    const auto code = static_cast<ImportCode>(i);
    EXPECT_EQ(a.log.entry(code).count, b.log.entry(code).count);
    EXPECT_EQ(a.log.entry(code).first_offset, b.log.entry(code).first_offset);
  }
  EXPECT_EQ(a.counts.events, b.counts.events);
  EXPECT_EQ(a.base_time_ns, b.base_time_ns);
  EXPECT_EQ(a.content_bytes, b.content_bytes);
}

Trace must(Result<Trace> trace) {
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  return trace ? *std::move(trace) : Trace{};
}

TEST(ChromeReaderProperty, CrumbsDoNotMatter) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::string json = random_trace(seed, 200);
    const Trace whole = must(read_chrome_stream(bytes_of(json), {}));
    ASSERT_GT(whole.ops.size(), 10u);
    for (const size_t crumb : {1u, 7u, 4096u}) {
      expect_same(whole, must(read_chrome_stream(bytes_of(json, crumb), {})));
    }
  }
}

TEST(ChromeReaderProperty, StretchesAndThreadsDoNotMatter) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::string json = random_trace(seed, 400);
    const Trace whole = must(read_chrome_stream(bytes_of(json), {}));
    const TempFile file(json);
    for (const uint64_t stretch : {150u, 1000u, 9000u}) {
      for (const unsigned threads : {2u, 5u}) {
        auto source = ByteSource::open(file.path());
        ASSERT_TRUE(source.has_value());
        expect_same(whole, must(read_chrome_trace(*source,
                                                  {.threads = threads, .stretch_bytes = stretch})));
      }
    }
  }
}

// A cut anywhere is either told as an error, or read up to the cut on request: never a crash, never
// more events than there are.
TEST(ChromeReaderProperty, EveryCutIsNoticed) {
  const std::string json = random_trace(3, 12);
  const Trace whole = must(read_chrome_stream(bytes_of(json), {}));
  for (size_t cut = 0; cut < json.size(); ++cut) {
    const auto refused = read_chrome_stream(bytes_of(json.substr(0, cut)), {});
    EXPECT_FALSE(refused.has_value()) << "cut at " << cut;
    const auto offered =
        read_chrome_stream(bytes_of(json.substr(0, cut)), {.allow_truncated = true});
    if (offered) {
      EXPECT_LE(offered->counts.events, whole.counts.events);
      EXPECT_TRUE(offered->log.data_lost());
    }
  }
}

// Any single byte changed: no crash, and the same verdict in crumbs as in one piece.
TEST(ChromeReaderProperty, FlippedBytesAreSurvived) {
  std::mt19937 rng(11);
  const std::string json = random_trace(5, 30);
  for (int round = 0; round < 3000; ++round) {
    std::string broken = json;
    broken[rng() % broken.size()] = static_cast<char>(rng() % 256);
    const auto a = read_chrome_stream(bytes_of(broken), {});
    const auto b = read_chrome_stream(bytes_of(broken, 97), {});
    ASSERT_EQ(a.has_value(), b.has_value());
    if (a) {
      EXPECT_EQ(a->counts.events, b->counts.events);
    }
  }
}

}  // namespace
}  // namespace assay
