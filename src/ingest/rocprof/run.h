#pragma once

// Data of one process under rocprofv3 from any file format (CSV, JSON, rocpd), as plain rows from
// which a Trace or a CounterPass is made (docs/formats/rocprof.md).

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/latest_time.h"
#include "base/result.h"
#include "base/string_pool.h"
#include "ingest/chrome/reader.h"
#include "records/counters.h"
#include "trace/import_log.h"
#include "trace/trace.h"

namespace assay {

struct RocprofAgent {
  int64_t id = 0;  // as kernels refer to it
  bool gpu = false;
  CounterDevice facts;  // device = id
};

struct RocprofKernel {
  int64_t agent = 0;
  int64_t queue = -1;
  int64_t stream = -1;  // -1 = unknown (ROCm 6)
  int64_t process = 0;
  int64_t thread = -1;
  int64_t dispatch = 0;
  uint64_t correlation = 0;  // 0 = none
  StringId name;
  std::array<uint64_t, 3> grid = {};   // work-items; 0 = unknown
  std::array<uint64_t, 3> group = {};  // work-items per workgroup
  uint64_t grid_items = 0;             // total work-items, if only that is known
  uint64_t group_items = 0;
  int64_t start_ns = kNoCounterTime;
  int64_t end_ns = kNoCounterTime;
  uint64_t registers = 0;
  uint64_t shared_bytes = 0;
};

struct RocprofCall {
  StringId domain;  // HIP_RUNTIME_API_EXT, HSA_CORE_API, MARKER_CORE_RANGE_API, ...
  StringId name;
  int64_t process = 0;
  int64_t thread = 0;
  uint64_t correlation = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

struct RocprofCopy {
  StringId name;  // as recorded: MEMORY_COPY_HOST_TO_DEVICE, ...
  int64_t from_agent = -1;
  int64_t to_agent = -1;
  int64_t stream = -1;
  int64_t process = 0;
  uint64_t correlation = 0;
  int64_t bytes = -1;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// A value of a counter for the dispatch `kernel` (row of RocprofRun::kernels).
struct RocprofValue {
  uint32_t kernel = 0;
  StringId counter;
  double value = 0;
};

struct RocprofRun {
  std::string format;  // in words
  StringPool strings;
  std::vector<RocprofAgent> agents;
  std::vector<RocprofKernel> kernels;
  std::vector<RocprofCall> calls;
  std::vector<RocprofCopy> copies;
  std::vector<RocprofValue> values;
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names;  // by process and thread
  std::vector<MetadataEntry> metadata;
  ImportLog log;
  uint64_t rows = 0;
  uint64_t rows_skipped = 0;
  std::string rounded_time = {};  // a time that a spreadsheet rounded, as written; empty = none
  uint64_t content_bytes = 0;
  bool truncated = false;

  StringId text(std::string_view value) { return strings.intern(value); }
  // Validates a row's times and counts irregular ones. told: both times were read. Afterwards the
  // end is not before the start. False: the row is dropped.
  bool take_times(bool told, int64_t& start_ns, int64_t& end_ns);
};

// ---- which table of rocprofv3 a header line is of -----------------------------------------------

enum class RocprofTable : uint8_t {
  kNone,
  kKernels,
  kCalls,
  kCopies,
  kAllocations,
  kScratch,
  kCounters,
  kAgents,
  kStats,
  kKernelsV1,
};
// Identifies a table by its column names, ignoring letter case.
RocprofTable rocprof_table(const std::vector<std::string>& header);
// Name in messages: "a kernel trace of rocprofv3 (kernel_trace.csv)".
std::string_view rocprof_table_words(RocprofTable table);

// The kernel's name without the mark of its descriptor: "scale" for "scale.kd" and "scale [clone
// .kd]".
std::string_view without_descriptor(std::string_view name);

// ---- readers ------------------------------------------------------------------------------------

// Reads the table at `path` and those of the same run in its folder, which have the same name up to
// the kind: for 12_kernel_trace.csv also 12_hip_api_trace.csv and so on.
Result<RocprofRun> read_rocprof_csv(const std::string& path, bool allow_truncated);
Result<RocprofRun> read_rocprof_json(const std::string& path);
// True if a JSON file with this beginning is from rocprofv3.
bool is_rocprof_json(std::string_view head);
// Reads the properties of an agent other than its names from its JSON text.
void read_agent_facts(std::string_view json, CounterDevice& facts);
// True for a SQLite file with rocpd's tables; false if it has none or cannot be opened.
bool is_rocpd(const std::string& path);
bool has_rocpd_tables(const std::vector<std::string>& tables);
Result<RocprofRun> read_rocpd(const std::string& path);
// Reads a database of rocmProfileData (runTracer.sh, rpdTracerControl).
Result<RocprofRun> read_rpd(const std::string& path);

// ---- what becomes of a run ----------------------------------------------------------------------

// Errors: kNotATrace when the run has no kernel with times.
Result<Trace> rocprof_trace(RocprofRun run);
// Keeps the recorded names of kernels and counters. `counters` is empty if the run has none.
CounterPass rocprof_pass(const RocprofRun& run, const std::string& source);

}  // namespace assay
