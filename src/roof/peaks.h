#pragma once

// The roofline: peak rates of a device, by its name in the trace and published figures
// (records/facts.h). At the boost clock of the published figures.

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "records/facts.h"
#include "roof/work.h"
#include "trace/trace.h"

namespace assay {

struct DeviceRoof {
  std::string device;    // as in the trace or as requested; empty = not named
  std::string why_none;  // why there is no roofline, as a sentence; empty = there is one
  std::string part;      // "half of the card (55 of 110 compute units)"; empty = the whole card
  double memory_bytes_per_s = 0;
  double cache_bytes = 0;                    // of the last-level cache; 0 = unknown
  double cache_bytes_per_s = 0;              // read from it; 0 = unknown
  double cache_front_bytes = 0;              // of a faster cache in front of it; 0 = unknown
  double link_bytes_per_s = 0;               // to peers, in one direction; 0 = unknown
  double nic_bytes_per_s = 0;                // its part of a machine's network cards; 0 = unknown
  double clock_hz = 0;                       // of the figures; 0 = unknown
  std::map<std::string, double> flop_per_s;  // by the attribute of the specifications: "tflops",
                                             // ...
  std::string peak_source;                   // of the BF16 and FP16 peak
  std::vector<std::string> sources;          // where the figures are from, each once
  // Needed by roof/scaling.h; empty or 0 = unknown.
  std::string card;                   // the section of the specifications
  std::string architecture;           // "gh100"
  std::string maker;                  // "nvidia", "amd"
  std::string segment;                // "datacenter", "workstation"
  std::string fabric;                 // between GPUs of a machine: "nvlink", "xgmi", "pcie"
  std::vector<std::string> no_units;  // types without matrix units: "fp8"
  double ramp_s = 0;                  // the shortest kernels take so long
  double memory_bytes = 0;            // capacity of the whole card

  bool exists() const { return why_none.empty(); }
};

// `asked`: the user's name for the device, which overrides the trace's; empty = none. If the device
// is that card with less memory and fewer compute units (a die of two, a partition), the figures
// are scaled accordingly. Another card is not scaled.
DeviceRoof device_roof(const FactBook& facts, const DeviceProperties& device,
                       const std::string& asked = "");

// For the device with this index; if the trace does not list it, for the first one that it lists.
DeviceRoof trace_roof(const FactBook& facts, const Trace& trace, int64_t device,
                      const std::string& asked = "");

// "fp8" for products of that type; empty for work that is not on matrix units.
std::string_view matrix_type(const OpWork& work);

// Peak rate for the work's arithmetic; NaN if the specifications lack that type, infinite if the
// work has no operations.
double peak_flop_per_s(const DeviceRoof& roof, const OpWork& work);

struct RoofTime {
  double compute_s = 0;  // FLOP / peak
  double memory_s = 0;   // bytes / bandwidth
  double at_least_s() const { return compute_s > memory_s ? compute_s : memory_s; }
  bool compute_bound() const { return compute_s > memory_s; }
};
// NaN in compute_s if the peak is unknown.
RoofTime roof_time(const DeviceRoof& roof, const OpWork& work);

}  // namespace assay
