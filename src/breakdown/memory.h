#pragma once

// Device memory as the framework's allocator recorded it ([memory] instants): allocated and
// reserved memory, the time of the peak, and the operators and phases that allocated it.
//
// An event has a time but no thread. Its operator is known if only one thread is inside operators
// at that time. It is the innermost one that launches kernels, itself or in its children; if none
// does, the innermost of all. The phase is that of these kernels, if they have one. Events without
// an operator or phase are counted as such.

#include <cstdint>
#include <string>
#include <vector>

#include "breakdown/breakdown.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Totals of the requests to an allocator; released bytes are positive.
struct MemorySums {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  int64_t allocated_bytes = 0;
  int64_t freed_bytes = 0;
  // Maximum in use right after one of its own events; -1 = totals not recorded.
  int64_t peak_bytes = -1;

  void add(int64_t bytes, int64_t total_bytes);
};

struct MemoryPlace {
  LevelPhase phase = LevelPhase::kNone;
  std::string op = {};  // empty = outside operators, or ambiguous
  MemorySums sums = {};
};

struct MemorySample {
  int64_t time_ns = 0;  // as in the trace
  int64_t allocated_bytes = -1;
  int64_t reserved_bytes = -1;
};

struct DeviceMemory {
  std::string file = {};
  int64_t device = 0;  // as recorded
  MemorySums sums = {};
  int64_t first_bytes = -1;  // in use before the first event, by its total; -1 = unknown
  int64_t last_bytes = -1;   // after the last
  int64_t peak_reserved_bytes = -1;
  int64_t grown_bytes =
      0;                   // most by which allocations were ahead of releases since the first event
  MemoryPlace peak = {};   // where it was most; sums empty
  uint64_t ambiguous = 0;  // events while several threads were inside operators
  uint64_t outside = 0;    // events while none was
  std::vector<MemoryPlace> phases = {};  // all that occur, in their order
  std::vector<MemoryPlace> ops = {};     // by allocated bytes, most first; phase and op
  std::vector<MemorySample> samples = {};
};

// Calls that take memory from the driver or give it back, of all threads of the traces.
struct DriverMemory {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  int64_t ns = 0;
};

struct JobMemory {
  std::vector<DeviceMemory> devices = {};  // in order of traces, then device; empty = not recorded
  DriverMemory driver = {};
};

// Adds what one trace says. report: of this trace, with its rows. Host memory is left out.
void add_memory(const Trace& trace, const Links& links, const BreakdownReport& report,
                JobMemory& job);

}  // namespace assay
