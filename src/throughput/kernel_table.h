#pragma once

// Rows of a table as inputs of the kernels: features, groups, and the analytical base.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/gp/kernel.h"

namespace assay {

// Assigns ids to names, from 0 in order of first use.
class Names {
 public:
  uint32_t of(const std::string& name) {
    return ids_.emplace(name, static_cast<uint32_t>(ids_.size())).first->second;
  }
  bool has(const std::string& name) const { return ids_.count(name) > 0; }

 private:
  std::map<std::string, uint32_t> ids_;
};

struct GroupNames {
  std::array<Names, kKernelGroups> names;

  static std::array<std::string, kKernelGroups> keys_of(const BenchRow& row);
  std::array<uint32_t, kKernelGroups> of(const BenchRow& row);
};

// Points of the kernel and their residuals log(throughput) - log(base). With `physics`, rows
// without specifications are omitted.
struct KernelTable {
  std::vector<size_t> rows;  // indices into the argument
  std::vector<KernelPoint> points;
  std::vector<double> log_base;
  std::vector<double> residual;
};
// names: of the training rows, so that equal names get equal ids. New names are added.
KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                         GroupNames& names);
KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics);

}  // namespace assay
