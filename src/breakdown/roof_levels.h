#pragma once

// Compares every operation with the roofline of its device, without counters: FLOP/s, bytes/s,
// share of the roofline and time above it, per operator and shape, phase and layer; and the
// bandwidth of collectives.
//
// The roofline time of a call is max(FLOP / peak, bytes / bandwidth) (roof/work.h, roof/peaks.h).
// Its actual time is the summed duration of its kernels. Exactly, per call: time = roof + above -
// beyond. `beyond` is the amount by which a call was faster than its roofline time, because its
// data came from a cache, or because the model or peak is wrong.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "breakdown/breakdown.h"
#include "flow/replays.h"
#include "kernels/names.h"
#include "records/facts.h"
#include "roof/calls.h"
#include "roof/collective.h"
#include "roof/peaks.h"
#include "roof/utilisation.h"

namespace assay {

// Clock samples of one GPU from a log recorded with the trace, sorted by time.
struct ClockReadings {
  std::vector<int64_t> t_ns;
  std::vector<double> hz;

  // Maximum over the samples from the last one before `start_ns` to the first one after `end_ns`. 0
  // if the interval is not between two samples.
  double highest_hz(int64_t start_ns, int64_t end_ns) const;
};
using ClocksByGpu = std::map<int64_t, ClockReadings>;  // by device index as recorded

// Calls with a shorter roofline time do not fill a GPU: their time above it is latency.
inline constexpr int64_t kSmallRoofNs = 1000;

struct RoofSums {
  uint64_t calls = 0;
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  double flop = 0;
  double bytes = 0;
  // For calls with a peak for their device and type:
  int64_t roofed_ns = 0;
  int64_t roof_ns = 0;   // roofline time
  int64_t above_ns = 0;  // roofed_ns = roof_ns + above_ns - beyond_ns
  int64_t beyond_ns = 0;
  int64_t compute_roof_ns = 0;  // the part of roof_ns in compute-bound calls
  int64_t small_ns = 0;         // the part of above_ns in calls with a roofline time below
                                // kSmallRoofNs
  uint64_t calls_beyond = 0;
  // Calls among calls_beyond that are memory-bound and slow enough if the last-level cache provides
  // what it can hold.
  uint64_t calls_cached = 0;
  int64_t calls_beyond_ns = 0;  // the part of beyond_ns in calls_beyond
  // For memory-bound calls that are faster than their roofline time, fit in the cache, and have a
  // known cache bandwidth: their time, their roofline time at the cache's bandwidth, their number,
  // and the number that is faster even than that.
  int64_t fitting_ns = 0;
  int64_t cache_roof_ns = 0;
  uint64_t calls_fitting = 0;
  uint64_t calls_beyond_cache = 0;
  // For calls with clock samples: their time, and their roofline time with compute peaks scaled by
  // actual / nominal clock.
  int64_t clocked_ns = 0;
  int64_t clocked_roof_ns = 0;
  ProductSums products;

  void add(const RoofSums& other);
  double flop_per_s() const;  // NaN without time
  double bytes_per_s() const;
  double intensity() const;   // FLOP per byte; NaN without bytes
  double roof_share() const;  // roof_ns / roofed_ns; NaN if undefined
  double clocked_roof_share() const;
  bool compute_bound() const { return 2 * compute_roof_ns > roof_ns; }
};

// One operator with one shape in one phase, over layers, iterations and GPUs.
struct RoofOp {
  LevelPhase phase = LevelPhase::kNone;
  std::string op;
  std::string shape;
  OpWorkKind kind = OpWorkKind::kElementwise;
  ElementType math = ElementType::kUntold;
  bool matrix = false;
  std::string device;
  RoofSums sums;
};

// Known and unknown work of one layer in one phase.
struct RoofPlace {
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  RoofSums sums;
  int64_t unknown_ns = 0;
};

struct RoofUnknown {
  NoWork why = NoWork::kNoModel;
  std::string name;  // operator, or kernel if there is none
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
};

// Calls of one operator and shape with only bounds on the work. Their time is part of the unknown
// time.
struct RoofBounds {
  std::string op;
  std::string shape;
  std::string device;
  uint64_t calls = 0;
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  int64_t roofed_ns = 0;      // the part of dur_ns on devices with known peaks
  int64_t least_roof_ns = 0;  // roofline time with the minimum work, and with the maximum
  int64_t most_roof_ns = 0;
  // The part of dur_ns with elements per thread from other launches of the same kernel.
  int64_t same_kernel_ns = 0;
  // The part of roofed_ns with its maximum work limited by what memory and a full last-level cache
  // can transfer in that time.
  int64_t limited_ns = 0;
  uint64_t calls_beyond = 0;  // calls faster than the roofline with the minimum work
  // Calls among those that the content of the last-level cache does not explain.
  uint64_t calls_unexplained = 0;
};

// Collectives of one kind, data type, group size and message size.
struct RoofComm {
  std::string kind;
  std::string dtype;
  int64_t group_size = 0;
  double message_bytes = 0;
  double factor = 0;  // bus / algorithm bandwidth; 0 = undefined
  uint64_t collectives = 0;
  int64_t dur_ns = 0;           // per collective, the shortest duration over ranks: that rank waits
                                // least
  double link_bytes_per_s = 0;  // upper bound of the bus bandwidth; 0 = unknown
  bool network = false;         // limited by the network cards that the machine is assumed to have
};

// Products on one GPU in one iteration.
struct RoofUse {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int64_t span_ns = 0;
  ProductSums products;
  int64_t unknown_product_ns = 0;
};

struct JobRoof {
  std::vector<DeviceRoof> devices;   // sorted by name
  std::vector<RoofOp> ops;           // by above_ns, largest first
  std::vector<RoofPlace> places;     // sorted by phase, layer
  std::vector<RoofUnknown> unknown;  // longest first
  std::vector<RoofBounds> bounds;    // longest first
  std::vector<RoofComm> comm;        // longest first
  RoofSums known;                    // over all calls with known work
  std::array<int64_t, kNoWorks> unknown_ns = {};
  int64_t kernel_ns = 0;     // exactly known.dur_ns + unknown_total_ns()
  int64_t comm_ns = 0;       // of collectives
  int64_t comm_told_ns = 0;  // the part of comm_ns with a known message size
  int64_t copy_ns = 0;       // copies and memsets
  uint64_t nested_calls = 0;
  int64_t replayed_ns = 0;  // the part of known.dur_ns in graph replays: their work is that of the
                            // capture
  uint64_t ranks = 0;
  // Summed over GPUs and ranks, from the first start of a compute kernel to the last end.
  int64_t wall_ns = 0;
  int64_t unknown_product_ns = 0;  // kernels that multiply but have no known work
  std::vector<RoofUse> uses;       // sorted by rank, GPU and iteration

  int64_t unknown_total_ns() const;
  double known_share() const;  // share of the kernel time; NaN without kernels
  // mfu_low and mfu_high assume that kernels without known work do nothing, or run at the peak.
  Utilisation utilisation() const;
  // Unknown if the device is.
  Utilisation utilisation_of(const RoofUse& use) const;
  // One per iteration, over all GPUs.
  std::vector<Utilisation> utilisations(const std::vector<int32_t>& iterations) const;
};

// Combines the ranks of a job, which are added one after the other.
class RoofReader {
 public:
  // facts must outlive it. asked: the user's name of the device, empty = none.
  RoofReader(const FactBook& facts, std::string asked) : facts_(facts), asked_(std::move(asked)) {}

  // report: of this trace, including rows. replays: graph replays joined to their captures; null if
  // none. clocks: of its GPUs, on the trace's time base.
  void add(const Trace& trace, const Links& links, const KernelNames& kernels,
           const BreakdownReport& report, const ReplayReport* replays = nullptr,
           const ClocksByGpu& clocks = {});
  JobRoof finish();

 private:
  struct Rank;
  using OpKey = std::tuple<LevelPhase, std::string, std::string, std::string>;
  struct CommKey {
    std::string kind;
    std::string dtype;
    std::string group;
    int64_t group_size = 0;
    double bytes = 0;
    int64_t seq = -1;
    uint64_t nth = 0;  // distinguishes collectives without a sequence number
    friend std::partial_ordering operator<=>(const CommKey&, const CommKey&) = default;
  };
  // Link that limits a collective, as in RoofComm.
  struct CommLink {
    bool network = false;
    double bytes_per_s = 0;
  };
  struct CommSpan {
    int64_t dur_ns = 0;
    double factor = 0;
    CommLink link;
  };
  static CommLink link_of(const CommKey& key, const GroupPlace& place, const DeviceRoof& roof);

  const DeviceRoof& roof_of(const Trace& trace, int64_t device);
  void add_collectives(const Trace& trace, const KernelNames& kernels,
                       const BreakdownReport& report);

  const FactBook& facts_;
  std::string asked_;
  JobRoof job_;
  std::map<std::tuple<uint64_t, int64_t, int32_t>, RoofUse> uses_;  // keyed by rank, GPU and window
  std::map<std::string, DeviceRoof> roofs_;
  std::map<int64_t, const DeviceRoof*> roof_of_device_;  // of the current trace
  std::map<OpKey, RoofOp> ops_;
  std::map<std::pair<LevelPhase, int32_t>, RoofPlace> places_;
  std::map<std::pair<NoWork, std::string>, RoofUnknown> unknown_;
  std::map<std::tuple<std::string, std::string, std::string>, RoofBounds> bounds_;
  std::map<CommKey, CommSpan> comm_;
  uint64_t nth_comm_ = 0;
};

}  // namespace assay
