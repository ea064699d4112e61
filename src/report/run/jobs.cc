#include "report/run/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/ascii.h"
#include "base/files.h"
#include "report/breakdown/results.h"
#include "report/document/columns.h"
#include "report/run/results.h"
#include "text/plain_text.h"
#include "text/rank_list.h"

namespace assay {
namespace {

// The file name without digits, which all ranks of an engine share: "engine-prefill_rank.json".
std::string lettered(const std::string& file) {
  std::string name = file_name(file);
  std::erase_if(name, is_digit);
  return joined(folder_of(file), name);
}

// The part of each key between the prefix and the suffix that all keys share.
std::vector<std::string> short_names(const std::vector<std::string>& keys) {
  const auto at_break = [](char c) { return c == '/' || c == '-' || c == '_' || c == '.'; };
  size_t front = 0;
  size_t back = 0;
  const std::string& first = keys.front();
  const auto all = [&](auto same) { return std::all_of(keys.begin(), keys.end(), same); };
  for (size_t i = 0; all([&](const std::string& key) {
         return i < key.size() && i < first.size() && key[i] == first[i];
       });
       ++i) {
    if (at_break(first[i])) front = i + 1;
  }
  for (size_t i = 0; all([&](const std::string& key) {
         return i + front < key.size() && i + front < first.size() &&
                key[key.size() - 1 - i] == first[first.size() - 1 - i];
       });
       ++i) {
    if (at_break(first[first.size() - 1 - i])) back = i + 1;
  }
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    std::string name = key.substr(front, key.size() - front - std::min(back, key.size() - front));
    names.push_back(name.empty() ? "the other" : std::move(name));
  }
  return names;
}

std::vector<JobOfSet> by_key(const std::vector<RankFile>& traces,
                             const std::function<std::string(const std::string&)>& key_of) {
  std::vector<std::string> keys;
  std::vector<JobOfSet> jobs;
  for (size_t i = 0; i < traces.size(); ++i) {
    const std::string key = key_of(traces[i].file);
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto place = static_cast<size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      jobs.emplace_back();
    }
    std::vector<int64_t>& ranks = jobs[place].ranks;
    if (std::find(ranks.begin(), ranks.end(), *traces[i].rank) != ranks.end()) return {};
    ranks.push_back(*traces[i].rank);
    jobs[place].places.push_back(i);
  }
  const std::vector<std::string> names = short_names(keys);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].name = names[i];
  return jobs;
}

}  // namespace

std::vector<JobOfSet> jobs_of_set(const std::vector<RankFile>& traces) {
  std::set<int64_t> ranks;
  bool repeats = false;
  for (const RankFile& trace : traces) {
    if (!trace.rank) return {};
    repeats |= !ranks.insert(*trace.rank).second;
  }
  // Traces that all have the same rank are runs to compare, not jobs.
  if (!repeats || ranks.size() < 2) return {};
  std::vector<JobOfSet> jobs = by_key(traces, folder_of);
  return jobs.empty() ? by_key(traces, lettered) : jobs;
}

std::vector<std::string> jobs_words(const std::vector<JobOfSet>& jobs) {
  std::vector<std::string> names;
  for (const JobOfSet& job : jobs) {
    names.push_back(fmt::format("{} ({})", clean_text(job.name), ranks_named(job.ranks)));
  }
  std::vector<std::string> words = {
      fmt::format("{} jobs: {}.", jobs.size(), joined_words(names))};
  for (const JobOfSet& job : jobs) {
    if (!job.verdict.empty()) words.push_back(clean_text(job.name) + ": " + job.verdict);
  }
  return words;
}

Section jobs_section(const std::vector<JobOfSet>& jobs) {
  TableOf table(jobs, {.key = "jobs", .title = "Jobs"});
  table.add(keys::name, &JobOfSet::name)
      .add(keys::ranks, [](const JobOfSet& job) { return Value(rank_list(job.ranks)); })
      .add(keys::text, &JobOfSet::verdict, elastic());
  return {.key = "", .title = "", .blocks = {std::move(table)}};
}

}  // namespace assay
