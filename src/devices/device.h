#pragma once

// Interface of the power module to one GPU (or a simulated one): run kernels, read the sensor,
// compare clocks. Vendor libraries are loaded at run time, so everything builds and runs without
// one. Nothing here changes a device's clocks, power limits or modes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/power_recording.h"
#include "records/power_truth.h"

namespace assay {

struct DeviceFacts {
  std::string name;
  std::string driver;
  std::string uuid;
  double tick_hz = 1e9;
  bool samples_on_cpu_clock = false;
  bool virtual_time = false;  // waiting is free, and a recording can be gone on with at its end
  SensorModel documented;     // what the vendor says; calibration may know better
  double peak_flops = 0;      // dense, of the workload's type; 0 = not known
  double peak_bytes_per_s = 0;
  double power_limit_w = 0;  // enforced limit as read; 0 = not known
  std::string parts;  // source of the powers of parts, or why they are unknown; empty = neither is
                      // known
};

// A recording of this device that holds nothing yet, under the documented sensor.
PowerRecording recording_head(const DeviceFacts& facts);

// A kernel made ready to run.
struct PreparedKernel {
  uint32_t id = 0;
  std::string name;
  double flop = 0;   // per execution; NaN = not known
  double bytes = 0;  // per execution, at least; NaN = not known
};

struct LogRequest {
  // 0: one sample per update of the sensor, on the logger's clock. Else every reading of a poll at
  // about this interval, repeats included, stamped on the CPU's clock: for calibration.
  int64_t poll_interval_ns = 0;
};

// Power samples of NVML to use; other devices have only one kind.
enum class SensorChoice : uint8_t { kAuto, kInstant, kAverage, kUsage, kSamples };

class PowerDevice {
 public:
  virtual ~PowerDevice() = default;
  PowerDevice() = default;
  PowerDevice(const PowerDevice&) = delete;
  PowerDevice& operator=(const PowerDevice&) = delete;

  virtual const DeviceFacts& facts() const = 0;
  // Workload as typed, one kernel (devices/workload.h).
  virtual Result<PreparedKernel> prepare(const std::string& workload) = 0;
  // The CPU's clock that executions and probes are stamped with; virtual time when simulated.
  virtual int64_t now_ns() = 0;
  virtual Status wait_ns(int64_t duration) = 0;
  virtual Result<ClockProbe> probe() = 0;
  virtual Status start_logging(const LogRequest& request) = 0;
  // Kernels back to back, in the order given; start and end of each on the CPU's clock. `run` and
  // `index` of the results are filled.
  virtual Result<std::vector<PowerExecution>> execute(uint32_t run,
                                                      const std::vector<uint32_t>& kernels) = 0;
  // Maximum number of these executions that `execute` times with one pair of timestamps, if one
  // pair each would be too many. Each then has the mean time of its block.
  virtual uint32_t timed_together(const std::vector<uint32_t>& kernels) const {
    return kernels.empty() ? 0 : 1;
  }
  virtual Result<std::vector<PowerSample>> stop_logging() = 0;
  // The device's own energy counter; nullopt where it has none.
  virtual Result<std::optional<double>> energy_j() = 0;
  // Truth of a simulated device and its prepared kernels.
  virtual std::optional<PowerTruth> truth() const { return std::nullopt; }
};

// "auto", "nvidia:0", "amd:0", "simulated", "simulated:window=1ms,drift=42". Errors say what is
// missing on this machine. `seed` draws a simulated device and means nothing to a real one.
Result<std::unique_ptr<PowerDevice>> open_device(const std::string& text, uint64_t seed,
                                                 SensorChoice sensor = SensorChoice::kAuto);

}  // namespace assay
