#pragma once

// A sweep as a folder: `--batch traces/` or `--batch 'traces/gpt2_eager_prefill_*'`, with sizes
// from file names as collect/pytorch/assay_torch.py writes them: …_b8_s512.json.gz.

#include <string>
#include <vector>

#include "answers/inputs/listener.h"
#include "base/result.h"

namespace assay {

// Each argument with a '=' as it is; a folder or pattern becomes one "8=FILE" per trace, with
// several lengths "8x512=FILE". Fails if a name has no size, or if the files are several sweeps.
Result<std::vector<std::string>> expand_sweep(const std::string& flag,
                                              const std::vector<std::string>& arguments,
                                              const Listener& listener);

}  // namespace assay
