#pragma once

// The times at which a sensor made the values of a log. Polls repeat a value until the next update.
// A repeat means no update in between, and a change means one. Many such pairs determine the
// sensor's period and phase far more precisely than the distance between polls.

#include <cstdint>
#include <vector>

namespace assay {

struct TimedPower {
  double t_s = 0;
  double power_w = 0;
};

enum class GridSource : uint8_t {
  kRepeats,     // from which polls repeated a value
  kStamps,      // stamps lie on a line over their number
  kFirstSight,  // values repeat, but on no grid: half a poll before each was first seen
  kAsStamped,
};
const char* grid_source_name(GridSource source);

struct UpdateGrid {
  std::vector<TimedPower> updates;  // one per update, at the time when it was made
  double period_s = 0;              // of the sensor
  GridSource source = GridSource::kAsStamped;
  double repeats = 0;   // share of polls that show the value before them
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
