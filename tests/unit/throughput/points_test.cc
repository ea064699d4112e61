#include "throughput/points.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(Points, VariantIsRequestedByItsTextAndKeepsItsParts) {
  std::vector<BenchRow> both = rows();
  both[1] = both[0];
  both[0].variant = {"fp8", ParallelLayout{4, 1, 1, 4}, "v1.0"};
  const std::string text = "bb=2,variant=fp8, tp4 ep4, v1.0";
  const auto named = parse_point(text, both, FactBook::built_in());
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->variant, both[0].variant);
  EXPECT_EQ(named->precision.weight_bytes, 1);
  // Not asked for: the plain one.
  const auto plain = parse_point("bb=2", both, FactBook::built_in());
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_TRUE(plain->variant.empty());
  EXPECT_EQ(plain->precision.weight_bytes, 2);
  const auto grid = parse_grid("bb=1|2|3,variant=fp8, tp4 ep4, v1.0", both, FactBook::built_in());
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 3U);
  EXPECT_EQ(grid->back().variant, both[0].variant);
  EXPECT_FALSE(parse_point("bb=2,variant=fp8, tp2, v1.0", both, FactBook::built_in()));
}

TEST(Points, AcceptsHardwareThatOnlyTheSpecificationsHave) {
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
  EXPECT_THAT(error_of("bb=none,hw=H100,model=Mistral-7B"), HasSubstr("bb needs a whole number"));
  EXPECT_THAT(error_of("bb=1,bb=2"), HasSubstr("given twice"));
  EXPECT_THAT(error_of("96"), HasSubstr("write a point as"));
  EXPECT_THAT(error_of("bb=1:2,hw=H100,model=Mistral-7B"), HasSubstr("--grid"));
}

std::string hardware_error(const std::string& name) {
  return error_of("bb=1,model=Mistral-7B,hw=" + name);
}

TEST(Points, NoHardwareIsAnsweredAsAnother) {
  for (const char* name : {"AMD", "Intel", "Nvidia", "GPU", "A11", "H21", "H10", "100", "B400"})
    EXPECT_FALSE(hardware_error(name).empty()) << name;
  EXPECT_THAT(hardware_error("Nvidia"), HasSubstr("'Nvidia A100 GPU', 'Nvidia H100 GPU'"));
  EXPECT_THAT(hardware_error("H10"), HasSubstr("did you mean 'Nvidia H100 GPU'?"));
  EXPECT_EQ(hardware_error("h100 gpu"), "");
}

TEST(Points, AnotherNumberIsNotWhatWasMeant) {
  EXPECT_THAT(hardware_error("B400"), Not(HasSubstr("did you mean")));
  EXPECT_THAT(hardware_error("AMD"), Not(HasSubstr("did you mean")));
}

TEST(Points, ModelsAreNamedByWholeWords) {
  BenchRow row = rows().front();
  row.model = "org/Big-3.1-70B";
  const auto read = [&](const std::string& model) {
    return parse_point("bb=1,model=" + model, std::vector<BenchRow>{row}, FactBook::built_in())
        .has_value();
  };
  EXPECT_TRUE(read("big-3.1"));
  EXPECT_TRUE(read("Big3.1-70b"));
  EXPECT_FALSE(read("Big-3"));
  EXPECT_FALSE(read("1-70B"));
}

TEST(Points, CountsAreWholeNumbers) {
  for (const char* given : {"bb=1.5", "bb=0", "bb=-1", "bb=1,n=0.5", "bb=1,ii=1.5", "bb=1,len=0.5"})
    EXPECT_THAT(error_of(std::string(given) + ",hw=H100,model=Mistral-7B"),
                HasSubstr("needs a whole number above 0"))
        << given;
  EXPECT_THAT(error_of("bb=1..10*1.5,hw=H100,model=Mistral-7B"), HasSubstr("whole number"));
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

TEST(Points, ListsOfNumbersTakeEitherSign) {
  const std::string rest = ",len=128,hw=H100,model=Mistral-7B";
  const auto colons = parse_grid("bb=1:2:4..6" + rest, rows(), FactBook::built_in());
  const auto bars = parse_grid("bb=1|2|4..6" + rest, rows(), FactBook::built_in());
  ASSERT_TRUE(colons);
  ASSERT_TRUE(bars) << bars.error().message;
  std::vector<double> batches;
  for (const BenchRow& row : *bars) batches.push_back(row.batch);
  EXPECT_EQ(batches, (std::vector<double>{1, 2, 4, 5, 6}));
  EXPECT_EQ(colons->size(), bars->size());
}

TEST(Points, ALongListThatIsNoneIsShownInPartAndSaidHowToWrite) {
  std::string list = "1";
  for (int i = 2; i < 1000; ++i) list += "/" + std::to_string(i);
  const std::string message = error_of("bb=" + list + ",len=128,hw=H100,model=Mistral-7B");
  EXPECT_THAT(message, HasSubstr("'1/2/3/"));
  EXPECT_THAT(message, HasSubstr("ranges 1..9"));
  EXPECT_LT(message.size(), 200u);
}

}  // namespace
}  // namespace assay
