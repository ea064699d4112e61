#pragma once

// What a device activity is, from its name: communication, copy, matrix product, attention, the
// rest. Decided once per distinct name.

#include <string>
#include <string_view>

#include "levels/levels.h"

namespace assay {

// NCCL, RCCL, NVSHMEM-based expert dispatch, custom all-reduce kernels.
bool is_comm_kernel(std::string_view name);
// Memcpy and fill rows are copies whatever their name; these are kernels that only copy.
bool is_copy_kernel(std::string_view name);
OpType kernel_op_type(ActivityKind kind, std::string_view name);

// "_allgather_base", "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)" ->
// all_gather, all_reduce, ...; "collective" when the text does not tell.
std::string collective_kind(std::string_view text);
// Whether no rank can leave a collective of this kind before all have come.
bool all_wait(std::string_view kind);

}  // namespace assay
