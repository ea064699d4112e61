#include "cli/progress.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ProgressWords, AreAPartOfWhatIsStored) {
  EXPECT_EQ(progress_words(0, 200), "  0 %");
  EXPECT_EQ(progress_words(84, 200), " 42 %");
  EXPECT_EQ(progress_words(200, 200), "100 %");
}

TEST(ProgressWords, AreBytesWhereTheWholeIsNotKnownOrWasExceeded) {
  EXPECT_EQ(progress_words(7'000'000, 0), "7 MB");
  EXPECT_EQ(progress_words(113'000'000, 100'000'000), "113 MB");
}

TEST(ProgressLine, NeverExceedsTheWhole) {
  EXPECT_EQ(progress_line(84, 200, "a.json"), "progress 84 200 a.json\n");
  EXPECT_EQ(progress_line(300, 200, "a.json"), "progress 200 200 a.json\n");
  EXPECT_EQ(progress_line(7, 0, "a\nb"), "progress 7 0 a b\n");
}

}  // namespace
}  // namespace assay
