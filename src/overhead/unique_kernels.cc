#include "overhead/unique_kernels.h"

#include <map>
#include <tuple>
#include <unordered_map>

#include "kernels/name.h"

namespace assay {
namespace {

LaunchShape shape_at(const KernelShapeTable& shapes, size_t row) {
  return {{shapes.grid_x[row], shapes.grid_y[row], shapes.grid_z[row]},
          {shapes.block_x[row], shapes.block_y[row], shapes.block_z[row]},
          shapes.shared_memory_bytes[row],
          shapes.registers[row]};
}

// Row of kernel_shapes per activity; UINT32_MAX where there is none.
std::vector<uint32_t> shape_rows(const Trace& trace) {
  std::vector<uint32_t> rows(trace.activities.size(), UINT32_MAX);
  for (size_t i = 0; i < trace.kernel_shapes.size(); ++i) {
    rows[trace.kernel_shapes.activity[i].index()] = static_cast<uint32_t>(i);
  }
  return rows;
}

std::vector<StringId> input_dims_per_op(const Trace& trace) {
  std::vector<StringId> dims(trace.ops.size());
  for (size_t i = 0; i < trace.op_inputs.size(); ++i) {
    const StringId text = trace.op_inputs.dims[i];
    if (!trace.text(text).empty()) dims[trace.op_inputs.op[i].index()] = text;
  }
  return dims;
}

// Numbers cleaned names (by the id of their first raw name), so that keys compare as numbers.
class CleanedNames {
 public:
  explicit CleanedNames(const Trace& trace)
      : trace_(trace), numbers_(trace.strings.size(), kNone) {}

  uint32_t number_of(StringId raw) {
    uint32_t& number = numbers_[raw.index()];
    if (number == kNone) {
      const auto [place, added] = by_name_.try_emplace(clean_kernel_name(trace_.text(raw)),
                                                       static_cast<uint32_t>(names_.size()));
      if (added) names_.push_back(&place->first);
      number = place->second;
    }
    return number;
  }
  const std::string& name(uint32_t number) const { return *names_[number]; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  const Trace& trace_;
  std::vector<uint32_t> numbers_;  // per raw name
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<const std::string*> names_;
};

}  // namespace

std::vector<UniqueKernel> group_unique_kernels(const Trace& trace,
                                               const std::vector<HostOverheadRow>& rows) {
  using Key =
      std::tuple<uint32_t, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t, StringId>;
  const std::vector<uint32_t> shapes = shape_rows(trace);
  const std::vector<StringId> dims = input_dims_per_op(trace);
  CleanedNames names(trace);
  std::map<Key, uint32_t> numbers;
  std::vector<UniqueKernel> kernels;
  for (uint32_t r = 0; r < rows.size(); ++r) {
    const HostOverheadRow& row = rows[r];
    const StringId raw = trace.activities.name[row.kernel.index()];
    const uint32_t name = names.number_of(raw);
    LaunchShape shape;
    const uint32_t shape_row = shapes[row.kernel.index()];
    if (shape_row != UINT32_MAX) shape = shape_at(trace.kernel_shapes, shape_row);
    const StringId input_dims = row.op ? dims[row.op.index()] : StringId();
    const auto [place, added] = numbers.try_emplace(
        Key{name, shape.grid, shape.block, shape.shared_memory_bytes, input_dims},
        static_cast<uint32_t>(kernels.size()));
    if (added) {
      kernels.push_back(
          {names.name(name), raw, shape, input_dims, row.family, row.cost.library, {}});
    }
    kernels[place->second].rows.push_back(r);
  }
  return kernels;
}

std::vector<KernelCost> base_population(const std::vector<HostOverheadRow>& rows,
                                        const std::vector<UniqueKernel>& kernels,
                                        BaseWeighting weighting, bool single_launch) {
  std::vector<KernelCost> population;
  for (const UniqueKernel& kernel : kernels) {
    KernelCost mean;
    mean.invocations = 0;
    for (uint32_t r : kernel.rows) {
      const HostOverheadRow& row = rows[r];
      if (row.cost.library || !row.owns_call() || !row.has_entry()) continue;
      if (single_launch && !row.single_launch) continue;
      if (weighting == BaseWeighting::kInvocation) population.push_back(row.cost);
      ++mean.invocations;
      mean.t_dispatch_ns += row.cost.t_dispatch_ns;
    }
    if (weighting == BaseWeighting::kInvocation || mean.invocations == 0) continue;
    const auto count = static_cast<int64_t>(mean.invocations);
    mean.t_dispatch_ns = (mean.t_dispatch_ns + count / 2) / count;
    population.push_back(mean);
  }
  return population;
}

}  // namespace assay
