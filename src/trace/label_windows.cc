#include "trace/label_windows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay {
namespace {

constexpr size_t kLabelsShown = 8;
constexpr size_t kLabelLength = 60;

struct Match {
  int64_t start_ns;
  int64_t end_ns;
  StringId name;
};

// Whether each string of the pool matches; found out for the names in use only.
class NameMatcher {
 public:
  NameMatcher(const Trace& trace, std::string_view glob)
      : trace_(trace), glob_(glob), known_(trace.strings.size(), kUnknown) {}

  bool matches(StringId name) {
    Known& known = known_[name.index()];
    if (known == kUnknown) known = matches_glob(trace_.text(name), glob_) ? kYes : kNo;
    return known == kYes;
  }

 private:
  enum Known : uint8_t { kUnknown, kNo, kYes };
  const Trace& trace_;
  std::string_view glob_;
  std::vector<Known> known_;
};

template <typename Table>
std::vector<Match> matching_rows(const Table& table, NameMatcher& matcher) {
  std::vector<Match> matches;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.dur_ns[i] == 0 || !matcher.matches(table.name[i])) continue;
    matches.push_back({table.start_ns[i], table.start_ns[i] + table.dur_ns[i], table.name[i]});
  }
  // Longer first, so that of two that start together the outer one is the window.
  std::stable_sort(matches.begin(), matches.end(), [](const Match& a, const Match& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  return matches;
}

// Drops matches inside an earlier one, and cuts those that a later one starts in.
std::vector<Match> make_disjoint(std::vector<Match> matches, uint64_t& overlaps_cut) {
  std::vector<Match> kept;
  for (const Match& match : matches) {
    if (!kept.empty() && match.start_ns < kept.back().end_ns) {
      if (match.end_ns <= kept.back().end_ns) continue;
      kept.back().end_ns = match.start_ns;
      ++overlaps_cut;
      if (kept.back().end_ns == kept.back().start_ns) kept.pop_back();
    }
    kept.push_back(match);
  }
  return kept;
}

std::string printable(std::string_view label) {
  return label.size() <= kLabelLength ? std::string(label)
                                      : std::string(label.substr(0, kLabelLength - 3)) + "...";
}

// The most frequent labels, those that are no iterations' already found without a glob first.
template <typename Table>
void add_labels(const Trace& trace, const Table& table, std::vector<std::string>& labels) {
  std::unordered_map<uint32_t, size_t> counts;
  for (StringId name : table.name) ++counts[name.value];
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const auto& [name, count] : counts) {
    ranked.emplace_back(count, printable(trace.text(StringId(name))));
  }
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [count, label] : ranked) {
    if (labels.size() == kLabelsShown) return;
    labels.push_back(label);
  }
}

Error nothing_matches(const Trace& trace, std::string_view glob) {
  std::vector<std::string> labels;
  add_labels(trace, trace.annotations, labels);
  const bool annotated = !labels.empty();
  if (!annotated) add_labels(trace, trace.ops, labels);
  std::string message = "no annotation, operator or Python frame matches the window pattern '" +
                        std::string(glob) + "'; ";
  if (labels.empty())
    return Error{ErrorCode::kInvalidArgument, message + "none is labelled", "", -1};
  message += annotated ? "annotations here: " : "no annotations here; operators: ";
  for (size_t i = 0; i < labels.size(); ++i) message += (i == 0 ? "'" : ", '") + labels[i] + "'";
  return Error{ErrorCode::kInvalidArgument, message, "", -1};
}

}  // namespace

bool matches_glob(std::string_view text, std::string_view glob) {
  size_t t = 0;
  size_t g = 0;
  size_t star = std::string_view::npos;  // the last '*' met, and what it has eaten so far
  size_t eaten = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      eaten = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++eaten;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

Result<Windows> windows_by_label(const Trace& trace, std::string_view glob) {
  NameMatcher matcher(trace, glob);
  std::vector<Match> matches = matching_rows(trace.annotations, matcher);
  if (matches.empty()) matches = matching_rows(trace.ops, matcher);
  if (matches.empty()) matches = matching_rows(trace.frames, matcher);
  if (matches.empty()) return nothing_matches(trace, glob);

  Windows found{.source = WindowSource::kLabel, .windows = {}};
  matches = make_disjoint(std::move(matches), found.overlaps_cut);
  std::map<StringId, size_t> total;
  for (const Match& match : matches) ++total[match.name];
  std::map<StringId, size_t> seen;
  for (const Match& match : matches) {
    std::string name(trace.text(match.name));
    if (total[match.name] > 1) name += " [" + std::to_string(++seen[match.name]) + "]";
    found.windows.push_back({std::move(name), match.start_ns, match.end_ns});
  }
  return found;
}

}  // namespace assay
