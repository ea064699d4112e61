#pragma once

// When a sensor made the values that a log shows. Polls repeat a value until the next update, so a
// repeat says "no update in between" and a change says "one": many such pairs pin the sensor's
// period and phase far better than the polls are apart.

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
// Of a log whose rows are means since the row before: each is new, whatever it repeats.
UpdateGrid every_poll_new(const std::vector<TimedPower>& polls);
// The updates of a sensor of known period and phase: each poll shows the last one before it. Of the
// polls of one update the one farthest from the next and the one before is believed.
std::vector<TimedPower> updates_on(const std::vector<TimedPower>& polls, double period_s,
                                   double phase_s);

}  // namespace assay
