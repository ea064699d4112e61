#include "job/job.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay {
namespace {

// A record and the data kept from it.
struct Candidate {
  FleetRank rank;
  std::optional<int64_t> number;
  std::optional<int64_t> world_size;
  int64_t mtime_ns = 0;
  bool data_lost = false;
  RecordCuts cuts;
};

// Keeps the newest record of each path. Ties go to the larger checksum, so that the order of the
// records does not matter.
void keep_newest(std::vector<Candidate>& all) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.rank.path, b.mtime_ns, b.rank.checksum) <
           std::tie(b.rank.path, a.mtime_ns, a.rank.checksum);
  });
  const auto last = std::unique(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.rank.path == b.rank.path;
  });
  all.erase(last, all.end());
}

// The most frequent world size in the records; in a tie the largest; 0 if none has one.
int64_t usual_world_size(const std::vector<Candidate>& all) {
  std::map<int64_t, uint64_t> told;
  for (const Candidate& one : all) {
    if (one.world_size) ++told[*one.world_size];
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

// The reason why a record is not a rank of this job, or a duplicate; empty if it is a rank.
std::string why_not(const Candidate& one, const FleetJob& job,
                    const std::map<int64_t, std::string>& seen) {
  if (one.world_size && *one.world_size != job.world_size) {
    return "of another job: " + std::to_string(*one.world_size) + " ranks, not " +
           std::to_string(job.world_size);
  }
  if (!job.numbered) return "";
  if (!one.number) return "has no rank number, and others have";
  const auto twin = seen.find(*one.number);
  if (twin == seen.end()) return "";
  return "rank " + std::to_string(*one.number) + " a second time, in addition to " + twin->second;
}

void find_absent(FleetJob& job) {
  if (!job.numbered || job.beyond_world > 0) return;
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

// Fills the ranks, world sizes, missing ranks, unused records, and the counts of lost data.
void choose_ranks(std::vector<Candidate> all, FleetJob& job) {
  keep_newest(all);
  job.world_size = job.told_world_size = usual_world_size(all);
  job.numbered = std::any_of(all.begin(), all.end(),
                             [](const Candidate& one) { return one.number.has_value(); });
  std::map<int64_t, std::string> seen;
  for (Candidate& one : all) {
    std::string why = why_not(one, job, seen);
    if (!why.empty()) {
      job.unused.push_back({one.rank.path, std::move(why)});
      continue;
    }
    one.rank.number = job.numbered ? *one.number : static_cast<int64_t>(job.ranks.size());
    seen[one.rank.number] = one.rank.path;
    job.counts.lossy_ranks += one.data_lost ? 1 : 0;
    job.counts.cut_arrivals += one.cuts.arrivals;
    job.ranks.push_back(std::move(one.rank));
  }
  std::sort(job.ranks.begin(), job.ranks.end(),
            [](const FleetRank& a, const FleetRank& b) { return a.number < b.number; });
  const auto there = static_cast<int64_t>(job.ranks.size());
  job.world_size = std::max(job.world_size, there);
  for (const FleetRank& rank : job.ranks) {
    const bool beyond = job.told_world_size > 0 && rank.number >= job.told_world_size;
    job.beyond_world += beyond ? 1 : 0;
  }
  std::sort(job.unused.begin(), job.unused.end(), [](const FleetUnused& a, const FleetUnused& b) {
    return std::tie(a.what, a.why) < std::tie(b.what, b.why);
  });
  find_absent(job);
}

bool told_in_part(const std::string& members) {
  return members.size() >= kMembersKept || members.find("...") != std::string::npos;
}

RecordGroup identity_of(RecordGroup group) {
  if (told_in_part(group.members)) group.members.clear();
  return group;
}

using GroupIds = std::map<RecordGroup, uint32_t>;  // numbered in order of first appearance

// Fills groups, columns and FleetRank::group_ids. On entry, group_ids are values of `ids`; on
// return, indices into job.groups.
void gather_groups(const GroupIds& ids, FleetJob& job) {
  std::vector<std::vector<uint32_t>> members(ids.size());
  std::set<int32_t> columns;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    for (const uint32_t id : job.ranks[r].group_ids) {
      if (members[id].empty() || members[id].back() != r) members[id].push_back(r);
    }
    for (const RecordIteration& one : iterations_of(job.ranks[r])) columns.insert(one.number);
  }
  job.columns.assign(columns.begin(), columns.end());
  std::vector<uint32_t> places(ids.size(), 0);
  for (const auto& [key, id] : ids) {
    if (members[id].empty()) continue;
    places[id] = static_cast<uint32_t>(job.groups.size());
    FleetGroup group{.key = key, .members = std::move(members[id])};
    group.ambiguous = key.size >= 0 && group.members.size() > static_cast<uint64_t>(key.size);
    job.counts.ambiguous_groups += group.ambiguous ? 1 : 0;
    job.groups.push_back(std::move(group));
  }
  for (FleetRank& rank : job.ranks) {
    for (uint32_t& id : rank.group_ids) id = places[id];
  }
}

}  // namespace

std::vector<RecordIteration> iterations_of(const FleetRank& rank) {
  return read_record_iterations(rank.times);
}

struct FleetRecords::Found {
  std::vector<Candidate> all;
  GroupIds groups;
  std::vector<FleetUnused> unused;

  Candidate candidate(const FoundRecord& found, RankRecord head) {
    Candidate one{.rank = {},
                  .number = head.rank,
                  .world_size = head.world_size,
                  .mtime_ns = head.stamp.mtime_ns,
                  .data_lost = head.data_lost,
                  .cuts = head.cuts};
    one.rank.path = std::move(head.stamp.path);
    one.rank.host = std::move(head.host);
    one.rank.device_count = head.device_count;
    one.rank.causes = head.causes;
    one.rank.times = record_times(found.payload);
    one.rank.checksum = found.checksum;
    for (RecordGroup& group : head.groups) {
      const auto next = static_cast<uint32_t>(groups.size());
      one.rank.group_ids.push_back(
          groups.try_emplace(identity_of(std::move(group)), next).first->second);
    }
    return one;
  }
};

FleetRecords::FleetRecords() : found_(std::make_unique<Found>()) {}
FleetRecords::FleetRecords(FleetRecords&&) noexcept = default;
FleetRecords::~FleetRecords() = default;

void FleetRecords::add(const std::string& name, std::string_view bytes) {
  const auto where = [&name](uint64_t offset) { return name + ": byte " + std::to_string(offset); };
  RecordScan scan = scan_records(bytes);
  for (const RecordDamage& damage : scan.damage) {
    found_->unused.push_back({where(damage.offset), damage.why});
  }
  for (const FoundRecord& found : scan.records) {
    auto head = read_record_head(found);
    if (head) {
      found_->all.push_back(found_->candidate(found, *std::move(head)));
    } else {
      found_->unused.push_back({where(found.offset), head.error().message});
    }
  }
}

Result<FleetJob> FleetRecords::assemble() {
  FleetJob job;
  job.unused = std::move(found_->unused);
  choose_ranks(std::move(found_->all), job);
  if (job.ranks.empty()) {
    std::string why = "no rank record can be read";
    if (!job.unused.empty()) why += ": " + job.unused.front().what + ": " + job.unused.front().why;
    return Error{ErrorCode::kFormat, why, "", -1};
  }
  gather_groups(found_->groups, job);
  return job;
}

Result<FleetJob> assemble_fleet(const std::vector<RecordFileBytes>& files) {
  FleetRecords records;
  for (const RecordFileBytes& file : files) records.add(file.name, file.bytes);
  return records.assemble();
}

UsedRecords::UsedRecords(const FleetJob& job) {
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    by_checksum_.emplace(std::pair(job.ranks[r].checksum, std::string_view(job.ranks[r].path)), r);
  }
}

std::vector<UsedRecord> UsedRecords::take(std::string_view bytes) {
  std::vector<UsedRecord> used;
  for (FoundRecord& found : scan_records(bytes).records) {
    const auto known = by_checksum_.find({found.checksum, found.stamp.path});
    if (known == by_checksum_.end()) continue;
    used.push_back({known->second, std::move(found)});
    by_checksum_.erase(known);
  }
  return used;
}

}  // namespace assay
