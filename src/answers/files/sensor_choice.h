#pragma once

// Selects the model of the power sensor: the recording's, the device's, or a stored calibration.

#include <optional>
#include <string>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

// Key of a calibration.
struct SensorIdentity {
  std::string uuid;
  std::string driver;
  std::string reading;
};

// The stored calibration; nullopt if there is none. Its source names the file. Errors: a file given
// explicitly is missing, or is of another GPU, driver or kind of sample.
Result<std::optional<SensorModel>> kept_calibration(const std::string& file,
                                                    const SensorIdentity& identity);

// Adds a stored calibration to a recording made without one; leaves others unchanged.
Status use_kept_calibration(const std::string& file, PowerRecording& recording);

// The typical sensor of a card model (data/facts.ini), with its source. It has window, ramp and
// period of the sample kind "instant", "average", or "" for the only kind. nullopt if these values
// or the kind are unknown.
std::optional<SensorModel> usual_sensor(const std::string& device, const std::string& reading);

}  // namespace assay
