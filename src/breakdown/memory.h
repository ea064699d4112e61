#pragma once

// Device memory as recorded by the framework's allocator ([memory] instants): allocated and
// reserved memory, the time of the peak, and the operators and phases that allocate.
//
// An event has a time but no thread. Its operator is known if only one thread is inside operators
// at that time: the innermost one that launches kernels, directly or in its children, or the
// innermost of all if none does. Its phase is that of these kernels, if known. Events without an
// operator or phase are counted as such.

#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/breakdown.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Totals of allocator events; freed_bytes is positive.
struct MemorySums {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  int64_t allocated_bytes = 0;
  int64_t freed_bytes = 0;
  // Maximum in use directly after one of these events; -1 = totals not recorded.
  int64_t peak_bytes = -1;

  void add(int64_t bytes, int64_t total_bytes);
};

struct MemoryPlace {
  LevelPhase phase = LevelPhase::kNone;
  std::string op = {};  // empty = outside operators, or ambiguous
  MemorySums sums = {};
};

struct MemorySample {
  int64_t time_ns = 0;  // time base of the trace
  int64_t allocated_bytes = -1;
  int64_t reserved_bytes = -1;
};

struct DeviceMemory {
  std::string file = {};
  int64_t device = 0;  // as recorded
  MemorySums sums = {};
  int64_t first_bytes = -1;  // in use before the first event, derived from its total; -1 = unknown
  int64_t last_bytes = -1;   // after the last event
  int64_t peak_reserved_bytes = -1;
  int64_t grown_bytes = 0;  // maximum of allocated minus freed bytes since the first event
  MemoryPlace peak = {};    // location of the peak; its sums are empty
  uint64_t ambiguous = 0;   // events while several threads were inside operators
  uint64_t outside = 0;     // events while no thread was
  std::vector<MemoryPlace> phases = {};  // phases that occur, in enum order
  std::vector<MemoryPlace> ops = {};     // per phase and operator; most allocated bytes first
  std::vector<MemorySample> samples = {};
};

// Driver calls that allocate or free device memory, over all threads and traces.
struct DriverMemory {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  int64_t ns = 0;
};

struct JobMemory {
  std::vector<DeviceMemory> devices = {};  // by trace, then device; empty = not recorded
  DriverMemory driver = {};
};

// Adds the memory events of one trace. report: of the same trace, including rows. Ignores host
// memory.
void add_memory(const Trace& trace, const Links& links, const BreakdownReport& report,
                JobMemory& job);

}  // namespace assay
