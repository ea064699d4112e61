#pragma once

// A power measurement run as a folder: samples.csv, execs.csv, sync.csv, meta.json
// (docs/formats/power_recording.md). Written during the run, so an interrupt loses no measured
// data; `assay power profile` reads it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/power_recording.h"

namespace assay {

// No GPU and no socket comes near: more is milliwatts, or another column.
inline constexpr double kMostWatts = 20'000;

// Errors name the file and the line. A last line without its end (an interrupt, a full disk) is
// left out.
Result<PowerRecording> read_power_recording(const std::string& folder);

// The sensor alone, from a meta.json.
Result<SensorModel> read_sensor_model(const std::string& path);

// Writes meta.json at once and appends rows as they come; each append is on its way to the disk
// when it returns.
class PowerRecordingWriter {
 public:
  // Makes the folder and the four files; `head`'s rows are ignored. Fails when there is a recording
  // in it already.
  static Result<PowerRecordingWriter> create(const std::string& folder, const PowerRecording& head);
  // Goes on with a recording: a last line that was cut is removed first.
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

// All at once: create and append everything.
Status write_power_recording(const PowerRecording& recording, const std::string& folder);

}  // namespace assay
