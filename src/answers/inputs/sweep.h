#pragma once

// Expands a sweep given as a folder: `--batch traces/` or `--batch 'traces/gpt2_eager_prefill_*'`.
// Sizes come from file names as collect/pytorch/assay_torch.py writes them: …_b8_s512.json.gz.

#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"

namespace assay {

// Arguments with '=' are returned unchanged. A folder or pattern becomes "8=FILE" for each trace,
// or "8x512=FILE" if there are several lengths. Errors: a name without a size, or files of several
// sweeps.
Result<std::vector<std::string>> expand_sweep(const std::string& flag,
                                              const std::vector<std::string>& arguments,
                                              const Listener& listener);

}  // namespace assay
