#include "report/document/short_answer.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>
#include <utility>

#include "text/plain_text.h"

namespace assay {
namespace {

// Splits "A. B" into "A." and "B", where a period is followed by a capital letter.
std::vector<std::string> single_sentences(const std::vector<std::string>& texts) {
  std::vector<std::string> sentences;
  for (const std::string& text : texts) {
    size_t begin = 0;
    for (size_t at = 0; (at = text.find(". ", at)) != std::string::npos; ++at) {
      if (at + 2 >= text.size() || std::isupper(static_cast<unsigned char>(text[at + 2])) == 0) {
        continue;
      }
      sentences.push_back(text.substr(begin, at + 1 - begin));
      begin = at + 2;
    }
    sentences.push_back(text.substr(begin));
  }
  return sentences;
}

// Splits a sentence that is too long for a headline at the last semicolon, else colon, else comma,
// else blank. The first part must fit and must not be too short.
std::pair<std::string, std::string> in_two(const std::string& sentence) {
  constexpr size_t kLeast = kLongestVerdict / 3;
  for (const std::string_view joint : {"; ", ": ", ", ", " "}) {
    size_t cut = std::string::npos;
    for (size_t at = 0; (at = sentence.find(joint, at)) != std::string::npos; ++at) {
      if (display_width(std::string_view(sentence).substr(0, at)) < kLongestVerdict) cut = at;
    }
    if (cut == std::string::npos || cut < kLeast) continue;
    std::string rest = sentence.substr(cut + joint.size());
    if (!rest.empty()) {
      rest[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(rest[0])));
    }
    return {sentence.substr(0, cut) + ".", rest};
  }
  return {sentence, ""};
}

}  // namespace

void set_verdict(ShortAnswer& answer, const std::vector<std::string>& texts) {
  std::vector<std::string> sentences = single_sentences(texts);
  if (sentences.empty()) return;
  if (display_width(sentences.front()) > kLongestVerdict) {
    auto [first, rest] = in_two(sentences.front());
    sentences.front() = std::move(first);
    if (!rest.empty()) sentences.insert(sentences.begin() + 1, std::move(rest));
  }
  size_t taken = 1;
  size_t columns = display_width(sentences.front());
  for (; taken < sentences.size(); ++taken) {
    columns += 1 + display_width(sentences[taken]);
    if (columns > kLongestVerdict) break;
  }
  const auto behind = sentences.begin() + static_cast<std::ptrdiff_t>(taken);
  answer.verdict.assign(sentences.begin(), behind);
  answer.more.assign(behind, sentences.end());
}

std::vector<size_t> bar_cells(const std::vector<int64_t>& parts, size_t room) {
  const double total = static_cast<double>(std::reduce(parts.begin(), parts.end(), int64_t{0}));
  std::vector<size_t> cells(parts.size(), 0);
  if (total <= 0 || room == 0) return cells;
  std::vector<std::pair<double, size_t>> rest;
  size_t used = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double exact = static_cast<double>(parts[i]) / total * static_cast<double>(room);
    const auto whole = static_cast<size_t>(exact);
    cells[i] = std::max<size_t>(whole, parts[i] > 0 ? 1 : 0);
    used += cells[i];
    if (parts[i] > 0) rest.emplace_back(exact - static_cast<double>(whole), i);
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; used < room; ++i, ++used) ++cells[rest[i % rest.size()].second];
  for (; used > room; --used) --*std::max_element(cells.begin(), cells.end());
  return cells;
}

std::vector<AnswerCause> bar_parts(const ShortAnswer& answer) {
  constexpr size_t kNamed = 3;
  std::vector<AnswerCause> parts;
  int64_t rest_ns = answer.total_ns;
  size_t named = 0;
  for (const AnswerCause& cause : answer.causes) {
    const bool compute = cause.key == "compute";
    if (!compute && (named == kNamed || cause.ns * 200 < answer.total_ns)) continue;
    named += !compute;
    rest_ns -= cause.ns;
    if (cause.ns > 0) parts.push_back(cause);
  }
  if (rest_ns > 0) parts.push_back({"rest", rest_ns});
  return parts;
}

}  // namespace assay
