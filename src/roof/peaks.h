#pragma once

// Roofline peaks of a device: published specifications (records/facts.h) at boost clock, found by
// the device name in the trace.

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "records/facts.h"
#include "roof/work.h"
#include "trace/trace.h"

namespace assay {

struct DeviceRoof {
  std::string device;    // as in the trace or as requested; empty = unknown
  std::string why_none;  // why there is no roofline, as a sentence; empty = it exists
  std::string part;      // "half of the card (55 of 110 compute units)"; empty = the whole card
  double memory_bytes_per_s = 0;
  double cache_bytes = 0;                    // of the last-level cache; 0 = unknown
  double cache_bytes_per_s = 0;              // read bandwidth of that cache; 0 = unknown
  double cache_front_bytes = 0;              // of the faster cache level in front of it; 0 =
                                             // unknown
  double link_bytes_per_s = 0;               // to peer GPUs, one direction; 0 = unknown
  double nic_bytes_per_s = 0;                // this GPU's share of the machine's network cards; 0 =
                                             // unknown
  double clock_hz = 0;                       // boost clock of the specifications; 0 = unknown
  std::map<std::string, double> flop_per_s;  // by specification attribute: "tflops", ...
  std::string peak_source;                   // of the BF16 or FP16 peak
  std::vector<std::string> sources;          // distinct sources of the specifications
  // Needed by roof/scaling.h; empty or 0 = unknown.
  std::string card;                   // section name in the specifications
  std::string architecture;           // "gh100"
  std::string maker;                  // "nvidia", "amd"
  std::string segment;                // "datacenter", "workstation"
  std::string fabric;                 // between GPUs of a machine: "nvlink", "xgmi", "pcie"
  std::vector<std::string> no_units;  // types without matrix units: "fp8"
  double ramp_s = 0;                  // duration of the shortest kernels
  double memory_bytes = 0;            // capacity of the whole card

  bool exists() const { return why_none.empty(); }
};

// `asked`: the user's name for the device, which overrides the trace's, empty = none. If the device
// is that card with less memory and fewer compute units (one die of two, a partition), the peaks
// are scaled accordingly. Other cards are not scaled.
DeviceRoof device_roof(const FactBook& facts, const DeviceProperties& device,
                       const std::string& asked = "");

// For the device with this index; if the trace does not list it, for the first one listed.
DeviceRoof trace_roof(const FactBook& facts, const Trace& trace, int64_t device,
                      const std::string& asked = "");

// Matrix type of the work ("fp8"); empty if it does not use matrix units.
std::string_view matrix_type(const OpWork& work);

// Peak rate for the work's type; NaN if the specifications lack that type, infinite if the work has
// no FLOP.
double peak_flop_per_s(const DeviceRoof& roof, const OpWork& work);

struct RoofTime {
  double compute_s = 0;  // FLOP / peak
  double memory_s = 0;   // bytes / bandwidth
  double at_least_s() const { return compute_s > memory_s ? compute_s : memory_s; }
  bool compute_bound() const { return compute_s > memory_s; }
};
// compute_s is NaN if the peak is unknown.
RoofTime roof_time(const DeviceRoof& roof, const OpWork& work);

}  // namespace assay
