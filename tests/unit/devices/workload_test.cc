#include "devices/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(Workload, SquareGemmHasItsOperationsAndBytes) {
  const auto work = parse_workload("gemm:2048");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->kind, WorkloadKind::kGemm);
  EXPECT_EQ(work->type, DataType::kBf16);
  // 2 x 2048^3 and three matrices of 2048^2 x 2 bytes.
  EXPECT_DOUBLE_EQ(work->flop, 17179869184.0);
  EXPECT_DOUBLE_EQ(work->bytes, 25165824.0);
}

TEST(Workload, OperationsPerByteAreThoseOfTheSpec) {
  // spec/power 2.4: BF16 GEMM N/3: 2731, 1365, 683; GEMV about 1.
  const double want[] = {2731, 1365, 683};
  const char* text[] = {"gemm:8192", "gemm:4096", "gemm:2048"};
  for (int i = 0; i < 3; ++i) {
    const auto work = parse_workload(text[i]);
    ASSERT_TRUE(work);
    EXPECT_EQ(std::round(work->flop / work->bytes), want[i]);
  }
  const auto gemv = parse_workload("gemv:8192");
  ASSERT_TRUE(gemv);
  EXPECT_NEAR(gemv->flop / gemv->bytes, 1, 0.001);
}

TEST(Workload, RectanglesTypesAndVectors) {
  const auto gemm = parse_workload(" gemm:128x256x512:f32 ");
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->m, 128);
  EXPECT_EQ(gemm->n, 256);
  EXPECT_EQ(gemm->k, 512);
  EXPECT_EQ(gemm->type, DataType::kF32);
  EXPECT_EQ(gemm->text, "gemm:128x256x512:f32");
  const auto gemv = parse_workload("gemv:100x200:f16");
  ASSERT_TRUE(gemv);
  EXPECT_EQ(gemv->m, 100);
  EXPECT_EQ(gemv->n, 1);
  EXPECT_EQ(gemv->k, 200);
}

TEST(Workload, CopiesMoveEveryByteTwiceAndTriadsThreeArrays) {
  const auto copy = parse_workload("copy:1GiB");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->array_bytes, 1073741824);
  EXPECT_DOUBLE_EQ(copy->bytes, 2147483648.0);
  const auto triad = parse_workload("triad:4MB");
  ASSERT_TRUE(triad);
  EXPECT_DOUBLE_EQ(triad->bytes, 12e6);
  EXPECT_DOUBLE_EQ(triad->flop, 2e6);  // a multiply and an add per 4-byte element
}

TEST(Workload, CollectivesHaveBytesAndAType) {
  const auto reduce = parse_workload("all_reduce:512MB");
  ASSERT_TRUE(reduce);
  EXPECT_EQ(reduce->kind, WorkloadKind::kAllReduce);
  EXPECT_EQ(reduce->array_bytes, 512'000'000);
  EXPECT_EQ(reduce->type, DataType::kBf16);
  // How much is moved depends on how many GPUs take part.
  EXPECT_TRUE(std::isnan(reduce->bytes));
  EXPECT_TRUE(std::isnan(reduce->flop));
  const auto gather = parse_workload("all_gather:64KiB:f32");
  ASSERT_TRUE(gather);
  EXPECT_EQ(gather->kind, WorkloadKind::kAllGather);
  EXPECT_EQ(gather->array_bytes, 65'536);
  EXPECT_EQ(gather->type, DataType::kF32);
  for (const char* wrong : {"all_reduce:3", "all_reduce:6:f32", "all_gather:", "all_gather:1KB:i8",
                            "all_reduce:1KB:f32:2", "all_to_all:1KB"}) {
    EXPECT_FALSE(parse_workload(wrong)) << wrong;
  }
}

TEST(Workload, UsersKernelsHaveAFileAndAName) {
  const auto work = parse_workload("cu:/a/b:c.cu:kernel");
  ASSERT_TRUE(work);
  EXPECT_EQ(work->kind, WorkloadKind::kCudaSource);
  EXPECT_EQ(work->file, "/a/b:c.cu");
  EXPECT_EQ(work->symbol, "kernel");
  EXPECT_TRUE(std::isnan(work->flop));
}

TEST(Workload, ListsCountTheirSteps) {
  const auto steps = parse_workload_list("60*gemm:2048 , 1*gemm:8192");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[0].count, 60U);
  EXPECT_EQ((*steps)[0].workload.text, "gemm:2048");
  EXPECT_EQ((*steps)[1].count, 1U);
  EXPECT_EQ((*steps)[1].workload.text, "gemm:8192");
}

TEST(Workload, ACommandLineKeepsItsCommas) {
  const auto steps = parse_workload_list("3*gemm:64, cmd:./a --x 1,2, b");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ((*steps)[1].workload.command, "./a --x 1,2, b");
}

TEST(Workload, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"gemm", "write gemm:N"},
      {"gemm:", "sizes are gemm:N"},
      {"gemm:0", "sizes are gemm:N"},
      {"gemm:2x3", "sizes are gemm:N"},
      {"gemm:-5", "sizes are gemm:N"},
      {"gemm:8:int3", "f16, bf16, f32, f64"},
      {"gemm:9999999", "1048576"},
      {"gemv:1x2x3", "gemv:MxK"},
      {"copy:1TiB", "KiB, MiB, GiB"},
      {"copy:9999999999999GiB", "KiB, MiB, GiB"},
      {"so:lib.so", "FILE:NAME"},
      {"cmd:", "command line is missing"},
      {"0*gemm:64", "from 1 to 1000000"},
      {"5 gemm:64", "60*gemm:2048"},
      {"gemm:64,,gemm:8", "empty"},
      {"2*gemm:64", "its count is 1"},
      {"", "empty"},
  };
  for (const auto& [text, says] : cases) {
    const auto steps = parse_workload_list(text);
    ASSERT_FALSE(steps) << text;
    EXPECT_THAT(steps.error().message, HasSubstr(says)) << text;
  }
}

}  // namespace
}  // namespace assay
