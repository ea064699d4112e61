#pragma once

// Hosts of a job that wait for each other beside the devices: in collectives on the CPU, barriers
// over a store, messages of the rank that plans. No collective on a device tells of it: all of them
// are idle alike.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "flow/flow.h"
#include "flow/job.h"

namespace assay {

// What a rank's host did while its device was idle, or that its device computed, by the rank's own
// clock.
struct HostSpell {
  Interval span;
  std::string name;     // as recorded; empty = nothing tells it
  bool waits = false;   // for another thread, process or the outside, as the name tells
  bool device = false;  // the device computed, whatever the host did
};

// The longest spells of a rank in its judged window, those of the host in order before those of the
// device; neighbours of one name are one.
std::vector<HostSpell> host_spells(const Trace& trace, const FlowReport& report);

// The rank for which the others' hosts wait.
struct HostsWait {
  uint32_t rank = 0;              // into Job::ranks()
  bool in_turn = false;           // now this rank, now that one; `rank` is none of them then
  std::vector<uint32_t> waiting;  // ranks, ascending
  uint64_t times = 0;             // waits of a rank, in the middle
  int64_t wait_ns = 0;            // of a rank, in the middle
  std::string in;                 // what most of them wait in
  std::string held;               // what the rank's host does meanwhile; empty = nothing tells it
  bool on_device = false;         // its device computes meanwhile
};

// None where neither a single rank holds up most of that time nor all do in turn, in what they
// leave together; or it is less than a twentieth of the run. That a device computes counts from
// three ranks on: of two, one that waits for something else looks the same. spells: per rank of the
// job. Where no collective brought the ranks' clocks together, waits that all ranks leave together
// do.
std::optional<HostsWait> hosts_waiting(const Job& job,
                                       const std::vector<std::vector<HostSpell>>& spells);

}  // namespace assay
