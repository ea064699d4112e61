#pragma once

// Distance of every operation from the roofline of its device, without counters. Gives FLOP/s,
// bytes/s, the share of the roofline and the time above it, per operator and shape, phase and
// layer; and the bandwidth of collectives.
//
// The roofline time of a call is the longer of FLOP / peak and bytes / bandwidth (roof/work.h,
// roof/peaks.h). Its time is the summed duration of its kernels. Per call, exactly: time = roof +
// above - beyond. `beyond` is the amount by which a call was faster than its roofline time, because
// its data came from a cache, or the model or peak is wrong.

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

// Clock samples of one GPU from a log recorded with the trace, by time.
struct ClockReadings {
  std::vector<int64_t> t_ns;
  std::vector<double> hz;

  // The highest sample from the last one before `start_ns` to the first after `end_ns`: no sample
  // shows a higher clock. 0 if the interval is not between two samples.
  double highest_hz(int64_t start_ns, int64_t end_ns) const;
};
using ClocksByGpu = std::map<int64_t, ClockReadings>;  // by device index as recorded

// Less work than fills a GPU: what such a call takes longer is latency, not throughput.
inline constexpr int64_t kSmallRoofNs = 1000;

struct RoofSums {
  uint64_t calls = 0;
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  double flop = 0;
  double bytes = 0;
  // For calls on a device and of a type that have a peak:
  int64_t roofed_ns = 0;
  int64_t roof_ns = 0;   // at the roofline
  int64_t above_ns = 0;  // roofed_ns = roof_ns + above_ns - beyond_ns
  int64_t beyond_ns = 0;
  int64_t compute_roof_ns = 0;  // of roof_ns, in calls that arithmetic bounds
  int64_t small_ns = 0;         // of above_ns, in calls with a roofline time below kSmallRoofNs
  uint64_t calls_beyond = 0;
  // Of these, bound by memory and slow enough for the bytes that the device's last cache cannot
  // hold.
  uint64_t calls_cached = 0;
  int64_t calls_beyond_ns = 0;  // of beyond_ns, in calls_beyond
  // For memory-bound calls that are below the roofline time, have bytes that all fit the cache, and
  // a known cache rate: their time, the time they need at the cache's rate, and the number that are
  // faster than that.
  int64_t fitting_ns = 0;
  int64_t cache_roof_ns = 0;
  uint64_t calls_fitting = 0;
  uint64_t calls_beyond_cache = 0;
  // For calls that overlap a clock sample: their time, and the roofline time with arithmetic peaks
  // scaled by the actual clock over the nominal clock.
  int64_t clocked_ns = 0;
  int64_t clocked_roof_ns = 0;
  ProductSums products;

  void add(const RoofSums& other);
  double flop_per_s() const;  // NaN without time
  double bytes_per_s() const;
  double intensity() const;   // FLOP per byte; NaN without bytes
  double roof_share() const;  // roof_ns / roofed_ns; NaN without
  double clocked_roof_share() const;
  bool compute_bound() const { return 2 * compute_roof_ns > roof_ns; }
};

// An operator with one shape in one phase, over layers, iterations and GPUs.
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

// A layer in a phase: what is known and what is not.
struct RoofPlace {
  LevelPhase phase = LevelPhase::kNone;
  int32_t layer = kNoLayer;
  RoofSums sums;
  int64_t unknown_ns = 0;
};

struct RoofUnknown {
  NoWork why = NoWork::kNoModel;
  std::string name;  // of the operator, or of the kernel where there is none
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
};

// Calls of one operator and shape with only bounds on their work. Their time is part of the unknown
// time.
struct RoofBounds {
  std::string op;
  std::string shape;
  std::string device;
  uint64_t calls = 0;
  uint64_t kernels = 0;
  int64_t dur_ns = 0;
  int64_t roofed_ns = 0;      // of dur_ns, on devices with known peaks
  int64_t least_roof_ns = 0;  // at the roofline with the minimum work, and with the maximum
  int64_t most_roof_ns = 0;
  // Of dur_ns, time with elements per thread taken from other launches of the same kernel.
  int64_t same_kernel_ns = 0;
  // Of roofed_ns, where the most is what memory and a full last cache carry in that time.
  int64_t limited_ns = 0;
  uint64_t calls_beyond = 0;  // faster than the roofline with the minimum work
  // Of those: not explained by what the last cache holds.
  uint64_t calls_unexplained = 0;
};

// Collectives of one kind, group size and message.
struct RoofComm {
  std::string kind;
  std::string dtype;
  int64_t group_size = 0;
  double message_bytes = 0;
  double factor = 0;  // bus over algorithm bandwidth; 0 = not defined
  uint64_t collectives = 0;
  int64_t dur_ns = 0;           // of several ranks, of each collective the shortest: it waits least
  double link_bytes_per_s = 0;  // maximum of the bus; 0 = unknown
  bool network = false;         // by network cards that the machine is assumed to have
};

// Products of one GPU in one iteration.
struct RoofUse {
  int64_t gpu = 0;
  int32_t iter = kNoIteration;
  int64_t span_ns = 0;
  ProductSums products;
  int64_t unknown_product_ns = 0;
};

struct JobRoof {
  std::vector<DeviceRoof> devices;   // by name
  std::vector<RoofOp> ops;           // by above_ns, the longest first
  std::vector<RoofPlace> places;     // by phase, layer
  std::vector<RoofUnknown> unknown;  // by time, the longest first
  std::vector<RoofBounds> bounds;    // by time, the longest first
  std::vector<RoofComm> comm;        // by time, the longest first
  RoofSums known;                    // of all calls with a model
  std::array<int64_t, kNoWorks> unknown_ns = {};
  int64_t kernel_ns = 0;     // = known.dur_ns and the unknown, exactly
  int64_t comm_ns = 0;       // of collectives
  int64_t comm_told_ns = 0;  // of these, with a message size
  int64_t copy_ns = 0;       // of copies and fills
  uint64_t nested_calls = 0;
  int64_t replayed_ns = 0;  // of known.dur_ns, in replays: the work is that of the recording
  uint64_t ranks = 0;
  // Over GPUs and ranks, from the first start of a compute kernel to the last end.
  int64_t wall_ns = 0;
  int64_t unknown_product_ns = 0;  // of kernels that multiply, without known work
  std::vector<RoofUse> uses;       // by rank, GPU and iteration

  int64_t unknown_total_ns() const;
  double known_share() const;  // of the kernel time; NaN without kernels
  // The least and the most are of kernels without known work: at nothing, and at the peak.
  Utilisation utilisation() const;
  // Empty without a known device.
  Utilisation utilisation_of(const RoofUse& use) const;
  // Of each of these iterations, all GPUs together.
  std::vector<Utilisation> utilisations(const std::vector<int32_t>& iterations) const;
};

// Combines the ranks of a job, one after the other.
class RoofReader {
 public:
  // facts must outlive it. asked: the user's name of the device, or none.
  RoofReader(const FactBook& facts, std::string asked) : facts_(facts), asked_(std::move(asked)) {}

  // report: of this trace, with its rows. replays: those joined to their captures; null if none.
  // clocks: of its GPUs, on its times.
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
    uint64_t nth = 0;  // distinguishes those without a sequence number
    friend std::partial_ordering operator<=>(const CommKey&, const CommKey&) = default;
  };
  // The limiting link of a collective, as in RoofComm.
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
  std::map<std::tuple<uint64_t, int64_t, int32_t>, RoofUse> uses_;  // by rank, GPU and window
  std::map<std::string, DeviceRoof> roofs_;
  std::map<int64_t, const DeviceRoof*> roof_of_device_;  // of the trace that is being read
  std::map<OpKey, RoofOp> ops_;
  std::map<std::pair<LevelPhase, int32_t>, RoofPlace> places_;
  std::map<std::pair<NoWork, std::string>, RoofUnknown> unknown_;
  std::map<std::tuple<std::string, std::string, std::string>, RoofBounds> bounds_;
  std::map<CommKey, CommSpan> comm_;
  uint64_t nth_comm_ = 0;
};

}  // namespace assay
