#include "fleet/job.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "fleet/assemble.h"

namespace assay {
namespace {

struct Candidate {
  FoundRecord found;
  RankRecord head;
  std::string where;  // file and offset
  std::shared_ptr<const std::string> bytes;
};

std::vector<Candidate> read_all(const std::vector<RecordFileBytes>& files,
                                std::vector<FleetUnused>& unused) {
  std::vector<Candidate> all;
  for (const RecordFileBytes& file : files) {
    RecordScan scan = scan_records(*file.bytes);
    for (const RecordDamage& damage : scan.damage) {
      unused.push_back({file.name + ": byte " + std::to_string(damage.offset), damage.why});
    }
    for (FoundRecord& found : scan.records) {
      const std::string where = file.name + ": byte " + std::to_string(found.offset);
      auto head = read_record_head(found);
      if (head) {
        all.push_back({std::move(found), *std::move(head), where, file.bytes});
      } else {
        unused.push_back({where, head.error().message});
      }
    }
  }
  return all;
}

// Of several records of one path the newest; of equal ones that whose checksum is larger, so that
// their order does not matter.
void keep_newest(std::vector<Candidate>& all) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.head.stamp.path, b.head.stamp.mtime_ns, b.found.checksum) <
           std::tie(b.head.stamp.path, a.head.stamp.mtime_ns, a.found.checksum);
  });
  const auto last = std::unique(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.head.stamp.path == b.head.stamp.path;
  });
  all.erase(last, all.end());
}

// The world size that most records tell; of equally many the largest; 0 where none does.
int64_t usual_world_size(const std::vector<Candidate>& all) {
  std::map<int64_t, uint64_t> told;
  for (const Candidate& one : all) {
    if (one.head.world_size) ++told[*one.head.world_size];
  }
  int64_t usual = 0;
  uint64_t most = 0;
  for (const auto& [size, count] : told) {
    if (count < most) continue;
    usual = size;
    most = count;
  }
  return usual;
}

// Why a record is no rank of this job, or one too many; empty where it is one.
std::string why_not(const Candidate& one, const FleetJob& job,
                    const std::map<int64_t, std::string>& seen) {
  const RankRecord& head = one.head;
  if (head.world_size && *head.world_size != job.world_size) {
    return "of another job: " + std::to_string(*head.world_size) + " ranks, not " +
           std::to_string(job.world_size);
  }
  if (!job.numbered) return "";
  if (!head.rank) return "tells no rank, and others do";
  const auto twin = seen.find(*head.rank);
  if (twin == seen.end()) return "";
  return "rank " + std::to_string(*head.rank) + " a second time, beside " + twin->second;
}

void find_absent(FleetJob& job) {
  if (!job.numbered) return;
  int64_t next = 0;
  const auto add_until = [&](int64_t end) {
    for (; next < end; ++next) {
      if (job.absent.size() < kAbsentListed) job.absent.push_back(next);
      ++job.absent_count;
    }
  };
  for (const FleetRank& rank : job.ranks) {
    if (rank.number < 0 || rank.number >= job.world_size) continue;
    add_until(rank.number);
    next = rank.number + 1;
  }
  add_until(job.world_size);
}

}  // namespace

void gather_ranks(const std::vector<RecordFileBytes>& files, FleetJob& job) {
  std::vector<Candidate> all = read_all(files, job.unused);
  keep_newest(all);
  job.world_size = usual_world_size(all);
  job.numbered = std::any_of(all.begin(), all.end(),
                             [](const Candidate& one) { return one.head.rank.has_value(); });
  std::map<int64_t, std::string> seen;
  std::set<std::shared_ptr<const std::string>> used;
  for (Candidate& one : all) {
    const std::string path = one.head.stamp.path;
    std::string why = why_not(one, job, seen);
    if (!why.empty()) {
      job.unused.push_back({path, std::move(why)});
      continue;
    }
    const auto place = static_cast<int64_t>(job.ranks.size());
    const int64_t number = job.numbered ? *one.head.rank : place;
    seen[number] = path;
    job.counts.lossy_ranks += one.head.data_lost ? 1 : 0;
    used.insert(one.bytes);
    job.ranks.push_back({number, std::move(one.head), one.found.payload, {}});
  }
  std::sort(job.ranks.begin(), job.ranks.end(),
            [](const FleetRank& a, const FleetRank& b) { return a.number < b.number; });
  job.bytes.assign(used.begin(), used.end());
  const auto there = static_cast<int64_t>(job.ranks.size());
  job.world_size = std::max(job.world_size, there);
  std::sort(job.unused.begin(), job.unused.end(), [](const FleetUnused& a, const FleetUnused& b) {
    return std::tie(a.what, a.why) < std::tie(b.what, b.why);
  });
  find_absent(job);
}

namespace {

bool told_in_part(const std::string& members) {
  return members.size() >= kMembersKept || members.find("...") != std::string::npos;
}

RecordGroup identity_of(RecordGroup group) {
  if (told_in_part(group.members)) group.members.clear();
  return group;
}

}  // namespace

void gather_groups(FleetJob& job) {
  std::map<RecordGroup, std::vector<uint32_t>> members;
  std::set<int32_t> columns;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    const RankRecord& head = job.ranks[r].head;
    for (const RecordGroup& group : head.groups) {
      std::vector<uint32_t>& ranks = members[identity_of(group)];
      if (ranks.empty() || ranks.back() != r) ranks.push_back(r);
    }
    for (const RecordIteration& one : head.iterations) columns.insert(one.number);
    job.counts.cut_arrivals += head.cuts.arrivals;
    job.counts.cut_iterations += head.cuts.arrival_iterations;
  }
  job.columns.assign(columns.begin(), columns.end());
  std::map<RecordGroup, uint32_t> ids;
  for (auto& [key, ranks] : members) {
    ids.emplace(key, static_cast<uint32_t>(job.groups.size()));
    FleetGroup group{.key = key, .members = std::move(ranks)};
    group.ambiguous = key.size >= 0 && group.members.size() > static_cast<uint64_t>(key.size);
    job.counts.ambiguous_groups += group.ambiguous ? 1 : 0;
    job.groups.push_back(std::move(group));
  }
  for (FleetRank& rank : job.ranks) {
    for (const RecordGroup& group : rank.head.groups) {
      rank.group_ids.push_back(ids.at(identity_of(group)));
    }
  }
}

Result<FleetJob> assemble_fleet(const std::vector<RecordFileBytes>& files) {
  FleetJob job;
  gather_ranks(files, job);
  if (job.ranks.empty()) {
    std::string why = "no rank record can be read";
    if (!job.unused.empty()) why += ": " + job.unused.front().what + ": " + job.unused.front().why;
    return Error{ErrorCode::kFormat, why, "", -1};
  }
  gather_groups(job);
  match_fleet(job);
  return job;
}

}  // namespace assay
