#include "report/job/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "text/units.h"

namespace assay {
namespace {

bool is_link(const StoryFinding& one) { return one.kind == StoryKind::kLink; }
bool is_all(const StoryFinding& one) { return one.kind == StoryKind::kAll; }

std::string lower(std::string text) {
  if (!text.empty() && text.front() == 'R') text.front() = 'r';
  return text;
}

std::string length_without(const JobSolution& solution) {
  const std::string length = format_ns(solution.span_ns - solution.saved_ns);
  const std::string most = format_ns(solution.span_ns - solution.least_saved_ns);
  return !solution.saves_a_range() || most == length ? length : length + " to " + most;
}

}  // namespace

std::string story_sentence(const JobSolution& solution, const RankSubject& subject) {
  if (solution.findings.empty()) return "";
  std::set<uint32_t> late;
  std::vector<std::string> parts;
  std::string link;
  for (const StoryFinding& one : solution.findings) {
    if (!is_link(one) && !is_all(one)) late.insert(one.ranks.begin(), one.ranks.end());
  }
  const std::string without = fmt::format("this run takes {}, not {}", length_without(solution),
                                          format_ns(solution.span_ns));
  if (!late.empty()) {
    parts.push_back(subject({late.begin(), late.end()}) +
                    (late.size() > 1 ? " are late" : " is late"));
  }
  for (const StoryFinding& one : solution.findings) {
    if (is_link(one)) {
      link = fmt::format("The network between {} is slow", lower(subject(one.ranks)));
      parts.push_back((parts.empty() ? "T" : "t") + link.substr(1));
    }
    if (is_all(one)) {
      parts.push_back(fmt::format("{}ll ranks stop in iteration {}, for up to {}",
                                  parts.empty() ? "A" : "a", one.iterations.front(),
                                  format_ns(one.longest_ns)));
    }
  }
  std::string what;
  for (size_t k = 0; k < parts.size(); ++k) {
    what += (k == 0 ? "" : k + 1 == parts.size() ? " and " : ", ") + parts[k];
  }
  if (!solution.decided()) {
    return fmt::format(
        "{}, or {}: odds of {:.1f} to 1 do not decide between them. If it is the first, {} without "
        "it.",
        what,
        solution.rival_link ? "the network between " + lower(subject(solution.rival_ranks))
                            : lower(subject(solution.rival_ranks)),
        solution.odds, without);
  }
  if (parts.size() > 1) return what + ": without all of it " + without + ".";
  if (!late.empty()) {
    return what + ": at " + (late.size() > 1 ? "their peers' pace " : "its peers' pace ") +
           without + ".";
  }
  if (link.empty()) return what + ": without that " + without + ".";
  const StoryFinding& one = solution.findings.front();
  return fmt::format(
      "{}, not a rank: its transfers take {:.2f} times as long as like ones; at their pace {}.",
      link, one.factor, without);
}

}  // namespace assay
