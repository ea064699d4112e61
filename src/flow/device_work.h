#pragma once

// Device work that could be cheaper, from kernel names and times alone.

#include <cstdint>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "kernels/names.h"
#include "trace/trace.h"

namespace assay {

// Chains: two or more consecutive kernels of one stream that are bound by memory. Element-wise
// kernels, copies, norms and reductions are. A compiler can make one kernel of each chain.
struct KernelChains {
  uint64_t chains = 0;
  uint64_t kernels = 0;
  int64_t ns = 0;
  // At most: without all but the longest kernel of each chain.
  int64_t saves_ns = 0;
  // The names of the chain that saves most, in order, and how often it runs.
  std::vector<StringId> names;
  uint64_t runs = 0;
};

// Data types that the first device of a trace multiplies on matrix units, by published
// specifications. known = false if the device is unknown.
struct MatrixTypes {
  bool known = false;
  bool tf32 = false;  // FP32 inputs, rounded
  bool bf16 = false;  // at the rate of FP16
  bool fp8 = false;
  // FLOP per byte of memory at which 16-bit products are as fast as both allow, 0 if not known
  double ridge = 0;
  double over_fp32 = 0;  // peak of the fastest type of 16 or more bits / FP32 peak, 0 if not known
};
MatrixTypes matrix_types(const Trace& trace);

// Kernels of products and convolutions that multiply in one type.
struct TypedWork {
  int64_t ns = 0;
  std::string kernel = {};  // the longest, as recorded
  int64_t kernel_ns = 0;    // its summed duration
};
struct ProductWork {
  TypedWork fp32;
  TypedWork half;  // FP16 and BF16, of products alone
};

// True if kernels of PyTorch's compiler take as long as PyTorch's own element-wise kernels, norms
// and reductions.
bool is_compiled(const Trace& trace, const KernelNames& kernels);

// Only work that begins in `window` counts. Durations are summed over streams and devices.
KernelChains kernel_chains(const Trace& trace, Interval window, const KernelNames& kernels);
ProductWork product_work(const Trace& trace, Interval window, const KernelNames& kernels);

}  // namespace assay
