#pragma once

// Which knowledge of the power sensor counts: the recording's, the device's, or a calibration that
// was kept.

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

// The stored calibration; nullopt if there is none. A file that was named must be there,
// and be of this GPU, driver and reading. The source names the file.
Result<std::optional<SensorModel>> kept_calibration(const std::string& file,
                                                    const SensorIdentity& identity);

// Adds a stored calibration to a recording made without one; leaves others unchanged.
Status use_kept_calibration(const std::string& file, PowerRecording& recording);

// The typical sensor of a card model (data/facts.ini): window, ramp and period of its instantaneous
// sample ("instant"), its "average", or its only kind (""), with the source. nullopt if these or
// the kind are unknown.
std::optional<SensorModel> usual_sensor(const std::string& device, const std::string& reading);

}  // namespace assay
