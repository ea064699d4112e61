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
  bool virtual_time = false;  // waiting takes no real time, and a recording can be resumed
  SensorModel documented;     // sensor as documented by the vendor; calibration may differ
  double peak_flops = 0;      // dense, of the workload's type; 0 = not known
  double peak_bytes_per_s = 0;
  double power_limit_w = 0;  // enforced limit as read; 0 = not known
  std::string parts;  // source of the powers of parts, or why they are unknown; empty = neither is
                      // known
};

// An empty recording of this device, with the documented sensor.
PowerRecording recording_head(const DeviceFacts& facts);

// A kernel that is ready to run.
struct PreparedKernel {
  uint32_t id = 0;
  std::string name;
  double flop = 0;   // per execution; NaN = not known
  double bytes = 0;  // minimum moved per execution; NaN = not known
};

struct LogRequest {
  // 0: one sample per sensor update, on the logger's clock. Otherwise, for calibration: poll at
  // about this interval and keep every sample, repeats included, with the CPU clock's time.
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
  // Prepares one kernel from a workload text (devices/workload.h).
  virtual Result<PreparedKernel> prepare(const std::string& workload) = 0;
  // CPU clock of the times of executions and probes; virtual time if simulated.
  virtual int64_t now_ns() = 0;
  virtual Status wait_ns(int64_t duration) = 0;
  virtual Result<ClockProbe> probe() = 0;
  virtual Status start_logging(const LogRequest& request) = 0;
  // Runs the kernels back to back, in order. Returns start and end of each on the CPU's clock, with
  // `run` and `index` filled.
  virtual Result<std::vector<PowerExecution>> execute(uint32_t run,
                                                      const std::vector<uint32_t>& kernels) = 0;
  // Maximum number of these executions that `execute` times with one pair of timestamps, if one
  // pair each would be too many. Each then has the mean time of its block.
  virtual uint32_t timed_together(const std::vector<uint32_t>& kernels) const {
    return kernels.empty() ? 0 : 1;
  }
  virtual Result<std::vector<PowerSample>> stop_logging() = 0;
  // The device's own energy counter in J; nullopt if it has none.
  virtual Result<std::optional<double>> energy_j() = 0;
  // True values of a simulated device and its prepared kernels; nullopt for a real one.
  virtual std::optional<PowerTruth> truth() const { return std::nullopt; }
};

// text: "auto", "nvidia:0", "amd:0", "simulated", "simulated:window=1ms,drift=42". Errors say what
// is missing on this machine. `seed` determines a simulated device; real ones ignore it.
Result<std::unique_ptr<PowerDevice>> open_device(const std::string& text, uint64_t seed,
                                                 SensorChoice sensor = SensorChoice::kAuto);

}  // namespace assay
