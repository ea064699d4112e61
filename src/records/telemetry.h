#pragma once

// Logged telemetry of cores and GPUs during a job: one series per device and quantity, and the
// utilisation of every core. Times are as in the log, on the clock in `clock`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "records/power_log.h"

namespace assay {

enum class TelemetryQuantity : uint8_t {
  kSmClock,      // MHz
  kMemoryClock,  // MHz
  kPower,        // W, of a GPU
  kGpuUtil,      // %
  kMemoryUtil,   // %
  kMemoryUsed,   // bytes
  kTemperature,  // degrees Celsius
  kCpuPower,     // W, all sockets
};

struct TelemetrySeries {
  std::string device;  // as the log calls it; empty = the only one
  TelemetryQuantity quantity = TelemetryQuantity::kPower;
  std::vector<int64_t> t_ns;  // in time order
  std::vector<double> value;  // finite
};

// Mean utilisation of logical processors over (from_ns, t_ns].
struct CpuUtilization {
  std::vector<int> cpus;
  std::vector<int64_t> from_ns;
  std::vector<int64_t> t_ns;   // in time order
  std::vector<float> percent;  // [sample][cpu]; NaN = offline or unknown
};

// A logical processor's location; -1 = unknown.
struct CpuCorePlace {
  int package = -1;
  int core = -1;
};

struct TelemetryDevice {
  std::string device;  // as in TelemetrySeries
  int64_t index = -1;  // index in the vendor's library; -1 = unknown
  std::string name;
  std::string uuid;
};

struct TelemetryLog {
  std::string path;
  std::string format;  // "assay_samples", "chopper_cpu", "chopper_gpu", "nvidia_smi", "amd_uprof",
                       // "power_log"
  LogClock clock = LogClock::kUnknownOrigin;
  std::vector<TelemetrySeries> series;  // by first appearance
  std::vector<TelemetryDevice> devices;
  CpuUtilization cpu;
  std::vector<CpuCorePlace> cores;  // of cpu.cpus; empty = unknown
  uint64_t rows = 0;
  uint64_t cells_without_value = 0;  // [N/A], [Unknown Error], or empty
  uint64_t rows_cut = 0;             // incomplete last lines, left out
  uint64_t rows_unplaced = 0;        // left out: their GPU is unknown without a GPU column
  bool taken_for_one = false;        // no GPU column, and the times of rows look like one GPU
  uint64_t rows_out_of_order = 0;    // less than a second earlier than a previous row
  uint64_t clock_steps = 0;          // times that the wall clock was set during the log
  uint64_t rows_beyond_steps = 0;    // left out: outside the longest part between clock steps
  uint64_t ticks_missed = 0;         // as reported by the sampler
  bool unfinished = false;           // the sampler did not finish
  bool truncated = false;            // the compressed file ends early
};

}  // namespace assay
