#pragma once

// Checks the declared sensor against the recording. Every run contains the rise from idle to
// settled power, and the shape of that rise shows the window, its delay and its ramp. With a window
// declared as a third of its true length, SSP was off by 15 to 19 % with an interval of 0.1 %.

#include <cstdint>
#include <vector>

#include "power/placement.h"
#include "power/profile.h"

namespace assay {

constexpr double kExecutionsToCheck = 3;  // minimum in a window; with fewer, their phases show

// runs: golden runs of one kernel alone. t_exec_ns: its execution time.
SensorCheck check_sensor(const PowerRecording& recording, const std::vector<RunView>& runs,
                         const TimedSamples& samples, int64_t t_exec_ns);

}  // namespace assay
