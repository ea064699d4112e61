#include "roof/work.h"

#include <array>
#include <cmath>
#include <limits>

#include "roof/models.h"

namespace assay {

std::string_view work_kind_name(OpWorkKind kind) {
  constexpr std::array<std::string_view, kOpWorkKinds> kNames = {
      "gemm",      "conv", "attention", "norm",      "softmax", "elementwise", "reduction",
      "embedding", "move", "loss",      "optimizer", "experts", "generated"};
  return kNames[static_cast<size_t>(kind)];
}

namespace {

// False for impossible sizes: negative or not finite.
bool sane(const OpWork& work) {
  return std::isfinite(work.flop) && std::isfinite(work.bytes()) && work.flop >= 0 &&
         work.read_bytes >= 0 && work.write_bytes >= 0;
}

}  // namespace

WorkAnswer operator_work(std::string_view op, const OpInputs& inputs,
                         const EnclosingOp& enclosing) {
  std::optional<WorkAnswer> answer = product_work(op, inputs);
  if (!answer) answer = convolution_work(op, inputs, enclosing);
  if (!answer) answer = attention_work(op, inputs);
  if (!answer) answer = experts_work(op, inputs);
  if (!answer) answer = lookup_work(op, inputs);
  if (!answer) answer = pooling_work(op, inputs);
  if (!answer) answer = fbgemm_work(op, inputs, enclosing);
  if (!answer) answer = stream_work(op, inputs);
  if (!answer) return {WorkKnown::kNoModel};
  if (!sane(answer->work) || !sane(answer->most)) return {WorkKnown::kNotCovered};
  return *answer;
}

double matrix_flop(std::string_view op, std::string_view dims, std::string_view concrete) {
  const WorkAnswer answer = operator_work(op, read_op_inputs(dims, {}, {}, concrete));
  const bool usable = answer.known == WorkKnown::kTold || answer.known == WorkKnown::kNoTypes;
  return usable && answer.work.matrix && answer.work.flop > 0
             ? answer.work.flop
             : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace assay
