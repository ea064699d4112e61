#include "flow/replay_fit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/name.h"

namespace assay {
namespace {

using Order = std::vector<uint32_t>;

bool told(const ReplayItem& item) { return item.name != ReplayNames::kUntold; }

// Comparison of names: equal, or ReplayNames::may_be_one().
enum class Spelling : uint8_t { kSame, kOther };

bool names_agree(const ReplayNames& names, const ReplayItem& work, const ReplayItem& node,
                 Spelling spelling) {
  if (!told(work) || !told(node) || work.name == node.name) return true;
  return spelling == Spelling::kOther && names.may_be_one(work.name, node.name);
}

// A copy runs as a copy or as a kernel of the driver; a kernel runs as a kernel.
bool kinds_agree(const ReplayItem& work, const ReplayItem& node) {
  return node.copies || !work.copies;
}

bool all_agree(const ReplayNames& names, const std::vector<ReplayItem>& works,
               const std::vector<ReplayItem>& nodes, const Order& node, Spelling spelling) {
  for (size_t i = 0; i < works.size(); ++i) {
    const ReplayItem& recorded = nodes[node[i]];
    if (!kinds_agree(works[i], recorded)) return false;
    if (!names_agree(names, works[i], recorded, spelling)) return false;
  }
  return true;
}

// Indices by name, copies first; equal ones keep their order.
Order by_name(const ReplayNames& names, const std::vector<ReplayItem>& items, Spelling spelling) {
  const auto key = [&](uint32_t i) {
    const ReplayItem& item = items[i];
    if (item.copies) return std::pair{0U, 0U};
    return std::pair{1U, spelling == Spelling::kSame ? item.name : names.base_of(item.name)};
  };
  Order order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

Order in_equal_names(const ReplayNames& names, const std::vector<ReplayItem>& works,
                     const std::vector<ReplayItem>& nodes, Spelling spelling) {
  const Order from = by_name(names, works, spelling);
  const Order to = by_name(names, nodes, spelling);
  Order node(works.size());
  for (size_t i = 0; i < works.size(); ++i) node[from[i]] = to[i];
  return node;
}

bool all_kernels_told(const std::vector<ReplayItem>& items) {
  return std::all_of(items.begin(), items.end(),
                     [](const ReplayItem& item) { return item.copies || told(item); });
}

}  // namespace

uint32_t ReplayNames::add(std::string_view name) {
  if (name.empty()) return kUntold;
  const std::string plain = plain_kernel_name(name);
  const auto [found, is_new] = by_plain_.emplace(plain, static_cast<uint32_t>(told_.size()));
  if (!is_new) return found->second;
  Told told{.base = number_of(base_kernel_name(plain))};
  for (const KernelName::Argument& one : parse_kernel_name(plain).arguments) {
    told.arguments.emplace_back(one.text);
  }
  told_.push_back(std::move(told));
  return found->second;
}

bool ReplayNames::may_be_one(uint32_t a, uint32_t b) const {
  if (told_[a].base != told_[b].base) return false;
  const auto& x = told_[a].arguments;
  const auto& y = told_[b].arguments;
  return x.empty() || y.empty() || x == y;
}

ReplayFit fit_replay(const ReplayNames& names, const std::vector<ReplayItem>& works,
                     const std::vector<ReplayItem>& nodes, bool ordered) {
  ReplayFit fit;
  if (works.size() != nodes.size()) return fit;
  Order places(works.size());
  std::iota(places.begin(), places.end(), 0U);
  bool kinds = true;
  for (const uint32_t i : places) kinds = kinds && kinds_agree(works[i], nodes[i]);
  const bool by_names = !ordered && all_kernels_told(works) && all_kernels_told(nodes);
  for (const Spelling spelling : {Spelling::kSame, Spelling::kOther}) {
    Order node = places;
    bool agree = all_agree(names, works, nodes, node, spelling);
    if (!agree && by_names) {
      node = in_equal_names(names, works, nodes, spelling);
      agree = all_agree(names, works, nodes, node, spelling);
    }
    if (!agree) continue;
    fit.kind = ReplayFitKind::kFits;
    fit.by_order = node;
    for (const uint32_t i : places) {
      const bool both = works[i].copies == nodes[i].copies && told(nodes[i]) &&
                        names_agree(names, works[i], nodes[i], spelling);
      if (both) fit.by_order[i] = i;
    }
    fit.node = std::move(node);
    return fit;
  }
  if (kinds) fit.kind = ReplayFitKind::kOtherNames;
  return fit;
}

}  // namespace assay
