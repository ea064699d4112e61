// A library with an operator of its own, as projects beside PyTorch have them.

#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

at::Tensor twice(const at::Tensor& tensor) { return tensor + tensor; }

}  // namespace

TORCH_LIBRARY(assay_test, library) { library.def("twice(Tensor tensor) -> Tensor", twice); }
