#pragma once

// The times at which a sensor updated the values of a log. Polls repeat a value until the next
// update. A repeat means no update in between, a change means one. Many such pairs determine the
// period and phase of the sensor far more precisely than the distance between polls.

#include <cstdint>
#include <vector>

namespace assay {

struct TimedPower {
  double t_s = 0;
  double power_w = 0;
};

enum class GridSource : uint8_t {
  kRepeats,     // from repeated values
  kStamps,      // timestamps are on a line over their number
  kFirstSight,  // values repeat off any grid: half a poll before first sight
  kAsStamped,
};
const char* grid_source_name(GridSource source);

struct UpdateGrid {
  std::vector<TimedPower> updates;  // one per update, at the time of the update
  double period_s = 0;              // of the sensor
  GridSource source = GridSource::kAsStamped;
  double repeats = 0;   // share of polls that repeat the previous value
  double violated = 0;  // share of pairs that contradict the grid
};
// polls: in order of time, at least 2.
UpdateGrid find_updates(const std::vector<TimedPower>& polls);
// For a log of means since the previous row: each row is an update, even if it repeats a value.
UpdateGrid every_poll_new(const std::vector<TimedPower>& polls);
// The updates of a sensor of known period and phase. Each poll shows the last update before it. If
// several polls show one update, the poll farthest from both neighbouring updates counts.
std::vector<TimedPower> updates_on(const std::vector<TimedPower>& polls, double period_s,
                                   double phase_s);

}  // namespace assay
