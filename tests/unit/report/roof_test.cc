#include "report/breakdown/roof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

JobRoof small_roof() {
  JobRoof roof;
  roof.ranks = 1;
  roof.devices = {device_roof(FactBook::built_in(), {.name = "NVIDIA A100-SXM4-80GB"})};
  roof.kernel_ns = 5'000'000;
  roof.unknown_ns[static_cast<size_t>(NoWork::kNoModel)] = 1'000'000;
  RoofOp mm;
  mm.op = "aten::mm";
  mm.shape = "[8,4] [4,2] bf16";
  mm.kind = OpWorkKind::kProduct;
  mm.math = ElementType::kBFloat16;
  mm.matrix = true;
  mm.device = "NVIDIA A100-SXM4-80GB";
  mm.sums = {.calls = 2,
             .kernels = 2,
             .dur_ns = 4'000'000,
             .flop = 312e9,
             .bytes = 1e9,
             .roofed_ns = 4'000'000,
             .roof_ns = 1'000'000,
             .above_ns = 3'000'000,
             .compute_roof_ns = 1'000'000};
  roof.known = mm.sums;
  roof.ops = {mm};
  return roof;
}

TEST(RoofWords, HaveTheKnownShareAndTheDistance) {
  const std::vector<std::string> words = roof_words(small_roof());
  EXPECT_THAT(words, Contains("The work of 80.0 % of the kernel time is known from shapes (4.00 ms "
                              "of 5.00 ms). The rest: no model of the operator 20.0 %."));
  EXPECT_THAT(words,
              Contains("By their shapes, 4.00 ms of kernels need at least 1.00 ms on NVIDIA "
                       "A100-SXM4-80GB at boost clock: they are at 25.0 % of the roofline, 3.00 ms "
                       "above it."));
  EXPECT_THAT(words, Contains("Most above it: aten::mm [8,4] [4,2] bf16 with 3.00 ms, at 25.0 % of "
                              "its roofline, bound by compute."));
}

// Memory does not bound what is latency alone.
TEST(RoofWords, ReportsCallsTooSmallForTheGpu) {
  JobRoof roof = small_roof();
  roof.ops[0].sums.small_ns = 2'000'000;
  EXPECT_THAT(roof_words(roof),
              Contains("Most above it: aten::mm [8,4] [4,2] bf16 with 3.00 ms in 2 calls, most of "
                       "them too small to fill the GPU."));
}

TEST(RoofWords, LongestOfSeveralCollectivesIsNotOverstated) {
  JobRoof roof = small_roof();
  RoofComm reduce;
  reduce.kind = "all_reduce";
  reduce.message_bytes = 1e6;
  reduce.collectives = 1;
  reduce.dur_ns = 1'000'000;
  roof.comm = {reduce, reduce, reduce};
  roof.comm_told_ns = 3'000'000;
  EXPECT_THAT(roof_words(roof),
              Contains(HasSubstr("Collectives with a known message take 3.00 ms, the longest of "
                                 "them, 1.00 ms, are all_reduce of 977 KiB: 1.00 GB/s.")));
}

TEST(RoofWords, ReportsCallsFasterThanTheRoofline) {
  JobRoof roof = small_roof();
  roof.known.calls_beyond = 3;
  roof.known.calls_cached = 1;
  roof.known.beyond_ns = 5'000;
  roof.known.calls_beyond_ns = 5'000;
  EXPECT_THAT(roof_words(roof),
              Contains("3 calls are faster than the roofline, by 5.00 µs in all; what the cache "
                       "held explains 1; the others have an algorithm of fewer operations, or the "
                       "model or the peak is wrong."));
}

TEST(RoofWords, OneRankWaitsAtCollectivesAsWell) {
  JobRoof roof = small_roof();
  RoofComm reduce;
  reduce.kind = "all_reduce";
  reduce.group_size = 8;
  reduce.message_bytes = 1e8;
  reduce.factor = 1.75;
  reduce.collectives = 1;
  reduce.dur_ns = 1'000'000;
  reduce.link_bytes_per_s = 3e11;
  roof.comm = {reduce};
  roof.comm_told_ns = 1'000'000;
  EXPECT_THAT(roof_words(roof),
              Contains(HasSubstr("100 GB/s, bus 175 GB/s, 58.3 % of the link. This "
                                 "includes waiting for other ranks.")));
  roof.ranks = 2;
  EXPECT_THAT(roof_words(roof), Not(Contains(HasSubstr("includes waiting"))));
}

TEST(RoofWords, SampledClocksBoundTheComputeRoofline) {
  TelemetryReport samples;
  EXPECT_EQ(roof_clock_words(small_roof(), samples), "");
  TelemetryTrack track;
  track.signal = TelemetrySignal::kSmClock;
  track.value = {1410, 705, 705};
  samples.tracks = {track};
  EXPECT_EQ(roof_clock_words(small_roof(), samples),
            "The median sampled clock is 705 MHz; the peaks hold at 1410 MHz. The sampled clock "
            "allows 50.0 % of the compute roofline.");
  JobRoof clocked = small_roof();
  clocked.known.clocked_ns = 4'000'000;
  clocked.known.clocked_roof_ns = 2'000'000;
  EXPECT_THAT(roof_clock_words(clocked, samples),
              HasSubstr("With the peaks at the highest clock around each call, 4.00 ms of kernels "
                        "are at 50.0 % of the roofline."));
}

const Table* table_of(const Section& section, std::string_view key) {
  for (const Block& block : section.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table != nullptr && table->key == key) return table;
  }
  return nullptr;
}

// A sum over few elements has operations, too, but no card is bound by these.
TEST(RoofSection, WithoutARoofWhatReadsMuchPerOperationHasBytesPerSecond) {
  JobRoof roof = small_roof();
  roof.devices = {device_roof(FactBook::built_in(), {})};
  RoofOp& op = roof.ops[0];
  op.sums.roofed_ns = op.sums.roof_ns = op.sums.above_ns = op.sums.compute_roof_ns = 0;
  roof.known = op.sums;
  const auto reached = [&roof] {
    const Section section = roof_section(roof, {.operators = true});
    for (const Value& cell : table_of(section, "ops")->rows[0]) {
      const auto* text = cell.get<std::string>();
      if (text != nullptr && text->ends_with("/s")) return *text;
    }
    return std::string();
  };
  EXPECT_EQ(reached(), "78.0 TFLOP/s");
  op.sums.flop = op.sums.bytes;
  EXPECT_EQ(reached(), "250 GB/s");
}

TEST(RoofSection, NamesWhatIsNotKnownWhereItIsMuch) {
  JobRoof roof = small_roof();
  roof.unknown = {
      {.why = NoWork::kNoModel, .name = "aten::odd", .kernels = 1, .dur_ns = 1'000'000}};
  EXPECT_EQ(table_of(roof_section(roof, {.operators = true}), "unknown")->show, Show::kEverywhere);
  EXPECT_EQ(table_of(roof_section(roof, {}), "unknown")->show, Show::kDataOnly);
  roof.unknown_ns = {};
  roof.unknown_ns[static_cast<size_t>(NoWork::kNoModel)] = 1'000;
  EXPECT_EQ(table_of(roof_section(roof, {.operators = true}), "unknown")->show, Show::kDataOnly);
}

TEST(RoofSection, HasTheRooflineForThePageAndAllOfItAsData) {
  const Section section = roof_section(small_roof(), {});
  bool chart = false;
  for (const Block& block : section.blocks) {
    if (const auto* one = std::get_if<Chart>(&block)) {
      chart = true;
      ASSERT_EQ(one->series.size(), 2U);  // the roof of BF16 and one point
      EXPECT_EQ(one->series[0].y.back(), 312e12);
      EXPECT_EQ(one->series[1].x.front(), 312);
    }
    const auto* table = std::get_if<Table>(&block);
    EXPECT_TRUE(table == nullptr || table->show == Show::kDataOnly);
  }
  EXPECT_TRUE(chart);
}

}  // namespace
}  // namespace assay
