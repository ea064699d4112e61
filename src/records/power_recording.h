#pragma once

// Recording of one power measurement run, before any analysis (spec/power 5): sensor samples,
// kernel executions, clock probes and the sensor's properties. Written by `assay power run`, read
// by ingest/power/recording.cc, analyzed by power/. All times are int64 ns; each series names its
// clock.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// No GPU package is near this limit; a larger value is not a power in watts.
inline constexpr double kMostPackageWatts = 20'000;

// One sample of the power sensor on the logger's clock: nominally the mean power over [t_ns -
// window, t_ns]. Components without a sensor are NaN.
struct PowerSample {
  int64_t t_ns = 0;
  double power_w = 0;
  double xcd_w = std::numeric_limits<double>::quiet_NaN();  // compute dies
  double iod_w = std::numeric_limits<double>::quiet_NaN();  // I/O dies
  double hbm_w = std::numeric_limits<double>::quiet_NaN();  // memory
};

// One kernel execution on the CPU's clock.
struct PowerExecution {
  uint32_t run = 0;    // logging session
  uint32_t index = 0;  // position in its run, from 0
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t kernel = 0;  // index into PowerRecording::kernels
};

// The CPU's clock before and after reading the GPU's (or logger's) counter.
struct ClockProbe {
  int64_t c0_ns = 0;
  int64_t gpu_ticks = 0;
  int64_t c1_ns = 0;
};

// How a sensor averages and reports.
enum class SensorMode : uint8_t { kBoxcar, kInstant, kOneSecondAverage, kEnergyCounter, kUnknown };
std::string_view sensor_mode_name(SensorMode mode);

struct SensorModel {
  SensorMode mode = SensorMode::kUnknown;
  int64_t window_ns = 0;     // w, the averaging window; 0 = unknown
  int64_t period_ns = 0;     // P, the reporting period; 0 = unknown
  int64_t delay_ns = 0;      // a sample describes the window that ended this long before its
                             // timestamp
  std::string source;        // "calibrated on this machine, 2026-11-21", "documented", "meta.json"
  std::string reading = {};  // kind of sample, if the device has several: "instant"; else empty
  bool calibrated = false;   // measured, not taken from documentation
  // Sum of time constants of a rise that the window does not cause, of the device's power or the
  // sensor, or an upper bound; 0 = none visible in a curve.
  int64_t ramp_ns = 0;
};

struct PowerRecording {
  std::string device;  // name
  std::string driver;
  std::string uuid;      // of the GPU; empty = unknown
  std::string parts;     // source of the component powers, or why they are unknown; may be empty
  double tick_hz = 1e9;  // of ClockProbe::gpu_ticks, and of the samples' clock if they share it
  bool samples_on_cpu_clock = false;  // true: no clock model is needed for the samples
  SensorModel sensor;
  std::vector<std::string> kernels;  // names
  std::vector<double> kernel_flop;   // FLOP per execution; NaN = not known
  std::vector<double> kernel_bytes;  // lower bound of bytes moved per execution; NaN = unknown
  std::string workload;              // as typed, e.g. "60*gemm:2048 , 1*gemm:8192"
  uint64_t seed = 0;
  std::vector<PowerSample> samples;        // as recorded
  std::vector<PowerExecution> executions;  // by (run, index)
  std::vector<ClockProbe> probes;
};

}  // namespace assay
