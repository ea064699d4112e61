#pragma once

// Which recorded launch each kernel, copy or fill of a graph's replay is.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow/replays.h"

namespace assay {

// Names of kernels, each taken apart once.
class ReplayNames {
 public:
  // A number for the name, the same for spellings that demangle to one; kUntold for none.
  static constexpr uint32_t kUntold = 0;
  uint32_t add(std::string_view name);
  // Without template arguments and parameters: a number for the function's own name.
  uint32_t base_of(uint32_t name) const { return told_[name].base; }
  // Whether two names may be spellings of one kernel: the same function, and where both have
  // template arguments, those of one name the other's.
  bool may_be_one(uint32_t a, uint32_t b) const;

 private:
  struct Told {
    uint32_t base = kUntold;
    std::vector<std::string> arguments = {};
  };
  uint32_t number_of(const std::string& text) {
    return numbers_.emplace(text, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

  std::unordered_map<std::string, uint32_t> numbers_;   // of functions' own names
  std::unordered_map<std::string, uint32_t> by_plain_;  // into told_
  std::vector<Told> told_ = {{}};
};

// One piece of a replay's work, or one node.
struct ReplayItem {
  bool copies = false;
  uint32_t name = ReplayNames::kUntold;
};

// kNone: numbers differ, or a copy stands where a kernel was recorded. kOtherNames: only the names
// of kernels forbid it. kFits: `node` tells each work's node.
enum class ReplayFitKind : uint8_t { kNone, kOtherNames, kFits };
struct ReplayFit {
  ReplayFitKind kind = ReplayFitKind::kNone;
  std::vector<uint32_t> node = {};  // per work
  // Per work: the node at its place in the order, where that has its name, too; else `node`.
  std::vector<uint32_t> by_order = {};
};

// works: in the order of ids of nodes (ordered), else of begins. By order, where all names that are
// told agree; else, without ids and with every name told, by order among equal names: branches of
// a graph may run in another order than they were recorded in. A node that copies may be recorded
// as a call without a name and run as a kernel.
ReplayFit fit_replay(const ReplayNames& names, const std::vector<ReplayItem>& works,
                     const std::vector<ReplayItem>& nodes, bool ordered);

}  // namespace assay
