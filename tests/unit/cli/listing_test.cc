#include "answers/inputs/listing.h"

#include <gtest/gtest.h>

#include <variant>

namespace assay {
namespace {

TEST(TraceHead, IsReadOffTheBeginning) {
  const TraceHead head = trace_head(
      R"({"deviceProperties": [{"id": 0, "name": ""}, {"id": 1, "name": "NVIDIA [H100]"}],)"
      R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceEvents": [)");
  EXPECT_EQ(head.device, "NVIDIA [H100]");
  EXPECT_EQ(head.rank, 3);
  EXPECT_EQ(head.world_size, 8);
}

TEST(TraceHead, IsEmptyWhereTheBytesEndOrLackIt) {
  EXPECT_EQ(trace_head(R"({"deviceProperties": [{"id": 0, "name": "H1)").device, "");
  EXPECT_EQ(trace_head("").rank, -1);
  EXPECT_EQ(trace_head(R"({"deviceProperties": 3, "distributedInfo": []})").device, "");
  // A text that holds the key is no key.
  EXPECT_EQ(trace_head(R"({"a": "\"deviceProperties\": [{\"name\": \"x\"}]"})").device, "");
  EXPECT_EQ(trace_head(R"({"distributedInfo": {"rank": "3"}})").rank, -1);
}

TEST(ListFolders, RefusesAMissingFolder) {
  EXPECT_FALSE(list_folders({"/no/such/folder"}));
}

TEST(ListFolders, FindsTheTracesOfTheRepository) {
  const auto document = list_folders({std::string(ASSAY_SOURCE_DIR) + "/tests/data/kineto"});
  ASSERT_TRUE(document);
  const auto* files = std::get_if<Table>(&document->sections[0].blocks[0]);
  ASSERT_NE(files, nullptr);
  EXPECT_GT(files->rows.size(), 3u);
}

}  // namespace
}  // namespace assay
