#include "power/contrast.h"

#include <string>
#include <utility>

namespace assay {
namespace {

struct Words {
  std::string figure;
  std::string with;
  std::string without;
};

Words words_of(Strategy strategy) {
  if (strategy == Strategy::kClockSync) {
    return {"Figure 5a", "clocks aligned", "clocks tied by one read"};
  }
  return {"Figure 5b", "golden runs", "all runs"};
}

// Reason why the profile without the strategy equals the one with it; empty if it can differ.
std::string nothing_to_do(const PowerRecording& recording, const KernelProfile& with,
                          Strategy strategy) {
  if (strategy == Strategy::kClockSync && recording.samples_on_cpu_clock) {
    return "samples and executions are on one clock: there is nothing to align";
  }
  if (strategy == Strategy::kGoldenRuns && with.golden == with.runs) {
    return "every run is in the bin: binning leaves nothing out";
  }
  return {};
}

// Profiles with the options `less` and compares with the existing profile.
ContrastResult contrast(const PowerRecording& recording, const ProfileOptions& less,
                        const KernelProfile& with, const Words& words) {
  ContrastResult result;
  const auto profiled = profile_kernel(recording, less);
  if (!profiled) {
    result.no_comparison = words.without + ": " + profiled.error().message;
    return result;
  }
  const KernelProfile& without = *profiled;
  result.comparison = compare_profiles(with, words.with, without, words.without);
  if (!result.comparison) {
    const auto& reasons = without.reasons.empty() ? with.reasons : without.reasons;
    result.no_comparison = words.without + ": no power to compare" +
                           (reasons.empty() ? std::string() : ", because " + reasons.front());
  }
  result.contrast = {with.name,       words.figure,       words.with,       words.without,
                     with.run_points, without.run_points, with.sse_from_ns, with.ssp_from_ns};
  return result;
}

}  // namespace

ContrastResult contrast_strategy(const PowerRecording& recording, const ProfileOptions& options,
                                 const KernelProfile& with, Strategy strategy) {
  if (std::string why = nothing_to_do(recording, with, strategy); !why.empty()) {
    return {.no_comparison = std::move(why)};
  }
  // Uses the sensor that the existing profile found. A new check would take a clock error for a
  // sensor delay.
  ProfileOptions less = options;
  less.over_run = true;
  less.check_sensor = false;
  (strategy == Strategy::kClockSync ? less.use_clock_sync : less.use_golden_runs) = false;
  return contrast(as_found(recording, with.sensor_check), less, with, words_of(strategy));
}

ContrastResult contrast_fewer_runs(const PowerRecording& recording, const ProfileOptions& options,
                                   const KernelProfile& with, uint32_t runs) {
  if (runs >= with.runs) {
    return {.no_comparison =
                "there are no more than " + std::to_string(with.runs) + " runs to compare with"};
  }
  ProfileOptions fewer = options;
  fewer.over_run = true;
  fewer.first_runs = runs;
  return contrast(recording, fewer, with,
                  {"Figure 5c", std::to_string(with.runs) + " runs",
                   "first " + std::to_string(runs) + " runs"});
}

}  // namespace assay
