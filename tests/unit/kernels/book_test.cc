#include "kernels/book.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/names.h"
#include "kernels/views.h"

namespace assay {
namespace {

// A row of tests/data/kernel_names.tsv: a name, and what a person read in it.
struct ReadName {
  std::string name, source, kind, family, collective, vendor_library, held_out, reason,
      paper_library;
};

std::vector<ReadName> read_names() {
  std::ifstream file(ASSAY_SOURCE_DIR "/tests/data/kernel_names.tsv");
  std::vector<ReadName> rows;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    ReadName row;
    for (std::string* cell :
         {&row.name, &row.source, &row.kind, &row.family, &row.collective, &row.vendor_library,
          &row.held_out, &row.reason, &row.paper_library}) {
      std::getline(cells, *cell, '\t');
    }
    rows.push_back(row);
  }
  return rows;
}

KernelFacts facts(std::string_view name) { return KernelBook::built_in()->classify(name); }
std::string kind(std::string_view name) { return std::string(kernel_kind_name(facts(name).kind)); }
std::string family(std::string_view name) {
  return KernelBook::built_in()->families()[facts(name).family];
}

// Names on which the table and the person disagree, and are left to.
const std::set<std::string> kDisagreements = {};

TEST(KernelBook, AgreesWithWhatAPersonRead) {
  const std::vector<ReadName> rows = read_names();
  ASSERT_GE(rows.size(), 1500u);
  std::set<std::string> distinct;
  size_t agree = 0;
  for (const ReadName& row : rows) {
    distinct.insert(row.name);
    const KernelFacts found = facts(row.name);
    const std::vector<std::string> told = {
        std::string(kernel_kind_name(found.kind)), KernelBook::built_in()->families()[found.family],
        found.collective, found.vendor_library ? "1" : "0", found.paper_library ? "1" : "0"};
    const std::vector<std::string> read = {row.kind, row.family, row.collective, row.vendor_library,
                                           row.paper_library};
    agree += told == read ? 1 : 0;
    if (!kDisagreements.contains(row.name)) {
      EXPECT_EQ(told, read) << row.name;
    }
  }
  EXPECT_EQ(distinct.size(), rows.size());
  EXPECT_GE(agree * 100, rows.size() * 98);
}

TEST(KernelBook, NamesThatSubstringsMisclassify) {
  EXPECT_EQ(
      kind("void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(std::enable_if<(((8)>(0))) "
           "&& vllm::_typeConvert<c10::BFloat16>::exists, void>::type)"),
      "norm");
  EXPECT_EQ(kind("void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<"
                 "cutlass::bfloat16_t, __nv_bfloat16>(cutlass::bfloat16_t const*)"),
            "moe");
  EXPECT_FALSE(
      facts("void pytorch_flash::flash_fwd_kernel<T<128, cutlass::half_t> >(F)").vendor_library);
  EXPECT_EQ(facts("multimem_all_reduce_kernel").collective, "all_reduce");
  EXPECT_EQ(kind("bmm_E4m3_E4m3E4m3_Fp32_t128x8x128_s6_et128x8_m64x8x32_TN_sm100a"), "gemm");
  EXPECT_EQ(kind("nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT"), "gemm");
  EXPECT_EQ(kind("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw"),
            "conv");
  EXPECT_EQ(kind("my_typeConverter"), "other");
}

TEST(KernelBook, SaysHowItFound) {
  EXPECT_EQ(facts("nvjet_hsh_128x128").found, FoundBy::kRow);
  EXPECT_GT(facts("nvjet_hsh_128x128").line, 0u);
  EXPECT_EQ(facts("my_fast_gemm_v2").found, FoundBy::kRow);
  EXPECT_EQ(facts("my_matvec_v2").found, FoundBy::kGuess);
  EXPECT_EQ(facts("update_halo").found, FoundBy::kNothing);
  EXPECT_EQ(facts("").found, FoundBy::kNothing);
  EXPECT_EQ(kind(""), "other");
}

TEST(KernelBook, TypesTagsAndLibraries) {
  EXPECT_EQ(facts("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64").data_type, "bf16");
  EXPECT_EQ(facts("ampere_sgemm_128x64_tn").data_type, "fp32");
  EXPECT_EQ(facts("Cijk_Ailk_Bljk_HHS_BH_MT32x32x64").data_type, "fp16");
  EXPECT_EQ(facts("volta_dgemm_64x64_nn").data_type, "fp64");
  EXPECT_EQ(facts("ampere_fp16_s1688gemm_fp16_256x64_ldg8_f2f_tn").data_type, "fp16");
  EXPECT_EQ(facts("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1>("
                  "cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1::Params)")
                .data_type,
            "tf32");
  EXPECT_EQ(facts("void foo<double>(double*)").data_type, "fp64");
  EXPECT_EQ(facts("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256").tags,
            std::vector<std::string>{"bias"});
  EXPECT_EQ(facts("void cublasLt::splitKreduce_kernel<32, 16>(P)").library, "cublaslt");
  EXPECT_EQ(facts("Cijk_Ailk_Bljk_HHS_BH_MT32x32x64").library, "tensile");
  EXPECT_EQ(facts("gemm:2048:fp32").data_type, "fp32");
}

TEST(KernelBook, NamesOfGradientsShowTheBackwardPass) {
  for (const char* name :
       {"void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64> >(P)",
        "void cudnn::bn_bw_1C11_singleread<float, 512, true>(P)",
        "sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
        "void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(int)",
        "void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::"
        "gpu_kernel_impl_nocast<at::native::mse_backward_cuda_kernel(at::TensorIterator&, "
        "c10::Scalar const&)::{lambda()#1}> >(int)",
        "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<float, "
        "float>(float const*)",
        "triton_per_fused__softmax_backward_data_3", "naive_conv_wrw_nchw_float_double_float",
        "triton_poi_fused_threshold_backward_3", "_layer_norm_bwd_dx_fused"}) {
    EXPECT_EQ(named_pass(facts(name)), NamedPass::kBackward) << name;
  }
  for (const char* name :
       {"void cudnn::cnn::dgrad2d_grouped_direct_kernel<__half, int>(P)",
        "sm80_xmma_dgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
        "naive_conv_bwd_nchw_float_double_float", "xdlops_bwd_conv_fp16",
        "igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x128x32"}) {
    EXPECT_EQ(named_pass(facts(name)), NamedPass::kDataGradient) << name;
  }
  for (const char* name :
       {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64> >(P)", "ampere_sgemm_128x64_tn",
        "void at::native::(anonymous namespace)::indexing_backward_kernel<float, 4>(long const*)",
        "void at::native::indexing_backward_kernel_stride_1<float>(long const*)",
        "void cudnn::bn_fw_tr_1C11_singleread<float>(P)", "reverse_sequence", "gradient_of_image",
        "void multi_tensor_apply_kernel<TensorListMetadata<2>, ScaleFunctor<float, float>>(int)"}) {
    EXPECT_EQ(named_pass(facts(name)), NamedPass::kNone) << name;
  }
}

TEST(KernelBook, VendorLibrariesAreThoseThatLaunchTheKernel) {
  for (const char* name : {"void cutlass::Kernel2<x>(P)", "nvjet_tst_128x64_64x10_1x2_h_bz_TNT",
                           "void cuBLASLt::splitKreduce_kernel<32>(P)", "gemv2T_kernel_val",
                           "void cudnn::bn_fw_tr_1C11_singleread<float>(P)", "Cijk_Ailk_Bljk",
                           "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_32",
                           "volta_fp16_s884gemm_fp16_cublas", "ampere_sgemm_128x64_tn"}) {
    EXPECT_TRUE(facts(name).vendor_library) << name;
  }
  for (const char* name : {"void at::native::reduce_kernel<512, 1>(P)", "triton_poi_fused_add_0",
                           "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgs)",
                           "void flash::flash_fwd_kernel<cutlass::half_t>(P)"}) {
    EXPECT_FALSE(facts(name).vendor_library) << name;
  }
}

TEST(KernelBook, VendorLibrariesByThePapersConvention) {
  EXPECT_TRUE(facts("void cutlass::Kernel2<x>(P)").paper_library);
  EXPECT_TRUE(facts("void cuBLASLt::splitKreduce_kernel<32>(P)").paper_library);
  EXPECT_TRUE(facts("void cudnn::bn_fw_tr_1C11_singleread<float>(P)").paper_library);
  EXPECT_TRUE(facts("Cijk_Ailk_Bljk").paper_library);
  EXPECT_FALSE(facts("nvjet_hsh_128x128_cublas").paper_library);
  EXPECT_FALSE(facts("volta_fp16_s884gemm_fp16_cublas").paper_library);
  EXPECT_FALSE(facts("ampere_sgemm_128x64_tn").paper_library);
  EXPECT_FALSE(facts("gemv2T_kernel_val").paper_library);
  const KernelBook& book = *KernelBook::built_in();
  EXPECT_TRUE(book.is_vendor_op("aten::addmm"));
  EXPECT_TRUE(book.is_vendor_op("aten::_scaled_dot_product_flash_attention"));
  EXPECT_FALSE(book.is_vendor_op("aten::mm_out"));
}

TEST(KernelBook, KeepsThePapersFamilies) {
  const std::vector<std::string> paper = {"Scan (prefix)", "Elem. (unroll)",  "Elem. (vector)",
                                          "Reduce",        "Elem. (generic)", "GEMM (nvjet)",
                                          "GEMM (cuBLAS)"};
  std::vector<std::string> found;
  for (const std::string& one : KernelBook::built_in()->families()) {
    if (std::find(paper.begin(), paper.end(), one) != paper.end()) found.push_back(one);
  }
  EXPECT_EQ(found, paper);
  EXPECT_EQ(KernelBook::built_in()->families().back(), "Other");
  EXPECT_EQ(family("void at::native::unrolled_elementwise_kernel<F, Array<char*, 2> >(int)"),
            "Elem. (unroll)");
  EXPECT_EQ(family("void at::native::elementwise_kernel<128, 2, F>(int, F)"), "Elem. (generic)");
  EXPECT_EQ(family("Memcpy DtoD (Device -> Device)"), "Copy, fill");
  EXPECT_EQ(family("something_else"), "Other");
}

TEST(KernelBook, CollectivesOfTexts) {
  const KernelBook& book = *KernelBook::built_in();
  EXPECT_EQ(book.collective_of("_allgather_base"), "all_gather");
  EXPECT_EQ(book.collective_of("nccl:all_reduce"), "all_reduce");
  EXPECT_EQ(book.collective_of("c10d::reduce_scatter_"), "reduce_scatter");
  EXPECT_EQ(book.collective_of("nccl:all_to_all"), "all_to_all");
  EXPECT_EQ(book.collective_of("alltoallv"), "all_to_all");
  EXPECT_EQ(book.collective_of("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)"),
            "all_reduce");
  EXPECT_EQ(book.collective_of("record_param_comms"), "collective");
  EXPECT_TRUE(all_wait("all_reduce"));
  EXPECT_FALSE(all_wait("ep_dispatch"));
}

TEST(KernelBook, HostileNamesAreAnswered) {
  for (const std::string& name :
       {std::string(100'000, 'g'), "gemm<" + std::string(100'000, '<'),
        std::string(50'000, '(') + "nccl" + std::string(50'000, ')'),
        "_ZN" + std::string(100'000, 'S'), std::string("\xff\xfe\x00gemm", 7),
        std::string("void ::::<>::(")}) {
    EXPECT_LT(static_cast<size_t>(facts(name).kind), kKernelKinds);
  }
}

// ---- a user's file -----------------------------------------------------------------------------

KernelBook with(std::string_view text) {
  KernelBook book = *KernelBook::built_in();
  const Status added = book.add(text, "mine.txt");
  EXPECT_TRUE(added) << added.error().describe();
  return book;
}

TEST(UserKernels, GoFirst) {
  const KernelBook book = with(
      "# mine\n"
      "kind attention: update_halo  # two\n"
      "kind norm: ns=acme fn=^step\n"
      "  |^stride, ns=acme2\r\n"
      "family \"Mine # 1\": kind=norm library=acme\n"
      "family \"GEMM (nvjet)\": special\n"
      "library acme: ns=acme\n"
      "tag fast: update_halo\n"
      "vendor: ^nvjet\n"
      "native: ^cutlass_small\n"
      "vendor-op: mylib::mm*\n");
  const KernelFacts halo = book.classify("update_halo");
  EXPECT_EQ(halo.kind, KernelKind::kAttention);
  EXPECT_TRUE(halo.by_user);
  EXPECT_EQ(halo.line, 2u);
  EXPECT_EQ(halo.tags, std::vector<std::string>{"fast"});
  EXPECT_EQ(book.classify("acme::step_1").kind, KernelKind::kNorm);
  EXPECT_EQ(book.classify("acme::stride").kind, KernelKind::kNorm);
  EXPECT_EQ(book.classify("acme2::any").kind, KernelKind::kNorm);
  EXPECT_EQ(book.classify("acme::stepping").kind, KernelKind::kOther);
  EXPECT_EQ(book.families()[book.classify("acme::step_1").family], "Mine # 1");
  // One family, wherever its rows stand.
  EXPECT_EQ(book.classify("special").family, book.classify("nvjet_hsh").family);
  EXPECT_TRUE(book.classify("nvjet_hsh").vendor_library);
  EXPECT_FALSE(book.classify("cutlass_small_kernel").vendor_library);
  EXPECT_TRUE(book.classify("cutlass_large_kernel").vendor_library);
  EXPECT_TRUE(book.is_vendor_op("mylib::mm_fp8"));
  EXPECT_FALSE(facts("nvjet_hsh").by_user);
}

TEST(UserKernels, ErrorsNameFileLineAndReason) {
  const auto error = [](std::string_view text) {
    KernelBook book;
    const Status added = book.add(text, "mine.txt");
    return added ? std::string("no error") : added.error().describe();
  };
  const auto says = [&](std::string_view text, const std::string& what) {
    EXPECT_NE(error(text).find(what), std::string::npos) << error(text);
  };
  says("\nfamly \"A\": x", "mine.txt: kernel table, line 2: starts with \"famly\"");
  says("family A: x", "line 1: a family has a name in double quotes");
  says("kind gem: x", "\"gem\" is not a kind; there are other, gemm");
  says("kind gemm perhaps: x", "\"perhaps\" is not understood");
  says("kind: x", "the value of the row is missing");
  says("vendor x: y", "takes no value");
  says("kind gemm x", "colon");
  says("native: a,,b", "an empty pattern");
  says("native:", "an empty pattern");
  says("native: a|", "no word");
  says("native: !fn=a", "denials alone");
  says("native: place=a", "\"place\" is no place of a name");
  says("native: *a*", "'*' goes to one side");
  says("native: a-b", "words are letters, digits and '_'");
  says("tag x: a\n\n  |b,\n", "line 1: an empty pattern");
  says("vendor-op: *", "an empty operator");
  EXPECT_EQ(error(""), "no error");
}

// ---- words -------------------------------------------------------------------------------------

TEST(Words, AreWhole) {
  const auto matches = [](std::string_view pattern, std::string_view name) {
    const auto words = WordPattern::parse(pattern);
    EXPECT_TRUE(words) << pattern;
    WordText text;
    text.add(name);
    return words->matches(text);
  };
  for (const char* name :
       {"layer_norm", "LayerNorm", "layernorm", "cuApplyLayerNorm", "LAYER_NORM2"})
    EXPECT_TRUE(matches("layer_norm", name)) << name;
  EXPECT_FALSE(matches("norm", "normalize"));
  EXPECT_FALSE(matches("conv", "typeConvert"));
  EXPECT_TRUE(matches("gemm", "s16816gemm_fp16"));
  EXPECT_TRUE(matches("fp16", "s16816gemm_fp16"));
  EXPECT_FALSE(matches("gemm", "ampere_sgemm_32"));
  EXPECT_TRUE(matches("*gemm", "ampere_sgemm_32"));
  EXPECT_TRUE(matches("conv*", "convolve_1"));
  EXPECT_FALSE(matches("^conv", "my_conv"));
  EXPECT_TRUE(matches("^my_conv$", "my_conv"));
  EXPECT_FALSE(matches("^my$", "my_conv"));
  EXPECT_TRUE(matches("kernel", "CUDAKernel"));
}

// ---- views -------------------------------------------------------------------------------------

TEST(KernelViews, SayTheSameOfEveryName) {
  const std::map<KernelKind, OpType> types = {
      {KernelKind::kGemm, OpType::kGemm},           {KernelKind::kConv, OpType::kGemm},
      {KernelKind::kAttention, OpType::kAttention}, {KernelKind::kCommunication, OpType::kComm},
      {KernelKind::kCopy, OpType::kCopy},           {KernelKind::kOther, OpType::kOther}};
  for (const ReadName& row : read_names()) {
    const KernelFacts found = facts(row.name);
    const auto type = types.find(found.kind);
    EXPECT_EQ(op_type(found), type == types.end() ? OpType::kVector : type->second) << row.name;
    const bool collective = found.kind == KernelKind::kCommunication;
    EXPECT_EQ(fusion_kind(found) == FusionKind::kCollective, collective) << row.name;
    EXPECT_EQ(family(row.name) == kCommunicationFamily, collective) << row.name;
    EXPECT_EQ(found.collective.empty(), !collective) << row.name;
    EXPECT_EQ(family(row.name) == "Attention", found.kind == KernelKind::kAttention) << row.name;
    EXPECT_EQ(family(row.name) == "Convolution", found.kind == KernelKind::kConv) << row.name;
    EXPECT_EQ(family(row.name).starts_with("GEMM"), found.kind == KernelKind::kGemm) << row.name;
    EXPECT_EQ(is_compute(found), op_type(found) != OpType::kComm) << row.name;
    EXPECT_EQ(found.found == FoundBy::kNothing, family(row.name) == "Other") << row.name;
  }
}

TEST(FusionView, IsReadOffTheName) {
  const auto kind = [](std::string_view name) {
    return fusion_kind_name(fusion_kind(KernelBook::built_in()->classify(name)));
  };
  EXPECT_EQ(kind("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
                 "c10::BFloat16>, std::array<char*, 3ul> >(int)"),
            "elementwise");
  EXPECT_EQ(kind("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
                 "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)> >"),
            "copy");
  EXPECT_EQ(kind("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >"),
            "reduction");
  EXPECT_EQ(kind("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>"),
            "reduction");
  EXPECT_EQ(kind("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"), "library");
  EXPECT_EQ(kind("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256"), "library");
  EXPECT_EQ(kind("void pytorch_flash::flash_fwd_kernel<traits>"), "library");
  EXPECT_EQ(kind("void cudnn::engines_precompiled::nchwToNhwcKernel<float>"), "copy");
  EXPECT_EQ(kind("triton_poi_fused_add_cos_sin_0"), "generated");
  EXPECT_EQ(kind("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "collective");
  EXPECT_EQ(kind("my_kernel"), "other");
}

TEST(KernelNames, AskOncePerNameAndTally) {
  StringPool strings;
  const StringId gemm = strings.intern("nvjet_hsh");
  const StringId guess = strings.intern("my_matvec");
  const StringId untold = strings.intern("update_halo");
  const StringId absent = strings.intern("ncclDevKernel_Generic");
  const std::vector<StringId> rows = {gemm, guess, untold, gemm, StringId(), guess};
  const KernelNames names(strings, rows, KernelBook::built_in());
  EXPECT_EQ(names.of(gemm).kind, KernelKind::kGemm);
  EXPECT_EQ(names.of(absent).kind, KernelKind::kOther);
  EXPECT_EQ(names.of(StringId()).kind, KernelKind::kOther);
  KernelTally tally;
  for (const StringId row : rows) {
    if (row) tally.add(row, names.of(row), 10);
  }
  EXPECT_EQ(tally.guessed().names, 1u);
  EXPECT_EQ(tally.guessed().kernels, 2u);
  EXPECT_EQ(tally.guessed().dur_ns, 20);
  EXPECT_EQ(tally.untold().names, 1u);
  EXPECT_EQ(tally.untold().dur_ns, 10);
}

}  // namespace
}  // namespace assay
