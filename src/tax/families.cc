#include "tax/families.h"

#include <algorithm>
#include <initializer_list>

#include "base/ascii.h"

namespace assay {
namespace {

bool contains_any(std::string_view text, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return text.find(pattern) != std::string_view::npos;
  });
}

// The seven families of TaxBreak Table IV keep its names and its order. The others take what the
// paper's models did not show; those that stand in front would else be taken for a GEMM or an
// element-wise kernel because of a type in their template arguments (cutlass::half_t).
KernelFamilies make_builtin() {
  KernelFamilies result;
  result.families = {
      {std::string(kCommunicationFamily),
       {"nccl", "rccl", "allreduce", "all_reduce", "cross_device_reduce"}},
      {"Attention",
       {"flash", "fmha", "attention", "attn", "mha_", "_mla_", "paged_kv", "reshape_and_cache"}},
      {"Copy, fill", {"memcpy", "memset", "copybuffer", "fillbuffer"}},
      {"Scan (prefix)", {"scan", "cumsum"}},
      {"Elem. (unroll)", {"unrolled_elementwise"}},
      {"Elem. (vector)", {"vectorized_elementwise"}},
      {"Reduce", {"reduce_kernel"}},
      {"Elem. (generic)", {"elementwise_kernel"}},
      {"Softmax", {"softmax"}},
      {"Normalisation",
       {"layer_norm", "layernorm", "rms_norm", "rmsnorm", "batch_norm", "batchnorm", "group_norm",
        "groupnorm", "rowwisemoments", "bn_fw", "bn_bw", "cunormalize"}},
      {"Optimizer", {"multi_tensor_apply", "fused_adam", "fusedadam"}},
      {"Index, sort",
       {"gather", "scatter", "index", "embedding", "radixsort", "radix_sort", "bitonicsort", "topk",
        "sort_"}},
      {"Convolution",
       {"conv2d", "conv3d", "convolve", "convolution", "implicit_con", "fprop", "dgrad", "wgrad",
        "winograd", "miopen", "naive_conv", "sp3asmconv", "im2col"}},
      {"GEMM (ROCm)", {"cijk_", "rocblas", "hipblas", "ck_tile", "ck::", "composable_kernel"}},
      {"GEMM (nvjet)", {"nvjet"}},
      {"GEMM (cuBLAS)", {"cublas", "cutlass", "gemm"}},
      {"Triton", {"triton_"}},
      {"Other", {}},
  };
  result.library_patterns = {"cublas", "cublaslt", "cutlass",          "cudnn", "cijk_", "rocblas",
                             "miopen", "ck_tile",  "composable_kernel"};
  result.native_patterns = {"nvjet", "wgmma", "s884gemm"};
  result.library_ops = {"aten::mm",
                        "aten::bmm",
                        "aten::addmm",
                        "aten::matmul",
                        "aten::linear",
                        "aten::_scaled_mm",
                        "aten::_scaled_dot_product*"};
  return result;
}

}  // namespace

uint16_t KernelFamilies::family_of(std::string_view kernel_name) const {
  const std::string name = lower(kernel_name);
  const auto found =
      std::find_if(families.begin(), families.end(),
                   [&](const KernelFamily& family) { return contains_any(name, family.patterns); });
  if (found == families.end()) {
    return static_cast<uint16_t>(families.empty() ? 0 : families.size() - 1);
  }
  const auto first = std::find_if(families.begin(), found, [&](const KernelFamily& family) {
    return family.name == found->name;
  });
  return static_cast<uint16_t>(first - families.begin());
}

bool KernelFamilies::is_library(std::string_view kernel_name) const {
  const std::string name = lower(kernel_name);
  if (contains_any(name, forced_library_patterns)) return true;
  return contains_any(name, library_patterns) && !contains_any(name, native_patterns);
}

bool KernelFamilies::is_library_op(std::string_view op_name) const {
  return std::any_of(library_ops.begin(), library_ops.end(), [&](std::string_view op) {
    if (!op.ends_with('*')) return op_name == op;
    return op_name.starts_with(op.substr(0, op.size() - 1));
  });
}

const KernelFamilies& builtin_kernel_families() {
  static const KernelFamilies families = make_builtin();
  return families;
}

}  // namespace assay
