#pragma once

// Hosts of a job that wait for each other outside device collectives: in CPU collectives, barriers
// over a store, or messages from a planning rank. Device collectives do not show it: all devices
// are idle alike.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "flow/flow.h"
#include "flow/job.h"

namespace assay {

// An interval of a rank, by the rank's own clock: one host activity while the device was idle, or
// device compute.
struct HostSpell {
  Interval span;
  std::string name;  // as recorded; empty = unknown
  // By its name, the host waits for another thread or process, or for external input.
  bool waits = false;
  bool device = false;  // device compute, whatever the host did
};

// The longest intervals in the rank's window (at most 4096, 10 us or more): host intervals in
// order, then device intervals. Adjacent intervals with one name are merged.
std::vector<HostSpell> host_spells(const Trace& trace, const FlowReport& report);

// The rank that the other ranks' hosts wait for.
struct HostsWait {
  uint32_t rank = 0;              // index into Job::ranks()
  bool in_turn = false;           // the rank changes from wait to wait; `rank` is then meaningless
  std::vector<uint32_t> waiting;  // indices into Job::ranks(), ascending
  uint64_t times = 0;             // waits per waiting rank, median
  int64_t wait_ns = 0;            // time per waiting rank, median
  std::string in;                 // the name with most of the waiting time
  std::string held;               // what that rank's host does meanwhile; empty = unknown
  bool on_device = false;         // that rank's device computes meanwhile
};

// None if neither one rank causes most of that time nor all ranks do in turn, in waits that they
// leave together; or if it is less than 1/20 of the run. Device compute counts only with three or
// more ranks: of two, one that waits for something else looks the same. spells: per rank of the
// job. If no collective aligned the clocks, waits that all ranks leave together do.
std::optional<HostsWait> hosts_waiting(const Job& job,
                                       const std::vector<std::vector<HostSpell>>& spells);

}  // namespace assay
