#pragma once

// The table of kernel names and its answers: compiled in from data/kernel_kinds.txt, a user's rows
// in front of those. The one place that decides what a kernel is.

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

  // Rows in front of those that are there: the first that fits decides. Errors name the line, and
  // the file where one is given.
  Status add(std::string_view text, const std::string& file = "");

  KernelFacts classify(std::string_view name) const;
  // The collective that a text names: "_allgather_base", "nccl:all_reduce",
  // "ncclDevKernel_AllReduce_Sum_f16_RING_LL(...)". "collective" if the text does not show which.
  std::string collective_of(std::string_view text) const;
  // True if an operator ends in a vendor's library ("aten::mm"); independent of I_lib.
  bool is_vendor_op(std::string_view op_name) const;

  // Names by KernelFacts::family. The last one takes what no row took.
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
