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

// One run seen from one kernel: its last block of executions back to back.
struct RunView {
  uint32_t run = 0;
  size_t first = 0;  // into PowerRecording::executions: the run is [first, end)
  size_t end = 0;
  size_t block = 0;                // first execution of the block
  size_t ssp = 0;                  // its last execution
  std::optional<size_t> sse = {};  // its fourth, where the block begins the run
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

// Runs with the kernel: those that end with it, else all that have it. At most `most` of them, and
// none of `cut`, which is in order.
std::vector<RunView> view_runs(const PowerRecording& recording, uint32_t kernel,
                               std::optional<uint32_t> most, const std::vector<CutRun>& cut);

// A sample on the CPU's clock: the end of its window.
struct TimedSample {
  int64_t t_ns = 0;
  size_t sample = 0;  // into PowerRecording::samples
};

struct TimedSamples {
  std::vector<TimedSample> samples;  // in order of time
  uint64_t repeated = 0;
};
TimedSamples time_samples(const PowerRecording& recording, const ClockModel& clock);

// Per execution, the samples inside it; and what lies in none.
struct Placement {
  std::vector<std::vector<TimedSample>> in_execution;
  uint64_t outside_runs = 0;
  uint64_t in_gaps = 0;
};
Placement place_samples(const PowerRecording& recording, const TimedSamples& samples);

// Share of [t - window, t] during which the executions [from, to] ran; 1 where the window is 0.
double window_share(const PowerRecording& recording, size_t from, size_t to, int64_t t_ns,
                    int64_t window_ns);
// The same per kernel of the recording, over every execution up to `to`.
std::vector<double> kernel_shares(const PowerRecording& recording, size_t to, int64_t t_ns,
                                  int64_t window_ns);

// No samples, no executions, clocks that jump back, numbers that cannot be: an error that says
// where.
Status check_recording(const PowerRecording& recording);

}  // namespace assay
