#include "overhead/kernel_db.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/json_tree.h"
#include "base/numbers.h"
#include "trace/device_names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;

KernelSpread spread_of(const std::vector<int64_t>& values) {
  KernelSpread spread;
  spread.n = values.size();
  if (values.empty()) {
    spread.mean_ns = spread.std_ns = spread.min_ns = spread.max_ns = kNan;
    return spread;
  }
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  spread.mean_ns = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const int64_t value : values) {
    const double off = static_cast<double>(value) - spread.mean_ns;
    squares += off * off;
  }
  spread.std_ns =
      values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  spread.min_ns = static_cast<double>(*low);
  spread.max_ns = static_cast<double>(*high);
  return spread;
}

std::string dim3_text(const std::array<uint32_t, 3>& dims) {
  return std::to_string(dims[0]) + "," + std::to_string(dims[1]) + "," + std::to_string(dims[2]);
}

std::string key_of(const KernelDbEntry& entry) {
  return entry.name + "|" + dim3_text(entry.shape.grid) + "|" + dim3_text(entry.shape.block) + "|" +
         std::to_string(entry.shape.shared_memory_bytes) + "|" + entry.input_dims;
}

struct DatabaseBuilder {
  const Trace& trace;
  const std::vector<HostOverheadRow>& rows;
  const std::vector<std::string>& families;
  std::vector<uint32_t> inputs;

  std::string op_name(const HostOverheadRow& row) const {
    if (row.op) return std::string(trace.text(trace.ops.name[row.op.index()]));
    if (row.range) return std::string(trace.text(trace.annotations.name[row.range.index()]));
    return "";
  }

  // Arguments of the kernel's operator, from its first invocation that has one.
  void add_call(const UniqueKernel& kernel, KernelDbEntry& entry) const {
    std::set<std::tuple<std::string, StringId, StringId, StringId>> variants;
    for (const uint32_t r : kernel.rows) {
      const HostOverheadRow& row = rows[r];
      if (!row.has_entry()) continue;
      const uint32_t at = row.op ? inputs[row.op.index()] : UINT32_MAX;
      const OpInputTable& told = trace.op_inputs;
      const bool known = at != UINT32_MAX;
      const bool first = variants.empty();
      variants.insert({op_name(row), known ? told.types[at] : StringId(),
                       known ? told.strides[at] : StringId(),
                       known ? told.concrete[at] : StringId()});
      if (!first) continue;
      entry.op = op_name(row);
      if (!known) continue;
      entry.input_dims = trace.text(told.dims[at]);
      entry.input_types = trace.text(told.types[at]);
      entry.input_strides = trace.text(told.strides[at]);
      entry.concrete_inputs = trace.text(told.concrete[at]);
    }
    entry.op_variants = variants.size();
  }

  void add_times(const UniqueKernel& kernel, KernelDbEntry& entry) const {
    std::vector<int64_t> t_py, t_dispatch, t_launch, duration;
    entry.single_launch = true;
    for (const uint32_t r : kernel.rows) {
      const HostOverheadRow& row = rows[r];
      duration.push_back(row.cost.dur_ns);
      entry.unpaid += row.cost.unpaid;
      entry.exclusive_ns += row.exclusive.total_ns();
      if (row.cost.t_launch_ns) t_launch.push_back(*row.cost.t_launch_ns);
      entry.single_launch &= row.single_launch;
      if (!row.has_entry() || !row.owns_call()) continue;
      t_py.push_back(row.cost.t_py_ns);
      t_dispatch.push_back(row.cost.t_dispatch_ns);
    }
    entry.t_py = spread_of(t_py);
    entry.t_dispatch = spread_of(t_dispatch);
    entry.t_launch = spread_of(t_launch);
    entry.duration = spread_of(duration);
  }

  KernelDbEntry entry_of(const UniqueKernel& kernel) const {
    KernelDbEntry entry;
    entry.name = kernel.name;
    entry.raw_name = trace.text(kernel.raw_name);
    entry.shape = kernel.shape;
    entry.frequency = kernel.rows.size();
    entry.library = kernel.library;
    entry.family = families[kernel.family];
    add_call(kernel, entry);
    add_times(kernel, entry);
    entry.key = key_of(entry);
    return entry;
  }
};

// JSON text of the trace as JSON; null if it is unknown or not JSON.
Json embedded(const std::string& text) {
  Json value = parsed_ordered_json(text);
  return value.is_discarded() ? Json(nullptr) : value;
}

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1000) / 1000;
}

Json spread_json(const KernelSpread& spread) {
  return {{"n", spread.n},
          {"mean_ns", number(spread.mean_ns)},
          {"std_ns", number(spread.std_ns)},
          {"min_ns", number(spread.min_ns)},
          {"max_ns", number(spread.max_ns)}};
}

Json entry_json(const KernelDbEntry& entry) {
  return {{"key", entry.key},
          {"name", entry.name},
          {"raw_name", entry.raw_name},
          {"grid", entry.shape.grid},
          {"block", entry.shape.block},
          {"shared_memory_bytes", entry.shape.shared_memory_bytes},
          {"registers", entry.shape.registers},
          {"operator", entry.op},
          {"input_dims", embedded(entry.input_dims)},
          {"input_types", embedded(entry.input_types)},
          {"input_strides", embedded(entry.input_strides)},
          {"concrete_inputs", embedded(entry.concrete_inputs)},
          {"op_variants", entry.op_variants},
          {"frequency", entry.frequency},
          {"unpaid", entry.unpaid},
          {"single_launch", entry.single_launch},
          {"i_lib", entry.library ? 1 : 0},
          {"family", entry.family},
          {"t_py", spread_json(entry.t_py)},
          {"t_dispatch", spread_json(entry.t_dispatch)},
          {"t_launch", spread_json(entry.t_launch)},
          {"duration", spread_json(entry.duration)}};
}

int64_t rounded(const KernelSpread& spread) {
  return spread.n > 0 ? std::llround(spread.mean_ns) : 0;
}

// Invocations without a dispatch entry have no T_Py but are charged like the others.
int64_t t_py_per_paid(const KernelDbEntry& entry) {
  const uint64_t paid = entry.frequency - entry.unpaid;
  if (entry.t_py.n == 0 || paid == 0) return 0;
  return std::llround(entry.t_py.mean_ns * static_cast<double>(entry.t_py.n) /
                      static_cast<double>(paid));
}

std::string_view tracer_key(Tracer tracer) {
  switch (tracer) {
    case Tracer::kPyTorchProfiler:
      return "kineto";
    case Tracer::kNsightSystems:
      return "nsys";
    case Tracer::kAssay:
      return "assay";
    case Tracer::kOther:
      break;
  }
  return "other";
}

}  // namespace

KernelDatabase build_kernel_database(const Trace& trace, const HostOverheadReport& report,
                                     const std::vector<std::string>& families,
                                     bool copies_counted) {
  KernelDatabase database;
  database.source = trace.source;
  database.gpu = gpu_of_trace(trace);
  database.tracer = trace.tracer;
  database.with_stack = report.with_stack;
  database.copies_counted = copies_counted;
  database.invocations = report.rows.size();
  for (const HostOverheadRow& row : report.rows) database.launches += row.owns_call() ? 1 : 0;
  const DatabaseBuilder builder{trace, report.rows, families, input_rows(trace)};
  for (const UniqueKernel& kernel : group_unique_kernels(trace, report.rows)) {
    database.entries.push_back(builder.entry_of(kernel));
  }
  return database;
}

KernelCost trace_cost(const KernelDbEntry& entry) {
  KernelCost cost;
  cost.library = entry.library;
  cost.invocations = entry.frequency;
  cost.unpaid = entry.unpaid;
  cost.t_py_ns = t_py_per_paid(entry);
  cost.t_dispatch_ns = rounded(entry.t_dispatch);
  if (entry.t_launch.n > 0) cost.t_launch_ns = rounded(entry.t_launch);
  cost.dur_ns = rounded(entry.duration);
  return cost;
}

std::string kernel_database_json(const KernelDatabase& database, const std::string& tool_version) {
  Json entries = Json::array();
  for (const KernelDbEntry& entry : database.entries) entries.push_back(entry_json(entry));
  const Json document = {{"kind", "assay-kernel-db"},
                         {"schema_version", kVersion},
                         {"tool", {{"name", "assay"}, {"version", tool_version}}},
                         {"source", database.source},
                         {"gpu", {{"name", database.gpu}}},
                         {"tracer", tracer_key(database.tracer)},
                         {"with_stack", database.with_stack},
                         {"copies_counted", database.copies_counted},
                         {"invocations", database.invocations},
                         {"launches", database.launches},
                         {"entries", std::move(entries)}};
  // json_text does not fail on names that are not UTF-8.
  return json_text(document, 1) + "\n";
}

}  // namespace assay
