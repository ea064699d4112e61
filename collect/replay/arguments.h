#pragma once

// From what the profiler recorded of an operator's inputs to a call that can be made again: which
// overload it was, and arguments of the same types, shapes and strides. What is libtorch's stays
// behind this.

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
// The inputs cannot be made; says which and why.
struct CannotRebuild : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A call that can be made any number of times. What libtorch throws is a std::exception.
class Call {
 public:
  struct Parts;
  explicit Call(std::unique_ptr<Parts> parts);
  Call(Call&& other) noexcept;
  Call& operator=(Call&& other) noexcept;
  ~Call();

  // "aten::add.Tensor(float[2,3], float[2,3], 1)": for people and tests.
  std::string describe() const;
  // What was not recorded and had to be chosen.
  const std::vector<std::string>& assumed() const;

  // Arguments are copied before and results given back after, so that only the call itself lies
  // between two reads of a clock around run().
  void prepare();
  void run();
  void finish();

 private:
  std::unique_ptr<Parts> parts_;
};

// device: "cpu", "cuda", or "meta", where shapes are all there is. most_bytes: what the tensors of
// one call may take together. Throws OperatorMissing, CannotRebuild, and what libtorch throws.
Call rebuild(const JobEntry& entry, const std::string& device, int64_t most_bytes);

}  // namespace assay::replay
