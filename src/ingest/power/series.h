#pragma once

// Groups the samples of a log by device.

#include <map>
#include <string>

#include "base/result.h"
#include "ingest/power/logs/samples.h"
#include "ingest/text/log_rows.h"
#include "records/power_log.h"

namespace assay {

// Start of a log without times, and the interval between its rounds.
struct LogTiming {
  LogStamp start = {};
  bool started = false;
  int64_t interval_ns = 0;  // 0 = unknown
  bool by_options = true;   // false: the caller has no --log-start and --log-interval, which errors
                            // then do not suggest
};

// Collects rows by device in file order, and adds days to times without a date.
class SeriesBuilder {
 public:
  explicit SeriesBuilder(PowerLog& log) : log_(log) {}

  PowerSeries& series_of(const std::string& device);  // adds new devices
  // Returns the time of the row, with days added.
  int64_t add(const std::string& device, LogStamp stamp, double watts);
  void count(const std::string& device, EnergyCount count);
  // Sorts rows that writers of several GPUs interleave. Fails if the clock was set back, or if no
  // row has both a time and a power.
  Status finish(const std::string& path);

 private:
  PowerLog& log_;
  std::map<std::string, size_t> index_;
  int64_t largest_step_back_ = 0;
};

// Converts the times of all samples to one clock. Fails if the log has no times and `timing` gives
// none.
Status settle_log_times(LogSamples& samples, const LogTiming& timing, const std::string& path);
// Makes series of the powers and energies of a log; call settle_log_times first. Devices with only
// an energy counter get the mean power between two values of it.
Result<PowerLog> power_log_of(const LogSamples& samples, const std::string& path);

}  // namespace assay
