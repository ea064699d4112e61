// Holds Assay's own declarations of CUPTI and NVTX against NVIDIA's headers, where they are
// installed. Nothing here runs: it compiles or it does not.

#include <cuda.h>
#include <cupti.h>
#if __has_include(<cupti_activity_deprecated.h>)
#include <cupti_activity_deprecated.h>
#endif
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

#include "collect/record/cupti_abi.h"
#include "collect/record/nvtx_abi.h"

namespace {

namespace ours = assay::cupti;

#define ASSAY_SAME(mine, my_field, theirs, their_field)                      \
  static_assert(offsetof(mine, my_field) == offsetof(theirs, their_field) && \
                    sizeof(mine::my_field) == sizeof(theirs::their_field),   \
                #theirs "::" #their_field)

#define ASSAY_SAME_KERNEL(theirs)                                           \
  ASSAY_SAME(ours::Kernel, registers, theirs, registersPerThread);          \
  ASSAY_SAME(ours::Kernel, start, theirs, start);                           \
  ASSAY_SAME(ours::Kernel, end, theirs, end);                               \
  ASSAY_SAME(ours::Kernel, device, theirs, deviceId);                       \
  ASSAY_SAME(ours::Kernel, context, theirs, contextId);                     \
  ASSAY_SAME(ours::Kernel, stream, theirs, streamId);                       \
  static_assert(offsetof(ours::Kernel, grid) == offsetof(theirs, gridX));   \
  static_assert(offsetof(ours::Kernel, block) == offsetof(theirs, blockX)); \
  ASSAY_SAME(ours::Kernel, static_shared, theirs, staticSharedMemory);      \
  ASSAY_SAME(ours::Kernel, dynamic_shared, theirs, dynamicSharedMemory);    \
  ASSAY_SAME(ours::Kernel, correlation, theirs, correlationId);             \
  ASSAY_SAME(ours::Kernel, name, theirs, name);                             \
  ASSAY_SAME(ours::Kernel, graph_node, theirs, graphNodeId);                \
  ASSAY_SAME(ours::Kernel, graph_id, theirs, graphId);                      \
  static_assert(sizeof(ours::Kernel) <= sizeof(theirs))

#define ASSAY_SAME_COPY(theirs)                                 \
  ASSAY_SAME(ours::Memcpy, direction, theirs, copyKind);        \
  ASSAY_SAME(ours::Memcpy, from, theirs, srcKind);              \
  ASSAY_SAME(ours::Memcpy, to, theirs, dstKind);                \
  ASSAY_SAME(ours::Memcpy, flags, theirs, flags);               \
  ASSAY_SAME(ours::Memcpy, bytes, theirs, bytes);               \
  ASSAY_SAME(ours::Memcpy, start, theirs, start);               \
  ASSAY_SAME(ours::Memcpy, device, theirs, deviceId);           \
  ASSAY_SAME(ours::Memcpy, stream, theirs, streamId);           \
  ASSAY_SAME(ours::Memcpy, correlation, theirs, correlationId); \
  ASSAY_SAME(ours::Memcpy, graph_node, theirs, graphNodeId);    \
  ASSAY_SAME(ours::Memcpy, graph_id, theirs, graphId)

ASSAY_SAME(ours::Api, function, CUpti_ActivityAPI, cbid);
ASSAY_SAME(ours::Api, start, CUpti_ActivityAPI, start);
ASSAY_SAME(ours::Api, end, CUpti_ActivityAPI, end);
ASSAY_SAME(ours::Api, thread, CUpti_ActivityAPI, threadId);
ASSAY_SAME(ours::Api, correlation, CUpti_ActivityAPI, correlationId);
ASSAY_SAME(ours::Api, result, CUpti_ActivityAPI, returnValue);
ASSAY_SAME(ours::External, type, CUpti_ActivityExternalCorrelation, externalKind);
ASSAY_SAME(ours::External, id, CUpti_ActivityExternalCorrelation, externalId);
ASSAY_SAME(ours::External, correlation, CUpti_ActivityExternalCorrelation, correlationId);

// The newest records of CUDA 13; the older ones come from the header of deprecated ones beside it.
#if CUPTI_API_VERSION >= 130000
ASSAY_SAME_KERNEL(CUpti_ActivityKernel7);
ASSAY_SAME_KERNEL(CUpti_ActivityKernel8);
ASSAY_SAME_KERNEL(CUpti_ActivityKernel9);
ASSAY_SAME_KERNEL(CUpti_ActivityKernel10);
ASSAY_SAME_COPY(CUpti_ActivityMemcpy4);
ASSAY_SAME_COPY(CUpti_ActivityMemcpy5);
ASSAY_SAME_COPY(CUpti_ActivityMemcpy6);
ASSAY_SAME(ours::MemcpyPeer, from_device, CUpti_ActivityMemcpyPtoP3, srcDeviceId);
ASSAY_SAME(ours::MemcpyPeer, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
ASSAY_SAME(ours::MemcpyPeer, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
ASSAY_SAME(ours::MemcpyPeer, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
ASSAY_SAME(ours::Memset, value, CUpti_ActivityMemset4, value);
ASSAY_SAME(ours::Memset, bytes, CUpti_ActivityMemset4, bytes);
ASSAY_SAME(ours::Memset, start, CUpti_ActivityMemset4, start);
ASSAY_SAME(ours::Memset, correlation, CUpti_ActivityMemset4, correlationId);
ASSAY_SAME(ours::Memset, memory, CUpti_ActivityMemset4, memoryKind);
ASSAY_SAME(ours::Memset, graph_id, CUpti_ActivityMemset3, graphId);
ASSAY_SAME(ours::Synchronization, type, CUpti_ActivitySynchronization2, type);
ASSAY_SAME(ours::Synchronization, context, CUpti_ActivitySynchronization2, contextId);
ASSAY_SAME(ours::Synchronization, stream, CUpti_ActivitySynchronization, streamId);
ASSAY_SAME(ours::Overhead, type, CUpti_ActivityOverhead3, overheadKind);
ASSAY_SAME(ours::Overhead, object, CUpti_ActivityOverhead3, objectKind);
static_assert(offsetof(ours::Overhead, thread) ==
              offsetof(CUpti_ActivityOverhead3, objectId) +
                  offsetof(CUpti_ActivityObjectKindId, pt.threadId));
ASSAY_SAME(ours::Overhead, start, CUpti_ActivityOverhead3, start);
ASSAY_SAME(ours::Overhead, end, CUpti_ActivityOverhead, end);
ASSAY_SAME(ours::GraphTrace, graph_id, CUpti_ActivityGraphTrace2, graphId);
ASSAY_SAME(ours::GraphTrace, stream, CUpti_ActivityGraphTrace2, streamId);
ASSAY_SAME(ours::ContextRecord, device, CUpti_ActivityContext3, deviceId);
ASSAY_SAME(ours::ContextRecord, null_stream, CUpti_ActivityContext3, nullStreamId);
static_assert(ours::kAttributeZeroedBuffers == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
static_assert(int{ours::kGraphTrace} == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(int{ours::kMigDevice} == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
static_assert(int{ours::kWslDevice} == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif

static_assert(int{ours::kMultipleSubscribers} == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(int{ours::kInsufficientPrivileges} == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(int{ours::kMaxLimitReached} == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(int{ours::kNotCompatible} == CUPTI_ERROR_NOT_COMPATIBLE);
static_assert(int{ours::kConcurrentKernel} == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(int{ours::kExternalCorrelation} == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
static_assert(int{ours::kSynchronization} == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
static_assert(int{ours::kMemcpy2} == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(ours::kThreadIdSystem == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
static_assert(ours::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(ours::kCallbackDriverApi == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(ours::kCallbackResource == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(ours::kModuleUnload == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);

#ifdef NVTX_VERSION
using NvtxEvent = nvtxEventAttributes_t;
ASSAY_SAME(assay::nvtx::Attributes, category, NvtxEvent, category);
ASSAY_SAME(assay::nvtx::Attributes, message_type, NvtxEvent, messageType);
ASSAY_SAME(assay::nvtx::Attributes, message, NvtxEvent, message);
static_assert(int{assay::nvtx::kMessageRegistered} == int{NVTX_MESSAGE_TYPE_REGISTERED});
#endif

}  // namespace
