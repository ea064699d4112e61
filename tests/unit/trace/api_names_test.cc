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
    {"cudaEventQuery", kOther},
    {"cudaEventRecord", kOther},
    {"cudaEventSynchronize", kSynchronize},
    {"cudaFree", kOther},
    {"cudaFuncGetAttributes", kOther},
    {"cudaFuncSetAttribute", kOther},
    {"cudaGetDeviceCount", kOther},
    {"cudaGetDeviceProperties", kOther},
    {"cudaGetSymbolAddress", kOther},
    {"cudaGraphLaunch", kGraphLaunch},
    {"cudaHostAlloc", kOther},
    {"cudaHostGetDevicePointer", kOther},
    {"cudaLaunchKernel", kKernelLaunch},
    {"cudaLaunchKernelExC", kKernelLaunch},
    {"cudaMalloc", kOther},
    {"cudaMemcpy", kMemcpySync},
    {"cudaMemcpyAsync", kMemcpyAsync},
    {"cudaMemsetAsync", kMemset},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", kOther},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", kOther},
    {"cudaPeekAtLastError", kOther},
    {"cudaPointerGetAttributes", kOther},
    {"cudaStreamCreateWithFlags", kOther},
    {"cudaStreamCreateWithPriority", kOther},
    {"cudaStreamGetCaptureInfo", kOther},
    {"cudaStreamGetCaptureInfo_v2", kOther},
    {"cudaStreamGetPriority", kOther},
    {"cudaStreamIsCapturing", kOther},
    {"cudaStreamSynchronize", kSynchronize},
    {"cudaStreamWaitEvent", kOther},
    {"hipDeviceGetAttribute", kOther},
    {"hipDeviceSynchronize", kSynchronize},
    {"hipDriverGetVersion", kOther},
    {"hipEventDestroy", kOther},
    {"hipEventElapsedTime", kOther},
    {"hipEventSynchronize", kSynchronize},
    {"hipExtLaunchKernel", kKernelLaunch},
    {"hipExtModuleLaunchKernel", kKernelLaunch},
    {"hipFree", kOther},
    {"hipGetDevicePropertiesR0600", kOther},
    {"hipGraphDestroy", kOther},
    {"hipGraphGetNodes", kOther},
    {"hipGraphInstantiateWithFlags", kOther},
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
    {"hipStreamWaitEvent", kOther},
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
    {"cudaGraphInstantiate", kOther},
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
    {"urEnqueueEventsWait", kOther},
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

}  // namespace
}  // namespace assay
