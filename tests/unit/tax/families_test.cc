#include "tax/families.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string family(std::string_view kernel) {
  const KernelFamilies& all = builtin_kernel_families();
  return all.families[all.family_of(kernel)].name;
}

TEST(Families, KeepThePapersNamesAndOrder) {
  const std::vector<std::string> paper = {"Scan (prefix)", "Elem. (unroll)",  "Elem. (vector)",
                                          "Reduce",        "Elem. (generic)", "GEMM (nvjet)",
                                          "GEMM (cuBLAS)"};
  std::vector<std::string> found;
  for (const KernelFamily& one : builtin_kernel_families().families) {
    if (std::find(paper.begin(), paper.end(), one.name) != paper.end()) found.push_back(one.name);
  }
  EXPECT_EQ(found, paper);
}

TEST(Families, OfRealKernelNames) {
  EXPECT_EQ(family("void at_cuda_detail::cub::DeviceScanKernel<P, int>(int)"), "Scan (prefix)");
  EXPECT_EQ(family("void at::native::unrolled_elementwise_kernel<F, Array<char*, 2> >(int)"),
            "Elem. (unroll)");
  EXPECT_EQ(family("void at::native::vectorized_elementwise_kernel<4, AddFunctor<float> >(int)"),
            "Elem. (vector)");
  EXPECT_EQ(family("void at::native::reduce_kernel<512, 1, ReduceOp<float> >(R)"), "Reduce");
  EXPECT_EQ(family("void at::native::elementwise_kernel<128, 2, F>(int, F)"), "Elem. (generic)");
  EXPECT_EQ(family("nvjet_hsh_128x128_64x5_2x1_v_bz_TNT"), "GEMM (nvjet)");
  EXPECT_EQ(family("void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm>(P)"),
            "GEMM (cuBLAS)");
  EXPECT_EQ(family("ampere_sgemm_128x64_tn"), "GEMM (cuBLAS)");
  EXPECT_EQ(family("Cijk_Ailk_Bljk_HHS_BH_MT32x32x64"), "GEMM (ROCm)");
  EXPECT_EQ(family("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)"), "Communication");
  EXPECT_EQ(family("void pytorch_flash::flash_fwd_kernel<T<128, cutlass::half_t> >(F)"),
            "Attention");
  EXPECT_EQ(family("Memcpy DtoD (Device -> Device)"), "Copy, fill");
  EXPECT_EQ(family("something_else"), "Other");
}

TEST(Library, IsByPatternUnlessNative) {
  const KernelFamilies& all = builtin_kernel_families();
  EXPECT_TRUE(all.is_library("void cutlass::Kernel2<x>(P)"));
  EXPECT_TRUE(all.is_library("void cuBLASLt::splitKreduce_kernel<32>(P)"));
  EXPECT_TRUE(all.is_library("void cudnn::bn_fw_tr_1C11_singleread<float>(P)"));
  EXPECT_TRUE(all.is_library("Cijk_Ailk_Bljk"));
  EXPECT_FALSE(all.is_library("nvjet_hsh_128x128_cublas"));
  EXPECT_FALSE(all.is_library("volta_fp16_s884gemm_fp16_cublas"));
  EXPECT_FALSE(all.is_library("ampere_sgemm_128x64_tn"));
  EXPECT_FALSE(all.is_library("gemv2T_kernel_val"));
}

TEST(Library, OperatorsAreAHintOfTheirOwn) {
  const KernelFamilies& all = builtin_kernel_families();
  EXPECT_TRUE(all.is_library_op("aten::addmm"));
  EXPECT_TRUE(all.is_library_op("aten::_scaled_dot_product_flash_attention"));
  EXPECT_FALSE(all.is_library_op("aten::mm_out"));
}

TEST(UserPatterns, GoFirst) {
  const auto extended = extend_kernel_families(builtin_kernel_families(),
                                               "# mine\n"
                                               "family \"Mine # 1\": My_Kernel, other  # two\n"
                                               "\n"
                                               "  family \"GEMM (nvjet)\": special_gemm\r\n"
                                               "library: nvjet\n"
                                               "native: cutlass_small\n"
                                               "library-op: mylib::mm*\n");
  ASSERT_TRUE(extended) << extended.error().describe();
  const auto name = [&](std::string_view kernel) {
    return extended->families[extended->family_of(kernel)].name;
  };
  EXPECT_EQ(name("prefix_my_kernel_2"), "Mine # 1");
  EXPECT_EQ(name("special_gemm_x"), "GEMM (nvjet)");
  // One family, wherever its patterns stand.
  EXPECT_EQ(extended->family_of("special_gemm_x"), extended->family_of("nvjet_hsh"));
  EXPECT_TRUE(extended->is_library("nvjet_hsh"));
  EXPECT_FALSE(extended->is_library("cutlass_small_kernel"));
  EXPECT_TRUE(extended->is_library("cutlass_large_kernel"));
  EXPECT_TRUE(extended->is_library_op("mylib::mm_fp8"));
}

TEST(UserPatterns, ErrorsNameLineAndReason) {
  const auto error = [](std::string_view text) {
    const auto extended = extend_kernel_families(builtin_kernel_families(), text);
    return extended ? std::string("no error") : extended.error().message;
  };
  EXPECT_NE(error("\nfamly \"A\": x").find("line 2: starts with \"famly\""), std::string::npos);
  EXPECT_NE(error("family A: x").find("line 1: a family needs a name"), std::string::npos);
  EXPECT_NE(error("family \"A: x").find("line 1: a family needs a name"), std::string::npos);
  EXPECT_NE(error("family \" \": x").find("is empty"), std::string::npos);
  EXPECT_NE(error("library x").find("colon"), std::string::npos);
  EXPECT_NE(error("native: a,,b").find("empty pattern"), std::string::npos);
  EXPECT_NE(error("library:").find("empty pattern"), std::string::npos);
  EXPECT_NE(error("library: a\nnative: a").find("line 2: a pattern cannot be both"),
            std::string::npos);
  EXPECT_EQ(error(""), "no error");
}

TEST(CleanName, CutsTypesArgumentsAndScopes) {
  EXPECT_EQ(clean_kernel_name("void at::native::vectorized_elementwise_kernel<4, F>(int, F)"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(clean_kernel_name("void at::native::(anonymous namespace)::foo<int>(int)"), "foo");
  EXPECT_EQ(clean_kernel_name("nvjet_hsh_128x128"), "nvjet_hsh_128x128");
  EXPECT_EQ(clean_kernel_name(""), "");
}

TEST(CleanName, GenericNamesGetTheirScopeAndMarkersStay) {
  EXPECT_EQ(clean_kernel_name("void cutlass::Kernel2<cutlass_80_wmma_tensorop>(P)"),
            "cutlass_Kernel2_gemm");
  EXPECT_EQ(clean_kernel_name("void cublasLt::splitKreduce_kernel<32, 16>(P)"),
            "splitKreduce_kernel_gemm");
  EXPECT_EQ(clean_kernel_name("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn");
  EXPECT_EQ(clean_kernel_name("void foo<sm80_tile>(P)"), "foo_sm80");
  EXPECT_EQ(clean_kernel_name("void pytorch_flash::flash_fwd_kernel<T<cutlass::half_t> >(F)"),
            "flash_fwd_kernel");
  EXPECT_EQ(clean_kernel_name("void cutlass::device_kernel<flash::enable_sm90<X> >(P)"),
            "cutlass_device_kernel_flash_sm90");
  EXPECT_EQ(clean_kernel_name("void ns::Foo<int>::run(int)"), "Foo_run");
}

}  // namespace
}  // namespace assay
