// Holds Assay's own declarations of rocprofiler-sdk against AMD's headers, where they are installed
// (ROCm: rocprofiler-sdk). Nothing here runs: it compiles or it does not.

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/registration.h>

#include <cstddef>

#include "collect/record_amd/rocprofiler_abi.h"

namespace {

namespace ours = assay::rocprofiler;

#define ASSAY_SAME(mine, my_field, theirs, their_field)                            \
  static_assert(offsetof(ours::mine, my_field) == offsetof(theirs, their_field) && \
                    sizeof(ours::mine::my_field) == sizeof(theirs::their_field),   \
                #theirs "::" #their_field)

// A correlation id with an ancestor is the newer layout.
constexpr bool kHasAncestor = sizeof(rocprofiler_correlation_id_t) == 24;
using Call = rocprofiler_buffer_tracing_hip_api_record_t;
using Scratch = rocprofiler_buffer_tracing_scratch_memory_record_t;
using Callback = rocprofiler_callback_tracing_record_t;

static_assert(offsetof(Call, start_timestamp) ==
              (kHasAncestor ? offsetof(ours::Api, start) : offsetof(ours::ApiBefore1, start)));
static_assert(offsetof(Call, thread_id) ==
              (kHasAncestor ? offsetof(ours::Api, thread) : offsetof(ours::ApiBefore1, thread)));
static_assert(sizeof(Call) == (kHasAncestor ? sizeof(ours::Api) : sizeof(ours::ApiBefore1)));
static_assert(offsetof(Scratch, start_timestamp) == (kHasAncestor
                                                         ? offsetof(ours::Scratch, start)
                                                         : offsetof(ours::ScratchBefore1, start)));
static_assert(sizeof(Callback) ==
              (kHasAncestor ? sizeof(ours::CallbackRecord) : sizeof(ours::CallbackRecordBefore1)));
static_assert(offsetof(Callback, kind) == (kHasAncestor
                                               ? offsetof(ours::CallbackRecord, kind)
                                               : offsetof(ours::CallbackRecordBefore1, kind)));
static_assert(offsetof(Callback, payload) ==
              (kHasAncestor ? offsetof(ours::CallbackRecord, payload)
                            : offsetof(ours::CallbackRecordBefore1, payload)));

using Dispatch = rocprofiler_buffer_tracing_kernel_dispatch_record_t;
using Copy = rocprofiler_buffer_tracing_memory_copy_record_t;
ASSAY_SAME(RecordHeader, payload, rocprofiler_record_header_t, payload);
ASSAY_SAME(RecordStart, operation, Dispatch, operation);
ASSAY_SAME(Dispatch, thread, Dispatch, thread_id);
ASSAY_SAME(Dispatch, start, Dispatch, start_timestamp);
ASSAY_SAME(Dispatch, end, Dispatch, end_timestamp);
ASSAY_SAME(Dispatch, agent, Dispatch, dispatch_info.agent_id);
ASSAY_SAME(Dispatch, queue, Dispatch, dispatch_info.queue_id);
ASSAY_SAME(Dispatch, kernel, Dispatch, dispatch_info.kernel_id);
ASSAY_SAME(Dispatch, group_bytes, Dispatch, dispatch_info.group_segment_size);
ASSAY_SAME(Dispatch, workgroup, Dispatch, dispatch_info.workgroup_size);
ASSAY_SAME(Dispatch, grid, Dispatch, dispatch_info.grid_size);
ASSAY_SAME(MemoryCopy, start, Copy, start_timestamp);
ASSAY_SAME(MemoryCopy, to, Copy, dst_agent_id);
ASSAY_SAME(MemoryCopy, from, Copy, src_agent_id);
ASSAY_SAME(MemoryCopy, bytes, Copy, bytes);

using Symbol = rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;
ASSAY_SAME(KernelSymbol, kernel, Symbol, kernel_id);
ASSAY_SAME(KernelSymbol, name, Symbol, kernel_name);
ASSAY_SAME(KernelSymbol, group_bytes, Symbol, group_segment_size);
ASSAY_SAME(KernelSymbol, vector_registers, Symbol, arch_vgpr_count);
static_assert(ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER == 2);

using MarkerData = rocprofiler_callback_tracing_marker_api_data_t;
static_assert(offsetof(ours::Marker, argument) == offsetof(MarkerData, args));
static_assert(offsetof(ours::Marker, returned) == offsetof(MarkerData, retval));

ASSAY_SAME(Agent, id, rocprofiler_agent_v0_t, id);
ASSAY_SAME(Agent, type, rocprofiler_agent_v0_t, type);
ASSAY_SAME(Agent, banks_count, rocprofiler_agent_v0_t, mem_banks_count);
ASSAY_SAME(Agent, wave_size, rocprofiler_agent_v0_t, wave_front_size);
ASSAY_SAME(Agent, compute_units, rocprofiler_agent_v0_t, cu_count);
ASSAY_SAME(Agent, gfx_version, rocprofiler_agent_v0_t, gfx_target_version);
ASSAY_SAME(Agent, gpu_clock_mhz, rocprofiler_agent_v0_t, max_engine_clk_fcompute);
ASSAY_SAME(Agent, banks, rocprofiler_agent_v0_t, mem_banks);
ASSAY_SAME(Agent, name, rocprofiler_agent_v0_t, name);
ASSAY_SAME(Agent, product, rocprofiler_agent_v0_t, product_name);
static_assert(sizeof(ours::Agent) <= sizeof(rocprofiler_agent_v0_t));
ASSAY_SAME(MemoryBank, bytes, rocprofiler_agent_mem_bank_t, size_in_bytes);
static_assert(sizeof(ours::MemoryBank) == sizeof(rocprofiler_agent_mem_bank_t));

static_assert(sizeof(ours::ClientId) == sizeof(rocprofiler_client_id_t));
static_assert(sizeof(ours::ToolConfiguration) == sizeof(rocprofiler_tool_configure_result_t));
static_assert(ours::kCategoryTracing == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
              ours::kPhaseEnter == ROCPROFILER_CALLBACK_PHASE_ENTER &&
              ours::kPhaseExit == ROCPROFILER_CALLBACK_PHASE_EXIT &&
              ours::kPolicyLossless == ROCPROFILER_BUFFER_POLICY_LOSSLESS &&
              ours::kAgentGpu == ROCPROFILER_AGENT_TYPE_GPU &&
              ours::kAgentInfoVersion == ROCPROFILER_AGENT_INFO_VERSION_0);

}  // namespace
