#pragma once

// A power log recorded with a trace, by nvidia-smi, AMDuProf or Assay's own sampler: one series per
// device. Times as in the log, with their meaning.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

enum class LogClock : uint8_t {
  kEpoch,         // nanoseconds since 1970 UTC
  kLocalTime,     // date and time of an unknown zone, read as if it were UTC
  kTimeOfDay,     // no date: nanoseconds since midnight, days counted on
  kUnknownOrigin  // nanoseconds of some clock
};

struct PowerReading {
  int64_t t_ns = 0;
  double power_w = 0;
};

// Value of an energy counter; it only grows.
struct EnergyCount {
  int64_t t_ns = 0;
  double joules = 0;
};

// Mean power over a stretch of time.
struct PowerPiece {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  double power_w = 0;
};

// Value of another column of a log, at a time of its clock.
struct LoggedValue {
  int64_t t_ns = 0;
  double value = 0;
};

struct PowerSeries {
  std::string device = {};                  // as the log calls it; empty = the only one
  std::vector<PowerReading> readings = {};  // in order of time
  std::vector<EnergyCount> counter = {};    // in order of time; empty if the log has no energy
  std::vector<PowerPiece> pieces = {};      // of logs that know nothing but these; in order, apart
  // In order of time; empty where the log has no such column.
  std::vector<LoggedValue> use = {};        // utilisation, %
  std::vector<LoggedValue> clock_mhz = {};  // of the multiprocessors
  std::vector<LoggedValue> state = {};      // P-state: 0 for P0
};

struct PowerLog {
  std::string format;  // "assay", "nvidia_smi", "amd_uprof", or of another program
  std::string column;  // which one was read
  std::string scope;   // what it is the power of, where that is not one GPU
  LogClock clock = LogClock::kUnknownOrigin;
  std::vector<PowerSeries> series;
  int64_t window_ns = 0;  // from meta.json in the log's folder; 0 = unknown
  int64_t delay_ns = 0;
  bool means = false;           // samples are means over the time since the previous one
  bool unit_assumed = false;    // inferred from the size of the numbers: the log has no unit
  bool timed_by_hand = false;   // the log has no times: the user gave them
  bool taken_for_one = false;   // no GPU column, and the rows do not show several GPUs
  uint64_t counter_resets = 0;  // an energy counter went back: its longest part is read
  uint64_t devices_silent = 0;  // showed 0 W all the time: left out
  uint64_t rows = 0;
  uint64_t rows_without_power = 0;  // [Unknown Error], N/A, empty
  uint64_t rows_cut = 0;            // a last line without its end: left out
  bool truncated = false;           // the compressed file ends early
  uint64_t rows_unplaced = 0;       // of several GPUs without a GPU column: left out
  uint64_t stamps_shared = 0;       // of whole seconds that several have: spread over their second
  uint64_t rows_out_of_order = 0;   // later in the file and earlier in time, by under a second
};

}  // namespace assay
