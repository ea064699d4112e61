#pragma once

// Classifies kernels by name, with a table compiled in from data/kernel_kinds.txt and, before it,
// rows of the user. No other module classifies kernels.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/kernel.h"
#include "kernels/rules.h"

namespace assay {

class KernelBook {
 public:
  static const std::shared_ptr<const KernelBook>& built_in();

  // Adds rows before the existing ones; the first matching row decides. Errors name the line, and
  // the file if given.
  Status add(std::string_view text, const std::string& file = "");

  KernelFacts classify(std::string_view name) const;
  // The collective named by a text, such as "_allgather_base", "nccl:all_reduce",
  // "ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)". "collective" if the text does not show which.
  std::string collective_of(std::string_view text) const;
  // True if an operator calls a vendor library ("aten::mm"). Independent of I_lib.
  bool is_vendor_op(std::string_view op_name) const;

  // Names by KernelFacts::family. Kernels without a matching row are in the last one.
  const std::vector<std::string>& families() const { return families_; }

 private:
  struct Row : TableRow {
    bool by_user = false;
    uint16_t family = 0;
  };
  struct Parts;
  const Row* first(KernelAspect aspect, const Parts& parts) const;
  void number_families();

  std::array<std::vector<Row>, kKernelAspects> rows_;
  std::vector<std::string> families_;
};

// The family of collective kernels. Their time contains the wait for other ranks.
inline constexpr std::string_view kCommunicationFamily = "Communication";

// Kinds of KernelBook::collective_of: an unknown collective, and a transfer between two ranks.
inline constexpr std::string_view kSomeCollective = "collective";
inline constexpr std::string_view kSendRecv = "send_recv";

// True if no rank can leave a collective of this name before all have arrived.
bool all_wait(std::string_view collective);

}  // namespace assay
