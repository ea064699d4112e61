#include "diff/match.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace assay {
namespace {

DiffItem item(const char* name, const char* family = "", const char* path = "") {
  return {.name = name, .shown = name, .family = family, .path = path};
}

DiffSideLevel level(std::vector<DiffItem> items, std::vector<uint32_t> sequence) {
  DiffSideLevel side;
  side.items = std::move(items);
  side.sums.resize(side.items.size());
  side.blocks.resize(side.items.size());
  side.sequence = std::move(sequence);
  return side;
}

// "a=b" -> how.
std::map<std::string, DiffMatch> matched(const DiffSideLevel& a, const DiffSideLevel& b) {
  std::map<std::string, DiffMatch> result;
  for (const ItemPair& pair : match_items(a, b).pairs) {
    result[a.items[pair.a].name + "=" + b.items[pair.b].name] = pair.match;
  }
  return result;
}

using Expected = std::map<std::string, DiffMatch>;

TEST(Match, TheSameNameComesFirst) {
  EXPECT_EQ(matched(level({item("k<2>", "k"), item("k<1>", "k")}, {0, 1}),
                    level({item("k<1>", "k"), item("k<3>", "k")}, {0, 1})),
            (Expected{{"k<1>=k<1>", DiffMatch::kName}, {"k<2>=k<3>", DiffMatch::kFamily}}));
}

TEST(Match, TheOnlyOnesBelowTheSameOperatorsAreOne) {
  EXPECT_EQ(
      matched(level({item("volta", "volta", "aten::mm"), item("x", "x", "aten::add")}, {0, 1}),
              level({item("ampere", "ampere", "aten::mm")}, {0})),
      (Expected{{"volta=ampere", DiffMatch::kPath}}));
}

TEST(Match, ReplacedItemsAreMatchedByPosition) {
  // Both gemms lie below the same operator: only their places tell them apart.
  EXPECT_EQ(matched(level({item("s"), item("g1", "", "mm"), item("t"), item("g2", "", "mm")},
                          {0, 1, 2, 3, 0}),
                    level({item("h1", "", "mm"), item("s"), item("h2", "", "mm"), item("t")},
                          {1, 0, 3, 2, 1})),
            (Expected{{"s=s", DiffMatch::kName},
                      {"t=t", DiffMatch::kName},
                      {"g1=h1", DiffMatch::kPosition},
                      {"g2=h2", DiffMatch::kPosition}}));
}

TEST(Match, AStretchOfAnotherLengthVotesForNothing) {
  // Three kernels became one: no telling which of them it is.
  EXPECT_EQ(matched(level({item("s"), item("a"), item("b"), item("c")}, {0, 1, 2, 3, 0}),
                    level({item("s"), item("fused")}, {0, 1, 0})),
            (Expected{{"s=s", DiffMatch::kName}}));
}

TEST(Match, APairNeedsMostOfItsOccurrences) {
  // x stands where a stood once, and where b stood twice.
  EXPECT_EQ(matched(level({item("s"), item("a"), item("b")}, {0, 1, 0, 2, 0, 2, 0}),
                    level({item("s"), item("x")}, {0, 1, 0, 1, 0, 1, 0})),
            (Expected{{"s=s", DiffMatch::kName}, {"b=x", DiffMatch::kPosition}}));
}

TEST(Match, AFamilyOfEqualSizeIsMatchedInOrder) {
  // Sequences too different for positions to say anything.
  EXPECT_EQ(matched(level({item("k<1>", "k"), item("k<2>", "k"), item("p")}, {1, 2, 2, 0}),
                    level({item("k<8>", "k"), item("k<9>", "k"), item("q"), item("r")},
                          {3, 3, 3, 3, 3, 0, 2, 1})),
            (Expected{{"k<2>=k<8>", DiffMatch::kFamily}, {"k<1>=k<9>", DiffMatch::kFamily}}));
}

TEST(Match, RestsMeetTheirNamesakesOnly) {
  DiffItem rest_a = item("(idle)", "f", "p");
  DiffItem rest_b = item("(other)", "f", "p");
  rest_a.rest = rest_b.rest = true;
  EXPECT_TRUE(matched(level({rest_a}, {0}), level({rest_b}, {0})).empty());
}

}  // namespace
}  // namespace assay
