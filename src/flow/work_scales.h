#pragma once

// Factors of the duration of device work, from the work of operator calls. At the roofline
// (roof/peaks.h) they are those of the edit "roof", on another GPU those of roof/scaling.h.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "flow/replays.h"
#include "flow/run.h"
#include "flow/verdict.h"
#include "records/facts.h"
#include "roof/scaling.h"

namespace assay {

struct RoofShares {
  std::vector<float> left;  // per work, 0 to 1; 1 where its roof is not known, or it is faster
  std::vector<bool> known;  // per work, whether the roofline time is
  uint64_t works = 0;       // that have less than all of it left
  bool any_work = false;    // some kernel's work is known
  bool any_roof = false;    // and the device's figures
};
// What a roof rests on beside the trace.
struct RoofSources {
  const FactBook* facts = nullptr;        // absent: what is built in
  std::string device = {};                // the user's name of it; empty: as recorded
  const ReplayReport* replays = nullptr;  // joined to their recordings; absent: none
};
// pattern: glob of operators' names; empty = all. Each kernel of a call keeps the call's share: its
// roof over the summed duration of its kernels.
RoofShares roof_shares(const FlowRun& run, std::string_view pattern, const RoofSources& sources);

// Fills roofed_ns and roof_ns of a kind, from its kernels that begin in `window`.
void add_roof(const FlowRun& run, Interval window, const RoofSources& sources, KindShare& kind);

// Activities of one family, on the recorded GPU and on the other one.
struct FamilyScale {
  ScaleFamily family = ScaleFamily::kUnknown;
  int64_t was_ns = 0;
  double ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  // Shares of the rule's time on the recorded GPU, weighted by time; 0 without known work.
  double ramp = 0;
  double compute = 0;
  double memory = 0;
};
// Factors per work, with the ends of the 90 % interval. Copies and fills keep their time.
struct WorkScales {
  std::vector<float> low;
  std::vector<float> middle;
  std::vector<float> high;
  std::vector<FamilyScale> families;  // that have time, the longest first
  int64_t kernel_ns = 0;              // summed durations of kernels, without collectives
  int64_t known_ns = 0;               // of these, with known work
  int64_t collective_ns = 0;
  bool fabric_changes = false;                // and there are collectives
  std::map<std::string, int64_t> lacking_ns;  // by type without units on the other GPU

  double was_ns() const;  // of all families
  double sum_ns(double FamilyScale::*field) const;
};
struct OtherGpu {
  std::string name;             // as the user wrote it
  double link_bytes_per_s = 0;  // to its peers, in one direction; 0 = as specified
};
// The recorded GPU of the run's first device with work.
DeviceRoof recorded_gpu(const FlowRun& run, const RoofSources& sources);
WorkScales work_scales(const FlowRun& run, const OtherGpu& other, const RoofSources& sources);

}  // namespace assay
