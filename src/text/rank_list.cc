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

}  // namespace assay
