#include "report/flow/rank_labels.h"

#include <algorithm>
#include <map>

#include "kernels/name.h"

namespace assay {

RankLabels::RankLabels(const Job& job, size_t named) : named_(named) {
  std::map<int64_t, size_t> seen;
  for (const RankGraph& rank : job.ranks()) {
    told_ = told_ && rank.rank && ++seen[rank.rank.value_or(0)] == 1;
  }
  for (size_t r = 0; r < job.ranks().size(); ++r) {
    numbers_.push_back(told_ ? *job.ranks()[r].rank : static_cast<int64_t>(r));
  }
}

std::vector<int64_t> RankLabels::sorted(const std::vector<uint32_t>& ranks) const {
  std::vector<int64_t> numbers;
  for (const uint32_t r : ranks) numbers.push_back(numbers_[r]);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string RankLabels::list(const std::vector<uint32_t>& ranks) const {
  const std::vector<int64_t> numbers = sorted(ranks);
  std::string text;
  const size_t shown = std::min(numbers.size(), named_);
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == numbers.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(numbers[i]);
  }
  if (shown < numbers.size()) {
    text += " and " + std::to_string(numbers.size() - shown) + " more";
  }
  return text;
}

std::string RankLabels::subject(const std::vector<uint32_t>& ranks) const {
  return (ranks.size() > 1 ? "Ranks " : "Rank ") + list(ranks);
}

std::string shown_name(const WorkName& what) {
  if (!what.host) return describe_kernel(what.name);
  return what.name.empty() ? "host code not recorded" : what.name;
}

}  // namespace assay
