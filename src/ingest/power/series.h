#pragma once

// Samples of a log, grouped by device.

#include <map>
#include <string>

#include "base/result.h"
#include "ingest/power/logs/samples.h"
#include "ingest/text/log_rows.h"
#include "records/power_log.h"

namespace assay {

// Start of a log without times, and the distance of its rounds.
struct LogTiming {
  LogStamp start = {};
  bool started = false;
  int64_t interval_ns = 0;  // 0: not told
  bool by_options = true;   // --log-start and --log-interval can set it
};

// Rows as they come, filed under their device; days added to times without a date.
class SeriesBuilder {
 public:
  explicit SeriesBuilder(PowerLog& log) : log_(log) {}

  PowerSeries& series_of(const std::string& device);  // added where it is new
  // Returns its time, days added.
  int64_t add(const std::string& device, LogStamp stamp, double watts);
  void count(const std::string& device, EnergyCount count);
  // Sorts what writers of several GPUs interleave; fails where the clock was set back, and where no
  // row has both a time and a power.
  Status finish(const std::string& path);

 private:
  PowerLog& log_;
  std::map<std::string, size_t> index_;
  int64_t largest_step_back_ = 0;
};

// Times of all samples on one clock; fails if the log has none and they are not given.
Status settle_log_times(LogSamples& samples, const LogTiming& timing, const std::string& path);
// Powers and energies of a log as series; times settled. Devices that only count energy get their
// mean power between two values of the counter.
Result<PowerLog> power_log_of(const LogSamples& samples, const std::string& path);

}  // namespace assay
