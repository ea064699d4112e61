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
  std::string mode;  // empty: exclusive, with a replay paper
  std::string base_weighting = "kernel";
  bool count_copies = false;
  std::string floor;
  std::string families;
  std::string export_db;
  std::string replay;
  size_t top = 10;
  std::vector<std::string> batches;     // "8=trace.json.gz", "4x2048=trace.json.gz"
  std::vector<std::string> vs_batches;  // the same of a second platform
  std::string name = "platform";
  std::string vs_name = "other";
};

// What the flags say, before any trace: the built-in families with the user's in front.
struct TaxSetup {
  TaxOptions options;  // without floor and families
  KernelFamilies families;
};
Result<TaxSetup> tax_setup(const TaxFlags& flags);

// The options for one trace. setup must outlive them.
TaxOptions tax_options(const TaxSetup& setup, const LaunchFloor& floor);

// `--batch` and `--vs-batch`: a document of its own.
int run_tax_sweep(const TaxFlags& flags, const TaxSetup& setup);

}  // namespace assay
