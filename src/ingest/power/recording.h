#pragma once

// A power measurement run in a folder: samples.csv, execs.csv, sync.csv, meta.json
// (docs/formats/power_recording.md). Written during the run, so that an interrupt loses no measured
// data; `assay power profile` reads it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

// No GPU or socket is near this power; a larger value is in milliwatts or of another column.
inline constexpr double kMostWatts = 20'000;

// Errors name the file and the line. Drops a last line without a line end (an interrupt, a full
// disk).
Result<PowerRecording> read_power_recording(const std::string& folder);

// Reads only the sensor, from a meta.json.
Result<SensorModel> read_sensor_model(const std::string& path);

// Writes meta.json at once and appends rows as they come. Each append is flushed to the operating
// system before it returns.
class PowerRecordingWriter {
 public:
  // Creates the folder and the four files; ignores the rows of `head`. Fails if the folder contains
  // a recording.
  static Result<PowerRecordingWriter> create(const std::string& folder, const PowerRecording& head);
  // Continues a recording; removes an incomplete last line first.
  static Result<PowerRecordingWriter> resume(const std::string& folder);

  PowerRecordingWriter(PowerRecordingWriter&&) noexcept;
  PowerRecordingWriter& operator=(PowerRecordingWriter&&) noexcept;
  ~PowerRecordingWriter();

  Status append(const std::vector<PowerSample>& samples);
  // Kernels are indices into the kernels of the head.
  Status append(const std::vector<PowerExecution>& executions);
  Status append(const std::vector<ClockProbe>& probes);

 private:
  struct Files;
  explicit PowerRecordingWriter(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

}  // namespace assay
