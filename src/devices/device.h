#pragma once

// One GPU (or a simulated one) as the power room sees it: run kernels, read the sensor, compare
// clocks. Vendor libraries are opened at run time, so everything builds and answers where there is
// none. Nothing here changes a device's clocks, power limits or modes.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

struct DeviceFacts {
  std::string name;
  std::string driver;
  std::string uuid;
  double tick_hz = 1e9;
  bool samples_on_cpu_clock = false;
  SensorModel documented;  // what the vendor says; calibration may know better
  double peak_flops = 0;   // dense, of the workload's type; 0 = not known
  double peak_bytes_per_s = 0;
  double power_limit_w = 0;  // enforced limit as read; 0 = not known
};

// A kernel made ready to run.
struct PreparedKernel {
  uint32_t id = 0;
  std::string name;
  double flop = 0;   // per execution; NaN = not known
  double bytes = 0;  // per execution, at least; NaN = not known
};

class PowerDevice {
 public:
  virtual ~PowerDevice() = default;
  PowerDevice() = default;
  PowerDevice(const PowerDevice&) = delete;
  PowerDevice& operator=(const PowerDevice&) = delete;

  virtual const DeviceFacts& facts() const = 0;
  // Workload as typed, one kernel: "gemm:2048", "gemv:4096:bf16", "copy:1GiB", "triad:...",
  // "so:...".
  virtual Result<PreparedKernel> prepare(const std::string& workload) = 0;
  // The CPU's clock that executions and probes are stamped with; virtual time when simulated.
  virtual int64_t now_ns() = 0;
  virtual Status wait_ns(int64_t duration) = 0;
  virtual Result<ClockProbe> probe() = 0;
  virtual Status start_logging() = 0;
  // Kernels back to back, in the order given; start and end of each on the CPU's clock. `run` and
  // `index` of the results are filled.
  virtual Result<std::vector<PowerExecution>> execute(uint32_t run,
                                                      const std::vector<uint32_t>& kernels) = 0;
  virtual Result<std::vector<PowerSample>> stop_logging() = 0;
};

}  // namespace assay
