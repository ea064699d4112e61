// Texts as JSON strings: valid for every name, on one line, and read back as they were.

#include "base/json_string.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include <nlohmann/json.hpp>

namespace assay {
namespace {

std::string read_back(std::string_view text) {
  return nlohmann::json::parse(json_string(text)).get<std::string>();
}

TEST(JsonString, HostileNamesReadBackAsTheyWere) {
  for (const std::string& name :
       {std::string("gemm<4, \"a\\b\">"), std::string("tab\tline\nbell\a nul\0end", 22),
        std::string("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), std::string("del\x7F sep\xE2\x80\xA8"),
        std::string("next line \xC2\x85"), std::string("</script>"), std::string()}) {
    EXPECT_EQ(read_back(name), name);
  }
}

TEST(JsonString, ControlCharactersAndLineSeparatorsAreEscaped) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("\n\t\x01\x1f\x7f"), R"("\n\t\u0001\u001f\u007f")");
  EXPECT_EQ(json_string("\xC2\x85\xE2\x80\xA8\xE2\x80\xA9"), R"("\u0085\u2028\u2029")");
  EXPECT_EQ(json_string("\u00b5s"), "\"\u00b5s\"");
}

TEST(JsonString, ReplacesInvalidUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(read_back("a\xFF\xC3("), "a" + bad + bad + "(");
  EXPECT_EQ(read_back("\xED\xA0\x80"), bad + bad + bad) << "half of a surrogate pair";
  EXPECT_EQ(read_back("\xC0\xAF"), bad + bad) << "an overlong slash";
  EXPECT_EQ(read_back("cut \xE2\x82"), "cut " + bad);
}

TEST(JsonString, AnyBytesAreValidJsonOnOneLine) {
  std::mt19937_64 random(7);
  constexpr char kOdd[] = "\"\\\n\r\0\x7f\xC2\xE2\x80\xA8\xF0\xED{}";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t left = random() % 12; left > 0; --left) {
      const uint64_t pick = random();
      text += pick % 2 == 0 ? kOdd[(pick >> 8) % sizeof(kOdd)] : static_cast<char>(pick >> 8);
    }
    const std::string json = json_string(text);
    ASSERT_TRUE(nlohmann::json::accept(json)) << json;
    ASSERT_EQ(json.find_first_of("\r\n\x7f"), std::string::npos);
    ASSERT_EQ(json.find("\xE2\x80\xA8"), std::string::npos);
  }
}

TEST(NestedTooDeep, CountsWhatStandsOutsideOfStrings) {
  EXPECT_FALSE(nested_too_deep(std::string(256, '[') + std::string(256, ']')));
  EXPECT_TRUE(nested_too_deep(std::string(257, '[')));
  EXPECT_TRUE(nested_too_deep("{\"a\":" + std::string(300, '[')));
  EXPECT_FALSE(nested_too_deep("[\"" + std::string(300, '[') + "\\\"[\"]"));
  std::string flat;
  for (int i = 0; i < 300; ++i) flat += "[],";
  EXPECT_FALSE(nested_too_deep(flat));
}

}  // namespace
}  // namespace assay
