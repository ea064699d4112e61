#pragma once

// A GPU that does not exist, in virtual time: the seed draws its sensor, its clock, its kernels and
// their faults, and everything it knows about itself can be asked for (PowerTruth). The proof of
// the power room runs against it. What it returns depends on the seed, the run numbers and the
// (virtual) time of each call alone, so that a campaign that was interrupted and gone on with
// records the same times as one that was not, and the same powers but for the rounding of sums.

#include <memory>
#include <optional>
#include <string_view>

#include "devices/device.h"

namespace assay {

// What the seed draws, each of which can be fixed instead. All optional: absent = drawn.
struct SimulatedKnobs {
  std::optional<std::string>
      kind;  // "logger", "fine", "nvml", "one_second", "bad_clock", "unknown"
  std::optional<int64_t> window_ns;
  std::optional<int64_t> period_ns;
  std::optional<int64_t> delay_ns;
  std::optional<double> drift_ppm;
  std::optional<double> noise_share;
  std::optional<double> idle_w;
  std::optional<double> outlier_share;  // runs that are not in the common mode
  std::optional<double> boost;          // power above the settled one before throttling; 0 = none
  std::optional<double> gain;
  std::optional<int64_t> t_exec_ns;  // of every kernel
  std::optional<bool> flat;          // power inside the kernel does not vary
  std::optional<bool> smooth;        // else it varies in phases
};

// "window=1ms,period=1ms,drift=42,noise=0.005,idle=100,outliers=0.2,boost=0,kind=logger,t=100us".
Result<SimulatedKnobs> parse_simulated_knobs(std::string_view text);

class SimulatedDevice : public PowerDevice {
 public:
  // The mode of a run: whether the truth counts it as common.
  virtual bool common_mode(uint32_t run) const = 0;
};
std::unique_ptr<SimulatedDevice> make_simulated_device(uint64_t seed, const SimulatedKnobs& knobs);

}  // namespace assay
