#include "trace/backward_names.h"

#include <algorithm>

#include "base/ascii.h"

namespace assay {

bool is_backward_node(std::string_view name) {
  if (name.starts_with("autograd::engine::evaluate_function")) return true;
  if (name.starts_with("torch::autograd::")) {
    return contains(name, "AccumulateGrad") || contains(name, "CppNode<");
  }
  constexpr std::string_view kBackward = "Backward";
  const size_t at = name.rfind(kBackward);
  if (at == std::string_view::npos || at == 0) return false;
  if (name.find("::") != std::string_view::npos) return false;
  const std::string_view rest = name.substr(at + kBackward.size());
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace assay
