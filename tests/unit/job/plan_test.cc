#include "job/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace assay {
namespace {

std::vector<std::string> paths_of(const std::vector<PlannedFile>& files) {
  std::vector<std::string> paths;
  for (const PlannedFile& file : files) paths.push_back(file.path);
  return paths;
}

using Paths = std::vector<std::string>;

TEST(Plan, TheLongestGoesToWhoHasLeast) {
  const std::vector<PlannedFile> files = {{3, "c"}, {9, "a"}, {3, "b"}, {7, "d"}, {0, "e"}};
  // a 9 | d 7 | b 3 to 1 (10) | c 3 to 0 (12) | e to 1
  EXPECT_EQ(paths_of(files_of_shard(files, {0, 2})), (Paths{"a", "c"}));
  EXPECT_EQ(paths_of(files_of_shard(files, {1, 2})), (Paths{"d", "b", "e"}));
  EXPECT_EQ(paths_of(files_of_shard(files, {0, 1})), (Paths{"a", "d", "b", "c", "e"}));
  EXPECT_TRUE(files_of_shard(files, {6, 7}).empty());
}

TEST(Plan, EveryFileIsInOneShardInAnyOrder) {
  std::vector<PlannedFile> files;
  for (uint64_t k = 0; k < 500; ++k) files.push_back({k * k % 97, "rank" + std::to_string(k)});
  std::vector<PlannedFile> turned(files.rbegin(), files.rend());
  std::map<std::string, int> seen;
  for (uint32_t shard = 0; shard < 13; ++shard) {
    const std::vector<PlannedFile> own = files_of_shard(files, {shard, 13});
    EXPECT_EQ(paths_of(own), paths_of(files_of_shard(turned, {shard, 13})));
    for (const PlannedFile& file : own) ++seen[file.path];
  }
  EXPECT_EQ(seen.size(), 500u);
  EXPECT_TRUE(
      std::all_of(seen.begin(), seen.end(), [](const auto& one) { return one.second == 1; }));
}

TEST(Plan, ShardsAreReadOrRefused) {
  EXPECT_EQ(parse_shard("3/16")->number, 3u);
  EXPECT_EQ(parse_shard("3/16")->of, 16u);
  for (const char* text : {"", "3", "16/16", "/4", "1/0", "a/b", "-1/4", "1/99999999"}) {
    EXPECT_FALSE(parse_shard(text)) << text;
  }
}

Result<Shard> shard_with(const std::map<std::string, std::string>& variables) {
  return shard_of_environment([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Plan, TheShardIsReadFromTheEnvironment) {
  const auto array = shard_with({{"SLURM_ARRAY_TASK_ID", "14"},
                                 {"SLURM_ARRAY_TASK_MIN", "10"},
                                 {"SLURM_ARRAY_TASK_STEP", "2"},
                                 {"SLURM_ARRAY_TASK_COUNT", "8"},
                                 {"SLURM_PROCID", "0"},
                                 {"SLURM_NTASKS", "1"}});
  ASSERT_TRUE(array);
  EXPECT_EQ(array->number, 2u);
  EXPECT_EQ(array->of, 8u);
  EXPECT_EQ(shard_with({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}})->number, 5u);
  EXPECT_EQ(shard_with({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}})->of, 3u);
  EXPECT_EQ(shard_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}})->number, 1u);
  EXPECT_EQ(shard_with({{"JOB_COMPLETION_INDEX", "7"}, {"ASSAY_SHARDS", "9"}})->of, 9u);
  EXPECT_FALSE(shard_with({}));
  EXPECT_FALSE(shard_with({{"JOB_COMPLETION_INDEX", "7"}}));
  EXPECT_FALSE(shard_with({{"SLURM_PROCID", "8"}, {"SLURM_NTASKS", "8"}}));
}

}  // namespace
}  // namespace assay
