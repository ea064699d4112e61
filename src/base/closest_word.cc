#include "base/closest_word.h"

#include <algorithm>

#include "base/ascii.h"

namespace assay {
namespace {

// Longer arguments are not treated as mistyped words.
constexpr size_t kLongestWord = 64;

}  // namespace

size_t typing_distance(std::string_view typed, std::string_view known) {
  std::vector<size_t> before(known.size() + 1);
  std::vector<size_t> last(known.size() + 1);
  for (size_t j = 0; j <= known.size(); ++j) last[j] = j;
  std::vector<size_t> row(known.size() + 1);
  for (size_t i = 1; i <= typed.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= known.size(); ++j) {
      const bool same = lower(typed[i - 1]) == lower(known[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(typed[i - 1]) == lower(known[j - 2]) &&
                           lower(typed[i - 2]) == lower(known[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

std::string closest_word(std::string_view typed, const std::vector<std::string>& known) {
  if (typed.empty() || typed.size() > kLongestWord) return "";
  std::string best;
  size_t least = std::max<size_t>(typed.size() / 3, 1) + 1;
  for (const std::string& word : known) {
    const size_t off = typing_distance(typed, word);
    if (off >= least) continue;
    least = off;
    best = word;
  }
  if (!best.empty() || typed.size() < 3) return best;
  const auto begun = std::find_if(known.begin(), known.end(), [typed](const std::string& word) {
    return word.starts_with(typed);
  });
  return begun == known.end() ? "" : *begun;
}

}  // namespace assay
