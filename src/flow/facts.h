#pragma once

// The named facts of one run that decide what its first screen says. An analysis fills them; rules (findings/rules) read
// them; nothing here is text for a reader. Times in ns; shares of 1; names as recorded; empty names are not known.

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
  uint64_t iterations = 1;       // complete ones, of the part in question
  bool by_kernel_names = false;  // iterations were found by kernel names alone
};

struct TimeByName {
  std::string name;
  int64_t ns = 0;
};

// Host stalls where they lead (LeadingPauses).
struct StallFacts {
  enum class Source : uint8_t { kNone, kCall, kOperator, kFunction, kRange, kSystemCall, kPageFaults, kProfiler };
  int64_t ns = 0;      // of the named stalls, 0 if stalls do not lead
  DurationSpread spread;
  bool system = false;  // the machine's: they come wherever the host is
  bool in_one = false;  // one name, or silence, holds nearly all of them
  bool waits = false;   // the host waits in them
  bool rare = false;
  bool each_iteration = false;
  bool on_cpu = false;  // a tensor operator that computes on the CPU
  Source source = Source::kNone;
  std::string name;
  std::string within_op;    // operator around a system call
  std::string holder;       // what another thread does meanwhile, where the host waits for it
  std::string other_thread;  // what another thread runs during stalls of one Python function, or of none
  Interval longest;
};

struct CopyFacts {
  enum class Direction : uint8_t { kNone, kToDevice, kToHost, kOnDevice, kBetweenDevices, kFill };
  std::string name;  // of the copies that take longest, or of the fills where there are none
  double bytes_per_s = 0;  // 0: not known, or too small to tell
  Direction direction = Direction::kNone;
  bool pinned = false;
  bool fills = false;          // fills take time, too
  bool program_loads = false;  // the program loads data as it runs
};

struct AllocationFacts {
  enum class Releases : uint8_t { kNone, kOnce, kOften };
  bool host_memory = false;
  bool from_pool = false;
  bool trims_pool = false;
  bool outside_framework = false;
  Releases releases = Releases::kNone;
  bool retries = false;  // memory is given back between two tries to take it
  bool few_iterations = false;
};

struct InputFacts {
  std::string loader;         // the loader around the longest wait
  std::string leading_loader;  // the loader around the leading contributor
  int64_t longest_ns = 0;
  uint64_t waits = 0;
  int64_t waits_ns = 0;
  bool one_wait = false;        // one wait is nearly all of it
  bool few_iterations = false;  // the waits lie in few iterations
};

// Requests of a serving engine by their log.
struct RequestFacts {
  bool asked = false;
  RequestsRefusal refusal = RequestsRefusal::kNone;
  uint64_t all = 0;
  uint64_t joined = 0;
  RequestLatency queue;
  RequestLatency ttft;
  RequestLatency e2e;
  // The slowest by TTFT and by E2E, and the part that made them slow.
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
  std::string edit;        // as `assay whatif --edit` takes it
  bool predicted = false;  // else an upper bound
  bool few_iterations = false;
};

class RunFacts {
 public:
  RunFacts(const FlowAnswer& answer, const ReadingEvidence& reading);

  // Bottleneck and time.
  BoundBy bottleneck = BoundBy::kNoGpu;
  Stretches stretches;  // of the recording; `window` is the judged one, where there is one
  Interval window;
  int64_t window_ns = 0;  // wall time
  int64_t total_ns = 0;   // summed over the devices; shares are of it
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
  double busy_devices = 0;  // at a time, while any is busy
  double linked_share = 0;
  std::array<double, 3> evidence_shares{};  // recorded, inferred, absent; of the leading cause
  std::vector<Interval> spans;              // of the leading contributors, from the window's start

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
  // The recording counted events within ranges: each range ran alone, some of them several times.
  bool counter_ranges = false;
  int64_t profiler_span_ns = 0;
  uint64_t processes_in_file = 0;  // 0: one, or not counted
  bool python_stacks = false;
  int64_t unrecorded_ns = 0;
  uint64_t unrecorded_gaps = 0;

  // Kernels, copies, collectives.
  KernelKind kernel_kind = KernelKind::kOther;
  std::string kind_name;  // empty where the kind is not known
  int64_t kind_ns = 0;
  uint64_t kind_count = 0;
  std::string longest_of_kind;
  TimeByName second_kind;
  std::string longest_kernel;      // by summed time
  uint64_t longest_of_kind_runs = 0;
  int64_t longest_of_kind_ns = 0;
  std::string longest_collective;
  bool kind_by_library = false;  // a vendor's library launches the longest kernel of the leading kind
  KernelChains chains;  // of a GPU-bound run, as products
  bool compiled = false;  // by PyTorch's compiler
  std::vector<std::string> chain_names;  // of the chain that saves most
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
  std::vector<std::string> cpu_ops;  // operators that compute on the CPU for half of the host's part
  std::string python_main;           // function with half of the host's part
  int64_t python_main_ns = 0;        // its idle time, over all devices
  std::string host_range;            // range around most of the host's part
  std::vector<FlowCause> host_parts;  // largest first
  std::string waiting_call;           // the wait that takes most
  int64_t gpu_fault_ns = 0;  // time in which the GPU handles page faults of managed memory, of the window
  int64_t page_moves_ns = 0;  // idle time in which the host does nothing recorded and pages of managed memory move
  bool pageable_waits = false;
  bool launches_block = false;
  bool capture_leads = false;  // most of the initialization is graph capture

  // Initialization.
  int64_t init_ns = 0;
  std::string init_name;
  int64_t init_name_ns = 0;
  bool init_unnamed = false;  // the largest part is host time that no row names
  uint64_t init_iterations = 0;
  uint64_t iterations = 0;
  bool init_mid_run = false;
  bool init_compiles = false;
  bool init_communicator = false;
  bool steady_gpu = false;  // the rest of the run is bound by the GPU
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
  std::string wait_holder;  // what the other thread runs that the host waits for

  // Replay.
  Misfit misfit = Misfit::kNone;
  double replay_error = 0;
  double unexplained_path = 0;
  size_t replayed_iterations = 0;
  std::vector<GainFact> gains;
  const GainFact* gain_of(std::initializer_list<EditKind> kinds) const;  // null: refused or not tried
  HostAdvice host_advice = HostAdvice::kGraphs;
  bool sync_value_read = false;      // the removed wait reads a value
  bool attention_falls_back = false;  // the fused attention operator took its math path
  bool one_executable = false;        // an iteration is one compiled executable already

  InputFacts input;
  AllocationFacts allocation;

  // The run without its profiler, if it may have another bottleneck by an estimate.
  std::optional<Untraced> untraced;

  // MFU, HFU, MBU of the whole recording.
  Utilisation use;

  // Variation.
  std::optional<UnevenSteps> uneven;
  std::optional<SlowRuns> slow_runs;
  std::string slow_kernel;
  int64_t launch_path_ns = 0;

  // The largest contributor with a name of a cause, and what it is within; empty where none has a name.
  struct Contributed {
    std::string name;
    std::string within;
  };
  Contributed largest(FlowCause cause) const;
  FlowCause largest_host_cause() const;
  // Computed at the first call, because it reads the whole trace.
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
