#include "throughput/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

BenchRow on_devices(double devices, double length) {
  BenchRow row;
  row.framework = "vLLM";
  row.devices = devices;
  row.in_len = length;
  row.out_len = 200;
  return row;
}

std::vector<std::string> problems(const BenchRow& row, const char* model,
                                  const char* hardware = "H100") {
  const FactBook& facts = FactBook::built_in();
  return placement_problems(row, *facts.model(model), *facts.hardware(hardware));
}

// 0.9 x 4 x 80 GB = 288; 70.55e9 weights x 2 bytes x 1.03 = 145.333; a token's keys and values
// 2 x 2 bytes x 80 layers x 8 heads x 128 = 327,680 bytes; 142.667 GB / (2248 tokens of them)
// = 193.7.
TEST(Placement, SeatsAreWhatIsLeftOverASequence) {
  const FactBook& facts = FactBook::built_in();
  const Placement p =
      placement_of(on_devices(4, 2048), *facts.model("Llama-3-70B"), *facts.hardware("H100"));
  EXPECT_NEAR(p.weights_gb, 141.1, 1e-9);
  EXPECT_EQ(p.memory_gb, 320);
  EXPECT_NEAR(p.sequence_gb, 0.73662464, 1e-9);
  EXPECT_EQ(p.seats, 193);
}

// 8 KV heads on 16 devices are copied once, which doubles a sequence; FP8 halves it.
TEST(Placement, HeadsAreCopiedAndTheCacheHasItsOwnPrecision) {
  const FactBook& facts = FactBook::built_in();
  BenchRow row = on_devices(16, 2048);
  const ModelFacts& model = *facts.model("Llama-3-70B");
  const HardwareFacts& h100 = *facts.hardware("H100");
  EXPECT_NEAR(placement_of(row, model, h100).sequence_gb, 2 * 0.73662464, 1e-9);
  row.precision.kv_bytes = 1;
  EXPECT_NEAR(placement_of(row, model, h100).sequence_gb, 0.73662464, 1e-9);
  row.variant.layout = ParallelLayout{.tensor = 8, .data = 2};
  EXPECT_NEAR(placement_of(row, model, h100).sequence_gb, 0.73662464 / 2, 1e-9);
}

// 28 query heads and 4 of keys and values: 6 and 8 do not divide 28; 7 does, but not 4, nor 4 it.
TEST(Placement, HeadsAreSharedOutInWholeNumbers) {
  for (const double n : {1, 2, 4}) EXPECT_THAT(problems(on_devices(n, 128), "Qwen2-7B"), IsEmpty());
  EXPECT_THAT(problems(on_devices(6, 128), "Qwen2-7B"),
              ElementsAre("tensor parallel 6 does not divide 28 attention heads"));
  EXPECT_THAT(problems(on_devices(8, 128), "Qwen2-7B"), ElementsAre(HasSubstr("does not divide")));
  EXPECT_THAT(problems(on_devices(7, 128), "Qwen2-7B"),
              ElementsAre("tensor parallel 7 and 4 heads of keys and values do not divide each "
                          "other"));
  for (const double n : {3, 5, 6, 7})
    EXPECT_THAT(problems(on_devices(n, 128), "Llama-3-70B"), testing::SizeIs(1)) << n;
  // Split in another way: by layers, or over fewer devices than there are.
  BenchRow row = on_devices(6, 128);
  row.framework = "llama.cpp";
  EXPECT_THAT(problems(row, "Qwen2-7B"), IsEmpty());
  row.framework = "vLLM";
  row.variant.layout = ParallelLayout{.tensor = 2, .pipeline = 3};
  EXPECT_THAT(problems(row, "Qwen2-7B"), IsEmpty());
}

TEST(Placement, WeightsAndOneSequenceMustFit) {
  EXPECT_THAT(problems(on_devices(1, 128), "Llama-3-70B"),
              ElementsAre("weights 141.1 GB do not fit 80 GB"));
  // 60,200 tokens of 327,680 bytes are 19.73 GB; 160 - 141.1 are 18.9.
  EXPECT_THAT(problems(on_devices(2, 60000), "Llama-3-70B"),
              ElementsAre(HasSubstr("weights 141.1 GB leave no room")));
  EXPECT_THAT(problems(on_devices(2, 128), "Llama-3-70B"), IsEmpty());
  EXPECT_THAT(problems(on_devices(4, 128), "Llama-3-70B"), IsEmpty());
}

}  // namespace
}  // namespace assay
