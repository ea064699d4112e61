#pragma once

#include <string_view>

namespace assay {

// True for a node of PyTorch's autograd graph or the engine's span around one, such as
// "MulBackward0", "torch::autograd::AccumulateGrad" or "autograd::engine::evaluate_function:
// MulBackward0". Such a row carries the sequence number of its forward operator.
bool is_backward_node(std::string_view name);

}  // namespace assay
