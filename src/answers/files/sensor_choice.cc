#include "answers/files/sensor_choice.h"

#include <fmt/format.h>

#include "base/files.h"
#include "ingest/power/json.h"

namespace assay {
namespace {

std::string words(const SensorIdentity& of) {
  return fmt::format("GPU {} with driver {}{}", of.uuid, of.driver,
                     of.reading.empty() ? "" : " and reading " + of.reading);
}

}  // namespace

Result<std::optional<SensorModel>> kept_calibration(const std::string& file,
                                                    const SensorIdentity& identity) {
  const std::string path =
      file.empty() ? calibration_path(identity.uuid, identity.driver, identity.reading) : file;
  if (file.empty() && (path.empty() || !file_exists(path))) {
    return std::optional<SensorModel>();
  }
  ASSAY_TRY_ASSIGN(const SensorCalibration found, read_sensor_calibration(path));
  if (found.uuid != identity.uuid || found.driver != identity.driver ||
      found.sensor.reading != identity.reading) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("is of {}, this is {}: run `assay power calibrate` again",
                    words({found.uuid, found.driver, found.sensor.reading}), words(identity)),
        path, -1};
  }
  SensorModel sensor = found.sensor;
  sensor.source += " (" + path + ")";
  return std::optional<SensorModel>(std::move(sensor));
}

Status use_kept_calibration(const std::string& file, PowerRecording& recording) {
  if (recording.sensor.calibrated) {
    if (!file.empty()) recording.sensor.source += "; when it was recorded, so not " + file;
    return Ok{};
  }
  if (file.empty() && recording.uuid.empty()) return Ok{};
  ASSAY_TRY_ASSIGN(auto sensor, kept_calibration(file, {recording.uuid, recording.driver,
                                                        recording.sensor.reading}));
  if (sensor) recording.sensor = *std::move(sensor);
  return Ok{};
}

}  // namespace assay
