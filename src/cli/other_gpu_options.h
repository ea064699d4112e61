#pragma once

// `--on` and the options that need it: the run on other GPUs.

#include "answers/other_gpu.h"
#include "base/result.h"

namespace assay {

class Option;
class Verb;

// Returns `--on`, so that the verb can exclude it together with others.
Option& add_other_gpu_options(Verb& verb, OtherGpuRequest& request);
// Errors: an option that needs --on was given without it.
Status check_other_gpu_options(const OtherGpuRequest& request);

}  // namespace assay
