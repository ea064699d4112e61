#pragma once

// The floating point operations that an operator's arithmetic needs, told by the shapes it was
// called with (record_shapes=True): 2 M N K of a matrix product; of attention 4 b h s_q s_k d
// forward (half when causal), 2.5 times that backward, as FlashAttention-2 counts.

#include <string_view>

namespace assay {

// NaN when the operator has no such count, or its shapes do not tell. dims, concrete: the JSON
// texts of Trace::op_inputs.
double operator_flop(std::string_view op, std::string_view dims, std::string_view concrete);

}  // namespace assay
