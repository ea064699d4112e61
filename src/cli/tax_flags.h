#pragma once

// What the tax verb's parts share: its flags and the options they become.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common.h"
#include "tax/tax.h"

namespace assay {

struct TaxFlags {
  CommonOptions common;
  std::string mode = "paper";
  std::string base_weighting = "kernel";
  bool count_copies = false;
  std::string floor;
  std::string export_db;
  std::string replay;
  size_t top = 10;
  std::vector<std::string> batches;     // "8=trace.json.gz", "4x2048=trace.json.gz"
  std::vector<std::string> vs_batches;  // the same of a second platform
  std::string name = "platform";
  std::string vs_name = "other";
};

// What the flags say, before any trace: without floor and kernels.
TaxOptions tax_setup(const TaxFlags& flags);

// The floor as the tax room takes it; absent when none was given.
std::optional<TaxFloor> tax_floor(const FloorChoice& choice);

// The options for one trace.
TaxOptions tax_options(TaxOptions setup, const FloorChoice& floor, const LoadedTrace& loaded);

// `--batch` and `--vs-batch`: a document of its own.
int run_tax_sweep(const TaxFlags& flags, const TaxOptions& setup);

}  // namespace assay
