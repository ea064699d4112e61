#pragma once

// Rows of a table as the kernels see them: features, groups, and the physics base.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"
#include "throughput/gp/kernel.h"

namespace assay {

// Numbers for names; a name keeps its number as long as the object lives.
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

// With log(throughput) - log(base). Rows without facts are left out with physics.
struct KernelTable {
  std::vector<size_t> rows;  // of the argument
  std::vector<KernelPoint> points;
  std::vector<double> log_base;
  std::vector<double> residual;
};
// names: of the training rows, so that equal names have equal numbers. New names are added.
KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics,
                         GroupNames& names);
KernelTable kernel_table(const std::vector<BenchRow>& rows, const FactBook& facts, bool physics);

}  // namespace assay
