#pragma once

#include <string_view>

namespace assay {

// A node of PyTorch's autograd graph or the engine's span around one: "MulBackward0",
// "torch::autograd::AccumulateGrad", "autograd::engine::evaluate_function: MulBackward0". The
// number that such a row carries is its forward operator's.
bool is_backward_node(std::string_view name);

}  // namespace assay
