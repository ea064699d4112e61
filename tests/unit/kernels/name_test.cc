#include "kernels/name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

struct Name {
  std::string_view full;
  std::string_view brief;      // short_kernel_name
  std::string_view described;  // describe_kernel
};

constexpr Name kNames[] = {
    {"void at::native::foo<float, (int)4>(float*, int)", "at::native::foo", "at::native::foo"},
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
    {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN",
     "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN",
     "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN"},
    {"triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0"},
    {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)",
     "Memcpy HtoD (Pinned -> Device)"},
    {"Memset (Device)", "Memset (Device)", "Memset (Device)"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, 9, false>(float*, int)",
     "(anonymous namespace)::softmax_warp_forward", "(anonymous namespace)::softmax_warp_forward"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2>(float*)",
     "at::native::(anonymous namespace)::CatArrayBatchedCopy",
     "at::native::(anonymous namespace)::CatArrayBatchedCopy"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu>(cutlass_80::Params)",
     "cutlass::Kernel2", "Kernel2[cutlass_80_tensorop_f16_s16816gemm_relu]"},
    {"Kernel", "Kernel", "Kernel"},
    // One functor each, behind a width, a wrapper, a wrapper of a wrapper, a lambda.
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
     "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
     "at::detail::Array<char*, 3>)",
     "at::native::vectorized_elementwise_kernel", "vectorized_elementwise_kernel[CUDAFunctor_add]"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
     "BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >"
     "(at::TensorIteratorBase&, at::native::BUnaryFunctor<float, float, float, at::native::"
     "binary_internal::MulFunctor<float> > const&)::{lambda(int)#1}>(int, at::native::"
     "gpu_kernel_impl<float>)",
     "at::native::elementwise_kernel", "elementwise_kernel[MulFunctor]"},
    {"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
     "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::"
     "{lambda()#7}::operator()() const::{lambda(float)#1}>(at::TensorIteratorBase&)::"
     "{lambda(int)#1}>(int)",
     "at::native::elementwise_kernel", "elementwise_kernel[direct_copy_kernel_cuda]"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
     "masked_fill_kernel(at::TensorIterator&, c10::Scalar const&)::{lambda()#1}::operator()() "
     "const::{lambda(long, bool)#1}, std::array<char*, 3ul> >(int)",
     "at::native::vectorized_elementwise_kernel",
     "vectorized_elementwise_kernel[masked_fill_kernel]"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<double, at::native::"
     "func_wrapper_t<double, at::native::sum_functor<double, double, double>::operator()"
     "(at::TensorIterator&)::{lambda(double, double)#1}>, unsigned int, double, 4> >(int)",
     "at::native::reduce_kernel", "reduce_kernel[sum_functor]"},
    {"void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::"
     "_cuda_scatter_gather_internal_kernel<true, float>::operator()<at::native::ReduceAdd>"
     "(at::TensorIterator&)::{lambda(int)#1}>(int)",
     "at::native::_scatter_gather_elementwise_kernel",
     "_scatter_gather_elementwise_kernel[ReduceAdd]"},
    {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float, int>, float>"
     "(long)",
     "multi_tensor_apply_kernel", "multi_tensor_apply_kernel[AdamFunctor]"},
    // Loops of a program's own, given the lambda of a function, in three spellings.
    {"void clover::par_ranged2d_kernel<PdV_kernel(bool, int, clover::Buffer2D<double> &)::[lambda("
     "int, int) (instance 2)]>(clover::Range2d, T1)",
     "clover::par_ranged2d_kernel", "par_ranged2d_kernel[PdV_kernel]"},
    {"void forall<256, ns::advance<2>(State const&)::{lambda(int)#1}>(int)", "forall", "forall"},
    {"void forall<256, ns::advance(State const&) const::{lambda(int)#1}>(int)", "forall",
     "forall[advance]"},
    {"void loop<Policy<4>, step(double (*)(int))::$_0>(int)", "loop", "loop[step]"},
    {"void loop<Policy<4>, step(double)>(int)", "loop", "loop"},
    // A wrapper around nothing that tells anything keeps its path.
    {"void at::native::elementwise_kernel<128, 2, float>(int)", "at::native::elementwise_kernel",
     "at::native::elementwise_kernel"},
    // Brackets that are none.
    {"void f<&(ns::operator< <int>)>(int)", "f", "f"},
    {"void ns::operator< <int>(A)", "ns::operator<", "ns::operator<"},
    {"bool ns::operator>>(A, B)", "ns::operator>>", "ns::operator>>"},
    {"void f<(4 > 2), int>(int)", "f", "f"},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, true>(P)",
     "internal::gemvx::kernel", "internal::gemvx::kernel"},
    {"void k<decltype(nullptr)>(decltype(nullptr) const*)", "k", "k"},
    {"decltype(nullptr) k<int>(int)", "k", "k"},
    {"void <unnamed>::k<int>(int)", "<unnamed>::k", "<unnamed>::k"},
    // Nsight Compute's spelling: names of namespaces in brackets inside a list, "operator ()".
    {"void native::<unnamed>::cunn_SoftMaxForward<4, float, native::<unnamed>::Epilogue>(T2 *)",
     "native::<unnamed>::cunn_SoftMaxForward", "native::<unnamed>::cunn_SoftMaxForward"},
    {"void k<128, void native::gather<1, long>::operator ()<native::<unnamed>::Add>(int), 8>(T1)",
     "k", "k"},
    {"void native::vectorized_elementwise_kernel<4, native::<unnamed>::Add<float>, int>(T1)",
     "native::vectorized_elementwise_kernel", "vectorized_elementwise_kernel[Add]"},
    {"void native::elementwise_kernel<128, 2, native::<lambda(int)>>(int)",
     "native::elementwise_kernel", "native::elementwise_kernel"},
    // Member of a template: the list in the middle belongs to the name.
    {"void Foo<int, 2>::run<float>(float) const", "Foo<int, 2>::run", "Foo<int, 2>::run"},
    {"void foo(int) [clone .kd]", "foo", "foo"},
    {"foo(int)::{lambda(float)#1}::operator()(float) const",
     "foo(int)::{lambda(float)#1}::operator()", "foo(int)::{lambda(float)#1}::operator()"},
    {"void foo(int)::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()<int>(int) const",
     "foo(int)::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()",
     "foo(int)::{lambda()#1}::operator()() const::{lambda(int)#2}::operator()"},
    {"void foo[abi:cxx11]<int>(int)", "foo[abi:cxx11]", "foo[abi:cxx11]"},
    {"void reduce_kernel<4, decltype(a->b), Op<float> >(int)", "reduce_kernel",
     "reduce_kernel[Op]"},
    // Cut in the middle by whoever wrote it.
    {"void at::native::foo<float, at::nat", "at::native::foo", "at::native::foo"},
    {"void foo(int, lo", "foo", "foo"},
    // No name left: given back as it is.
    {"", "", ""},
    {"(int)", "(int)", "(int)"},
    {"void (int)", "void (int)", "void (int)"},
    {"<a>(b)", "<a>", "<a>"},
};

TEST(ShortName, ShortAndDescribed) {
  for (const Name& name : kNames) {
    EXPECT_EQ(short_kernel_name(name.full), name.brief) << name.full;
    EXPECT_EQ(describe_kernel(name.full), name.described) << name.full;
  }
}

TEST(ShortName, ShorteningTwiceChangesNothing) {
  for (const Name& name : kNames) {
    EXPECT_EQ(short_kernel_name(name.brief), name.brief) << name.full;
  }
}

TEST(ShortName, ShortNameIsAViewIntoItsInput) {
  const std::string name = "void foo<int>(int)";
  const std::string_view brief = short_kernel_name(name);
  EXPECT_EQ(brief.data(), name.data() + 5);
}

TEST(ShortName, DeepNestingIsLinearAndNotRecursive) {
  const std::string name = "void f" + std::string(1000000, '<');
  EXPECT_EQ(short_kernel_name(name), "f");
  std::string nested = "void f";
  for (int i = 0; i < 300000; ++i) nested += "<a";
  EXPECT_EQ(short_kernel_name(nested), "f");
  EXPECT_EQ(describe_kernel("void reduce_kernel" + nested.substr(6)), "reduce_kernel[a]");
}

TEST(KernelBaseName, ToolsThatCallOneKernelDifferentlyAgree) {
  EXPECT_EQ(plain_kernel_name("gemm (.kd)"), "gemm");
  EXPECT_EQ(plain_kernel_name("gemm [clone .kd]"), "gemm");
  EXPECT_EQ(plain_kernel_name("_Z3addPfi.kd"), "add(float*, int)");
  const std::string kineto =
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::X<4, 1>, 2>(float*)";
  EXPECT_EQ(base_kernel_name(kineto), "CatArrayBatchedCopy");
  EXPECT_EQ(base_kernel_name("CatArrayBatchedCopy"), "CatArrayBatchedCopy");
  EXPECT_EQ(base_kernel_name("void ns::kernel<&(op(float)), float>(float const*)"), "kernel");
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

// The parts, one per line: scopes, then '=' and the function, then its arguments ("::" behind
// scopes of arguments), then '(' and the parameters.
std::string parts_of(std::string_view name) {
  const KernelName parsed = parse_kernel_name(name);
  std::string text;
  for (const std::string_view scope : parsed.scopes) text += std::string(scope) + " ";
  text += "=" + std::string(parsed.function);
  for (const KernelName::Argument& argument : parsed.arguments) {
    text += " " + std::string(argument.text) + (argument.scope ? "::" : "");
  }
  if (!parsed.parameters.empty()) text += " (";
  for (const std::string_view parameter : parsed.parameters) text += " " + std::string(parameter);
  return text;
}

TEST(ParsedName, PartsOfDemangledNames) {
  EXPECT_EQ(parts_of("ampere_sgemm_128x64_tn"), "=ampere_sgemm_128x64_tn");
  EXPECT_EQ(parts_of("void at::native::(anonymous namespace)::foo<float, (int)4>(at::X<3>)"),
            "at native =foo float int ( at X");
  EXPECT_EQ(
      parts_of("void cutlass::device_kernel<flash::FlashAttnFwd<cute::tuple<cute::C<64> > > >"),
      "cutlass =device_kernel flash:: FlashAttnFwd cute:: tuple cute:: C");
  // What an SFINAE return type compares is no template list of the function.
  EXPECT_EQ(parts_of("std::enable_if<(((8)>(0))), void>::type vllm::fused_add_rms_norm_kernel"
                     "<c10::BFloat16, 8>(c10::BFloat16*)"),
            "vllm =fused_add_rms_norm_kernel c10:: BFloat16 ( c10 BFloat16");
  // A function given as an argument counts, its parameters do not.
  EXPECT_EQ(parts_of("unary_gated_op_kernel<&(op_silu(float)), int>(int)"),
            "=unary_gated_op_kernel op_silu int ( int");
  EXPECT_EQ(parts_of("void ns::Foo<int>::run(int)"), "ns Foo =run int ( int");
  EXPECT_EQ(parts_of("nchwToNhwcKernel<float, (cudnnKernelDataType_t)0>(int)"),
            "=nchwToNhwcKernel float cudnnKernelDataType_t ( int");
}

TEST(ParsedName, PartsOfMangledNames) {
  EXPECT_EQ(parts_of("_ZN7ck_tileL11flush_cacheEv.kd"), "ck_tile =flush_cache");
  EXPECT_EQ(parts_of("_Z3addPfi"), "=add");
  EXPECT_EQ(parts_of("_Z3fooI3BarLi4EEvT_3Baz"), "=foo Bar ( Baz");
  // Literals, also of an enumeration, and substitutions are no names.
  EXPECT_EQ(parts_of("_ZN2ns3fooILNS_4ModeE2ELb1EfN2ck5TupleIJLi1ELi2EEEEEEvPT0_"),
            "ns =foo Mode float ck:: Tuple");
  EXPECT_EQ(parts_of("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_"),
            "aiter =add_rmsnorm_quant_kernel __bf16 __bf16");
  EXPECT_EQ(parts_of("_ZN2at6native12_GLOBAL__N_13fooIfEEvv"), "at native =foo float");
}

TEST(ParsedName, MangledAndDemangledAgree) {
  EXPECT_EQ(parts_of("_ZN2ns5outer3runI3FooN2ck3BarEEEv"),
            parts_of("void ns::outer::run<Foo, ck::Bar>()"));
}

TEST(ParsedName, HostileNamesEnd) {
  for (const std::string& name :
       {std::string(100'000, '('), std::string(100'000, '<'), "f" + std::string(100'000, '<'),
        "_Z" + std::string(100'000, 'N'), "_Z" + std::string(100'000, '9'),
        "_ZN" + std::string(100'000, 'I'), "_Z1f" + std::string(100'000, 'E'),
        std::string("_ZN99999999999999999999f"), std::string("_Z"), std::string("_ZN"),
        "f<" + std::string(50'000, '(') + std::string(50'000, ')') + "1>"}) {
    const KernelName parsed = parse_kernel_name(name);
    EXPECT_LE(parsed.arguments.size() + parsed.scopes.size(), kMaxNameParts + 1);
  }
  std::string many = "f<";
  for (int i = 0; i < 30'000; ++i) many += "a::b,";
  EXPECT_LE(parse_kernel_name(many).arguments.size(), kMaxNameParts);
}

}  // namespace
}  // namespace assay
