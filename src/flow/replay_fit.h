#pragma once

// Matches the kernels, copies and fills of a graph replay to the recorded launches.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flow/replays.h"

namespace assay {

// Kernel names, each parsed once.
class ReplayNames {
 public:
  // A number for the name, equal for spellings that demangle alike; kUntold for an empty name.
  static constexpr uint32_t kUntold = 0;
  uint32_t add(std::string_view name);
  // A number for the function's name without template arguments and parameters.
  uint32_t base_of(uint32_t name) const { return told_[name].base; }
  // True if two names may be spellings of one kernel: the same function and, if both have template
  // arguments, the same arguments.
  bool may_be_one(uint32_t a, uint32_t b) const;

 private:
  struct Told {
    uint32_t base = kUntold;
    std::vector<std::string> arguments = {};
  };
  uint32_t number_of(const std::string& text) {
    return numbers_.emplace(text, static_cast<uint32_t>(numbers_.size() + 1)).first->second;
  }

  std::unordered_map<std::string, uint32_t> numbers_;   // by function name
  std::unordered_map<std::string, uint32_t> by_plain_;  // index into told_
  std::vector<Told> told_ = {{}};
};

// One activity of a replay, or one node.
struct ReplayItem {
  bool copies = false;
  uint32_t name = ReplayNames::kUntold;
};

// kNone: counts differ, or a copy is where a kernel was recorded. kOtherNames: only kernel names
// differ. kFits: `node` is set.
enum class ReplayFitKind : uint8_t { kNone, kOtherNames, kFits };
struct ReplayFit {
  ReplayFitKind kind = ReplayFitKind::kNone;
  std::vector<uint32_t> node = {};  // node per work
  // Per work: the node at the same place, if that has its name, too; else `node`.
  std::vector<uint32_t> by_order = {};
};

// Matches works to nodes. works: by node id (ordered = true), else by begin. By order, if all known
// names agree; else, without ids and if every name is known, by order among equal names: branches
// of a graph may run in another order than recorded. A copy node may be recorded without a name and
// run as a kernel.
ReplayFit fit_replay(const ReplayNames& names, const std::vector<ReplayItem>& works,
                     const std::vector<ReplayItem>& nodes, bool ordered);

}  // namespace assay
