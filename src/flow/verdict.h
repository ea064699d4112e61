#pragma once

// The bottleneck of a run with the values for a message about it. Plain data; report/ writes the
// text. The rule: docs/metrics.md, Flow, Verdict.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "flow/flow.h"
#include "flow/host_compute.h"
#include "flow/leading_pauses.h"
#include "flow/program.h"

namespace assay {

enum class BoundBy : uint8_t {
  kGpu,             // the device is busy nearly all the time
  kHost,            // the device waits for the host to prepare and launch
  kInput,           // the device waits for data
  kSync,            // the device runs empty because the host waits for it
  kAlloc,           // allocation and release of memory in the steady state
  kColdStart,       // one-time initialization
  kUnseenWork,      // submitted work does not start although the device is idle
  kCollectiveWait,  // communication; one rank alone cannot separate waiting from transfer
  kCommunication,   // exposed transfer without stragglers; only of jobs
  kCopy,            // copies take most of the time
  kNotLoaded,       // no more work was requested
  kTooLittle,       // too few events for a conclusion
  kNoGpu,           // no device activity
  kNoHost,          // device activity without host events
  kMigration,       // managed-memory page migration
};
constexpr size_t kBounds = 15;
// The name in reports and JSON: "gpu", "host", "unseen_device_work", ...
std::string_view bound_by_word(BoundBy bound);
// False for kUnseenWork, kNotLoaded, kTooLittle, kNoGpu and kNoHost, which name no resource.
bool names_resource(BoundBy bound);

// The first recommended change, from the cause alone; a replay may show a better one.
enum class FirstLever : uint8_t {
  kNone,
  kGraphOrCompile,
  kLessHostWork,
  kRemoveSync,
  kCachingAllocator,
  kMoreInputWorkers,
  kFasterKernel,
  kOverlapCommunication,
  kBalanceRanks,
  kFewerCopies,
  kWarmUpFirst,
  kRecordMore,
  kDevicesAtOnce,
};
// "cuda_graph_or_compile", "remove_sync", ...
std::string_view first_lever_word(FirstLever lever);

// Lost time by bottleneck.
struct LostGroup {
  BoundBy bound = BoundBy::kHost;
  int64_t ns = 0;
  double of_lost = 0;
  double of_window = 0;
};

enum class TooLittle : uint8_t {
  kEnough,
  kFewWorks,     // fewer than 50 device activities
  kShortWindow,  // less than 1 ms
  kUnlinked,     // host causes lead, but under half of the device time has a launch call
};

enum class Borderline : uint8_t {
  kNo,
  kAtBound,   // another resource may lead
  kInferred,  // more than half of the leading time is inferred
};

// Device work by name.
struct NamedWork {
  StringId name;
  WorkKind kind = WorkKind::kCompute;
  int64_t ns = 0;
  uint64_t count = 0;
};

// Kernels of one kind, without communication.
struct KindShare {
  KernelKind kind = KernelKind::kOther;
  StringId longest;  // name with the largest sum
  int64_t ns = 0;
  uint64_t count = 0;
  // Set for the first kind of a GPU-bound run: time of its kernels with a known roofline time, and
  // that roofline time, at most the duration per kernel. 0 = none is known.
  int64_t roofed_ns = 0;
  int64_t roof_ns = 0;
};

struct FlowVerdict {
  BoundBy bound = BoundBy::kNoGpu;
  TooLittle too_little = TooLittle::kEnough;
  bool mixed = false;  // no group has half of the lost time
  bool device_bound = false;
  // Some device is busy nearly all the time, but the devices take turns.
  bool turns = false;
  Borderline borderline = Borderline::kNo;
  double device_idle_share = 0;  // of the window over all devices; NaN without device work
  double leading_share = 0;      // of the lost time; NaN if nothing is lost
  double recorded_share = 0;     // of the leading group's idle time, by evidence
  double inferred_share = 0;
  double absent_share = 0;
  double linked_share = 0;           // share of device time with a launch call
  std::optional<FlowCause> detail;   // largest idle cause of the leading group
  std::vector<LostGroup> lost;       // largest first; without zeros
  std::vector<Contributor> leading;  // of the leading group, largest first
  LeadingPauses pauses;
  // Operators that compute on the CPU, if they have half of the host's idle time.
  HostCompute computed;
  std::vector<NamedWork> work;  // of the window, largest first
  std::vector<KindShare> kinds;  // over all kernels of the window, largest first
  // If bound is kColdStart: the bottleneck of the rest, if it is long enough.
  bool steady_judged = false;
  BoundBy steady_bound = BoundBy::kTooLittle;
  int64_t cold_ns = 0;
  // Iterations that initialization delays (cold_again()), and all iterations; 0 if initialization
  // does not recur.
  uint64_t cold_iterations = 0;
  uint64_t iterations = 0;
  FirstLever lever = FirstLever::kNone;
  Program program;
};

struct FlowVerdictOptions {
  uint64_t least_works = 50;
  uint64_t least_graphs = 5;  // graph launches recorded as one event that suffice instead
  int64_t least_window_ns = 1'000'000;
  double least_linked = 0.5;
  double device_bound = 0.3;  // most idle time, exposed copies and waits, as a share of the window
  double leading = 0.5;       // share of the lost time
  double borderline = 0.05;
  size_t named = 8;                     // most contributors and works listed
  const Windows* iterations = nullptr;  // for detecting recurring initialization; may be null
};

// The bottleneck with most of the lost time of `sum`. comm_wait_ns: time lost in communication.
BoundBy leading_group(const FlowTotals& sum, int64_t comm_wait_ns);

FlowVerdict judge_flow(const Trace& trace, const FlowReport& report,
                       const FlowVerdictOptions& options);

}  // namespace assay
