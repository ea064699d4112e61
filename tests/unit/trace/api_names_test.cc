#include "trace/api_names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {
namespace {

using enum ApiRole;

struct NameRole {
  std::string_view name;
  ApiRole role;
};

// Every runtime and driver name of the recorded traces that the rules were written against.
constexpr NameRole kRecorded[] = {
    {"INVALID", kOther},
    {"cuLaunchKernel", kKernelLaunch},
    {"cudaDeviceGetAttribute", kOther},
    {"cudaDeviceGetStreamPriorityRange", kOther},
    {"cudaDeviceSynchronize", kSynchronize},
    {"cudaDriverGetVersion", kOther},
    {"cudaEventElapsedTime", kOther},
    {"cudaEventQuery", kEventQuery},
    {"cudaEventRecord", kEventRecord},
    {"cudaEventSynchronize", kSynchronize},
    {"cudaFree", kFree},
    {"cudaFuncGetAttributes", kOther},
    {"cudaFuncSetAttribute", kOther},
    {"cudaGetDeviceCount", kOther},
    {"cudaGetDeviceProperties", kOther},
    {"cudaGetSymbolAddress", kOther},
    {"cudaGraphLaunch", kGraphLaunch},
    {"cudaHostAlloc", kAllocate},
    {"cudaHostGetDevicePointer", kOther},
    {"cudaLaunchKernel", kKernelLaunch},
    {"cudaLaunchKernelExC", kKernelLaunch},
    {"cudaMalloc", kAllocate},
    {"cudaMemcpy", kMemcpySync},
    {"cudaMemcpyAsync", kMemcpyAsync},
    {"cudaMemsetAsync", kMemset},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", kOther},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", kOther},
    {"cudaPeekAtLastError", kOther},
    {"cudaPointerGetAttributes", kOther},
    {"cudaStreamCreateWithFlags", kCreate},
    {"cudaStreamCreateWithPriority", kCreate},
    {"cudaStreamGetCaptureInfo", kOther},
    {"cudaStreamGetCaptureInfo_v2", kOther},
    {"cudaStreamGetPriority", kOther},
    {"cudaStreamIsCapturing", kOther},
    {"cudaStreamSynchronize", kSynchronize},
    {"cudaStreamWaitEvent", kStreamWait},
    {"hipDeviceGetAttribute", kOther},
    {"hipDeviceSynchronize", kSynchronize},
    {"hipDriverGetVersion", kOther},
    {"hipEventDestroy", kOther},
    {"hipEventElapsedTime", kOther},
    {"hipEventSynchronize", kSynchronize},
    {"hipExtLaunchKernel", kKernelLaunch},
    {"hipExtModuleLaunchKernel", kKernelLaunch},
    {"hipFree", kFree},
    {"hipGetDevicePropertiesR0600", kOther},
    {"hipGraphDestroy", kOther},
    {"hipGraphGetNodes", kOther},
    {"hipGraphInstantiateWithFlags", kCreate},
    {"hipGraphLaunch", kGraphLaunch},
    {"hipLaunchKernel", kKernelLaunch},
    {"hipMemcpyAsync", kMemcpyAsync},
    {"hipMemcpyWithStream", kMemcpySync},
    {"hipMemsetAsync", kMemset},
    {"hipModuleLaunchKernel", kKernelLaunch},
    {"hipPointerGetAttribute", kOther},
    {"hipPointerGetAttributes", kOther},
    {"hipStreamBeginCapture", kOther},
    {"hipStreamEndCapture", kOther},
    {"hipStreamGetCaptureInfo", kOther},
    {"hipStreamGetCaptureInfo_v2", kOther},
    {"hipStreamGetDevice", kOther},
    {"hipStreamIsCapturing", kOther},
    {"hipStreamWaitEvent", kStreamWait},
    {"runFunction - job_prep_and_submit_for_execution", kKernelLaunch},
};

// From the vendors' headers: names that our recordings do not have.
constexpr NameRole kDocumented[] = {
    {"cudaLaunchCooperativeKernel", kKernelLaunch},
    {"cudaLaunchCooperativeKernelMultiDevice", kKernelLaunch},
    {"cudaLaunchKernel_ptsz", kKernelLaunch},
    {"cudaLaunchKernelExC_ptsz", kKernelLaunch},
    {"cudaLaunch", kKernelLaunch},
    {"cuLaunch", kKernelLaunch},
    {"cuLaunchGridAsync", kKernelLaunch},
    {"cuLaunchKernelEx", kKernelLaunch},
    {"cuLaunchKernelEx_ptsz", kKernelLaunch},
    {"cuLaunchCooperativeKernel", kKernelLaunch},
    {"cudaLaunchHostFunc", kOther},
    {"cuLaunchHostFunc", kOther},
    {"cudaGraphLaunch_ptsz", kGraphLaunch},
    {"cuGraphLaunch", kGraphLaunch},
    {"cudaGraphAddKernelNode", kOther},
    {"cudaGraphAddMemcpyNode", kOther},
    {"cudaGraphAddMemsetNode", kOther},
    {"cudaGraphInstantiate", kCreate},
    {"cudaMemcpyAsync_ptsz", kMemcpyAsync},
    {"cudaMemcpy2D", kMemcpySync},
    {"cudaMemcpy2DToArrayAsync", kMemcpyAsync},
    {"cudaMemcpyPeerAsync", kMemcpyAsync},
    {"cudaMemcpyToSymbol", kMemcpySync},
    {"cuMemcpyHtoD_v2", kMemcpySync},
    {"cuMemcpyDtoHAsync_v2", kMemcpyAsync},
    {"cudaMemPrefetchAsync", kOther},
    {"cudaMemset", kMemset},
    {"cudaMemset2DAsync", kMemset},
    {"cuMemsetD32Async", kMemset},
    {"cuCtxSynchronize", kSynchronize},
    {"cuStreamSynchronize_ptsz", kSynchronize},
    {"cudaThreadSynchronize", kSynchronize},
    {"hipLaunchCooperativeKernel", kKernelLaunch},
    {"hipExtLaunchMultiKernelMultiDevice", kKernelLaunch},
    {"hipLaunchKernelExC", kKernelLaunch},
    {"hipLaunchKernel_spt", kKernelLaunch},
    {"hipLaunchByPtr", kKernelLaunch},
    {"hipMemcpyDtoD", kMemcpySync},
    {"hipMemcpyDtoDAsync", kMemcpyAsync},
    {"hipMemcpyHtoDAsync", kMemcpyAsync},
    {"hipMemcpyParam2DAsync", kMemcpyAsync},
    {"hipDrvMemcpy3D", kMemcpySync},
    {"hipMemsetD8", kMemset},
    {"hipStreamSynchronize", kSynchronize},
    {"urEnqueueKernelLaunch", kKernelLaunch},
    {"urEnqueueCooperativeKernelLaunchExp", kKernelLaunch},
    {"piEnqueueKernelLaunch", kKernelLaunch},
    {"piextEnqueueCooperativeKernelLaunch", kKernelLaunch},
    {"zeCommandListAppendLaunchKernel", kKernelLaunch},
    {"zeCommandListAppendLaunchCooperativeKernel", kKernelLaunch},
    {"zeCommandListAppendLaunchMultipleKernelsIndirect", kKernelLaunch},
    {"urEnqueueCommandBufferExp", kGraphLaunch},
    {"urEnqueueUSMMemcpy", kMemcpyAsync},
    {"urEnqueueMemBufferRead", kMemcpyAsync},
    {"zeCommandListAppendMemoryCopy", kMemcpyAsync},
    {"urEnqueueUSMFill", kMemset},
    {"urEnqueueMemBufferFill", kMemset},
    {"piextUSMEnqueueMemset", kMemset},
    {"zeCommandListAppendMemoryFill", kMemset},
    {"urQueueFinish", kSynchronize},
    {"urEventWait", kSynchronize},
    {"piQueueFinish", kSynchronize},
    {"zeCommandQueueSynchronize", kSynchronize},
    {"zeEventHostSynchronize", kSynchronize},
    {"urEnqueueEventsWait", kStreamWait},
    {"cuStreamWaitEvent", kStreamWait},
    {"hipStreamWaitValue32", kStreamWait},
    {"cudaMallocAsync", kAllocate},
    {"cuMemAllocFromPoolAsync", kAllocate},
    {"cuMemCreate", kAllocate},
    {"cuMemSetAccess", kAllocate},
    {"cuMemAddressReserve", kAllocate},
    {"hipHostMalloc", kAllocate},
    {"hipExtMallocWithFlags", kAllocate},
    {"cudaHostRegister", kAllocate},
    {"zeMemAllocDevice", kAllocate},
    {"urUSMSharedAlloc", kAllocate},
    {"cudaMemGetAllocationGranularity", kOther},
    {"cudaFreeAsync", kFree},
    {"cuMemFree_v2", kFree},
    {"cuMemRelease", kFree},
    {"cuMemUnmap", kFree},
    {"cuMemAddressFree", kFree},
    {"hipHostFree", kFree},
    {"cudaHostUnregister", kFree},
    {"cudaMemPoolTrimTo", kFree},
    {"urUSMFree", kFree},
    {"cuModuleLoadDataEx", kLoad},
    {"cuLibraryLoadData", kLoad},
    {"cuLibraryGetKernel", kLoad},
    {"hipModuleLoad", kLoad},
    {"hipModuleGetFunction", kLoad},
    {"__hipRegisterFatBinary", kLoad},
    {"cuDevicePrimaryCtxRetain", kLoad},
    {"cuCtxCreate_v2", kLoad},
    {"cuInit", kLoad},
    {"nvrtcCompileProgram", kLoad},
    {"hiprtcCompileProgram", kLoad},
    {"cuLinkAddData", kLoad},
    {"zeModuleCreate", kLoad},
    {"hipModuleOccupancyMaxPotentialBlockSize", kOther},
    {"hipStreamCreate", kCreate},
    {"cuGraphInstantiateWithFlags", kCreate},
    {"hipGraphExecUpdate", kCreate},
    {"cuEventRecord", kEventRecord},
    {"hipEventRecordWithFlags", kEventRecord},
    {"cuEventQuery", kEventQuery},
    {"hipStreamQuery", kEventQuery},
    {"", kOther},
    {"aten::LaunchKernel", kOther},
};

TEST(ApiNames, RolesOfRecordedNames) {
  for (const auto& [name, role] : kRecorded) EXPECT_EQ(classify_api(name), role) << name;
}

TEST(ApiNames, RolesOfDocumentedNames) {
  for (const auto& [name, role] : kDocumented) EXPECT_EQ(classify_api(name), role) << name;
}

TEST(ApiNames, WhatBlocksTheHost) {
  EXPECT_TRUE(is_blocking(kSynchronize));
  EXPECT_TRUE(is_blocking(kMemcpySync));
  for (ApiRole role : {kOther, kKernelLaunch, kGraphLaunch, kMemcpyAsync, kMemset}) {
    EXPECT_FALSE(is_blocking(role));
  }
}

TEST(ApiNames, RolesByStringId) {
  StringPool strings;
  strings.intern("aten::mm");
  strings.intern("hipLaunchKernel");
  EXPECT_EQ(api_roles(strings), (std::vector<ApiRole>{kOther, kOther, kKernelLaunch}));
}

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

TEST(KernelNames, ShortAndDescribed) {
  for (const Name& name : kNames) {
    EXPECT_EQ(short_kernel_name(name.full), name.brief) << name.full;
    EXPECT_EQ(describe_kernel(name.full), name.described) << name.full;
  }
}

TEST(KernelNames, ShorteningTwiceChangesNothing) {
  for (const Name& name : kNames) {
    EXPECT_EQ(short_kernel_name(name.brief), name.brief) << name.full;
  }
}

TEST(KernelNames, ShortNameIsAViewIntoItsInput) {
  const std::string name = "void foo<int>(int)";
  const std::string_view brief = short_kernel_name(name);
  EXPECT_EQ(brief.data(), name.data() + 5);
}

TEST(KernelNames, DeepNestingIsLinearAndNotRecursive) {
  const std::string name = "void f" + std::string(1000000, '<');
  EXPECT_EQ(short_kernel_name(name), "f");
  std::string nested = "void f";
  for (int i = 0; i < 300000; ++i) nested += "<a";
  EXPECT_EQ(short_kernel_name(nested), "f");
  EXPECT_EQ(describe_kernel("void reduce_kernel" + nested.substr(6)), "reduce_kernel[a]");
}

}  // namespace
}  // namespace assay
