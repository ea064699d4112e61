#include "records/power_recording.h"

namespace assay {

std::string_view sensor_mode_name(SensorMode mode) {
  switch (mode) {
    case SensorMode::kBoxcar:
      return "boxcar";
    case SensorMode::kInstant:
      return "instant";
    case SensorMode::kOneSecondAverage:
      return "one_second_average";
    case SensorMode::kEnergyCounter:
      return "energy_counter";
    case SensorMode::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace assay
