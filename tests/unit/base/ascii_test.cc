#include "base/ascii.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Ascii, NeighboursOfARangeAreOutside) {
  for (const char c : {'0', '5', '9'}) EXPECT_TRUE(is_digit(c));
  for (const char c : {'/', ':', 'a'}) EXPECT_FALSE(is_digit(c));
  for (const char c : {'a', 'z', 'A', 'Z'}) EXPECT_TRUE(is_letter(c));
  for (const char c : {'`', '{', '@', '[', '1'}) EXPECT_FALSE(is_letter(c));
  for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'}) EXPECT_TRUE(is_space(c));
  for (const char c : {'\b', '\x0E', '\0', 'x'}) EXPECT_FALSE(is_space(c));
}

TEST(Ascii, BytesBeyondAsciiStayAsTheyAre) {
  EXPECT_EQ(lower("Gr\xC3\x96SSE [Z]"), "gr\xC3\x96sse [z]");
  EXPECT_EQ(trimmed("\t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed("\xC2\xA0x"), "\xC2\xA0x");
}

TEST(Ascii, APartIsFoundWhereverItStands) {
  EXPECT_TRUE(contains("fused_rms_norm", "rms"));
  EXPECT_TRUE(contains("norm", "norm"));
  EXPECT_TRUE(contains("norm", ""));
  EXPECT_FALSE(contains("norm", "Norm"));
  EXPECT_FALSE(contains("", "norm"));
}

}  // namespace
}  // namespace assay
