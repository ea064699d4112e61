#pragma once

// Reads and writes small JSON files of the power module: a sensor's calibration
// (docs/formats/calibration.md) and the plan of a measurement run (plan.json in the folder of its
// recording).

#include <string>

#include "base/result.h"
#include "records/power_plan.h"
#include "records/sensor_calibration.h"

namespace assay {

Result<SensorCalibration> read_sensor_calibration(const std::string& path);
// Creates missing parent folders.
Status write_sensor_calibration(const SensorCalibration& calibration, const std::string& path);
// Path of the calibration of one GPU, driver and kind of sample, in $XDG_CACHE_HOME/assay/sensors
// or ~/.cache/assay/sensors. Empty if neither variable is set.
std::string calibration_path(const std::string& uuid, const std::string& driver,
                             const std::string& reading);

Result<PowerPlan> read_power_plan(const std::string& folder);
Status write_power_plan(const PowerPlan& plan, const std::string& folder);

}  // namespace assay
