#include "records/frozen_gain.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

FrozenGain sample() {
  return {.tool_version = "0.9.0",
          .trace = "before.json.gz",
          .edits = {"cuda_graph", "kernel:a = b=0.5"},
          .at_most = false,
          .per_iteration = true,
          .iterations = 5,
          .before_ns = 1000,
          .after_ns = 700,
          .gain_ns = 300,
          .low_ns = 250,
          .high_ns = 320};
}

TEST(FrozenGain, ReadsWhatItWrote) {
  const auto read = parse_frozen(frozen_text(sample()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tool_version, "0.9.0");
  EXPECT_EQ(read->trace, "before.json.gz");
  EXPECT_EQ(read->edits, (std::vector<std::string>{"cuda_graph", "kernel:a = b=0.5"}));
  EXPECT_FALSE(read->at_most);
  EXPECT_TRUE(read->per_iteration);
  EXPECT_EQ(read->iterations, 5);
  EXPECT_EQ(read->before_ns, 1000);
  EXPECT_EQ(read->after_ns, 700);
  EXPECT_EQ(read->gain_ns, 300);
  EXPECT_EQ(read->low_ns, 250);
  EXPECT_EQ(read->high_ns, 320);
}

TEST(FrozenGain, NamesOnOneLine) {
  FrozenGain gain = sample();
  gain.trace = "evil\nbefore_ns = 7";
  const auto read = parse_frozen(frozen_text(gain));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->before_ns, 1000);
}

TEST(FrozenGain, RefusesOtherTexts) {
  for (const char* text :
       {"", "# nothing\n", "[other]\n", "before_ns = 3\n", "[assay prediction]\n",
        "[assay prediction]\nbefore_ns = 0\n", "[assay prediction]\nbefore_ns = x\n",
        "[assay prediction]\nbefore_ns = 9223372036854775807\n",
        "[assay prediction]\nbefore_ns = 1\nkind = maybe\n",
        "[assay prediction]\nbefore_ns = 1\n[again]\n"}) {
    EXPECT_FALSE(parse_frozen(text)) << text;
  }
}

TEST(FrozenGain, Scores) {
  const FrozenScore score = score_frozen(sample(), 800);
  EXPECT_EQ(score.measured_gain_ns, 200);
  EXPECT_DOUBLE_EQ(score.signed_error, -0.125);
  EXPECT_TRUE(score.has_interval);
  EXPECT_FALSE(score.in_interval);
  EXPECT_FALSE(score.exceeded);
  EXPECT_TRUE(score_frozen(sample(), 680).in_interval);
  FrozenGain most = sample();
  most.at_most = true;
  EXPECT_TRUE(score_frozen(most, 699).exceeded);
  EXPECT_FALSE(score_frozen(most, 700).exceeded);
}

}  // namespace
}  // namespace assay
