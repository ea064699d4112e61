#include "records/setting_lines.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(SettingLines, GiveSectionsAndSettingsWithTheirLineNumbers) {
  SettingLines lines("# head\n\n [ a b ] \r\nkey = 1 ; from there ; really\n[open\nword");
  const auto section = lines.next();
  ASSERT_TRUE(section);
  EXPECT_EQ(section->kind, SettingLine::Kind::kSection);
  EXPECT_EQ(section->name, "a b");
  EXPECT_EQ(section->number, 3u);
  const auto setting = lines.next();
  ASSERT_TRUE(setting);
  EXPECT_EQ(setting->kind, SettingLine::Kind::kSetting);
  EXPECT_EQ(setting->name, "key");
  EXPECT_EQ(setting->value, "1 ; from there ; really");
  EXPECT_EQ(setting->proper(), "1");
  EXPECT_EQ(setting->origin(), "from there ; really");
  EXPECT_EQ(lines.next()->kind, SettingLine::Kind::kOther);  // a bracket that nothing closes
  EXPECT_EQ(lines.next()->kind, SettingLine::Kind::kOther);
  EXPECT_EQ(lines.number(), 6u);
  EXPECT_FALSE(lines.next());
}

TEST(SettingLines, AValueWithoutASemicolonHasNoOrigin) {
  const auto line = SettingLines("key=a, b").next();
  ASSERT_TRUE(line);
  EXPECT_EQ(line->proper(), "a, b");
  EXPECT_EQ(line->origin(), "");
}

}  // namespace
}  // namespace assay
