#pragma once

// Ground truth of a simulated device: printed next to the estimate, and the reference in tests.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "records/power_recording.h"

namespace assay {

// A kernel in steady state, executed back to back and alone.
struct KernelTruth {
  std::string name;
  int64_t t_exec_ns = 0;      // settled, common mode
  int64_t common_low_ns = 0;  // range of executions of common-mode runs
  int64_t common_high_ns = 0;
  double ssp_w = 0;                               // mean power over one execution
  double energy_j = 0;                            // ssp_w x t_exec_ns
  std::array<double, 3> component_w = {};         // xcd, iod, hbm
  std::vector<std::pair<int64_t, double>> curve;  // (time in the execution, W), averaged by the
                                                  // boxcar
  bool smooth = false;           // power inside the kernel is a polynomial of degree 4 or less
  int64_t settled_after_ns = 0;  // throttling ends this long after the run began; 0 = none
};

struct PowerTruth {
  uint64_t seed = 0;
  std::string kind;  // kind of the random sensor: "logger", "fine", "nvml", "one_second", ...
  SensorModel sensor;
  double idle_w = 0;
  double drift_ppm = 0;
  double noise_share = 0;  // standard deviation of a sample over the sample
  double gain = 1;         // sample over true mean
  std::vector<KernelTruth> kernels;
};

}  // namespace assay
