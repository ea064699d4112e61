#pragma once

// What bounds a run, from its causes: one word of a closed list with all that a sentence about it
// must name. Plain data; report/ finds the words. The rule: docs/metrics.md, Flow, Verdict.

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
  kGpu,             // the device works nearly all the time
  kHost,            // it waits for the host to prepare and launch
  kInput,           // for data
  kSync,            // the host lets it run empty by waiting for it
  kAlloc,           // allocation and release of memory in the steady state
  kColdStart,       // one-off costs
  kUnseenWork,      // launched work waits although the rows show an empty device
  kCollectiveWait,  // inside communication; of one rank waiting and transfer are not told apart
  kCommunication,   // exposed transfer, nobody late
  kCopy,            // copies fill the time
  kNotLoaded,       // nobody asked for more
  kTooLittle,       // too few rows for any statement
  kNoGpu,           // no device row
  kNoHost,          // device rows without any host row
  kMigration,       // pages of managed memory move
};
constexpr size_t kBounds = 15;
// The word in reports and JSON: "gpu", "host", "unseen_device_work", ...
std::string_view bound_by_word(BoundBy bound);
// False for too little recorded work and for missing records, which name no resource.
bool names_resource(BoundBy bound);

// The first thing to change, by the cause alone; an edited replay may know better.
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

// Lost time by what is to blame, largest first.
struct LostGroup {
  BoundBy bound = BoundBy::kHost;
  int64_t ns = 0;
  double of_lost = 0;
  double of_window = 0;
};

enum class TooLittle : uint8_t {
  kEnough,
  kFewWorks,     // fewer than 50 pieces of device work
  kShortWindow,  // less than 1 ms
  kUnlinked,     // host causes lead, but launches of less than half of the device time are recorded
};

enum class Borderline : uint8_t {
  kNo,
  kAtBound,   // another resource may lead
  kInferred,  // more than half of the leading time rests on inference
};

// Device work by name, longest first.
struct NamedWork {
  StringId name;
  WorkKind kind = WorkKind::kCompute;
  int64_t ns = 0;
  uint64_t count = 0;
};

// Kernels by what they are, communication left out.
struct KindShare {
  KernelKind kind = KernelKind::kOther;
  StringId longest;  // the name with the largest sum
  int64_t ns = 0;
  uint64_t count = 0;
  // Set for the first kind of a GPU-bound run: time of its kernels with a known roofline time, and that time. A kernel
  // counts at most with its duration. 0: none is known.
  int64_t roofed_ns = 0;
  int64_t roof_ns = 0;
};

struct FlowVerdict {
  BoundBy bound = BoundBy::kNoGpu;
  TooLittle too_little = TooLittle::kEnough;
  bool mixed = false;  // no group has half of the lost time: `lost` has the two largest in front
  bool device_bound = false;
  // Some device works nearly all the time, but they wait for each other.
  bool turns = false;
  Borderline borderline = Borderline::kNo;
  double device_idle_share = 0;  // of FlowReport::window times devices; NaN without device work
  double leading_share = 0;      // of the lost time; NaN where nothing is lost
  double recorded_share = 0;     // of the leading idle time, by evidence
  double inferred_share = 0;
  double absent_share = 0;
  double linked_share = 0;           // of device time, with a launch call
  std::optional<FlowCause> detail;   // largest idle cause of the leading group
  std::vector<LostGroup> lost;       // largest first; only what is not 0
  std::vector<Contributor> leading;  // of the leading group, largest first
  LeadingPauses pauses;
  HostCompute computed;         // of the host's part of the idle time; empty where it is under half
  std::vector<NamedWork> work;  // of the window, largest first
  std::vector<KindShare> kinds;  // of all kernels of the window, largest first
  // Cold starts: what bounds the rest, where that is enough to tell.
  bool steady_judged = false;
  BoundBy steady_bound = BoundBy::kTooLittle;
  int64_t cold_ns = 0;
  // Iterations that one-off costs hold up, and all of them; 0 where costs come once, as they
  // should.
  uint64_t cold_iterations = 0;
  uint64_t iterations = 0;
  FirstLever lever = FirstLever::kNone;
  Program program;
};

struct FlowVerdictOptions {
  uint64_t least_works = 50;
  uint64_t least_graphs = 5;  // or as many replays of graphs that were recorded as one row each
  int64_t least_window_ns = 1'000'000;
  double least_linked = 0.5;
  double device_bound = 0.3;  // idle, exposed copies and waits up to this share of the window
  double leading = 0.5;       // of the lost time
  double borderline = 0.05;
  size_t named = 8;                     // contributors and works that are listed
  const Windows* iterations = nullptr;  // tells whether what should come once comes in each of them
};

// The group that most of the lost time of `sum` belongs to, where comm_wait_ns is lost in
// communication.
BoundBy leading_group(const FlowTotals& sum, int64_t comm_wait_ns);

FlowVerdict judge_flow(const Trace& trace, const FlowReport& report,
                       const FlowVerdictOptions& options);

}  // namespace assay
