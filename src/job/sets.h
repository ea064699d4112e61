#pragma once

// Ranks that share something: a node, a rack, a process group.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/job.h"

namespace assay {

struct FleetSet {
  std::string kind;  // node, rack, pod, ... as the file's head names them; group
  std::string name;
  std::vector<uint32_t> ranks;  // places in FleetJob::ranks, ascending
};

enum class SetSource : uint8_t { kFile, kRecords, kGuess, kNone };
// Hosts of the records that cannot be nodes: containers often call themselves so.
enum class OddHosts : uint8_t { kNone, kOneForAll, kOneEach };

struct FleetSets {
  std::vector<FleetSet> sets;           // by kind as given, then name
  SetSource source = SetSource::kNone;  // of the nodes
  OddHosts odd_hosts = OddHosts::kNone;
  uint64_t unplaced = 0;  // ranks missing in the file, or in the other source of nodes
};

// hosts: text of a table "rank node [rack pod ...]" with tabs or blanks between, with or without a
// head, or of a hostfile of lines "HOST slots=N" whose ranks follow each other; empty: hosts as the
// records tell them, unless they cannot be nodes; else as many ranks in a row as their machines
// have devices, which is a guess. Process groups of at most half of the job are sets, too, where no
// other has just their ranks. Errors: a text that is neither.
Result<FleetSets> fleet_sets(const FleetJob& job, const std::string& hosts,
                             const std::string& hosts_name);

}  // namespace assay
