#pragma once

// A power log recorded with a trace, by nvidia-smi, AMDuProf, Assay's sampler or another program:
// one series per device. Times are as in the log, on the clock in `clock`.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

enum class LogClock : uint8_t {
  kEpoch,         // nanoseconds since 1970 UTC
  kLocalTime,     // date and time of an unknown zone, read as if it were UTC
  kTimeOfDay,     // no date: nanoseconds since midnight of the first day
  kUnknownOrigin  // nanoseconds of an unknown clock
};

struct PowerReading {
  int64_t t_ns = 0;
  double power_w = 0;
};

// Value of an energy counter, which never decreases.
struct EnergyCount {
  int64_t t_ns = 0;
  double joules = 0;
};

// Mean power over an interval.
struct PowerPiece {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  double power_w = 0;
};

// Value of another column of a log.
struct LoggedValue {
  int64_t t_ns = 0;
  double value = 0;
};

struct PowerSeries {
  std::string device = {};                  // as the log calls it; empty = the only one
  std::vector<PowerReading> readings = {};  // in order of time
  std::vector<EnergyCount> counter = {};    // in order of time; empty if the log has no energy
  std::vector<PowerPiece> pieces = {};      // for logs with only mean powers of intervals; sorted,
                                            // disjoint
  // In time order; empty if the log has no such column.
  std::vector<LoggedValue> use = {};        // utilisation, %
  std::vector<LoggedValue> clock_mhz = {};  // of the multiprocessors
  std::vector<LoggedValue> state = {};      // P-state: 0 for P0
};

struct PowerLog {
  std::string format;  // "assay", "nvidia_smi", "amd_uprof", or that of another program
  std::string column;  // column that was read as power
  std::string scope;   // what the power is of, if not one GPU
  LogClock clock = LogClock::kUnknownOrigin;
  std::vector<PowerSeries> series;
  int64_t window_ns = 0;  // from meta.json in the log's folder; 0 = unknown
  int64_t delay_ns = 0;
  bool means = false;           // samples are means over the time since the previous one
  bool unit_assumed = false;    // no unit in the log: read as milliwatts by their magnitude
  bool timed_by_hand = false;   // the log has no times: the user gave them
  bool taken_for_one = false;   // no GPU column, and the rows do not show several GPUs
  uint64_t counter_resets = 0;  // resets of energy counters; only the longest part between resets
                                // is read
  uint64_t devices_silent = 0;  // devices left out because they always show 0 W
  uint64_t rows = 0;
  uint64_t rows_without_power = 0;  // [Unknown Error], N/A, empty
  uint64_t rows_cut = 0;            // incomplete last lines, left out
  bool truncated = false;           // the compressed file ends early
  uint64_t rows_unplaced = 0;       // left out: their GPU is unknown without a GPU column
  uint64_t stamps_shared = 0;       // times in whole seconds that were spread over their second
  uint64_t rows_out_of_order = 0;   // less than a second earlier than a previous row
};

}  // namespace assay
