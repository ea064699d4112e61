#pragma once

// Data of a power run in addition to its recording: ground truth of a simulated device, the plan,
// and the calibration.

#include <string>
#include <vector>

#include "power/procedure.h"
#include "records/power_plan.h"
#include "records/power_truth.h"
#include "records/sensor_calibration.h"
#include "report/document/document.h"

namespace assay {

// "truth" under "power": the simulated device's ground truth for the profiled kernel and itself.
Section truth_section(const PowerTruth& truth, const std::string& kernel);
// "procedure" under "power".
Section procedure_section(const ProcedureResult& result);
// Headline sentences on the measurement; in most cases none.
std::vector<std::string> procedure_words(const ProcedureResult& result);
// "calibration".
Section calibration_section(const SensorCalibration& calibration, const std::string& path);
std::vector<std::string> calibration_verdict_words(const SensorCalibration& calibration);

}  // namespace assay
