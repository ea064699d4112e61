#include "roof/gradients.h"

#include <string_view>

namespace assay {
namespace {

// "CudnnConvolutionBackward", "ConvolutionBackward0".
bool undoes_convolution(std::string_view name) {
  return name.find(':') == std::string_view::npos &&
         name.find("ConvolutionBackward") != std::string_view::npos;
}

}  // namespace

ConvolutionGradients::ConvolutionGradients(const Trace& trace, const Links& links,
                                           const std::vector<uint32_t>& input_row)
    : links_(links) {
  const auto& sequences = trace.op_sequences;
  if (sequences.empty()) return;
  forward_number_.assign(trace.ops.size(), -1);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const OpId op = sequences.op[i];
    const int64_t number = sequences.sequence[i];
    if (sequences.forward_thread[i] == 0) {
      forward_number_[op.index()] = number;
      continue;
    }
    const uint32_t row = input_row[op.index()];
    if (row == kNone || number < 0 || !undoes_convolution(trace.text(trace.ops.name[op.index()])))
      continue;
    const auto [place, is_new] = node_.try_emplace(number, row);
    const bool same = is_new || (place->second != kNone &&
                                 trace.op_inputs.dims[place->second] == trace.op_inputs.dims[row]);
    if (!same) place->second = kNone;
  }
}

uint32_t ConvolutionGradients::row_of(OpId op) const {
  if (node_.empty()) return kNone;
  for (; op; op = links_.op_parent[op.index()]) {
    const int64_t number = forward_number_[op.index()];
    if (number < 0) continue;
    const auto found = node_.find(number);
    return found == node_.end() ? kNone : found->second;
  }
  return kNone;
}

}  // namespace assay
