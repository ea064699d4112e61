#include "ingest/bench/date.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(DateOf, TakesTheDayThatATextBeginsWith) {
  EXPECT_EQ(date_of("2026-04-17"), "2026-04-17");
  EXPECT_EQ(date_of("2025-04-24T11:57:09Z"), "2025-04-24");
  EXPECT_EQ(date_of("2026-09-30 17:44:42"), "2026-09-30");
}

TEST(DateOf, IsEmptyForOtherTexts) {
  for (const char* text :
       {"", "2026-04", "17.04.2026", "20260417-101010", "2026-04-171", "2026/04/17"})
    EXPECT_EQ(date_of(text), "") << text;
}

}  // namespace
}  // namespace assay
