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

// Match results per string of the pool, computed only for names in use.
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
std::vector<Window> matching_rows(const Trace& trace, const Table& table, NameMatcher& matcher) {
  std::vector<Window> matches;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.dur_ns[i] == 0 || !matcher.matches(table.name[i])) continue;
    matches.push_back({std::string(trace.text(table.name[i])), table.start_ns[i],
                       table.start_ns[i] + table.dur_ns[i]});
  }
  return matches;
}

std::string printable(std::string_view label) {
  return label.size() <= kLabelLength ? std::string(label)
                                      : std::string(label.substr(0, kLabelLength - 3)) + "...";
}

// Adds the most frequent labels, except those of iterations, which are found without a glob.
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
  size_t star = std::string_view::npos;  // last '*'; `eaten` is the end of its match
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

std::vector<Window> disjoint_windows(std::vector<Window> windows, uint64_t& overlaps_cut) {
  // Longer first, so that the outer one of two windows with equal start stays.
  std::stable_sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::vector<Window> kept;
  for (Window& window : windows) {
    if (window.end_ns <= window.start_ns) continue;
    if (!kept.empty() && window.start_ns < kept.back().end_ns) {
      if (window.end_ns <= kept.back().end_ns) continue;
      kept.back().end_ns = window.start_ns;
      ++overlaps_cut;
    }
    kept.push_back(std::move(window));
  }
  return kept;
}

Result<Windows> windows_by_label(const Trace& trace, std::string_view glob) {
  NameMatcher matcher(trace, glob);
  std::vector<Window> matches = matching_rows(trace, trace.annotations, matcher);
  if (matches.empty()) matches = matching_rows(trace, trace.ops, matcher);
  if (matches.empty()) matches = matching_rows(trace, trace.frames, matcher);
  if (matches.empty()) return nothing_matches(trace, glob);

  Windows found{.source = WindowSource::kLabel, .windows = {}};
  found.windows = disjoint_windows(std::move(matches), found.overlaps_cut);
  std::map<std::string, size_t> total;
  for (const Window& window : found.windows) ++total[window.name];
  std::map<std::string, size_t> seen;
  for (Window& window : found.windows) {
    if (total[window.name] < 2) continue;
    const size_t number = ++seen[window.name];
    window.name += " [" + std::to_string(number) + "]";
  }
  return found;
}

}  // namespace assay
