#pragma once

// A real GPU as a PowerDevice, the same for both vendors. Kernels run between events, the sensor is
// polled on its own thread, and the event clock is compared with the CPU's before and after every
// run. Two interfaces below hide the differences.

#include <array>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"
#include "devices/gpu_runtime.h"
#include "devices/workload.h"

namespace assay {

// Watts of compute dies, I/O dies and memory; NaN = not measured.
using PartPowers = std::array<double, 3>;
inline constexpr PartPowers kNoParts = {std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::quiet_NaN(),
                                        std::numeric_limits<double>::quiet_NaN()};

struct SensorReading {
  int64_t t_ns = 0;  // of the sample, on the CPU's clock; 0 = unknown, use the poll's time
  double power_w = 0;
  bool fresh = true;      // false: reported to be the previous sample again
  bool buffered = false;  // taken at t_ns by the driver, some time before the poll
  PartPowers parts_w = kNoParts;
};

// Reads only: no clocks, limits or modes are ever set.
class GpuSensor {
 public:
  virtual ~GpuSensor() = default;
  GpuSensor() = default;
  GpuSensor(const GpuSensor&) = delete;
  GpuSensor& operator=(const GpuSensor&) = delete;
  // Samples in time order: one, or, if the driver buffers them, any number.
  virtual Result<std::vector<SensorReading>> read() = 0;
  virtual Result<std::optional<double>> energy_j() = 0;
  // Driver, uuid, documented sensor, power limit.
  virtual void describe(DeviceFacts& facts) const = 0;
};

class GpuBlas {
 public:
  virtual ~GpuBlas() = default;
  GpuBlas() = default;
  GpuBlas(const GpuBlas&) = delete;
  GpuBlas& operator=(const GpuBlas&) = delete;
  // C = A B in column-major order, on the stream it was made for.
  virtual Status gemm(const Workload& work, void* a, void* b, void* c) = 0;
};

struct GpuParts {
  GpuVendor vendor = GpuVendor::kNvidia;
  clockid_t cpu_clock = CLOCK_REALTIME;  // clock of the sensor's timestamps
  std::unique_ptr<GpuSensor> sensor;
  std::string helpers;                        // image with assay_stamp, assay_fill and assay_triad
  std::vector<std::string> driver_libraries;  // for the other GPUs of a collective
  std::vector<std::string> collective_libraries;
  std::vector<std::string> blas_libraries;
  std::vector<std::string> compiler_libraries;
  Result<std::unique_ptr<GpuBlas>> (*open_blas)(const std::vector<std::string>& libraries,
                                                void* stream) = nullptr;
};

Result<std::unique_ptr<PowerDevice>> make_gpu_device(GpuRuntime runtime, GpuParts parts);

}  // namespace assay
