// The program that `assay null-kernel` runs. It launches an empty kernel repeatedly on one GPU or
// all GPUs of a vendor, with a synchronization after each launch.
//
//   assay_null_kernel cuda DEVICE|all WARMUPS RUNS LIMIT_S OUTPUT
//   assay_null_kernel hip DEVICE|all WARMUPS RUNS LIMIT_S RUNTIMES COMPILERS OUTPUT
//
// CUDA runs under Assay's recorder, which measures the times; OUTPUT receives the clocks of the
// GPU. HIP has no recorder: OUTPUT receives the times measured here. On failure the exit code is 2
// and stderr has the reason.

#include <cstdlib>
#include <cstring>

#include "collect/null_kernel/program.h"

int main(int argc, char** argv) {
  namespace program = assay::null_kernel;
  constexpr int kCudaWords = 7;
  constexpr int kHipWords = 9;
  constexpr int kError = 2;
  const bool cuda = argc == kCudaWords && std::strcmp(argv[1], "cuda") == 0;
  const bool hip = argc == kHipWords && std::strcmp(argv[1], "hip") == 0;
  if (!cuda && !hip) {
    std::fputs(
        "usage: assay_null_kernel cuda DEVICE|all WARMUPS RUNS LIMIT_S OUTPUT\n"
        "       assay_null_kernel hip DEVICE|all WARMUPS RUNS LIMIT_S RUNTIMES COMPILERS OUTPUT\n",
        stderr);
    return kError;
  }
  const program::Request request = {argv[2], std::atol(argv[3]), std::atol(argv[4])};
  program::limit_time(static_cast<unsigned>(std::atol(argv[5])));
  const bool done = cuda ? program::run_cuda(request, argv[6])
                         : program::run_hip(request, argv[6], argv[7], argv[8]);
  return done ? 0 : kError;
}
