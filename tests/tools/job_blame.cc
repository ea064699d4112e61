// Reads the items of a job and says what it would gain: for check_blame.py, which makes them of a
// public timeline and compares with a replay of its own.
//
//   job_blame [--tolerance NS] [--joint-start] < items.tsv
//
// A line of items: rank, lane, begin and end in ns, key, name of the meeting (empty: own work). A
// line "set<TAB>0,1,2" asks for the blame of these ranks; "mean<TAB>0,1,2" replays with their own
// work at the mean of all items of its key. Prints identity errors, makespan, and a line an answer.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "flow/blame.h"
#include "support/job_maker.h"

namespace assay {
namespace {

std::vector<std::string> split(const std::string& line, char between) {
  std::vector<std::string> fields;
  std::stringstream in(line);
  for (std::string field; std::getline(in, field, between);) fields.push_back(field);
  return fields;
}

std::vector<uint32_t> ranks_of(const std::string& text) {
  std::vector<uint32_t> ranks;
  for (const std::string& field : split(text, ',')) {
    ranks.push_back(static_cast<uint32_t>(std::strtoul(field.c_str(), nullptr, 10)));
  }
  return ranks;
}

int64_t at_mean(const Job& job, const std::vector<uint32_t>& ranks) {
  std::map<std::string, std::pair<int64_t, int64_t>> sums;
  const auto key_of = [&](size_t w) -> const std::string& {
    return job.ranks()[job.rank_of_work(w)].names[job.work(w).name].name;
  };
  for (size_t w = 0; w < job.works(); ++w) {
    sums[key_of(w)].first += job.work(w).ns;
    ++sums[key_of(w)].second;
  }
  JobEdit edit;
  edit.work_ns.assign(job.works(), -1);
  for (size_t w = 0; w < job.works(); ++w) {
    const bool inside = std::find(ranks.begin(), ranks.end(), job.rank_of_work(w)) != ranks.end();
    if (inside) edit.work_ns[w] = sums[key_of(w)].first / sums[key_of(w)].second;
  }
  return job.makespan_ns(edit);
}

int run(int argc, char** argv) {
  int64_t tolerance_ns = 0;
  bool joint_start = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--joint-start") joint_start = true;
    if (flag == "--tolerance" && i + 1 < argc) tolerance_ns = std::atoll(argv[++i]);
  }
  testing::JobMaker maker;
  std::vector<std::pair<std::string, std::vector<uint32_t>>> questions;
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> fields = split(line, '\t');
    if (fields.size() == 2) {
      questions.emplace_back(fields[0], ranks_of(fields[1]));
      continue;
    }
    fields.resize(6);
    maker.add({static_cast<uint32_t>(std::atoll(fields[0].c_str())), std::atoll(fields[1].c_str()),
               std::atoll(fields[2].c_str()), std::atoll(fields[3].c_str()), fields[4], fields[5],
               joint_start ? "all_reduce" : "p2p"});
  }
  // One clock, as these sources have it.
  const Job job(maker.ranks(tolerance_ns, joint_start), Clocks::kCommon);
  std::printf("%llu\t%lld\n", static_cast<unsigned long long>(job.identity_errors()),
              static_cast<long long>(job.makespan_ns({})));
  for (const auto& [what, ranks] : questions) {
    const int64_t ns = what == "mean" ? at_mean(job, ranks) : blame_ns(job, ranks);
    std::printf("%s\t%lld\n", what.c_str(), static_cast<long long>(ns));
  }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) { return assay::run(argc, argv); }
