#include "diff/match.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "diff/sequence.h"

namespace assay {
namespace {

// With more differences between two iterations, neighbours are no evidence for a match.
constexpr size_t kMostEdits = 3000;
constexpr uint32_t kUnmatched = UINT32_MAX;

class Matcher {
 public:
  Matcher(const DiffSideLevel& a, const DiffSideLevel& b)
      : a_(a), b_(b), of_a_(a.items.size(), kUnmatched), of_b_(b.items.size(), kUnmatched) {}

  Matching run() {
    by_name();
    by_unique([](const DiffItem& item) -> const std::string& { return item.family; },
              DiffMatch::kFamily);
    by_unique([](const DiffItem& item) -> const std::string& { return item.path; },
              DiffMatch::kPath);
    by_position();
    by_family_in_order();
    std::sort(matching_.pairs.begin(), matching_.pairs.end(),
              [](const ItemPair& x, const ItemPair& y) { return x.a < y.a; });
    return std::move(matching_);
  }

 private:
  using Groups = std::map<std::string, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>>;

  void pair(uint32_t a, uint32_t b, DiffMatch match) {
    of_a_[a] = b;
    of_b_[b] = a;
    matching_.pairs.push_back({a, b, match});
  }
  bool open_a(uint32_t i) const { return of_a_[i] == kUnmatched && !a_.items[i].rest; }
  bool open_b(uint32_t i) const { return of_b_[i] == kUnmatched && !b_.items[i].rest; }

  void by_name() {
    std::unordered_map<std::string, uint32_t> names;
    for (uint32_t i = 0; i < b_.items.size(); ++i) names[b_.items[i].name] = i;
    for (uint32_t i = 0; i < a_.items.size(); ++i) {
      const auto found = names.find(a_.items[i].name);
      if (found != names.end()) pair(i, found->second, DiffMatch::kName);
    }
  }

  template <typename Key>
  Groups open_groups(Key key) const {
    Groups groups;
    for (uint32_t i = 0; i < a_.items.size(); ++i) {
      if (open_a(i) && !key(a_.items[i]).empty()) groups[key(a_.items[i])].first.push_back(i);
    }
    for (uint32_t i = 0; i < b_.items.size(); ++i) {
      if (open_b(i) && !key(b_.items[i]).empty()) groups[key(b_.items[i])].second.push_back(i);
    }
    return groups;
  }

  template <typename Key>
  void by_unique(Key key, DiffMatch match) {
    for (const auto& [name, group] : open_groups(key)) {
      if (group.first.size() == 1 && group.second.size() == 1) {
        pair(group.first[0], group.second[0], match);
      }
    }
  }

  // Token sequences for the alignment. Matched items share a token; other items have their own.
  std::vector<uint32_t> tokens_a() const {
    std::vector<uint32_t> tokens;
    for (uint32_t item : a_.sequence) tokens.push_back(item);
    return tokens;
  }
  std::vector<uint32_t> tokens_b() const {
    std::vector<uint32_t> tokens;
    for (uint32_t item : b_.sequence) {
      const bool matched = of_b_[item] != kUnmatched;
      tokens.push_back(matched ? of_b_[item] : static_cast<uint32_t>(a_.items.size()) + item);
    }
    return tokens;
  }

  // In a replaced stretch of equal length, elements at the same offset vote for each other. A pair
  // needs votes from more than half of the occurrences of both items.
  void by_position() {
    if (!anything_open() || a_.sequence.empty() || b_.sequence.empty()) return;
    matching_.positions_tried = true;
    const auto hunks = align_sequences(tokens_a(), tokens_b(), kMostEdits);
    if (!hunks) {
      matching_.positions_given_up = true;
      return;
    }
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> votes;
    for (const Hunk& hunk : *hunks) {
      if (hunk.a_end - hunk.a_begin != hunk.b_end - hunk.b_begin) continue;
      for (size_t i = 0; i < hunk.a_end - hunk.a_begin; ++i) {
        const uint32_t a = a_.sequence[hunk.a_begin + i];
        const uint32_t b = b_.sequence[hunk.b_begin + i];
        if (open_a(a) && open_b(b)) ++votes[{a, b}];
      }
    }
    // Each item has at most one such pair, so the order does not matter.
    const std::vector<uint64_t> seen_a = occurrences(a_);
    const std::vector<uint64_t> seen_b = occurrences(b_);
    for (const auto& [items, count] : votes) {
      if (2 * count > seen_a[items.first] && 2 * count > seen_b[items.second]) {
        pair(items.first, items.second, DiffMatch::kPosition);
      }
    }
  }

  bool anything_open() const {
    bool a = false;
    bool b = false;
    for (uint32_t i = 0; i < a_.items.size(); ++i) a |= open_a(i);
    for (uint32_t i = 0; i < b_.items.size(); ++i) b |= open_b(i);
    return a && b;
  }

  static std::vector<uint64_t> occurrences(const DiffSideLevel& side) {
    std::vector<uint64_t> seen(side.items.size(), 0);
    for (uint32_t item : side.sequence) ++seen[item];
    return seen;
  }

  // Pairs remaining members of a family in order of appearance, if both sides have equally many.
  void by_family_in_order() {
    const std::vector<size_t> first_a = first_positions(a_);
    const std::vector<size_t> first_b = first_positions(b_);
    const auto family = [](const DiffItem& item) -> const std::string& { return item.family; };
    for (auto& [name, group] : open_groups(family)) {
      if (group.first.size() != group.second.size()) continue;
      std::vector<uint32_t> a = group.first;
      std::vector<uint32_t> b = group.second;
      order(a, a_, first_a);
      order(b, b_, first_b);
      for (size_t i = 0; i < a.size(); ++i) pair(a[i], b[i], DiffMatch::kFamily);
    }
  }

  static std::vector<size_t> first_positions(const DiffSideLevel& side) {
    std::vector<size_t> first(side.items.size(), SIZE_MAX);
    for (size_t i = side.sequence.size(); i-- > 0;) first[side.sequence[i]] = i;
    return first;
  }
  static void order(std::vector<uint32_t>& items, const DiffSideLevel& side,
                    const std::vector<size_t>& first) {
    std::sort(items.begin(), items.end(), [&](uint32_t x, uint32_t y) {
      if (first[x] != first[y]) return first[x] < first[y];
      return side.items[x].name < side.items[y].name;
    });
  }

  const DiffSideLevel& a_;
  const DiffSideLevel& b_;
  std::vector<uint32_t> of_a_;
  std::vector<uint32_t> of_b_;
  Matching matching_;
};

// An order of sides that depends only on their content.
bool comes_after(const DiffSideLevel& a, const DiffSideLevel& b) {
  if (a.sequence.size() != b.sequence.size()) return a.sequence.size() > b.sequence.size();
  for (size_t i = 0; i < a.sequence.size(); ++i) {
    const int order = a.items[a.sequence[i]].name.compare(b.items[b.sequence[i]].name);
    if (order != 0) return order > 0;
  }
  return false;
}

}  // namespace

std::string_view diff_match_name(DiffMatch match) {
  switch (match) {
    case DiffMatch::kName:
      return "name";
    case DiffMatch::kFamily:
      return "family";
    case DiffMatch::kPath:
      return "path";
    case DiffMatch::kPosition:
      return "position";
    case DiffMatch::kNone:
      break;
  }
  return "none";
}

Matching match_items(const DiffSideLevel& a, const DiffSideLevel& b) {
  // The alignment depends on which sequence comes first. A fixed order makes the result independent
  // of which side is A.
  if (!comes_after(a, b)) return Matcher(a, b).run();
  Matching matching = Matcher(b, a).run();
  for (ItemPair& pair : matching.pairs) std::swap(pair.a, pair.b);
  return matching;
}

}  // namespace assay
