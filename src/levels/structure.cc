#include "levels/structure.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/ascii.h"

namespace assay {
namespace {

constexpr size_t kCandidates = 32;
constexpr size_t kLeastPeriod = 3;
constexpr size_t kLeastRepeats = 3;
// A shorter block is preferred while it covers this share of what the best one does.
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
  // Longer gaps are rarer by nature: weigh a gap by the tokens it explains.
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

// norm, qkv, (rotary), attention, out projection, norm, gate, (up), activation, down.
bool is_llama_block(const std::vector<BlockUnit>& block) {
  size_t norms = 0;
  size_t attention = 0;
  size_t gemms_before = 0;
  size_t gemms_behind = 0;
  bool activation = false;
  bool in_attention = false;
  for (const BlockUnit& unit : block) {
    const bool core = unit.type == OpType::kAttention;
    attention += core && !in_attention ? 1 : 0;
    in_attention = core;
    if (unit.type == OpType::kGemm) ++(attention > 0 ? gemms_behind : gemms_before);
    norms += is_norm_name(unit.name) ? 1 : 0;
    activation |= is_activation(unit.name);
  }
  return !block.empty() && is_norm_name(block.front().name) && norms >= 2 && attention == 1 &&
         activation && (gemms_before == 1 || gemms_before == 3) &&
         (gemms_behind == 3 || gemms_behind == 4);
}

std::vector<std::string> llama_names(const std::vector<BlockUnit>& block) {
  size_t gemms_behind = 0;
  bool behind = false;
  for (const BlockUnit& unit : block) {
    behind |= unit.type == OpType::kAttention;
    gemms_behind += behind && unit.type == OpType::kGemm ? 1 : 0;
  }
  std::vector<std::string> names;
  std::string last_gemm;
  size_t gemm = 0;
  size_t norm = 0;
  behind = false;
  for (const BlockUnit& unit : block) {
    behind |= unit.type == OpType::kAttention;
    std::string name = unit.name;
    if (unit.type == OpType::kAttention) {
      name = "attn_fa";
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
    } else if (contains(unit.name, "mul") && contains(last_gemm, "mlp_")) {
      name = "mlp_gu";
    }
    names.push_back(std::move(name));
  }
  return names;
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

std::vector<std::string> name_block(const std::vector<BlockUnit>& block) {
  return is_llama_block(block) ? llama_names(block) : own_names(block);
}

}  // namespace assay
