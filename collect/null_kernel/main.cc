// Launches an empty kernel again and again, each followed by a synchronisation, on one GPU or on
// all of one vendor: what `assay null-kernel` runs.
//
//   assay_null_kernel cuda DEVICE|all WARMUPS RUNS LIMIT_S OUTPUT
//   assay_null_kernel hip DEVICE|all WARMUPS RUNS LIMIT_S RUNTIMES COMPILERS OUTPUT
//
// CUDA runs under Assay's recorder, which takes the times, and OUTPUT gets the GPU's clocks; for
// HIP there is no recorder, and the times taken here go to OUTPUT. Exit code 2 and a sentence on
// stderr when it cannot be done.

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
