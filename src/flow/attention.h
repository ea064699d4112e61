#pragma once

// Attention that runs as products of matrices with a softmax between them, told by PyTorch's
// operators.

#include <cstdint>
#include <vector>

#include "flow/run.h"

namespace assay {

// What one kernel in place of them would not launch by itself.
struct AttentionCore {
  std::vector<uint32_t> between;  // calls behind the first product and before the second
  std::vector<uint32_t> second;   // calls of the second product
};
struct UnfusedAttention {
  std::vector<AttentionCore> cores;  // by thread, then time
  bool falls_back = false;  // most are inside of PyTorch's fused call, on its path without a kernel
};
// A core: batched products that follow each other in a thread's launches on one stream, a softmax
// between them and nothing that is no part of attention. One pass over the calls.
UnfusedAttention find_unfused_attention(const FlowRun& run);

}  // namespace assay
