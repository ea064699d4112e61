#include "job/sets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/decimal.h"

namespace assay {
namespace {

using Members = std::map<std::string, std::vector<uint32_t>>;  // by name

std::vector<std::vector<std::string>> words_of_lines(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1);
  bool in_word = false;
  for (const char c : text) {
    if (c == '\n') {
      if (!lines.back().empty()) lines.emplace_back();
      in_word = false;
    } else if (c == '\t' || c == ' ' || c == '\r') {
      in_word = false;
    } else {
      if (!in_word) lines.back().emplace_back();
      in_word = true;
      lines.back().back().push_back(c);
    }
  }
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

Error no_hosts(const std::string& name, size_t line) {
  return {ErrorCode::kFormat,
          "line " + std::to_string(line + 1) +
              " is neither \"rank node [rack pod ...]\" nor \"HOST slots=N\"",
          name, -1};
}

// Index into FleetJob::ranks by rank number.
std::map<int64_t, uint32_t> places_of(const FleetJob& job) {
  std::map<int64_t, uint32_t> places;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) places[job.ranks[r].number] = r;
  return places;
}

void add_sets(const std::string& kind, const Members& members, FleetSets& sets) {
  for (const auto& [name, ranks] : members) {
    if (ranks.size() > 1) sets.sets.push_back({kind, name, ranks});
  }
}

Status read_hostfile(const FleetJob& job, const std::vector<std::vector<std::string>>& lines,
                     const std::string& name, FleetSets& sets) {
  const std::map<int64_t, uint32_t> places = places_of(job);
  Members nodes;
  int64_t next = 0;
  for (size_t k = 0; k < lines.size(); ++k) {
    uint64_t slots = 0;
    if (lines[k].size() < 2 || !lines[k][1].starts_with("slots=") ||
        !parse_uint64(lines[k][1].substr(6), slots) || slots > 100'000) {
      return no_hosts(name, k);
    }
    for (uint64_t s = 0; s < slots; ++s) {
      const auto place = places.find(next++);
      if (place != places.end()) nodes[lines[k][0]].push_back(place->second);
    }
  }
  add_sets("node", nodes, sets);
  return Ok{};
}

Status read_table(const FleetJob& job, std::vector<std::vector<std::string>> lines,
                  const std::string& name, FleetSets& sets) {
  std::vector<std::string> kinds = {"rank", "node", "rack", "pod"};
  uint64_t number = 0;
  size_t first = 0;
  if (!parse_uint64(lines.front().front(), number)) {
    kinds = lines.front();
    first = 1;
  }
  const std::map<int64_t, uint32_t> places = places_of(job);
  std::vector<Members> of_kind(kinds.size());
  std::set<uint32_t> placed;
  for (size_t k = first; k < lines.size(); ++k) {
    if (lines[k].size() < 2 || lines[k].size() > kinds.size() ||
        !parse_uint64(lines[k][0], number)) {
      return no_hosts(name, k);
    }
    const auto place = places.find(static_cast<int64_t>(number));
    if (place == places.end() || !placed.insert(place->second).second) continue;
    for (size_t c = 1; c < lines[k].size(); ++c) {
      of_kind[c][lines[k][c]].push_back(place->second);
    }
  }
  for (size_t c = 1; c < kinds.size(); ++c) {
    for (auto& [set, ranks] : of_kind[c]) std::sort(ranks.begin(), ranks.end());
    add_sets(kinds[c], of_kind[c], sets);
  }
  sets.unplaced = job.ranks.size() - placed.size();
  return Ok{};
}

// The device count that most ranks have; 0 if unknown.
uint64_t usual_devices(const FleetJob& job) {
  std::map<uint64_t, uint64_t> counts;
  for (const FleetRank& rank : job.ranks) ++counts[rank.device_count];
  uint64_t devices = 0;
  uint64_t most = 0;
  for (const auto& [count, often] : counts) {
    if (often > most) devices = count;
    most = std::max(most, often);
  }
  return devices;
}

// Host names are not nodes if a single host has more ranks than devices, or if every rank has a
// host of its own.
OddHosts odd_hosts(const FleetJob& job, const Members& nodes, uint64_t ranks_with_host) {
  constexpr uint64_t kMostDevices = 16;
  const uint64_t devices = usual_devices(job);
  if (nodes.size() == 1 && ranks_with_host > (devices > 1 ? devices : kMostDevices)) {
    return OddHosts::kOneForAll;
  }
  // One rank per host is normal for machines with one device.
  if (nodes.size() == ranks_with_host && ranks_with_host > 1 && devices != 1) {
    return OddHosts::kOneEach;
  }
  return OddHosts::kNone;
}

void add_hosts_of_records(const FleetJob& job, FleetSets& sets) {
  Members nodes;
  uint64_t told = 0;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    const std::string& host = job.ranks[r].host;
    if (host.empty()) continue;
    nodes[host].push_back(r);
    ++told;
  }
  if (nodes.empty()) return;
  sets.odd_hosts = odd_hosts(job, nodes, told);
  if (sets.odd_hosts != OddHosts::kNone) return;
  sets.source = SetSource::kRecords;
  sets.unplaced = job.ranks.size() - told;
  add_sets("node", nodes, sets);
}

// Makes nodes of as many consecutive ranks as most machines have devices.
void guess_nodes(const FleetJob& job, FleetSets& sets) {
  const uint64_t devices = usual_devices(job);
  if (devices < 2 || !job.numbered || static_cast<uint64_t>(job.world_size) <= devices) return;
  std::map<int64_t, std::vector<uint32_t>> nodes;
  for (uint32_t r = 0; r < job.ranks.size(); ++r) {
    nodes[job.ranks[r].number / static_cast<int64_t>(devices)].push_back(r);
  }
  sets.source = SetSource::kGuess;
  for (const auto& [node, ranks] : nodes) {
    if (ranks.size() < 2) continue;
    const int64_t first = node * static_cast<int64_t>(devices);
    sets.sets.push_back({"node",
                         "of ranks " + std::to_string(first) + " to " +
                             std::to_string(first + static_cast<int64_t>(devices) - 1),
                         ranks});
  }
}

void add_groups(const FleetJob& job, FleetSets& sets) {
  std::set<std::vector<uint32_t>> known;
  for (const FleetSet& set : sets.sets) known.insert(set.ranks);
  for (const FleetGroup& group : job.groups) {
    const bool named = !group.key.name.empty() || !group.key.members.empty();
    if (group.ambiguous || !named || group.members.size() < 2 ||
        group.members.size() * 2 > job.ranks.size()) {
      continue;
    }
    if (!known.insert(group.members).second) continue;
    sets.sets.push_back({"group", group.key.name, group.members});
  }
}

}  // namespace

Result<FleetSets> fleet_sets(const FleetJob& job, const std::string& hosts,
                             const std::string& hosts_name) {
  FleetSets sets;
  std::vector<std::vector<std::string>> lines = words_of_lines(hosts);
  if (!lines.empty()) {
    sets.source = SetSource::kFile;
    const bool hostfile = lines.front().size() > 1 && lines.front()[1].starts_with("slots=");
    ASSAY_TRY(hostfile ? read_hostfile(job, lines, hosts_name, sets)
                       : read_table(job, std::move(lines), hosts_name, sets));
  } else {
    add_hosts_of_records(job, sets);
    if (sets.source == SetSource::kNone) guess_nodes(job, sets);
  }
  add_groups(job, sets);
  return sets;
}

}  // namespace assay
