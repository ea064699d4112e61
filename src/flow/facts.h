#pragma once

// Named values of one run that decide what its first screen says. An analysis fills them; rules
// (findings/rules) read them; nothing here is text for a reader. Times in ns; shares from 0 to 1;
// names as recorded; an empty name is unknown.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/advice.h"
#include "flow/answer.h"
#include "flow/device_work.h"
#include "flow/outside.h"
#include "flow/slow_runs.h"
#include "flow/uneven.h"

namespace assay {

// How reading and windowing of the trace limit what can be said.
struct ReadingEvidence {
  bool data_lost = false;
  uint64_t iterations = 1;       // complete ones in the analyzed part
  bool by_kernel_names = false;  // iterations were found by kernel names alone
};

struct TimeByName {
  std::string name;
  int64_t ns = 0;
};

// Host stalls, if they lead (LeadingPauses).
struct StallFacts {
  enum class Source : uint8_t { kNone, kCall, kOperator, kFunction, kRange, kSystemCall, kPageFaults, kProfiler };
  int64_t ns = 0;      // of the named stalls, 0 if stalls do not lead
  DurationSpread spread;
  bool system = false;  // they occur wherever the host is: the system causes them
  bool in_one = false;  // one name, or unattributed time, holds nearly all of them
  bool waits = false;   // the host waits in them
  bool rare = false;
  bool each_iteration = false;
  bool on_cpu = false;  // a tensor operator that computes on the CPU
  Source source = Source::kNone;
  std::string name;
  std::string within_op;    // operator around a system call
  std::string holder;       // what another thread does meanwhile, if the host waits for it
  // what another thread runs during stalls of one Python function, or of none
  std::string other_thread;
  Interval longest;
};

struct CopyFacts {
  enum class Direction : uint8_t { kNone, kToDevice, kToHost, kOnDevice, kBetweenDevices, kFill };
  std::string name;  // of the longest copies, or of fills if there are no copies
  double bytes_per_s = 0;  // 0: unknown, or the copies are too small
  Direction direction = Direction::kNone;
  bool pinned = false;
  bool fills = false;          // the window has fills
  bool program_loads = false;  // the program loads data as it runs
};

struct AllocationFacts {
  enum class Releases : uint8_t { kNone, kOnce, kOften };
  bool host_memory = false;
  bool from_pool = false;
  bool trims_pool = false;
  bool outside_framework = false;
  Releases releases = Releases::kNone;
  bool retries = false;  // memory is freed between two allocation attempts
  bool few_iterations = false;
};

struct InputFacts {
  std::string loader;         // data loader around the longest wait
  std::string leading_loader;  // data loader around the leading contributor
  int64_t longest_ns = 0;
  uint64_t waits = 0;
  int64_t waits_ns = 0;
  bool one_wait = false;        // one wait is nearly all of it
  bool few_iterations = false;  // few iterations hold most of the gain
};

// Requests of a serving engine, from their log.
struct RequestFacts {
  bool asked = false;
  RequestsRefusal refusal = RequestsRefusal::kNone;
  uint64_t all = 0;
  uint64_t joined = 0;
  RequestLatency queue;
  RequestLatency ttft;
  RequestLatency e2e;
  // The slowest request by TTFT or E2E, and the part that made it slow.
  struct Tail {
    std::optional<RequestPart> part;
    int64_t part_ns = 0;
    uint64_t prompt_tokens = 0;
    uint64_t output_tokens = 0;
    uint64_t preemptions = 0;
  };
  Tail ttft_tail;
  Tail e2e_tail;
  double sequences_share = Serving::kUntold;
};

// A simulated gain of removing or changing one thing.
struct GainFact {
  EditKind kind{};
  int64_t gain_ns = 0;
  std::string edit;        // as for `assay whatif --edit`
  bool predicted = false;  // else an upper bound
  bool few_iterations = false;
};

class RunFacts {
 public:
  RunFacts(const FlowAnswer& answer, const ReadingEvidence& reading);

  // Bottleneck and time.
  BoundBy bottleneck = BoundBy::kNoGpu;
  Stretches stretches;  // of the recording; `window` is the analyzed one, if any
  Interval window;
  int64_t window_ns = 0;  // wall time
  int64_t total_ns = 0;   // window time summed over devices; the base of shares
  int64_t devices = 0;
  FlowTotals total;
  FlowEvidence evidence;
  std::array<int64_t, kBounds> lost_ns{};  // by BoundBy
  int64_t lost_to(BoundBy bound) const { return lost_ns[static_cast<size_t>(bound)]; }
  int64_t idle(FlowCause cause) const { return total[cause]; }
  int64_t busy_ns() const { return total.window_ns - total.idle_ns; }
  Decision decision;  // by the table of gains
  std::optional<FlowCause> leading_cause;
  std::vector<TimeByName> leading;  // contributors of the leading cause; a name may be empty
  bool mixed = false;
  Borderline borderline = Borderline::kNo;
  TooLittle too_little = TooLittle::kEnough;
  bool gpu_busy_enough = false;
  bool devices_alternate = false;
  double busy_devices = 0;  // mean number of busy devices while any is busy
  double linked_share = 0;
  std::array<double, 3> evidence_shares{};  // recorded, inferred, absent; of the leading cause
  // Longest of each leading contributor, relative to the window.
  std::vector<Interval> spans;

  // Program and recording.
  Program program;
  StretchUnit unit = StretchUnit::kNone;  // of the analyzed stretch
  Serving serving;
  RequestFacts requests;
  Tracer tracer{};
  ReadingEvidence reading;
  bool has_ops = false;     // the trace has operators
  uint64_t op_rows = 0;
  uint64_t device_rows = 0;
  uint64_t unread_rows = 0;
  bool mostly_unread = false;    // more unknown rows than operators, and no API call
  std::string unread_categories;  // for a sentence
  // The recording has counter ranges: each range ran alone, some several times.
  bool counter_ranges = false;
  int64_t profiler_span_ns = 0;
  uint64_t processes_in_file = 0;  // 0: one, or not counted
  bool python_stacks = false;
  int64_t unrecorded_ns = 0;
  uint64_t unrecorded_gaps = 0;

  // Kernels, copies, collectives.
  KernelKind kernel_kind = KernelKind::kOther;
  std::string kind_name;  // empty if unknown
  int64_t kind_ns = 0;
  uint64_t kind_count = 0;
  std::string longest_of_kind;
  std::string longest_function;  // base_kernel_name() of that kernel
  TimeByName second_kind;
  std::string longest_kernel;      // by summed time
  uint64_t longest_of_kind_runs = 0;
  int64_t longest_of_kind_ns = 0;
  std::string longest_collective;
  bool kind_by_library = false;  // the longest kernel of the leading kind is a vendor library's
  KernelChains chains;  // only of GPU-bound runs, like `products`
  bool compiled = false;  // by PyTorch's compiler
  std::vector<std::string> chain_names;  // names of the chain that saves most
  ProductWork products;
  int64_t kind_roofed_ns = 0;  // KindShare::roofed_ns and roof_ns
  int64_t kind_roof_ns = 0;
  MatrixTypes matrix_types;
  CopyFacts copy;
  int64_t path_ns = 0;
  int64_t path_kernel_ns = 0;
  int64_t path_copy_ns = 0;
  int64_t path_host_ns = 0;

  // Host.
  StallFacts stalls;
  // operators that compute on the CPU for half of the host's part
  std::vector<std::string> cpu_ops;
  std::string python_main;           // Python function with half of the host's part
  bool python_main_compiled = false;  // it is code that Inductor wrote
  int64_t python_main_ns = 0;        // its idle time, over all devices
  std::string host_range;            // label_of_host()
  std::vector<FlowCause> host_parts;  // largest first
  std::string waiting_call;           // the call with most sync idle time
  // Time in the window in which the GPU handles managed-memory page faults.
  int64_t gpu_fault_ns = 0;
  // Idle time in which managed-memory pages move and no host event explains it.
  int64_t page_moves_ns = 0;
  bool pageable_waits = false;
  bool launches_block = false;
  bool capture_leads = false;  // most of the initialization is graph capture

  // Initialization.
  int64_t init_ns = 0;
  std::string init_name;
  int64_t init_name_ns = 0;
  bool init_unnamed = false;  // the largest part is host time without an event
  uint64_t init_iterations = 0;
  uint64_t iterations = 0;
  bool init_mid_run = false;
  bool init_compiles = false;
  bool init_communicator = false;
  bool steady_gpu = false;  // after initialization, the run is GPU-bound
  std::vector<TimeByName> init_parts;

  // Queued work that did not start.
  bool queued_to_the_end = false;
  uint64_t queued_gaps = 0;
  TimeByName longest_queued;  // its length
  int64_t longest_queued_at_ns = 0;
  ClockGap clock_gap;

  // No work submitted.
  bool sleeps = false;
  std::string sleep_function;
  std::string wait_function;
  std::string wait_op;      // operator around a system call
  std::string wait_holder;  // what the thread that the host waits for runs

  // Replay.
  Misfit misfit = Misfit::kNone;
  double replay_error = 0;
  double unexplained_path = 0;
  size_t replayed_iterations = 0;
  std::vector<GainFact> gains;
  // null: refused or not tried
  const GainFact* gain_of(std::initializer_list<EditKind> kinds) const;
  HostAdvice host_advice = HostAdvice::kGraphs;
  bool sync_value_read = false;      // the removed wait reads a value
  bool attention_falls_back = false;  // the fused attention operator took its math path
  bool one_executable = false;        // an iteration is one compiled executable already

  InputFacts input;
  AllocationFacts allocation;

  // The run without its profiler; set only if an estimate shows that its bottleneck may differ.
  std::optional<Untraced> untraced;

  // MFU, HFU, MBU of the whole recording.
  Utilisation use;

  // Variation.
  std::optional<UnevenSteps> uneven;
  std::optional<SlowRuns> slow_runs;
  std::string slow_kernel;
  int64_t launch_path_ns = 0;

  // The largest named contributor of a cause, and the operator or frame around it. Empty if none
  // has a name.
  struct Contributed {
    std::string name;
    std::string within;
  };
  Contributed largest(FlowCause cause) const;
  FlowCause largest_host_cause() const;
  // Computed at the first call, because it reads the whole trace. Not thread-safe.
  const OutsideWindow& outside() const;

 private:
  void fill_run(const FlowAnswer& answer);
  void fill_kernels(const FlowAnswer& answer);
  void fill_host(const FlowAnswer& answer);
  void fill_initialization(const FlowAnswer& answer);
  void fill_queued(const FlowAnswer& answer);
  void fill_no_work(const FlowAnswer& answer);
  void fill_replay(const FlowAnswer& answer);
  void fill_variation(const FlowAnswer& answer);

  FlowAnswer answer_;
  mutable std::optional<OutsideWindow> outside_;
};

}  // namespace assay
