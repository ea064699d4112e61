#include "report/document/short_answer.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

namespace assay {

const char* answer_word(const std::string& key) {
  static constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"collective", "collectives"},  {"comm_wait", "waiting for a late rank"},
      {"wait_other", "other work"},   {"unseen", "unseen device work"},
      {"latency", "launch latency"},  {"alloc", "allocation"},
      {"cold", "cold start"},         {"call", "runtime call"},
      {"python", "Python"},           {"host_gap", "no detail"},
      {"no_evidence", "no evidence"}, {"nothing_asked", "nothing asked"}};
  for (const auto& [cause, word] : kWords) {
    if (cause == key) return word;
  }
  return key.c_str();
}

const char* trust_word(TrustGrade grade) {
  constexpr const char* kWords[] = {"high", "fair", "low", "none"};
  return kWords[static_cast<size_t>(grade)];
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
