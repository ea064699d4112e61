#include "diff/ordinals.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace assay {
namespace {

constexpr size_t kOperations = static_cast<size_t>(DiffLevelKind::kOperation);

// "layers.self_attn[1].proj[0]" -> "layers.self_attn.proj".
std::string without_ordinals(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const size_t end = name[i] == '[' ? name.find_first_not_of("0123456789", i + 1) : i;
    const bool ordinal = end != std::string_view::npos && end > i + 1 && name[end] == ']';
    if (ordinal) {
      i = end;
    } else {
      out += name[i];
    }
  }
  return out;
}

using Names = std::map<std::string, std::set<std::string>>;  // by kind

Names names_of(const std::vector<DiffRun>& runs) {
  Names names;
  for (const DiffRun& run : runs) {
    for (const DiffItem& item : run.levels[kOperations].items) {
      if (!item.rest) names[without_ordinals(item.name)].insert(item.name);
    }
  }
  return names;
}

void join(std::vector<DiffRun>& runs, const std::set<std::string>& kinds) {
  for (DiffRun& run : runs) {
    for (DiffItem& item : run.levels[kOperations].items) {
      std::string kind = without_ordinals(item.name);
      if (item.rest || !kinds.contains(kind)) continue;
      item.shown = kind;
      item.name = std::move(kind);
    }
  }
}

}  // namespace

void join_unlike_ordinals(std::vector<DiffRun>& a, std::vector<DiffRun>& b) {
  const Names in_a = names_of(a);
  const Names in_b = names_of(b);
  std::set<std::string> kinds;
  for (const auto& [kind, names] : in_a) {
    const auto other = in_b.find(kind);
    if (other != in_b.end() && other->second != names) kinds.insert(kind);
  }
  join(a, kinds);
  join(b, kinds);
}

}  // namespace assay
