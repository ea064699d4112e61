#pragma once

// The roof: what a device can do at most, by its name in the trace and published figures
// (records/facts.h). At the boost clock that its maker's figures hold at.

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "records/facts.h"
#include "roof/work.h"
#include "trace/trace.h"

namespace assay {

struct DeviceRoof {
  std::string device;    // as the trace names it, or as asked for; empty = not named
  std::string why_none;  // one sentence: why there is no roof; empty = there is one
  std::string part;      // "half of the card (55 of 110 compute units)"; empty = the whole card
  double memory_bytes_per_s = 0;
  double cache_bytes = 0;                    // of the last cache before memory; 0 = not told
  double cache_bytes_per_s = 0;              // read from it; 0 = not told
  double cache_front_bytes = 0;              // of a faster cache before it; 0 = none told
  double link_bytes_per_s = 0;               // to peers, in one direction; 0 = not told
  double nic_bytes_per_s = 0;                // its part of a machine's network cards; 0 = not told
  double clock_hz = 0;                       // that the figures hold at; 0 = not told
  std::map<std::string, double> flop_per_s;  // by the attribute of the facts: "tflops", ...
  std::vector<std::string> sources;          // where the figures are from, each once

  bool exists() const { return why_none.empty(); }
};

// `asked`: the user's name for the device, before the trace's own; empty = none. Where the device
// is that card, and its memory and compute units are smaller than the card's (a die of two, a
// partition), the figures are scaled by these. Another card is whole.
DeviceRoof device_roof(const FactBook& facts, const DeviceProperties& device,
                       const std::string& asked = "");

// Of the device of a trace with this index; where the trace lists it not, of the first that it
// lists.
DeviceRoof trace_roof(const FactBook& facts, const Trace& trace, int64_t device,
                      const std::string& asked = "");

// Peak rate for the work's arithmetic; NaN where the facts do not tell that type's, infinite where
// the work has no operations to do.
double peak_flop_per_s(const DeviceRoof& roof, const OpWork& work);

struct RoofTime {
  double compute_s = 0;  // FLOP / peak
  double memory_s = 0;   // bytes / bandwidth
  double at_least_s() const { return compute_s > memory_s ? compute_s : memory_s; }
  bool compute_bound() const { return compute_s > memory_s; }
};
// NaN in compute_s where the peak is not told.
RoofTime roof_time(const DeviceRoof& roof, const OpWork& work);

}  // namespace assay
