// Holds Assay's declarations of rocprofiler-sdk against a table of (struct, field, offset, size)
// that was worked out by hand from its public headers, for machines that have none of them: 0.6 for
// what is named Before1, 1.1 for the rest. Nothing here runs: it compiles or it does not.

#include <cstddef>

#include "collect/record_amd/rocprofiler_abi.h"

namespace {

namespace ours = assay::rocprofiler;

#define ASSAY_AT(type, field, offset, bytes)                                                     \
  static_assert(offsetof(ours::type, field) == (offset) && sizeof(ours::type::field) == (bytes), \
                #type "::" #field " is at " #offset " and has " #bytes                           \
                      " bytes in rocprofiler-sdk")

ASSAY_AT(RecordHeader, category, 0, 4);
ASSAY_AT(RecordHeader, kind, 4, 4);
ASSAY_AT(RecordHeader, payload, 8, 8);

ASSAY_AT(RecordStart, size, 0, 8);
ASSAY_AT(RecordStart, kind, 8, 4);
ASSAY_AT(RecordStart, operation, 12, 4);
ASSAY_AT(RecordStart, correlation, 16, 8);
ASSAY_AT(RecordStart, external, 24, 8);

ASSAY_AT(ApiBefore1, start, 32, 8);
ASSAY_AT(ApiBefore1, end, 40, 8);
ASSAY_AT(ApiBefore1, thread, 48, 8);
static_assert(sizeof(ours::ApiBefore1) == 56);
ASSAY_AT(Api, ancestor, 32, 8);
ASSAY_AT(Api, start, 40, 8);
ASSAY_AT(Api, end, 48, 8);
ASSAY_AT(Api, thread, 56, 8);
static_assert(sizeof(ours::Api) == 64);

ASSAY_AT(Dispatch, thread, 32, 8);
ASSAY_AT(Dispatch, start, 40, 8);
ASSAY_AT(Dispatch, end, 48, 8);
ASSAY_AT(Dispatch, info_size, 56, 8);
ASSAY_AT(Dispatch, agent, 64, 8);
ASSAY_AT(Dispatch, queue, 72, 8);
ASSAY_AT(Dispatch, kernel, 80, 8);
ASSAY_AT(Dispatch, dispatch, 88, 8);
ASSAY_AT(Dispatch, private_bytes, 96, 4);
ASSAY_AT(Dispatch, group_bytes, 100, 4);
ASSAY_AT(Dispatch, workgroup, 104, 12);
ASSAY_AT(Dispatch, grid, 116, 12);
static_assert(sizeof(ours::Dispatch) <= 184);

ASSAY_AT(MemoryCopy, thread, 32, 8);
ASSAY_AT(MemoryCopy, start, 40, 8);
ASSAY_AT(MemoryCopy, end, 48, 8);
ASSAY_AT(MemoryCopy, to, 56, 8);
ASSAY_AT(MemoryCopy, from, 64, 8);
ASSAY_AT(MemoryCopy, bytes, 72, 8);
static_assert(sizeof(ours::MemoryCopy) == 80);

ASSAY_AT(ScratchBefore1, agent, 32, 8);
ASSAY_AT(ScratchBefore1, queue, 40, 8);
ASSAY_AT(ScratchBefore1, thread, 48, 8);
ASSAY_AT(ScratchBefore1, start, 56, 8);
ASSAY_AT(ScratchBefore1, end, 64, 8);
ASSAY_AT(Scratch, agent, 40, 8);
ASSAY_AT(Scratch, queue, 48, 8);
ASSAY_AT(Scratch, thread, 56, 8);
ASSAY_AT(Scratch, start, 64, 8);
ASSAY_AT(Scratch, end, 72, 8);
// Flags end both, in 8 bytes: by its size the decoder tells the one from the other.
static_assert(sizeof(ours::ScratchBefore1) + 8 == 80 && sizeof(ours::Scratch) + 8 == 88);

ASSAY_AT(CallbackRecord, context, 0, 8);
ASSAY_AT(CallbackRecord, thread, 8, 8);
ASSAY_AT(CallbackRecord, correlation, 16, 8);
ASSAY_AT(CallbackRecord, external, 24, 8);
ASSAY_AT(CallbackRecord, ancestor, 32, 8);
ASSAY_AT(CallbackRecord, kind, 40, 4);
ASSAY_AT(CallbackRecord, operation, 44, 4);
ASSAY_AT(CallbackRecord, phase, 48, 4);
ASSAY_AT(CallbackRecord, payload, 56, 8);
static_assert(sizeof(ours::CallbackRecord) == 64);
ASSAY_AT(CallbackRecordBefore1, kind, 32, 4);
ASSAY_AT(CallbackRecordBefore1, operation, 36, 4);
ASSAY_AT(CallbackRecordBefore1, phase, 40, 4);
ASSAY_AT(CallbackRecordBefore1, payload, 48, 8);
static_assert(sizeof(ours::CallbackRecordBefore1) == 56);

ASSAY_AT(KernelSymbol, size, 0, 8);
ASSAY_AT(KernelSymbol, kernel, 8, 8);
ASSAY_AT(KernelSymbol, code_object, 16, 8);
ASSAY_AT(KernelSymbol, name, 24, 8);
ASSAY_AT(KernelSymbol, object, 32, 8);
ASSAY_AT(KernelSymbol, argument_bytes, 40, 4);
ASSAY_AT(KernelSymbol, argument_alignment, 44, 4);
ASSAY_AT(KernelSymbol, group_bytes, 48, 4);
ASSAY_AT(KernelSymbol, private_bytes, 52, 4);
ASSAY_AT(KernelSymbol, scalar_registers, 56, 4);
ASSAY_AT(KernelSymbol, vector_registers, 60, 4);
ASSAY_AT(KernelSymbol, accumulation_registers, 64, 4);

ASSAY_AT(Marker, argument, 8, 8);
ASSAY_AT(Marker, returned, 24, 8);
ASSAY_AT(HipStream, stream, 8, 8);

ASSAY_AT(MemoryBank, heap, 0, 4);
ASSAY_AT(MemoryBank, bytes, 16, 8);
static_assert(sizeof(ours::MemoryBank) == 24);

ASSAY_AT(Agent, size, 0, 8);
ASSAY_AT(Agent, id, 8, 8);
ASSAY_AT(Agent, type, 16, 4);
ASSAY_AT(Agent, banks_count, 28, 4);
ASSAY_AT(Agent, wave_size, 64, 4);
ASSAY_AT(Agent, compute_units, 72, 4);
ASSAY_AT(Agent, gfx_version, 100, 4);
ASSAY_AT(Agent, vendor, 104, 2);
ASSAY_AT(Agent, location, 108, 4);
ASSAY_AT(Agent, gpu_clock_mhz, 140, 4);
ASSAY_AT(Agent, capability, 152, 4);
ASSAY_AT(Agent, local_bytes, 176, 8);
ASSAY_AT(Agent, gpu, 192, 8);
ASSAY_AT(Agent, most_workgroup_sides, 200, 12);
ASSAY_AT(Agent, most_grid_sides, 212, 12);
ASSAY_AT(Agent, banks, 224, 8);
ASSAY_AT(Agent, name, 248, 8);
ASSAY_AT(Agent, product, 264, 8);
static_assert(sizeof(ours::Agent) == 272);

ASSAY_AT(ClientId, name, 0, 8);
ASSAY_AT(ClientId, handle, 8, 4);
ASSAY_AT(ToolConfiguration, size, 0, 8);
ASSAY_AT(ToolConfiguration, initialize, 8, 8);
ASSAY_AT(ToolConfiguration, finalize, 16, 8);
ASSAY_AT(ToolConfiguration, tool, 24, 8);
static_assert(sizeof(ours::ToolConfiguration) == 32);

}  // namespace
