// Sides that resemble each other: some items renamed, some neighbours exchanged, some left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "base/random.h"
#include "diff/match.h"

namespace assay {
namespace {

DiffSideLevel side_of(const std::vector<std::string>& names,
                      const std::vector<uint32_t>& sequence) {
  DiffSideLevel side;
  for (const std::string& name : names) side.items.push_back({.name = name, .shown = name});
  side.sums.resize(names.size());
  side.blocks.resize(names.size());
  side.sequence = sequence;
  return side;
}

using Pairs = std::set<std::tuple<std::string, std::string, DiffMatch>>;

TEST(MatchProperty, ExchangedSidesAreMatchedAlike) {
  size_t by_position = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SplitMix64 random(seed);
    std::vector<std::string> names_a;
    std::vector<std::string> names_b;
    for (char c = 'a'; c < 'h'; ++c) {
      names_a.emplace_back(1, c);
      names_b.push_back(random.chance(0.4) ? std::string("new ") + c : names_a.back());
    }
    std::vector<uint32_t> in_a(12);
    for (uint32_t& item : in_a) item = static_cast<uint32_t>(random.below(7));
    std::vector<uint32_t> in_b = in_a;
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<size_t>(random.below(11));
      if (random.chance(0.7)) {
        std::swap(in_b[at], in_b[at + 1]);
      } else {
        in_b[at] = in_b[at + 1];
      }
    }
    const DiffSideLevel a = side_of(names_a, in_a);
    const DiffSideLevel b = side_of(names_b, in_b);
    Pairs there;
    for (const ItemPair& pair : match_items(a, b).pairs) {
      there.insert({names_a[pair.a], names_b[pair.b], pair.match});
      by_position += pair.match == DiffMatch::kPosition;
    }
    Pairs back;
    for (const ItemPair& pair : match_items(b, a).pairs) {
      back.insert({names_a[pair.b], names_b[pair.a], pair.match});
    }
    EXPECT_EQ(there, back) << seed;
  }
  EXPECT_GT(by_position, 1000u);
}

}  // namespace
}  // namespace assay
