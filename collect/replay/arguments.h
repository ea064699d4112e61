#pragma once

// Rebuilds a callable operator from the profiler's record of its inputs: the overload, and
// arguments of the same types, shapes and strides. Hides libtorch from the other sources.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "collect/replay/job.h"

namespace assay::replay {

// This libtorch has no operator of that name.
struct OperatorMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The inputs cannot be rebuilt; the message names the input and the reason.
struct CannotRebuild : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A repeatable call. Exceptions of libtorch are std::exceptions.
class Call {
 public:
  struct Parts;
  explicit Call(std::unique_ptr<Parts> parts);
  Call(Call&& other) noexcept;
  Call& operator=(Call&& other) noexcept;
  ~Call();

  // "aten::add.Tensor(float[2,3], float[2,3], 1)": for messages and tests.
  std::string describe() const;
  // Values that were not recorded and had to be chosen.
  const std::vector<std::string>& assumed() const;

  // prepare() copies the arguments and finish() frees the results, so that run() contains only the
  // call.
  void prepare();
  void run();
  void finish();

 private:
  std::unique_ptr<Parts> parts_;
};

// device: "cpu", "cuda", or "meta" for shapes without data. most_bytes: limit for all tensors of
// one call. Throws OperatorMissing, CannotRebuild and libtorch's exceptions.
Call rebuild(const JobEntry& entry, const std::string& device, int64_t most_bytes);

}  // namespace assay::replay
