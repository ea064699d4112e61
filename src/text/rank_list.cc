#include "text/rank_list.h"

#include <algorithm>

#include "text/plain_text.h"

namespace assay {

std::string rank_list(std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::string> spans;
  for (size_t i = 0; i < ranks.size();) {
    size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (j - i < 2) {
      spans.push_back(std::to_string(ranks[i]));
      ++i;
      continue;
    }
    spans.push_back(std::to_string(ranks[i]) + "-" + std::to_string(ranks[j]));
    i = j + 1;
  }
  return joined_words(spans);
}

std::string ranks_named(const std::vector<int64_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + rank_list(ranks);
}

std::string labels_text(const std::vector<std::string>& labels, size_t most) {
  std::string text;
  const size_t shown = std::min(labels.size(), most);
  for (size_t k = 0; k < shown; ++k) {
    text += (k == 0 ? "" : k + 1 == labels.size() ? " and " : ", ") + labels[k];
  }
  if (shown < labels.size()) text += " and " + std::to_string(labels.size() - shown) + " more";
  return text;
}

}  // namespace assay
