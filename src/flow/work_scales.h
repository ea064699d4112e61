#pragma once

// Scaling factors for device work from the FLOP and bytes of operator calls: to the roofline
// (roof/peaks.h) for the edit "roof", to another GPU by roof/scaling.h.

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
  std::vector<float> left;  // per work, 0 to 1; 1 if its roofline is unknown or it is faster
  std::vector<bool> known;  // per work: the roofline time is known
  uint64_t works = 0;       // number of works with left < 1
  bool any_work = false;    // FLOP and bytes of some kernel are known
  bool any_roof = false;    // and the device's peak rates
};
// Inputs of roofline times other than the trace.
struct RoofSources {
  const FactBook* facts = nullptr;        // null: the built-in specifications
  std::string device = {};                // device name given by the user; empty: as recorded
  const ReplayReport* replays = nullptr;  // graph replays joined with captures; null: none
};
// pattern: glob of operator names, empty = all. Each kernel of a call gets the call's share: its
// roofline time over the summed duration of its kernels.
RoofShares roof_shares(const FlowRun& run, std::string_view pattern, const RoofSources& sources);

// Adds to roofed_ns and roof_ns of a kind from its kernels that begin in `window`.
void add_roof(const FlowRun& run, Interval window, const RoofSources& sources, KindShare& kind);

// Time of one kernel family on the recorded GPU and on the other one.
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
// Factors per work with a 90 % interval. Copies and fills keep their time.
struct WorkScales {
  std::vector<float> low;
  std::vector<float> middle;
  std::vector<float> high;
  std::vector<FamilyScale> families;  // with time, longest first
  int64_t kernel_ns = 0;              // summed durations of kernels, without collectives
  int64_t known_ns = 0;               // part of kernel_ns with known work
  int64_t collective_ns = 0;
  // The link to peers changes, and there are collectives.
  bool fabric_changes = false;
  std::map<std::string, int64_t> lacking_ns;  // kernel time by data type that the other GPU lacks

  double was_ns() const;  // sum over families
  double sum_ns(double FamilyScale::*field) const;
};
struct OtherGpu {
  std::string name;             // as the user wrote it
  double link_bytes_per_s = 0;  // to its peers, per direction; 0 = as specified
};
// Roofline of the recorded GPU: the run's first device with work.
DeviceRoof recorded_gpu(const FlowRun& run, const RoofSources& sources);
WorkScales work_scales(const FlowRun& run, const OtherGpu& other, const RoofSources& sources);

}  // namespace assay
