#pragma once

// From what the profiler recorded of an operator's inputs to a call that can be made again: which
// overload it was, and a stack of arguments of the same types, shapes and strides.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "collect/replay/job.h"

namespace assay::replay {

// This libtorch has no operator of that name.
struct OperatorMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The inputs cannot be made; says which and why.
struct CannotRebuild : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Call {
  c10::OperatorHandle op;
  torch::jit::Stack arguments;
  std::vector<std::string> assumed;  // what was not recorded and had to be chosen
};

// most_bytes: what the tensors of one call may take together.
Call rebuild(const JobEntry& entry, const at::Device& device, int64_t most_bytes);

// "aten::add.Tensor(float[2,3], float[2,3], 1)": for people and tests.
std::string describe(const Call& call);

}  // namespace assay::replay
