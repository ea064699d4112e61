// Cleaning, measuring, shortening and wrapping of untrusted text.

#include "text/plain_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

TEST(ReportText, InvalidUtf8BecomesOneReplacementPerMaximalPart) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_text("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(clean_text("\xC0\xAF"), bad + bad);                      // overlong slash
  EXPECT_EQ(clean_text("\xE0\x80\x80"), bad + bad + bad);            // overlong NUL
  EXPECT_EQ(clean_text("\xED\xA0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(clean_text("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // beyond U+10FFFF
  EXPECT_EQ(clean_text("\xE2\x82"), bad);                            // cut short
  EXPECT_EQ(clean_text("\xE2\x82"
                       "b"),
            bad + "b");
  EXPECT_EQ(clean_text("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(clean_text("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF");
}

TEST(ReportText, ControlCharactersNeverSurvive) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_text("a\x1b[31mb"), "a" + bad + "[31mb");
  EXPECT_EQ(clean_text("a\r\nb\nc\rd\te"), "a b c d e");
  EXPECT_EQ(clean_text(std::string("a\0b", 3)), "a" + bad + "b");
  EXPECT_EQ(clean_text("\x7f"), bad);
  EXPECT_EQ(clean_text("\xC2\x9B"
                       "31m"),
            bad + "31m");                  // C1 CSI
  EXPECT_EQ(clean_text("\xC2\x85"), " ");  // next line
  EXPECT_EQ(clean_text("\xE2\x80\xA8\xE2\x80\xA9"), "  ");
}

TEST(ReportText, InvisibleCharactersDisappear) {
  EXPECT_EQ(clean_text("a\u202Eb\u202Cc"), "abc");  // bidi override
  EXPECT_EQ(clean_text("a\u2066b\u2069c"), "abc");  // bidi isolate
  EXPECT_EQ(clean_text("a\u200Bb\u200Dc\uFEFFd"), "abcd");
  EXPECT_EQ(clean_text("a\u061Cb\u00ADc"), "abc");
  EXPECT_EQ(clean_text("a\U000E0041b"), "ab");  // tag
}

TEST(ReportText, StackedMarksAreLimited) {
  std::string zalgo = "a";
  for (int i = 0; i < 100; ++i) zalgo += "\u0301";
  EXPECT_EQ(clean_text(zalgo), "a\u0301\u0301\u0301\u0301");
}

TEST(ReportText, AsciiSpellsKnownSymbolsAndMarksTheRest) {
  EXPECT_EQ(clean_text("12 \u00B5s \u2192 3\u00D7 \u2026 \u2265 \u65E5", Charset::kAscii),
            "12 us -> 3x ... >= ?");
  EXPECT_EQ(clean_text("e\u0301\xFF\x1b", Charset::kAscii), "e??");
}

TEST(ReportText, WidthCountsColumns) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("\u00B5s"), 2U);
  EXPECT_EQ(display_width("\u65E5\u672C"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\U0001F600"), 2U);
  EXPECT_EQ(display_width(""), 0U);
}

TEST(ReportText, ShortensInTheMiddle) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "abc\u2026hij");
  EXPECT_EQ(shorten_middle("abcdefghij", 6), "abc\u2026ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 2), "a\u2026");
  EXPECT_EQ(shorten_middle("abcdefghij", 1), "a");
  EXPECT_EQ(shorten_middle("abcdefghij", 0), "");
  EXPECT_EQ(shorten_middle("abcdefghij", 7, Charset::kAscii), "ab...ij");
  EXPECT_EQ(shorten_middle("abcdefghij", 3, Charset::kAscii), "abc");
}

TEST(ReportText, ShorteningNeverSplitsACharacterOrExceedsTheWidth) {
  // Two columns each: five of them are ten columns, three with the ellipsis seven.
  EXPECT_EQ(shorten_middle("\u65E5\u65E5\u65E5\u65E5\u65E5", 7), "\u65E5\u2026\u65E5\u65E5");
  EXPECT_EQ(shorten_middle("\u65E5\u65E5\u65E5\u65E5\u65E5", 4), "\u65E5\u2026");
  // The mark of the dropped letter must not move onto the ellipsis.
  EXPECT_EQ(shorten_middle("abcde\u0301f", 3), "a\u2026f");
  const std::string name(10000, 'k');
  for (size_t width = 0; width < 100; ++width) {
    EXPECT_EQ(display_width(shorten_middle(name, width)), width);
  }
}

TEST(ReportText, WrapsAtSpacesAndShortensLongWords) {
  EXPECT_EQ(wrap_text("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap_text("  one   two ", 20), (std::vector<std::string>{"one two"}));
  EXPECT_EQ(wrap_text("a bcdefghijk l", 7), (std::vector<std::string>{"a", "bcd\u2026ijk", "l"}));
  EXPECT_EQ(wrap_text("", 5), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap_text("ab", 0), (std::vector<std::string>{"a"}));
}

TEST(ReportText, PadsByColumns) {
  EXPECT_EQ(pad_text("\u00B5", 3, true), "  \u00B5");
  EXPECT_EQ(pad_text("\u65E5", 3, false), "\u65E5 ");
  EXPECT_EQ(pad_text("long", 2, true), "long");
}

}  // namespace
}  // namespace assay
