#pragma once

// Checks the declared sensor against the recording. Every run contains the rise from idle to
// settled power, and the shape of that rise shows the window, its delay and its ramp. With a window
// declared as a third of its true length, SSP was off by 15 to 19 % with an interval of 0.1 %.

#include <cstdint>
#include <vector>

#include "power/placement.h"
#include "power/profile.h"

namespace assay {

constexpr double kExecutionsToCheck = 3;  // at least, in a window: with fewer their phases are seen

// runs: golden ones, of one kernel alone. t_exec_ns: of the kernel.
SensorCheck check_sensor(const PowerRecording& recording, const std::vector<RunView>& runs,
                         const TimedSamples& samples, int64_t t_exec_ns);

}  // namespace assay
