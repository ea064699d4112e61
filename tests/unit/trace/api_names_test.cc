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

TEST(ApiNames, BlockingCalls) {
  EXPECT_TRUE(is_blocking(kSynchronize));
  EXPECT_TRUE(is_blocking(kMemcpySync));
  for (ApiRole role : {kOther, kKernelLaunch, kGraphLaunch, kMemcpyAsync, kMemset}) {
    EXPECT_FALSE(is_blocking(role));
  }
}

TEST(ApiNames, VendorsThatNoTableKnowsNameTheirCallsAlike) {
  EXPECT_EQ(classify_api("musaLaunchKernel"), kKernelLaunch);
  EXPECT_EQ(classify_api("musaMemcpy"), kMemcpySync);
  EXPECT_EQ(classify_api("musaMemcpyAsync"), kMemcpyAsync);
  EXPECT_EQ(classify_api("musaMemsetAsync"), kMemset);
  EXPECT_EQ(classify_api("cnInvokeKernel"), kKernelLaunch);
  EXPECT_EQ(classify_api("cnrtQueueSync"), kSynchronize);
  EXPECT_EQ(classify_api("cnrtMemcpyAsync_V2"), kMemcpyAsync);
  EXPECT_EQ(classify_api("aclrtSynchronizeStreamWithTimeout"), kSynchronize);
  EXPECT_EQ(classify_api("musaFree"), ApiRole::kFree);
  EXPECT_EQ(classify_api("Node@launch"), kKernelLaunch);
  // No prefix of small letters, or a word that is none.
  EXPECT_EQ(classify_api("LaunchKernel"), kOther);
  EXPECT_EQ(classify_api("synchronizeEverythingSync"), kOther);
}

TEST(ApiNames, RolesByStringId) {
  StringPool strings;
  strings.intern("aten::mm");
  strings.intern("hipLaunchKernel");
  EXPECT_EQ(api_roles(strings), (std::vector<ApiRole>{kOther, kOther, kKernelLaunch}));
}

}  // namespace
}  // namespace assay
