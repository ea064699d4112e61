// Measured iterations without a recorder: times of the option, lines of runs.jsonl, tables.

#include "ingest/untraced_times.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/scratch.h"

namespace assay {
namespace {

TEST(UntracedTimes, ATimeHasAUnit) {
  EXPECT_EQ(parse_untraced_time("6.11ms")->ns, 6'110'000);
  EXPECT_EQ(parse_untraced_time("850us")->ns, 850'000);
  EXPECT_EQ(parse_untraced_time("1.5s")->ns, 1'500'000'000);
  EXPECT_NE(parse_untraced_time("6.11").error().message.find("unit"), std::string::npos);
  for (const char* wrong : {"", "ms", "-3ms", "0ms", "nanms", "6.11 minutes", "1e30s"}) {
    EXPECT_FALSE(parse_untraced_time(wrong)) << wrong;
  }
}

std::string written(const testing::ScratchFolder& folder, const std::string& name,
                    const std::string& text) {
  std::ofstream(folder.file(name)) << text;
  return folder.file(name);
}

TEST(UntracedTimes, LinesOfRunsHaveTheMedianOfTheirTrace) {
  const testing::ScratchFolder folder;
  const std::string file = written(
      folder, "runs.jsonl",
      "{\"trace\":\"a.json.gz\",\"latency\":{\"n\":30,\"p50_ms\":6.112}}\n"
      "{\"trace\":\"b.json.gz\",\"latency\":null}\n"
      "no JSON\n"
      "{\"trace\":\"c.json.gz\",\"repeat\":1,\"latency\":{\"p50_ms\":3}}\n"
      "{\"trace\":\"c.json.gz\",\"repeat\":2,\"latency\":{\"p50_ms\":5}}\n"
      "{\"trace\":\"c.json.gz\",\"repeat\":3,\"latency\":{\"p50_ms\":4}}\n"
      "{\"trace\":\"d.json.gz\",\"latency\":{\"p50_ms\":3}}\n"
      "{\"trace\":\"d.json.gz\",\"latency\":{\"p50_ms\":4}}\n");
  EXPECT_EQ(read_untraced_time(file, folder.file("a.json.gz"))->ns, 6'112'000);
  const auto repeated = read_untraced_time(file, "elsewhere/c.json.gz");
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->ns, 4'000'000);
  EXPECT_EQ(repeated->low_ns, 3'000'000);
  EXPECT_EQ(repeated->high_ns, 5'000'000);
  EXPECT_FALSE(read_untraced_time(file, "b.json.gz"));
  EXPECT_FALSE(read_untraced_time(file, "d.json.gz"));  // which of the two?
  EXPECT_EQ(runs_beside(folder.file("a.json.gz")), file);
  EXPECT_EQ(runs_beside("-"), "");
}

TEST(UntracedTimes, ATableMayHaveEnds) {
  const testing::ScratchFolder folder;
  const std::string file = written(folder, "times.csv",
                                   "trace,untraced_ms,untraced_low_ms,untraced_high_ms\n"
                                   "a.json,6,5.5,7\n"
                                   "b.json,0,,\n");
  const auto time = read_untraced_time(file, "a.json");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->ns, 6'000'000);
  EXPECT_EQ(time->low_ns, 5'500'000);
  EXPECT_EQ(time->high_ns, 7'000'000);
  EXPECT_FALSE(read_untraced_time(file, "b.json"));
  EXPECT_FALSE(read_untraced_time(file, "c.json"));
  EXPECT_FALSE(read_untraced_time(written(folder, "other.csv", "x,y\n1,2\n"), "a.json"));
}

}  // namespace
}  // namespace assay
