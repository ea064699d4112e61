#include "breakdown/structure.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"
#include "breakdown/lcs.h"

namespace assay {
namespace {

constexpr size_t kCandidates = 32;
constexpr size_t kLeastPeriod = 3;
constexpr size_t kLeastRepeats = 3;
// Minimum share of common units for layers of a block, each of its own kind, to be similar.
constexpr double kAlike = 0.7;
constexpr size_t kMostKinds = 16;
constexpr size_t kMostSplit = 4096;  // maximum units of a block that is searched for layers
constexpr size_t kLeastHeavy = 2;  // minimum matrix products or attentions of a layer in a block of
                                   // several
// Longer stretches are compared by their common prefix and suffix only.
constexpr size_t kMostCells = size_t{1} << 25;     // of the table kept for two stretches
constexpr size_t kMostCompared = size_t{1} << 24;  // product of the lengths of two stretches
// In longer blocks, only evenly spaced starts and norms are tried.
constexpr size_t kMostShifts = 256;
// Minimum share of the sequence's time for a repetition to be layers.
constexpr double kLayersShare = 0.3;
// A shorter block is preferred if it covers at least this share of what the best one covers.
constexpr double kNearlyAsMuch = 0.9;

std::vector<size_t> candidate_periods(const std::vector<uint32_t>& tokens) {
  std::unordered_map<uint32_t, size_t> last;
  std::map<size_t, size_t> count;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto [seen, is_new] = last.try_emplace(tokens[i], i);
    if (is_new) continue;
    const size_t gap = i - seen->second;
    seen->second = i;
    if (gap >= kLeastPeriod) ++count[gap];
  }
  std::vector<std::pair<size_t, size_t>> gaps(count.begin(), count.end());
  // Longer gaps are naturally rarer: weight each gap by the tokens it explains.
  std::stable_sort(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) {
    return a.second * a.first > b.second * b.first;
  });
  if (gaps.size() > kCandidates) gaps.resize(kCandidates);
  std::vector<size_t> periods;
  for (const auto& [gap, times] : gaps) periods.push_back(gap);
  std::sort(periods.begin(), periods.end());
  return periods;
}

RepeatingBlock longest_run(const std::vector<uint32_t>& tokens, size_t period) {
  RepeatingBlock best{.period = period};
  size_t run = 0;
  const size_t end = tokens.size() - period;
  for (size_t i = 0; i <= end; ++i) {
    if (i < end && tokens[i] == tokens[i + period]) {
      ++run;
      continue;
    }
    const size_t repeats = run > 0 ? (run + period) / period : 0;
    if (repeats >= 2 && repeats > best.repeats) {
      best.begin = i - run;
      best.repeats = repeats;
      best.spare = (run + period) % period;
    }
    run = 0;
  }
  return best;
}

bool is_activation(std::string_view name) {
  return contains(name, "silu") || contains(name, "SiLU") || contains(name, "swiglu") ||
         contains(name, "act_and_mul");
}

std::vector<std::string> own_names(const std::vector<BlockUnit>& block) {
  std::map<std::string_view, size_t> total;
  for (const BlockUnit& unit : block) ++total[unit.name];
  std::map<std::string_view, size_t> seen;
  std::vector<std::string> names;
  for (const BlockUnit& unit : block) {
    const size_t ordinal = seen[unit.name]++;
    names.push_back(total[unit.name] > 1 ? unit.name + "[" + std::to_string(ordinal) + "]"
                                         : unit.name);
  }
  return names;
}

// True for an elementwise product, not for a matrix product.
bool is_gating(std::string_view name) { return contains(name, "mul") && !contains(name, "matmul"); }

bool is_routing(std::string_view name) {
  return contains(name, "topk") || contains(name, "top_k") || contains(name, "routing");
}

// Matrix products after a block's attention that route tokens to experts: followed by a top-k
// operator before the next product.
std::vector<bool> routers_of(const std::vector<BlockUnit>& block) {
  std::vector<bool> routers(block.size(), false);
  size_t last = block.size();
  bool behind = false;
  for (size_t i = 0; i < block.size(); ++i) {
    behind |= block[i].type == OpType::kAttention;
    if (block[i].type == OpType::kGemm) {
      last = behind ? i : last;
    } else if (last < block.size() && is_routing(block[i].name)) {
      routers[last] = true;
    }
  }
  return routers;
}

// True for the order norm, qkv, rotary (optional), attention, output projection, then norm, gate,
// up (optional), activation, down.
bool is_llama_block(const std::vector<BlockUnit>& block) {
  size_t norms = 0;
  size_t attention = 0;
  size_t gemms_before = 0;
  size_t gemms_behind = 0;
  bool activation = false;
  bool in_attention = false;
  const std::vector<bool> routers = routers_of(block);
  for (size_t i = 0; i < block.size(); ++i) {
    const BlockUnit& unit = block[i];
    const bool core = unit.type == OpType::kAttention;
    attention += core && !in_attention ? 1 : 0;
    in_attention = core;
    if (unit.type == OpType::kGemm && !routers[i]) ++(attention > 0 ? gemms_behind : gemms_before);
    norms += is_norm_name(unit.name) ? 1 : 0;
    activation |= is_activation(unit.name);
  }
  return !block.empty() && is_norm_name(block.front().name) && norms >= 2 && attention == 1 &&
         activation && (gemms_before == 1 || gemms_before == 3) &&
         (gemms_behind == 3 || gemms_behind == 4);
}

std::vector<std::string> llama_names(const std::vector<BlockUnit>& block) {
  const std::vector<bool> routers = routers_of(block);
  size_t gemms_behind = 0;
  bool behind = false;
  for (size_t i = 0; i < block.size(); ++i) {
    behind |= block[i].type == OpType::kAttention;
    gemms_behind += behind && block[i].type == OpType::kGemm && !routers[i] ? 1 : 0;
  }
  std::vector<std::string> names;
  std::string last_gemm;
  size_t gemm = 0;
  size_t norm = 0;
  behind = false;
  for (size_t i = 0; i < block.size(); ++i) {
    const BlockUnit& unit = block[i];
    behind |= unit.type == OpType::kAttention;
    std::string name = unit.name;
    if (unit.type == OpType::kAttention) {
      name = "attn_fa";
    } else if (routers[i]) {
      name = "router";
    } else if (unit.type == OpType::kGemm) {
      if (!behind) name = "qkv_ip";
      if (behind) {
        ++gemm;
        name = gemm == 1              ? "attn_op"
               : gemm == gemms_behind ? "mlp_dp"
               : gemm == 2            ? "mlp_gp"
                                      : "mlp_up";
      }
      last_gemm = name;
    } else if (is_norm_name(unit.name) && (last_gemm.empty() || last_gemm == "attn_op")) {
      name = norm++ == 0 ? "attn_n" : "mlp_n";
    } else if (is_activation(unit.name)) {
      name = contains(unit.name, "mul") ? "mlp_gu" : "mlp_gs";
    } else if (last_gemm == "qkv_ip" && !behind) {
      name = unit.type == OpType::kCopy ? "qkv_c" : "qkv_re";
    } else if (last_gemm == "attn_op" && contains(unit.name, "add")) {
      name = "attn_ra";
    } else if (last_gemm == "mlp_dp" && contains(unit.name, "add")) {
      name = "mlp_ra";
    } else if (is_gating(unit.name) && contains(last_gemm, "mlp_") && last_gemm != "mlp_dp") {
      name = "mlp_gu";
    }
    names.push_back(std::move(name));
  }
  return names;
}

bool is_heavy(const BlockUnit& unit) {
  return unit.type == OpType::kGemm || unit.type == OpType::kAttention;
}

size_t heavy_units(std::span<const BlockUnit> units, size_t begin, size_t end) {
  return static_cast<size_t>(std::count_if(units.begin() + static_cast<std::ptrdiff_t>(begin),
                                           units.begin() + static_cast<std::ptrdiff_t>(end),
                                           is_heavy));
}

// Layers contain matrix products and a substantial part of the time; a loop over parameters does
// not.
bool is_worth_it(const std::vector<BlockUnit>& units, const RepeatingBlock& block) {
  int64_t all_ns = 0;
  int64_t inside_ns = 0;
  for (size_t u = 0; u < units.size(); ++u) {
    all_ns += units[u].dur_ns;
    if (u >= block.begin && u < block.begin + block.covered()) inside_ns += units[u].dur_ns;
  }
  return heavy_units(units, block.begin, block.begin + block.covered()) > 0 &&
         static_cast<double>(inside_ns) >= kLayersShare * static_cast<double>(all_ns);
}

// Length of the longest common subsequence of two stretches / length of the longer one.
double likeness(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t longer = std::max(a.size(), b.size());
  const CommonEnds ends = common_ends(a, b);
  const auto inside = [ends](std::span<const uint32_t> whole) {
    return whole.subspan(ends.begin, whole.size() - ends.begin - ends.end);
  };
  size_t common = ends.begin + ends.end;
  if (inside(a).size() * inside(b).size() <= kMostCompared)
    common += common_length(inside(a), inside(b));
  return static_cast<double>(common) / static_cast<double>(longer);
}

// True if the parts of a block with these starts are layers of one stack.
bool are_layers(std::span<const uint32_t> block, std::span<const BlockUnit> units,
                const std::vector<size_t>& begins) {
  for (size_t k = 0; k < begins.size(); ++k) {
    const size_t end = k + 1 < begins.size() ? begins[k + 1] : block.size();
    if (heavy_units(units, begins[k], end) < kLeastHeavy) return false;
    if (likeness(block.first(begins[1]), block.subspan(begins[k], end - begins[k])) < kAlike)
      return false;
  }
  return true;
}

size_t attentions(std::span<const BlockUnit> units, size_t begin, size_t end) {
  return static_cast<size_t>(
      std::count_if(units.begin() + static_cast<std::ptrdiff_t>(begin),
                    units.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const BlockUnit& unit) { return unit.type == OpType::kAttention; }));
}

// True if the rest of a block with inner repeating layers is one layer of another kind: unlike the
// units around the layers of an iteration, it has attention and matrix products.
bool is_other_layer(std::span<const BlockUnit> units, const RepeatingBlock& block,
                    const RepeatingBlock& inner) {
  const size_t end = block.begin + block.period;
  const size_t inner_end = inner.begin + inner.covered();
  const size_t attending =
      attentions(units, block.begin, inner.begin) + attentions(units, inner_end, end);
  const size_t heavy =
      heavy_units(units, block.begin, inner.begin) + heavy_units(units, inner_end, end);
  return (attending == 1 || attending == 2) && heavy >= attending + kLeastHeavy &&
         attentions(units, inner.begin, inner.begin + inner.period) > 0;
}

// Starts of the repeating layers at the beginning of a block, and of the other-kind layer after
// them; empty if the block has a different structure.
std::vector<size_t> begins_of_two_kinds(const std::vector<uint32_t>& block,
                                        std::span<const BlockUnit> units) {
  const RepeatingBlock inner = find_repeating_block(block);
  const RepeatingBlock whole{.begin = 0, .period = block.size(), .repeats = 1};
  if (inner.repeats == 0 || inner.begin > 0 || inner.repeats >= kMostKinds ||
      !is_other_layer(units, whole, inner)) {
    return {};
  }
  std::vector<size_t> begins;
  for (size_t k = 0; k <= inner.repeats; ++k) begins.push_back(k * inner.period);
  return begins;
}

// Starts of the layers of a block at `begin`: one layer, several similar ones that begin like the
// block, or repeating ones followed by one of another kind.
std::vector<size_t> layer_begins(const std::vector<uint32_t>& tokens,
                                 const std::vector<BlockUnit>& units, size_t begin, size_t period) {
  if (period > kMostSplit) return {0};
  const auto first = static_cast<std::ptrdiff_t>(begin);
  const auto last = static_cast<std::ptrdiff_t>(begin + period);
  const std::vector<uint32_t> block(tokens.begin() + first, tokens.begin() + last);
  const std::span<const BlockUnit> own = std::span(units).subspan(begin, period);
  std::vector<size_t> at;
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i] == block.front()) at.push_back(i);
  }
  const std::vector<size_t> two_kinds = begins_of_two_kinds(block, own);
  const size_t least = std::max<size_t>(two_kinds.size(), 1);
  for (size_t parts = std::min(at.size(), kMostKinds); parts > least; --parts) {
    if (at.size() % parts != 0) continue;
    std::vector<size_t> begins;
    for (size_t k = 0; k < parts; ++k) begins.push_back(at[k * (at.size() / parts)]);
    if (are_layers(block, own, begins)) return begins;
  }
  return two_kinds.empty() ? std::vector<size_t>{0} : two_kinds;
}

// Common subsequence lengths of suffix pairs at positions that differ by at most `apart`, so only a
// band of the table is filled. Other pairs are 0.
class NearbyLengths {
 public:
  NearbyLengths(std::span<const uint32_t> part, std::span<const uint32_t> kind, size_t apart)
      : rows_(part.size()),
        columns_(kind.size()),
        apart_(apart),
        width_(2 * apart + 1),
        common_((part.size() + 1) * width_, 0) {
    for (size_t row = rows_; row-- > 0;) {
      const size_t low = row > apart ? row - apart : 0;
      for (size_t column = std::min(columns_, row + apart + 1); column-- > low;) {
        common_[index(row, column)] =
            part[row] == kind[column]
                ? static_cast<uint32_t>(at(row + 1, column + 1)) + 1
                : static_cast<uint32_t>(std::max(at(row + 1, column), at(row, column + 1)));
      }
    }
  }
  size_t at(size_t row, size_t column) const {
    const bool inside = column + apart_ >= row && column <= row + apart_;
    return row < rows_ && column < columns_ && inside ? common_[index(row, column)] : 0;
  }

 private:
  size_t index(size_t row, size_t column) const { return row * width_ + (column + apart_ - row); }

  size_t rows_;
  size_t columns_;
  size_t apart_;
  size_t width_;
  std::vector<uint32_t> common_;
};

// Appends the indices along the common subsequence; positions count from `first`, the first
// differing unit.
template <typename Lengths>
void follow_common(std::span<const uint32_t> kind, std::span<const uint32_t> part,
                   const Lengths& lengths, size_t first, std::vector<size_t>& places) {
  size_t i = 0;
  size_t j = 0;
  while (i < part.size() && j < kind.size()) {
    if (part[i] == kind[j]) {
      places[first + i++] = first + j++;
    } else {
      ++(lengths.at(i + 1, j) >= lengths.at(i, j + 1) ? i : j);
    }
  }
}

// For each unit of `part`, its index in `kind` along the common subsequence; kNoUnit if it has
// none. The positions of common units differ by at most the number of unmatched units. If that band
// is cheaper than a row of bits, only the band is computed.
std::vector<size_t> places_in(std::span<const uint32_t> kind, std::span<const uint32_t> part) {
  const size_t n = part.size();
  const size_t m = kind.size();
  const CommonEnds ends = common_ends(part, kind);
  const size_t first = ends.begin;
  std::vector<size_t> places(n, kNoUnit);
  for (size_t i = 0; i < first; ++i) places[i] = i;
  const auto with_common_end = [&] {
    for (size_t k = n - ends.end; k < n; ++k) places[k] = k + m - n;
    return places;
  };
  const std::span<const uint32_t> part_in = part.subspan(first, n - first - ends.end);
  const std::span<const uint32_t> kind_in = kind.subspan(first, m - first - ends.end);
  if (part_in.size() * kind_in.size() > kMostCompared) return with_common_end();
  const size_t apart = part_in.size() + kind_in.size() - 2 * common_length(part_in, kind_in) + 1;
  const size_t width = 2 * apart + 1;
  if ((n - first + 1) * width > kMostCells) return with_common_end();
  const std::span<const uint32_t> part_left = part.subspan(first);
  const std::span<const uint32_t> kind_left = kind.subspan(first);
  constexpr size_t kBits = 64;  // units per word: a row of bits costs as much as one cell per 64
                                // units
  if (kind_left.size() / kBits < width) {
    follow_common(kind_left, part_left, SuffixLengths(part_left, kind_left), first, places);
  } else {
    follow_common(kind_left, part_left, NearbyLengths(part_left, kind_left, apart), first, places);
  }
  return places;
}

// likeness() of parts of a sequence to a layer kind, for parts with a common start or a common end.
// Many queries share one table, so that the cost is at most twice that of the table.
class Stretches {
 public:
  // longest: contains all parts, at its beginning, or at its end if at_end.
  Stretches(std::span<const uint32_t> longest, std::span<const uint32_t> kind, bool at_end)
      : longest_(longest), kind_(kind), at_end_(at_end) {
    const size_t shorter = std::min(longest.size(), kind.size());
    const auto equal = [&](size_t k) {
      return at_end ? longest[longest.size() - 1 - k] == kind[kind.size() - 1 - k]
                    : longest[k] == kind[k];
    };
    while (shared_ < shorter && equal(shared_)) ++shared_;
  }

  double likeness_of(size_t length) {
    const std::span<const uint32_t> part = at_end_ ? longest_.last(length) : longest_.first(length);
    const CommonEnds ends = ends_of(part);
    const size_t outside = ends.begin + ends.end;
    const size_t cells = (part.size() - outside) * (kind_.size() - outside);
    size_t common = outside;
    if (cells <= kMostCompared) common = lengths_.empty() ? compare(part, ends) : lengths_[length];
    return static_cast<double>(common) / static_cast<double>(std::max(part.size(), kind_.size()));
  }

 private:
  // As common_ends(): the common prefix first, then the common suffix.
  CommonEnds ends_of(std::span<const uint32_t> part) const {
    const size_t shorter = std::min(part.size(), kind_.size());
    CommonEnds ends;
    if (at_end_) {
      while (ends.begin < shorter && part[ends.begin] == kind_[ends.begin]) ++ends.begin;
      ends.end = std::min(shared_, shorter - ends.begin);
      return ends;
    }
    ends.begin = std::min(shared_, shorter);
    while (ends.begin + ends.end < shorter &&
           part[part.size() - 1 - ends.end] == kind_[kind_.size() - 1 - ends.end])
      ++ends.end;
    return ends;
  }
  size_t compare(std::span<const uint32_t> part, const CommonEnds& ends) {
    const size_t outside = ends.begin + ends.end;
    const auto inside = [&](std::span<const uint32_t> whole) {
      return whole.subspan(ends.begin, whole.size() - outside);
    };
    spent_ += inside(part).size() * inside(kind_).size();
    const size_t common = outside + common_length(inside(part), inside(kind_));
    if (spent_ > longest_.size() * kind_.size()) fill();
    return common;
  }
  void fill() {
    if (!at_end_) {
      lengths_ = common_lengths(longest_, kind_);
      return;
    }
    const std::vector<uint32_t> part(longest_.rbegin(), longest_.rend());
    lengths_ = common_lengths(part, std::vector<uint32_t>(kind_.rbegin(), kind_.rend()));
  }

  std::span<const uint32_t> longest_;
  std::span<const uint32_t> kind_;
  bool at_end_;
  size_t shared_ = 0;  // common prefix of the longest part and the kind; suffix if at_end_
  size_t spent_ = 0;
  std::vector<size_t> lengths_;  // by length of the part; empty until the table pays off
};

// Finds consecutive layers in a sequence.
class LayerWalk {
 public:
  LayerWalk(const std::vector<uint32_t>& tokens, std::vector<std::vector<uint32_t>> kinds)
      : tokens_(tokens), kinds_(std::move(kinds)) {}

  // The layer that begins at `at`, of the expected kind or of another; length 0 if there is none.
  BlockLayer from(size_t at, size_t expected) const {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      const size_t kind = (expected + k) % kinds_.size();
      if (stands_at(at, kind)) return {at, kinds_[kind].size(), kind, 0};
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      const size_t kind = (expected + k) % kinds_.size();
      const size_t whole = kinds_[kind].size();
      // With some units more or fewer: it ends where the next layer begins.
      const size_t rest = tokens_.size() - std::min(at, tokens_.size());
      Stretches stretches(stretch(at, at + std::min(rest, whole + whole / 4)), kinds_[kind], false);
      for (size_t extra = 0; extra <= whole / 4; ++extra) {
        for (const size_t length : {whole + extra, whole - extra}) {
          if (begins_at(at + length) && stretches.likeness_of(length) >= kAlike)
            return {at, length, kind, kNoUnit};
        }
      }
    }
    return last(at, expected);
  }
  // The layer that ends at `end`; otherwise as from().
  BlockLayer before(size_t end, size_t expected) const {
    for (size_t k = 0; k < kinds_.size(); ++k) {
      const size_t kind = (expected + kinds_.size() - k) % kinds_.size();
      const size_t whole = kinds_[kind].size();
      if (whole <= end && stands_at(end - whole, kind)) return {end - whole, whole, kind, 0};
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      const size_t kind = (expected + kinds_.size() - k) % kinds_.size();
      const size_t whole = kinds_[kind].size();
      const size_t most = std::min(end, whole + whole / 4);
      Stretches stretches(stretch(end - most, end), kinds_[kind], true);
      for (size_t extra = 0; extra <= whole / 4; ++extra) {
        for (const size_t length : {whole + extra, whole - extra}) {
          if (length > end || !begins_at(end - length)) continue;
          if (stretches.likeness_of(length) >= kAlike) return {end - length, length, kind, kNoUnit};
        }
      }
    }
    return first(end, expected);
  }
  // The same layer with the index of each unit, if it differs from its kind.
  BlockLayer with_places(BlockLayer layer) const {
    if (layer.from != kNoUnit) return layer;
    layer.from = 0;
    layer.units = places_in(kinds_[layer.kind], stretch(layer.begin, layer.begin + layer.length));
    return layer;
  }

 private:
  static constexpr size_t kBegin = 3;  // units that must match for a layer to begin

  bool stands_at(size_t at, size_t kind) const {
    const std::vector<uint32_t>& units = kinds_[kind];
    return at + units.size() <= tokens_.size() &&
           std::equal(units.begin(), units.end(),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  bool begins_at(size_t at) const {
    if (at + kBegin > tokens_.size()) return false;
    return std::any_of(kinds_.begin(), kinds_.end(), [&](const std::vector<uint32_t>& units) {
      return units.size() >= kBegin &&
             std::equal(units.begin(), units.begin() + kBegin,
                        tokens_.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }
  // `from` is kNoUnit until with_places() computes the indices, only for layers that are kept.
  BlockLayer alike(size_t at, size_t end, size_t kind) const {
    const std::vector<uint32_t>& units = kinds_[kind];
    if (likeness(stretch(at, end), units) < kAlike) return {};
    return {at, end - at, kind, kNoUnit};
  }
  std::span<const uint32_t> stretch(size_t begin, size_t end) const {
    return std::span(tokens_).subspan(begin, end - begin);
  }
  static bool enough(size_t part, size_t whole) {
    return part > 0 && static_cast<double>(part) >= kAlike * static_cast<double>(whole);
  }
  // The last layer of a run may lack its last units, the first one its first units.
  BlockLayer last(size_t at, size_t kind) const {
    const std::vector<uint32_t>& units = kinds_[kind];
    size_t same = 0;
    while (same < units.size() && at + same < tokens_.size() && tokens_[at + same] == units[same])
      ++same;
    if (enough(same, units.size())) return {at, same, kind, 0};
    // With differing units: ends with the last unit that the kind has.
    const size_t rest = std::min(units.size(), tokens_.size() - std::min(at, tokens_.size()));
    if (rest == 0) return {};
    BlockLayer layer = with_places(alike(at, at + rest, kind));
    while (layer.length > 0 && layer.units.back() == kNoUnit) {
      layer.units.pop_back();
      --layer.length;
    }
    return layer;
  }
  BlockLayer first(size_t end, size_t kind) const {
    const std::vector<uint32_t>& units = kinds_[kind];
    size_t same = 0;
    while (same < std::min(units.size(), end) &&
           tokens_[end - 1 - same] == units[units.size() - 1 - same])
      ++same;
    if (enough(same, units.size())) return {end - same, same, kind, units.size() - same};
    // With differing units: starts with the first unit that the kind has.
    const size_t rest = std::min(units.size(), end);
    if (rest == 0) return {};
    BlockLayer layer = with_places(alike(end - rest, end, kind));
    const auto own = std::find_if(layer.units.begin(), layer.units.end(),
                                  [](size_t unit) { return unit != kNoUnit; });
    const auto others = static_cast<size_t>(own - layer.units.begin());
    layer.units.erase(layer.units.begin(), own);
    layer.begin += others;
    layer.length -= others;
    return layer;
  }

  const std::vector<uint32_t>& tokens_;
  std::vector<std::vector<uint32_t>> kinds_;
};

// A possible division of a sequence into layers.
struct Layout {
  size_t first = 0;            // start of the block that was divided
  std::vector<size_t> begins;  // starts of its layers
  std::vector<BlockLayer> layers;
};

LayerWalk walk_over(const std::vector<uint32_t>& tokens, const Layout& layout, size_t period) {
  std::vector<std::vector<uint32_t>> kinds;
  for (size_t kind = 0; kind < layout.begins.size(); ++kind) {
    const size_t end = kind + 1 < layout.begins.size() ? layout.begins[kind + 1] : period;
    const auto block = tokens.begin() + static_cast<std::ptrdiff_t>(layout.first);
    kinds.emplace_back(block + static_cast<std::ptrdiff_t>(layout.begins[kind]),
                       block + static_cast<std::ptrdiff_t>(end));
  }
  return LayerWalk(tokens, std::move(kinds));
}

// The layers of a run if its blocks begin `shift` units later, and adjacent layers that differ in
// some units.
Layout lay_out(const std::vector<uint32_t>& tokens, const std::vector<BlockUnit>& units,
               const RepeatingBlock& block, size_t shift) {
  Layout result;
  result.first = block.begin + shift;
  result.begins = layer_begins(tokens, units, result.first, block.period);
  const LayerWalk walk = walk_over(tokens, result, block.period);
  const size_t count = result.begins.size();
  size_t kind = count - 1;
  for (BlockLayer layer = walk.before(result.first, kind); layer.length > 0;
       layer = walk.before(layer.begin, kind)) {
    result.layers.push_back(layer);
    kind = (layer.kind + count - 1) % count;
  }
  std::reverse(result.layers.begin(), result.layers.end());
  kind = 0;
  for (BlockLayer layer = walk.from(result.first, kind); layer.length > 0;
       layer = walk.from(layer.begin + layer.length, kind)) {
    result.layers.push_back(layer);
    kind = (layer.kind + 1) % count;
  }
  return result;
}

BlockLayers with_units(const std::vector<uint32_t>& tokens, const std::vector<BlockUnit>& units,
                       size_t period, Layout layout) {
  BlockLayers result;
  result.period = period;
  for (size_t kind = 0; kind < layout.begins.size(); ++kind) {
    const size_t end = kind + 1 < layout.begins.size() ? layout.begins[kind + 1] : period;
    const auto block = units.begin() + static_cast<std::ptrdiff_t>(layout.first);
    result.kinds.emplace_back(block + static_cast<std::ptrdiff_t>(layout.begins[kind]),
                              block + static_cast<std::ptrdiff_t>(end));
  }
  const LayerWalk walk = walk_over(tokens, layout, period);
  for (BlockLayer& layer : layout.layers) {
    result.layers.push_back(walk.with_places(std::move(layer)));
    result.layers.back().number = static_cast<int32_t>(result.layers.size()) - 1;
  }
  return result;
}

// Candidate starts of the block, as offsets in units from the start of its run. Offsets that keep
// the number of blocks in the run: the first and every norm. Offsets that cost one block ("late")
// need not be norms. If there are many, evenly spaced ones are used: neighbouring offsets give
// nearly the same result, because the differences of the first and last layer from the others
// change little.
std::vector<size_t> shifts_of(const std::vector<BlockUnit>& units, const RepeatingBlock& block) {
  const size_t last =
      block.repeats >= kLeastRepeats ? block.period - 1 : std::min(block.spare, block.period - 1);
  std::vector<size_t> norms;
  for (size_t shift = 1; shift <= last; ++shift) {
    if (is_norm_name(units[block.begin + shift].name)) norms.push_back(shift);
  }
  const auto step = [](size_t number) { return number / kMostShifts + 1; };
  std::vector<size_t> shifts = {0};
  for (size_t k = 0; k < norms.size(); k += step(norms.size())) shifts.push_back(norms[k]);
  const size_t late = block.spare < last ? last - block.spare : 0;
  for (size_t k = 0; k < late; k += step(late)) shifts.push_back(block.spare + 1 + k);
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

// Chooses the start of the block with the most complete layers, preferably at a norm. A late start
// is used only if it gives more layers in spite of one block less. The first and the last layer
// differ from the others, and a run that begins in the middle of the first is as long as one that
// ends in the middle of the last.
BlockLayers best_layers(const std::vector<uint32_t>& tokens, const std::vector<BlockUnit>& units,
                        const RepeatingBlock& block) {
  Layout best;
  bool best_norm = false;
  bool best_late = false;
  for (const size_t shift : shifts_of(units, block)) {
    const bool late = shift > block.spare;
    const bool norm = is_norm_name(units[block.begin + shift].name);
    Layout found = lay_out(tokens, units, block, shift);
    const bool as_good = found.layers.size() == best.layers.size() && (!late || best_late);
    const bool better = found.layers.size() > best.layers.size() || (as_good && norm && !best_norm);
    if (!better) continue;
    best = std::move(found);
    best_norm = norm;
    best_late = late;
  }
  return with_units(tokens, units, block.period, std::move(best));
}

// Repetition inside one block, if it is the layers and the block is an iteration: the block
// contains an optimizer or a replay of layers, or its attention is in the inner repetition.
RepeatingBlock inner_block(const std::vector<uint32_t>& tokens, const std::vector<BlockUnit>& units,
                           const RepeatingBlock& block) {
  const auto first = static_cast<std::ptrdiff_t>(block.begin);
  const auto last = static_cast<std::ptrdiff_t>(block.begin + block.period);
  const std::vector<BlockUnit> own(units.begin() + first, units.begin() + last);
  RepeatingBlock inner = find_repeating_block({tokens.begin() + first, tokens.begin() + last});
  if (inner.repeats == 0 || !is_worth_it(own, inner)) return {};
  inner.begin += block.begin;
  return inner;
}

// Repeats the layers of the first iteration in all iterations.
BlockLayers every_iteration(const RepeatingBlock& block, BlockLayers found) {
  std::vector<BlockLayer> once;
  for (const BlockLayer& layer : found.layers) {
    const bool inside =
        layer.begin >= block.begin && layer.begin + layer.length <= block.begin + block.period;
    if (!inside) continue;
    once.push_back(layer);
    once.back().number = static_cast<int32_t>(once.size()) - 1;
  }
  found.layers.clear();
  for (size_t k = 0; k <= block.repeats; ++k) {
    for (BlockLayer layer : once) {
      layer.begin += k * block.period;
      const size_t end = block.begin + block.covered() + block.spare;
      if (layer.begin + layer.length <= end) found.layers.push_back(layer);
    }
  }
  return found;
}

bool any_unit(const std::vector<BlockUnit>& units, const RepeatingBlock& block,
              bool (*is)(const BlockUnit&)) {
  const auto first = units.begin() + static_cast<std::ptrdiff_t>(block.begin);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(block.period), is);
}

}  // namespace

bool is_norm_name(std::string_view name) {
  return contains(name, "norm") || contains(name, "Norm") || contains(name, "rms");
}

RepeatingBlock find_repeating_block(const std::vector<uint32_t>& tokens) {
  std::vector<RepeatingBlock> found;
  size_t most = 0;
  for (size_t period : candidate_periods(tokens)) {
    const RepeatingBlock block = longest_run(tokens, period);
    const bool enough = block.repeats >= kLeastRepeats ||
                        (block.repeats == 2 && block.covered() * 2 >= tokens.size());
    if (!enough) continue;
    most = std::max(most, block.covered());
    found.push_back(block);
  }
  for (const RepeatingBlock& block : found) {  // shortest first
    if (static_cast<double>(block.covered()) >= kNearlyAsMuch * static_cast<double>(most)) {
      return block;
    }
  }
  return {};
}

BlockLayers find_block_layers(const std::vector<uint32_t>& tokens,
                              const std::vector<BlockUnit>& units) {
  const auto is_step = [](const BlockUnit& unit) { return unit.step; };
  const auto attends = [](const BlockUnit& unit) { return unit.type == OpType::kAttention; };
  const RepeatingBlock block = find_repeating_block(tokens);
  if (block.repeats == 0 || !is_worth_it(units, block)) return {};
  const bool step = any_unit(units, block, is_step);
  const RepeatingBlock inner = inner_block(tokens, units, block);
  if (inner.repeats == 0) return step ? BlockLayers() : best_layers(tokens, units, block);
  const bool all_layers = !any_unit(units, inner, attends) || is_other_layer(units, block, inner);
  if (!step && all_layers) return best_layers(tokens, units, block);
  return every_iteration(block, best_layers(tokens, units, inner));
}

std::vector<std::string> name_block(const std::vector<BlockUnit>& block) {
  return is_llama_block(block) ? llama_names(block) : own_names(block);
}

}  // namespace assay
