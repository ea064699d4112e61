#include "base/closest_word.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

const std::vector<std::string> kVerbs = {"report", "launch", "breakdown", "throughput"};

TEST(ClosestWord, CountsChangesAndSwaps) {
  EXPECT_EQ(typing_distance("report", "report"), 0u);
  EXPECT_EQ(typing_distance("reprot", "report"), 1u);  // two neighbours swapped
  EXPECT_EQ(typing_distance("repor", "report"), 1u);
  EXPECT_EQ(typing_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(typing_distance("", "abc"), 3u);
}

TEST(ClosestWord, FindsWhatWasMeant) {
  EXPECT_EQ(closest_word("reprot", kVerbs), "report");
  EXPECT_EQ(closest_word("LAUNCH", kVerbs), "launch");
  EXPECT_EQ(closest_word("thr", kVerbs), "throughput");  // begun
}

TEST(ClosestWord, SaysNothingOfWhatIsFar) {
  EXPECT_EQ(closest_word("banana", kVerbs), "");
  EXPECT_EQ(closest_word("", kVerbs), "");
  EXPECT_EQ(closest_word(std::string(1000, 'r'), kVerbs), "");
}

}  // namespace
}  // namespace assay
