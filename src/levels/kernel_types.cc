#include "levels/kernel_types.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace assay {
namespace {

template <size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

constexpr std::array<std::string_view, 10> kCommNames = {
    "nccldevkernel",       "ncclkernel",       "rccl",         "msccl",     "nvshmem", "::ep::",
    "cross_device_reduce", "oneshotallreduce", "onecclkernel", "hcclkernel"};
constexpr std::array<std::string_view, 6> kCopyNames = {
    "direct_copy_kernel", "catarraybatchedcopy", "split_with_sizes_copy",
    "chunk_cat",          "copybuffer",          "fillbuffer"};
// Kernels that take part in an attention core, before GEMM names: fmha is built of GEMM parts.
constexpr std::array<std::string_view, 9> kAttentionNames = {
    "flash",        "fmha",     "attention",
    "attn_fwd",     "attn_bwd", "paged_attn",
    "unified_attn", "mla_",     "decode_softmax_reducev"};
constexpr std::array<std::string_view, 16> kGemmNames = {
    "gemm",  "gemv",  "cublas", "cutlass",  "cijk_", "matmul",   "nvjet", "xmma",
    "igemm", "wgrad", "dgrad",  "convolve", "conv",  "winograd", "_mm_",  "wvsplitk"};
constexpr std::array<std::string_view, 17> kVectorNames = {
    "elementwise", "reduce",   "norm",         "softmax",    "silu",       "gelu",
    "rotary",      "dropout",  "index",        "scatter",    "gather",     "triton",
    "foreach",     "tensorop", "multi_tensor", "activation", "act_and_mul"};

}  // namespace

bool is_comm_kernel(std::string_view name) { return contains_any(lower(name), kCommNames); }

bool is_copy_kernel(std::string_view name) { return contains_any(lower(name), kCopyNames); }

OpType kernel_op_type(ActivityKind kind, std::string_view name) {
  if (kind == ActivityKind::kMemcpy || kind == ActivityKind::kMemset) return OpType::kCopy;
  const std::string text = lower(name);
  if (contains_any(text, kCommNames)) return OpType::kComm;
  if (contains_any(text, kCopyNames)) return OpType::kCopy;
  if (contains_any(text, kAttentionNames)) return OpType::kAttention;
  if (contains_any(text, kGemmNames)) return OpType::kGemm;
  if (contains_any(text, kVectorNames)) return OpType::kVector;
  return OpType::kOther;
}

std::string collective_kind(std::string_view name) {
  std::string text = lower(name);
  std::erase(text, '_');
  struct Kind {
    std::string_view part;
    const char* kind;
  };
  constexpr std::array<Kind, 12> kKinds = {{{"allreduce", "all_reduce"},
                                            {"crossdevicereduce", "all_reduce"},
                                            {"allgather", "all_gather"},
                                            {"reducescatter", "reduce_scatter"},
                                            {"alltoall", "all_to_all"},
                                            {"broadcast", "broadcast"},
                                            {"barrier", "barrier"},
                                            {"sendrecv", "send_recv"},
                                            {"dispatch", "ep_dispatch"},
                                            {"combine", "ep_combine"},
                                            {"notify", "ep_notify"},
                                            {"reduce", "reduce"}}};
  for (const Kind& kind : kKinds) {
    if (text.find(kind.part) != std::string::npos) return kind.kind;
  }
  return "collective";
}

bool all_wait(std::string_view kind) {
  return kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" ||
         kind == "all_to_all" || kind == "barrier";
}

}  // namespace assay
