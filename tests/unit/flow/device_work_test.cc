#include "flow/device_work.h"

#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

std::shared_ptr<const KernelNames> names_of(const Trace& trace) {
  return given_or_built_in(nullptr, trace.strings, trace.activities.name);
}

// mul 10, add 30, norm 20 | gemm | mul 5 | gemm | mul 7, copy (no kernel), mul 7; on another stream a mul between.
TEST(KernelChains, OneOfEachChainStays) {
  constexpr const char* kMul = "void at::native::elementwise_kernel<MulFunctor>";
  testing::TraceMaker maker;
  maker.kernel(0, 7, kMul, 0, 10, 1)
      .kernel(0, 7, kMul, 10, 30, 2)
      .kernel(0, 8, kMul, 15, 9, 3)
      .kernel(0, 7, "void at::native::vectorized_layer_norm_kernel<float>", 40, 20, 4)
      .kernel(0, 7, "ampere_sgemm_128x64_nn", 60, 100, 5)
      .kernel(0, 7, kMul, 160, 5, 6)
      .kernel(0, 7, "ampere_sgemm_128x64_nn", 170, 100, 7)
      .kernel(0, 7, kMul, 300, 7, 8)
      .kernel(0, 7, kMul, 310, 7, 9);
  const Trace trace = maker.build();
  const KernelChains chains = kernel_chains(trace, {0, 1000}, *names_of(trace));
  EXPECT_EQ(chains.chains, 2U);
  EXPECT_EQ(chains.kernels, 5U);
  EXPECT_EQ(chains.ns, 74);
  EXPECT_EQ(chains.saves_ns, (60 - 30) + (14 - 7));
  ASSERT_EQ(chains.names.size(), 3U);
  EXPECT_EQ(trace.text(chains.names[0]), kMul);
  EXPECT_EQ(chains.runs, 1U);
  EXPECT_EQ(kernel_chains(trace, {0, 40}, *names_of(trace)).saves_ns, 10);
  EXPECT_EQ(kernel_chains(trace, {400, 900}, *names_of(trace)).chains, 0U);
}

TEST(Compiled, GeneratedKernelsTakeAsLongAsThoseOfPyTorch) {
  const auto compiled = [](int64_t generated_ns, int64_t own_ns) {
    testing::TraceMaker maker;
    maker.kernel(0, 7, "triton_poi_fused_add_mul_0", 0, generated_ns, 1)
        .kernel(0, 7, "void at::native::elementwise_kernel<MulFunctor>", 1000, own_ns, 2)
        .kernel(0, 7, "ampere_sgemm_128x64_nn", 2000, 500, 3);
    const Trace trace = maker.build();
    return is_compiled(trace, *names_of(trace));
  };
  EXPECT_TRUE(compiled(50, 50));
  EXPECT_FALSE(compiled(49, 50));
  EXPECT_FALSE(compiled(0, 0));
}

TEST(ProductWork, ProductsCountByTheirType) {
  testing::TraceMaker maker;
  maker.kernel(0, 7, "ampere_sgemm_128x64_nn", 0, 100, 1)
      .kernel(0, 7, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn", 100, 50, 2)
      .kernel(0, 7, "void at::native::elementwise_kernel<float>", 200, 30, 3);
  const Trace trace = maker.build();
  const ProductWork work = product_work(trace, {0, 1000}, *names_of(trace));
  EXPECT_EQ(work.fp32.ns, 100);
  EXPECT_EQ(work.fp32.kernel, "ampere_sgemm_128x64_nn");
  EXPECT_EQ(work.half.ns, 50);
  EXPECT_EQ(work.half.kernel, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn");
  EXPECT_FALSE(matrix_types(trace).known) << "no device is named";
}

}  // namespace
}  // namespace assay
