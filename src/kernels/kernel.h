#pragma once

// Classification of a kernel by its name.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class KernelKind : uint8_t {
  kOther,  // no row of the table matches
  kGemm,
  kConv,
  kAttention,  // and its substitutes: linear attention, state-space scans
  kNorm,
  kSoftmax,
  kElementwise,
  kReduce,
  kScan,
  kCopy,  // moves data: copies, casts, fills, layout changes, writes into a KV cache
  kQuantize,
  kIndex,  // gathers, scatters, sorts, selects, computes indices
  kEmbedding,
  kOptimizer,
  kMoe,  // routing to experts and back; the products of experts are kGemm
  kRandom,
  kPool,
  kCommunication,  // data between GPUs
};
inline constexpr size_t kKernelKinds = 18;
std::string_view kernel_kind_name(KernelKind kind);  // "gemm"

// How a kernel's kind was found.
enum class FoundBy : uint8_t {
  kNothing,  // no row matches
  kGuess,    // a row marked as a guess: a characteristic word in a name of unknown origin
  kRow,
};

struct KernelFacts {
  KernelKind kind = KernelKind::kOther;
  FoundBy found = FoundBy::kNothing;
  uint32_t line = 0;            // of the row that gave the kind; 0 = none
  bool by_user = false;         // that row is in the user's file
  bool vendor_library = false;  // I_lib (docs/metrics.md): a vendor library launches it
  bool paper_library = false;   // I_lib by TaxBreak's own convention, for its literal modes
  bool named_native = false;    // a row says that no vendor library launches it
  uint16_t family = 0;          // index into KernelBook::families()
  std::string library = {};     // "cutlass"; empty = unknown, as below
  std::string data_type = {};   // "bf16": of the operands
  std::string collective = {};  // of communication, "all_reduce"; "collective" = unknown kind
  std::vector<std::string> tags = {};  // fused operations and variants: "bias", "relu",
                                       // "split_k"
};

}  // namespace assay
