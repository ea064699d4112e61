#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

TEST(StringPool, EmptyStringIsIdZero) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.intern(""), StringId(0));
  EXPECT_EQ(pool.intern(std::string_view()), StringId(0));
  EXPECT_EQ(pool.view(StringId(0)), "");
  EXPECT_EQ(pool.view(StringId()), "");
}

TEST(StringPool, SameTextSameIdInOrderOfFirstSight) {
  StringPool pool;
  EXPECT_EQ(pool.intern("aten::mm"), StringId(1));
  EXPECT_EQ(pool.intern("aten::add"), StringId(2));
  EXPECT_EQ(pool.intern(std::string("aten::") + "mm"), StringId(1));
  EXPECT_EQ(pool.find("aten::add"), StringId(2));
  EXPECT_FALSE(pool.find("aten::mul"));
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, BytesAreNotText) {
  StringPool pool;
  const StringId with_zero = pool.intern(std::string_view("a\0b", 3));
  EXPECT_NE(with_zero, pool.intern("a"));
  EXPECT_EQ(pool.view(with_zero), std::string_view("a\0b", 3));
  EXPECT_NE(pool.intern("\xff\xfe"), pool.intern("\xff"));
}

TEST(StringPool, CopiesItsInput) {
  StringPool pool;
  std::string text = "kernel";
  const StringId id = pool.intern(text);
  text.assign("xxxxxx");
  EXPECT_EQ(pool.view(id), "kernel");
}

TEST(StringPool, ViewsStayPutWhileItGrows) {
  StringPool pool;
  const std::string_view first = pool.view(pool.intern("first of many"));
  const std::string long_text(100000, 'n');
  for (int i = 0; i < 50000; ++i) {
    const std::string text = "operator " + std::to_string(i);
    const StringId id = pool.intern(text);
    ASSERT_EQ(pool.find(text), id) << "lost while growing";
    if (i % 10000 == 0) pool.intern(long_text + std::to_string(i));
  }
  EXPECT_EQ(first, "first of many");
  EXPECT_EQ(pool.size(), 2u + 50000u + 5u);
  for (int i = 0; i < 50000; ++i) {
    const std::string text = "operator " + std::to_string(i);
    ASSERT_EQ(pool.view(pool.find(text)), text);
  }
  EXPECT_EQ(pool.view(pool.find(long_text + "40000")).size(), 100005u);
}

// The low 32 bits of XXH3 are the same for these two.
TEST(StringPool, DistinguishesEqualHashes) {
  StringPool pool;
  const StringId one = pool.intern("aten::kernel_1032906");
  EXPECT_FALSE(pool.find("aten::kernel_1078754"));
  EXPECT_NE(pool.intern("aten::kernel_1078754"), one);
  EXPECT_EQ(pool.intern("aten::kernel_1032906"), one);
}

TEST(StringPool, MergeMapsIdsAndKeepsOrder) {
  StringPool pool;
  pool.intern("a");
  pool.intern("b");
  StringPool other;
  other.intern("c");
  other.intern("b");
  other.intern("d");
  EXPECT_EQ(pool.merge(other),
            (std::vector<StringId>{StringId(0), StringId(3), StringId(2), StringId(4)}));
  EXPECT_EQ(pool.view(StringId(3)), "c");
  EXPECT_EQ(pool.view(StringId(4)), "d");
  EXPECT_EQ(pool.size(), 5u);
}

TEST(StringPool, MergeWithItselfAddsNothing) {
  StringPool pool;
  pool.intern("a");
  EXPECT_EQ(pool.merge(pool), (std::vector<StringId>{StringId(0), StringId(1)}));
  EXPECT_EQ(pool.size(), 2u);
}

TEST(StringPool, MovesWithItsStrings) {
  StringPool pool;
  const StringId id = pool.intern("moved");
  const StringPool moved = std::move(pool);
  EXPECT_EQ(moved.view(id), "moved");
  EXPECT_EQ(moved.find("moved"), id);
}

}  // namespace
}  // namespace assay
