#pragma once

// Which knowledge of the power sensor counts: the recording's, the device's, or a calibration that
// was kept.

#include <optional>
#include <string>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

// What a calibration is of.
struct SensorIdentity {
  std::string uuid;
  std::string driver;
  std::string reading;
};

// What calibration found earlier; nullopt where none was kept. A file that was named must be there,
// and be of this GPU, driver and reading. The source names the file.
Result<std::optional<SensorModel>> kept_calibration(const std::string& file,
                                                    const SensorIdentity& identity);

// Gives a recording whose sensor was not calibrated when it was made the calibration that was kept
// since; a calibrated one stays as it is.
Status use_kept_calibration(const std::string& file, PowerRecording& recording);

// What the sensors of a model of card are usually like (data/facts.ini): window, ramp and period of
// its instantaneous reading ("instant"), of its "average", or of the only one it has (""); the
// source says where from. nullopt where that is not known, or which reading it is.
std::optional<SensorModel> usual_sensor(const std::string& device, const std::string& reading);

}  // namespace assay
