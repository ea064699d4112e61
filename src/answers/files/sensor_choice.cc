#include "answers/files/sensor_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/files.h"
#include "ingest/power/json.h"
#include "records/facts.h"

namespace assay {
namespace {

std::string words(const SensorIdentity& of) {
  return fmt::format("GPU {} with driver {}{}", of.uuid, of.driver,
                     of.reading.empty() ? "" : " and reading " + of.reading);
}

// Falls back to the typical sensor if neither recording nor calibration has a window.
void use_usual_sensor(PowerRecording& recording) {
  if (recording.sensor.window_ns > 0 || recording.sensor.mode == SensorMode::kInstant) return;
  const auto usual = usual_sensor(recording.device, recording.sensor.reading);
  if (usual) recording.sensor = *usual;
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
  std::optional<SensorModel> kept;
  if (!file.empty() || !recording.uuid.empty()) {
    ASSAY_TRY_ASSIGN(
        kept, kept_calibration(file, {recording.uuid, recording.driver, recording.sensor.reading}));
  }
  if (kept) {
    recording.sensor = *std::move(kept);
  } else {
    use_usual_sensor(recording);
  }
  return Ok{};
}

std::optional<SensorModel> usual_sensor(const std::string& device, const std::string& reading) {
  const std::map<std::string, Fact> facts = FactBook::built_in().values("hardware", device);
  const auto ns_of = [&](const char* key) {
    const auto found = facts.find(key);
    return found == facts.end() ? int64_t{0} : std::llround(found->second.value * 1e6);
  };
  const bool average = reading == "average";
  const bool which = average || reading == "instant" || ns_of("sensor_average_ms") == 0;
  const char* const window = average ? "sensor_average_ms" : "sensor_window_ms";
  if (!which || ns_of(window) == 0) return std::nullopt;
  SensorModel sensor;
  sensor.mode = average ? SensorMode::kOneSecondAverage : SensorMode::kBoxcar;
  sensor.reading = reading;
  sensor.window_ns = ns_of(window);
  sensor.period_ns = ns_of("sensor_period_ms");
  sensor.ramp_ns = average ? 0 : ns_of("sensor_ramp_ms");
  sensor.source = "of other cards of its model (" + facts.at(window).source + ")";
  return sensor;
}

}  // namespace assay
