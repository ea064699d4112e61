#include "report/flow/rank_labels.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/files.h"
#include "kernels/name.h"
#include "text/plain_text.h"
#include "text/rank_list.h"

namespace assay {

RankLabels::RankLabels(const Job& job) {
  std::map<int64_t, size_t> times;
  for (const RankGraph& rank : job.ranks()) {
    if (rank.rank) ++times[*rank.rank];
  }
  for (const RankGraph& rank : job.ranks()) {
    const bool unique = rank.rank && times[*rank.rank] == 1;
    const auto place = static_cast<int64_t>(numbers_.size());
    numbers_.push_back(unique ? rank.rank : times.empty() ? std::optional(place) : std::nullopt);
    files_.push_back(clean_text(file_name(rank.file)));
  }
}

std::string RankLabels::label(uint32_t rank) const {
  return numbers_[rank] ? std::to_string(*numbers_[rank]) : files_[rank];
}

bool RankLabels::before(uint32_t a, uint32_t b) const {
  if (numbers_[a] && numbers_[b]) return *numbers_[a] < *numbers_[b];
  if (numbers_[a] || numbers_[b]) return numbers_[a].has_value();
  return std::pair(files_[a], a) < std::pair(files_[b], b);
}

std::vector<std::string> RankLabels::labels(std::vector<uint32_t> ranks) const {
  std::sort(ranks.begin(), ranks.end(), [this](uint32_t a, uint32_t b) { return before(a, b); });
  std::vector<std::string> labels;
  for (const uint32_t r : ranks) labels.push_back(label(r));
  return labels;
}

std::string RankLabels::list(const std::vector<uint32_t>& ranks) const {
  return labels_text(labels(ranks), kRanksNamed);
}

std::string RankLabels::subject(const std::vector<uint32_t>& ranks) const {
  return (ranks.size() > 1 ? "Ranks " : "Rank ") + list(ranks);
}

std::string shown_name(const WorkName& what) {
  if (!what.host) return describe_kernel(what.name);
  return what.name.empty() ? "host code not recorded" : what.name;
}

}  // namespace assay
