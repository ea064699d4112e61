#pragma once

// For each sample: the execution that contains it, and the share of its window in which that kernel
// ran.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "power/profile.h"

namespace assay {

// One run from the view of one kernel: its last block of consecutive executions.
struct RunView {
  uint32_t run = 0;
  size_t first = 0;  // into PowerRecording::executions: the run is [first, end)
  size_t end = 0;
  size_t block = 0;                // first execution of the block
  size_t ssp = 0;                  // last execution of the block
  std::optional<size_t> sse = {};  // fourth execution of a run that begins with the block
  int64_t ssp_duration_ns = 0;
};

// A run with a truncated record: its executions are the first ones of the typical sequence.
// Executions may be missing in [from, to), the time until the next run.
struct CutRun {
  uint32_t run = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};
std::vector<CutRun> find_cut_runs(const PowerRecording& recording);

// Runs that end with the kernel, or if there are none, all runs that contain it. At most `most` of
// them, without those in `cut`.
std::vector<RunView> view_runs(const PowerRecording& recording, uint32_t kernel,
                               std::optional<uint32_t> most, const std::vector<CutRun>& cut);

// A sample with the end of its window on the CPU's clock.
struct TimedSample {
  int64_t t_ns = 0;
  size_t sample = 0;  // into PowerRecording::samples
};

struct TimedSamples {
  std::vector<TimedSample> samples;  // in order of time
  uint64_t repeated = 0;
};
TimedSamples time_samples(const PowerRecording& recording, const ClockModel& clock);

// Samples per execution, and the number outside any execution.
struct Placement {
  std::vector<std::vector<TimedSample>> in_execution;
  uint64_t outside_runs = 0;
  uint64_t in_gaps = 0;
};
Placement place_samples(const PowerRecording& recording, const TimedSamples& samples);

// Share of [t - window, t] during which the executions [from, to] ran; 1 if the window is 0.
double window_share(const PowerRecording& recording, size_t from, size_t to, int64_t t_ns,
                    int64_t window_ns);
// The same per kernel of the recording, over every execution up to `to`.
std::vector<double> kernel_shares(const PowerRecording& recording, size_t to, int64_t t_ns,
                                  int64_t window_ns);

// Fails on a recording without samples or executions, with clocks that jump back or with
// implausible values. The message says where.
Status check_recording(const PowerRecording& recording);

}  // namespace assay
