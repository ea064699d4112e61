#include "throughput/points.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

std::vector<BenchRow> rows() {
  BenchRow a;
  a.hardware = "Nvidia A100 GPU";
  a.framework = "vLLM";
  a.model = "meta-llama/Meta-Llama-3-8B";
  a.in_len = a.out_len = 128;
  a.batch = 1;
  BenchRow b = a;
  b.hardware = "Nvidia H100 GPU";
  b.model = "mistralai/Mistral-7B-v0.1";
  b.batch = 16;
  return {a, b};
}

std::string error_of(const std::string& text) {
  const auto point = parse_point(text, rows(), FactBook::built_in());
  return point ? std::string() : point.error().message;
}

TEST(Points, AreReadWithWhatAllRowsAgreeOnFilledIn) {
  const auto point =
      parse_point("bb=96, ii=1024,oo=256,hw=h100,model=Llama-3-8B", rows(), FactBook::built_in());
  ASSERT_TRUE(point);
  EXPECT_EQ(point->batch, 96);
  EXPECT_EQ(point->in_len, 1024);
  EXPECT_EQ(point->out_len, 256);
  EXPECT_EQ(point->hardware, "Nvidia H100 GPU");
  EXPECT_EQ(point->model, "meta-llama/Meta-Llama-3-8B");
  EXPECT_EQ(point->framework, "vLLM");
  EXPECT_EQ(point->devices, 1);
}

TEST(Points, HardwareThatOnlyTheFactsKnowIsTaken) {
  const auto point =
      parse_point("bb=1,hw=H200,model=Mistral-7B,len=128", rows(), FactBook::built_in());
  ASSERT_TRUE(point);
  EXPECT_EQ(point->hardware, "Nvidia H200 GPU");
  EXPECT_EQ(point->out_len, 128);
}

TEST(Points, ErrorsNameWhatWasProbablyMeant) {
  EXPECT_THAT(error_of("modle=x"), HasSubstr("did you mean 'model'?"));
  EXPECT_THAT(error_of("bb=1,hw=H100,model=Llama-3-8C"),
              HasSubstr("did you mean 'meta-llama/Meta-Llama-3-8B'?"));
  EXPECT_THAT(error_of("bb=1,model=Mistral-7B"), HasSubstr("hw is missing"));
  EXPECT_THAT(error_of("bb=none,hw=H100,model=Mistral-7B"), HasSubstr("bb needs a number"));
  EXPECT_THAT(error_of("bb=1,bb=2"), HasSubstr("given twice"));
  EXPECT_THAT(error_of("96"), HasSubstr("write a point as"));
  EXPECT_THAT(error_of("bb=1:2,hw=H100,model=Mistral-7B"), HasSubstr("--grid"));
}

TEST(Points, GridsCombineListsAndRanges) {
  const auto grid = parse_grid("bb=1..9*2:12,ii=100..300+100,hw=A100|H100,model=Mistral-7B,oo=1",
                               rows(), FactBook::built_in());
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 5U * 3 * 2);
  EXPECT_EQ(grid->front().batch, 1);
  EXPECT_EQ(grid->front().hardware, "Nvidia A100 GPU");
  EXPECT_EQ(grid->back().batch, 12);
  EXPECT_EQ(grid->back().in_len, 300);
  EXPECT_EQ(grid->at(1).hardware, "Nvidia H100 GPU");
}

TEST(Points, EndlessGridsAreRefused) {
  const FactBook& facts = FactBook::built_in();
  EXPECT_FALSE(parse_grid("bb=1..10*1", rows(), facts));
  EXPECT_FALSE(parse_grid("bb=10..1", rows(), facts));
  EXPECT_FALSE(parse_grid("bb=1..1e9,hw=A100,model=Mistral-7B", rows(), facts));
}

}  // namespace
}  // namespace assay
