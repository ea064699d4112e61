#pragma once

// Sets of ranks that share a node, a rack, a process group.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"

namespace assay {

struct FleetSet {
  std::string kind;  // node, rack, pod, ... from the header of the hosts file; or group
  std::string name;
  std::vector<uint32_t> ranks;  // indices into FleetJob::ranks, ascending
};

enum class SetSource : uint8_t { kFile, kRecords, kGuess, kNone };
// Reasons why the hosts in the records cannot be nodes, as with the host names of containers: one
// host for all ranks, or one for each.
enum class OddHosts : uint8_t { kNone, kOneForAll, kOneEach };

struct FleetSets {
  std::vector<FleetSet> sets;           // by kind as given, then name
  SetSource source = SetSource::kNone;  // source of the nodes
  OddHosts odd_hosts = OddHosts::kNone;
  uint64_t unplaced = 0;  // ranks without a node in the source; 0 for a guess
};

// The sets of a job. `hosts` is the text of a hosts file: a table "rank node [rack pod ...]",
// separated by tabs or blanks, with or without a header; or a hostfile of lines "HOST slots=N" with
// consecutive ranks. If it is empty, nodes are the hosts in the records, unless odd_hosts; else a
// guess: as many consecutive ranks as most machines have devices. Process groups of at most half of
// the job are sets too, unless another set has the same ranks. Fails on a text in neither format;
// `hosts_name` is its name in errors.
Result<FleetSets> fleet_sets(const FleetJob& job, const std::string& hosts,
                             const std::string& hosts_name);

}  // namespace assay
