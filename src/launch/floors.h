#pragma once

// Published constants of the launch path: what a kernel that does nothing costs to launch, and what
// torch.compile cost and gained where SKIP measured it. Data, with its source; never a substitute
// for a measurement on the machine in question. A floor depends on the tracer and on the host: the
// same GPU reads 2.37 us with the PyTorch profiler (SKIP) and 4.6 us with nsys (TaxBreak), so a
// floor must come from the same tool as the trace that it is compared with.

#include <span>
#include <string_view>

namespace assay {

// One row of SKIP Table V (Vellaisamy et al.): null kernel, PyTorch profiler, CUDA 12.6.
struct PublishedFloor {
  std::string_view platform;  // as printed: "Intel+H100"
  std::string_view gpu;       // part of the device name by which a trace names that GPU
  double launch_ns = 0;       // start of cudaLaunchKernel to start of the null kernel
  double duration_ns = 0;     // duration of the null kernel
  std::string_view source;    // where it was printed and what traced it
};
std::span<const PublishedFloor> published_floors();

// The row whose platform or GPU name is `text`, or whose GPU name `text` contains ("NVIDIA
// A100-SXM4-80GB"), letter case ignored; nullptr when there is none. Same GPU, not same host: say
// so when it is used for another machine.
const PublishedFloor* find_published_floor(std::string_view text);

// One column of SKIP Table I: Gemma-2B, batch 1, 1024 tokens, Intel+H100.
struct PublishedCompileMode {
  std::string_view mode;
  double compile_s = 0;  // time to the first token including compilation
  double speedup = 1;    // of the time to first token afterwards, against eager
};
std::span<const PublishedCompileMode> published_compile_modes();

}  // namespace assay
