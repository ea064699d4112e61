#pragma once

// The kernel database of TaxBreak's phase 1 (spec/overhead 3 item 5). It has every unique kernel of
// a trace with its operator, the operator's arguments, its count and its cost. Collectors replay it
// (docs/formats/kernel_db.md), and the measured decomposition has a row for each entry
// (overhead/measured.h).

#include <cstdint>
#include <string>
#include <vector>

#include "overhead/overhead.h"
#include "overhead/unique_kernels.h"

namespace assay {

// A quantity over the invocations that have it; NaN when n = 0. std with n - 1, 0 when n = 1.
struct KernelSpread {
  uint64_t n = 0;
  double mean_ns = 0;
  double std_ns = 0;
  double min_ns = 0;
  double max_ns = 0;
};

struct KernelDbEntry {
  std::string key;       // unique: "name|grid|block|shared memory|input dims"
  std::string name;      // cleaned
  std::string raw_name;  // of its first invocation
  LaunchShape shape;     // zeros = unknown
  // The dispatch entry of its first invocation that has one, and its arguments: JSON text as in the
  // trace, empty = unknown.
  std::string op;
  std::string input_dims;
  std::string input_types;
  std::string input_strides;
  std::string concrete_inputs;
  uint64_t op_variants = 0;    // distinct (operator, types, strides, values) among its invocations
  uint64_t frequency = 0;      // invocations
  uint64_t unpaid = 0;         // of those, without a launch of their own (KernelCost::unpaid)
  bool single_launch = false;  // its operator never launches anything else
  bool library = false;        // I_lib
  std::string family;
  KernelSpread t_py;         // over invocations with a dispatch entry and a launch of their own
  KernelSpread t_dispatch;   // the same
  KernelSpread t_launch;     // over invocations that have one
  KernelSpread duration;     // over all
  int64_t exclusive_ns = 0;  // sum of HostOverheadRow::exclusive
};

struct KernelDatabase {
  std::string source;  // of the trace
  std::string gpu;     // name of the GPU that ran most of the kernels; empty = unknown
  Tracer tracer = Tracer::kOther;
  bool with_stack = false;
  bool copies_counted = false;
  uint64_t invocations = 0;
  uint64_t launches = 0;               // API calls that launched them
  std::vector<KernelDbEntry> entries;  // by first launch
};

// Over all rows of the report. The inputs of operators are there only when the trace was read with
// ReadOptions::keep_op_inputs. families: KernelBook::families() of the book that the
// report was made with.
KernelDatabase build_kernel_database(const Trace& trace, const HostOverheadReport& report,
                                     const std::vector<std::string>& families, bool copies_counted);

// The row of Eq. 1 for an entry, with the trace's own means.
KernelCost trace_cost(const KernelDbEntry& entry);

// The file, docs/formats/kernel_db.md.
std::string kernel_database_json(const KernelDatabase& database, const std::string& tool_version);

}  // namespace assay
