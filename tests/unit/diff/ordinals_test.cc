#include "diff/ordinals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diff/side.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
constexpr size_t kOperations = static_cast<size_t>(DiffLevelKind::kOperation);

// One sample, 10 ns of every operation.
std::vector<DiffRun> runs_of(const std::vector<std::string>& names) {
  DiffRun run;
  DiffLevelRun& level = run.levels[kOperations];
  level.samples.emplace_back();
  for (const std::string& name : names) {
    level.samples[0].push_back({static_cast<uint32_t>(level.items.size()), {1, 10, 0, 10}});
    level.items.push_back({.name = name, .shown = name});
  }
  run.samples.push_back({.time_ns = 10 * static_cast<int64_t>(names.size())});
  return {run};
}

std::vector<std::string> names_of(const std::vector<DiffRun>& runs) {
  std::vector<std::string> names;
  const DiffSide side = make_side(runs);
  for (const DiffItem& item : side.levels[kOperations].items) names.push_back(item.name);
  return names;
}

TEST(Ordinals, OfAKindWithOtherNumbersAreOneItem) {
  std::vector<DiffRun> a = runs_of({"linear", "relu", "norm[0]", "norm[1]"});
  std::vector<DiffRun> b = runs_of({"linear[0]", "linear[1]", "norm[0]", "norm[1]", "gelu[0]"});
  join_unlike_ordinals(a, b);
  EXPECT_THAT(names_of(a), ElementsAre("linear", "relu", "norm[0]", "norm[1]"));
  EXPECT_THAT(names_of(b), ElementsAre("linear", "norm[0]", "norm[1]", "gelu[0]"));
  const DiffSide side = make_side(b);
  EXPECT_EQ(side.levels[kOperations].sums[0].busy_ns, 20);
}

TEST(Ordinals, InsideOfAPathAndWhatOnlyLooksLikeOne) {
  std::vector<DiffRun> a = runs_of({"attn[0].proj[1]", "at[x]", "at[", "at[]"});
  std::vector<DiffRun> b = runs_of({"attn[0].proj", "at[x]", "at[", "at[]"});
  join_unlike_ordinals(a, b);
  EXPECT_THAT(names_of(a), ElementsAre("attn.proj", "at[x]", "at[", "at[]"));
  EXPECT_EQ(names_of(a), names_of(b));
}

}  // namespace
}  // namespace assay
