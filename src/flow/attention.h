#pragma once

// Finds unfused attention from PyTorch's operators: two matrix products with a softmax between.

#include <cstdint>
#include <vector>

#include "flow/run.h"

namespace assay {

// The calls that a single fused attention kernel would save.
struct AttentionCore {
  std::vector<uint32_t> between;  // calls between the two products
  std::vector<uint32_t> second;   // calls of the second product
};
struct UnfusedAttention {
  std::vector<AttentionCore> cores;  // by thread, then time
  bool falls_back = false;           // most are in scaled_dot_product_attention's math fallback
};
// A core is two successive batched products of one thread's launches on one stream, with a softmax
// and only attention-related kernels between them. Empty without operators. One pass over the
// calls.
UnfusedAttention find_unfused_attention(const FlowRun& run);

}  // namespace assay
