#include "launch/suffix_array.h"

#include <algorithm>
#include <cstddef>

namespace assay {
namespace {

constexpr int32_t kEmpty = -1;

// One level of SA-IS. A position is S-type when its suffix is smaller than the next one, else
// L-type; an LMS position is the first S of a run. Sorting the LMS suffixes sorts everything else
// by two scans.
class InducedSort {
 public:
  InducedSort(const std::vector<int32_t>& text, int32_t alphabet)
      : text_(text), alphabet_(alphabet), is_small_(text.size(), false) {
    for (size_t i = text.size() - 1; i-- > 0;) {
      is_small_[i] = text[i] < text[i + 1] || (text[i] == text[i + 1] && is_small_[i + 1]);
    }
    count_buckets();
  }

  std::vector<int32_t> run() {
    std::vector<int32_t> lms;
    for (size_t i = 1; i < text_.size(); ++i) {
      if (is_lms(i)) lms.push_back(static_cast<int32_t>(i));
    }
    induce(lms);
    if (lms.size() > 1) induce(sort_lms(lms));
    return std::move(order_);
  }

 private:
  bool is_lms(size_t i) const { return i > 0 && is_small_[i] && !is_small_[i - 1]; }

  // Within a bucket all L-type suffixes come before all S-type ones.
  void count_buckets() {
    large_start_.assign(static_cast<size_t>(alphabet_) + 1, 0);
    small_start_.assign(static_cast<size_t>(alphabet_) + 1, 0);
    std::vector<int32_t> large(alphabet_, 0);
    std::vector<int32_t> small(alphabet_, 0);
    for (size_t i = 0; i < text_.size(); ++i) ++(is_small_[i] ? small : large)[text_[i]];
    int32_t next = 0;
    for (int32_t c = 0; c < alphabet_; ++c) {
      large_start_[c] = next;
      small_start_[c] = next + large[c];
      next += large[c] + small[c];
    }
    large_start_[alphabet_] = next;
  }

  // Places the LMS positions in the order given, then induces the rest from them.
  void induce(const std::vector<int32_t>& lms) {
    order_.assign(text_.size(), kEmpty);
    std::vector<int32_t> next(small_start_.begin(), small_start_.end());
    for (int32_t i : lms) order_[next[text_[i]]++] = i;

    next = large_start_;
    // The last suffix is L-type and has no successor in the array to induce it.
    const auto last = static_cast<int32_t>(text_.size()) - 1;
    order_[next[text_[last]]++] = last;
    for (size_t k = 0; k < order_.size(); ++k) {
      const int32_t i = order_[k];
      if (i > 0 && !is_small_[i - 1]) order_[next[text_[i - 1]]++] = i - 1;
    }

    next = large_start_;
    for (size_t k = order_.size(); k-- > 0;) {
      const int32_t i = order_[k];
      if (i > 0 && is_small_[i - 1]) order_[--next[text_[i - 1] + 1]] = i - 1;
    }
  }

  // Names the LMS substrings in their induced order. If names repeat, recursion on the string of
  // names sorts them.
  std::vector<int32_t> sort_lms(const std::vector<int32_t>& lms) const {
    std::vector<int32_t> rank_of(text_.size(), kEmpty);
    for (size_t k = 0; k < lms.size(); ++k) rank_of[lms[k]] = static_cast<int32_t>(k);
    std::vector<int32_t> names(lms.size(), 0);
    int32_t name = -1;
    int32_t previous = kEmpty;
    for (int32_t i : order_) {
      if (!is_lms(i)) continue;
      if (previous == kEmpty || !same_lms_substring(lms, rank_of[previous], rank_of[i])) ++name;
      names[rank_of[i]] = name;
      previous = i;
    }
    std::vector<int32_t> sorted(lms.size());
    const std::vector<int32_t> order = suffix_array(names, name + 1);
    for (size_t k = 0; k < order.size(); ++k) sorted[k] = lms[order[k]];
    return sorted;
  }

  bool same_lms_substring(const std::vector<int32_t>& lms, int32_t a, int32_t b) const {
    const size_t last = lms.size() - 1;
    if (static_cast<size_t>(a) == last || static_cast<size_t>(b) == last) return false;
    const int32_t length = lms[a + 1] - lms[a];
    if (length != lms[b + 1] - lms[b]) return false;
    for (int32_t k = 0; k <= length; ++k) {
      if (text_[lms[a] + k] != text_[lms[b] + k]) return false;
    }
    return true;
  }

  const std::vector<int32_t>& text_;
  const int32_t alphabet_;
  std::vector<bool> is_small_;
  std::vector<int32_t> large_start_;  // per symbol, first slot of its bucket; one past the end too
  std::vector<int32_t> small_start_;  // per symbol, first slot of its S-type part
  std::vector<int32_t> order_;
};

}  // namespace

std::vector<int32_t> suffix_array(const std::vector<int32_t>& text, int32_t alphabet) {
  if (text.empty()) return {};
  return InducedSort(text, alphabet).run();
}

std::vector<int32_t> common_prefixes(const std::vector<int32_t>& text,
                                     const std::vector<int32_t>& order) {
  const size_t n = text.size();
  std::vector<int32_t> rank(n);
  for (size_t k = 0; k < n; ++k) rank[order[k]] = static_cast<int32_t>(k);
  std::vector<int32_t> lcp(n, 0);
  size_t length = 0;
  for (size_t i = 0; i < n; ++i) {
    if (rank[i] == 0) {
      length = 0;
      continue;
    }
    const auto j = static_cast<size_t>(order[rank[i] - 1]);
    while (i + length < n && j + length < n && text[i + length] == text[j + length]) ++length;
    lcp[rank[i]] = static_cast<int32_t>(length);
    if (length > 0) --length;
  }
  return lcp;
}

}  // namespace assay
