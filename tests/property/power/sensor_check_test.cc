// Recordings whose sensor is not what they declare: found by the recordings themselves, and never
// where the declared one is right.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "power/profile.h"
#include "support/power_proof.h"

namespace assay {
namespace {

#ifdef NDEBUG
constexpr uint64_t kCheckedDevices = 32;
#else
constexpr uint64_t kCheckedDevices = 5;
#endif

struct Recorded {
  uint64_t seed = 0;
  PowerRecording recording;
  KernelTruth truth;
};

// Short kernels under windows many times as long, with and without throttling.
const std::vector<Recorded>& recordings() {
  static const std::vector<Recorded> all = [] {
    std::vector<Recorded> list;
    for (uint64_t seed = 2000; seed < 2000 + kCheckedDevices; ++seed) {
      SimulatedKnobs knobs;
      knobs.kind = "logger";
      if (seed % 4 != 0) knobs.boost = 0;
      const auto device = make_simulated_device(seed, knobs);
      ProcedureOptions options;
      options.seed = seed;
      options.profile.check_sensor = false;
      const char* workload = seed % 2 == 0 ? "gemm:2048" : "gemv:8192";
      auto result = run_procedure(*device, *parse_workload_list(workload), options, {});
      if (!result || result->profile.verdict == PowerVerdict::kRefused) continue;
      const std::optional<PowerTruth> truth = device->truth();
      list.push_back({seed, std::move(result->recording), truth->kernels.front()});
    }
    return list;
  }();
  return all;
}

KernelProfile profile_with(const Recorded& one, double window, double later_ns) {
  PowerRecording declared = one.recording;
  declared.sensor.window_ns = std::llround(window * static_cast<double>(declared.sensor.window_ns));
  declared.sensor.delay_ns += std::llround(later_ns);
  ProfileOptions options;
  options.bootstrap = 200;
  options.strict = true;
  const auto profile = profile_kernel(declared, options);
  EXPECT_TRUE(profile) << (profile ? "" : profile.error().describe());
  return profile ? *profile : KernelProfile{};
}

TEST(SensorCheck, ADeclaredSensorThatIsRightIsNeverCalledOther) {
  size_t holds = 0;
  for (const Recorded& one : recordings()) {
    const KernelProfile profile = profile_with(one, 1, 0);
    EXPECT_NE(profile.sensor_check.verdict, SensorVerdict::kOther) << "seed " << one.seed;
    holds += profile.sensor_check.verdict == SensorVerdict::kHolds ? 1 : 0;
  }
  EXPECT_GE(holds, recordings().size() / 3);
}

// Declared as a third or a half of what it is, as its double, and without its delay.
TEST(SensorCheck, AnotherWindowOrDelayIsFoundAndUsed) {
  size_t asked = 0;
  size_t found = 0;
  size_t near = 0;
  const std::vector<std::pair<double, double>> wrong = {{1.0 / 3, 0}, {0.5, 0}, {2, 0}, {1, 4e5}};
  for (size_t i = 0; i < recordings().size(); ++i) {
    const auto& [window, later_ns] = wrong[i % wrong.size()];
    const Recorded& one = recordings()[i];
    const KernelProfile right = profile_with(one, 1, 0);
    if (right.sensor_check.verdict != SensorVerdict::kHolds) continue;
    const KernelProfile profile = profile_with(one, window, later_ns);
    if (profile.sensor_check.verdict == SensorVerdict::kUnasked) continue;
    ++asked;
    if (profile.sensor_check.verdict != SensorVerdict::kOther) continue;
    ++found;
    const auto true_window = static_cast<double>(one.recording.sensor.window_ns);
    EXPECT_NEAR(static_cast<double>(profile.sensor_check.window_ns) / true_window, 1, 0.1)
        << "seed " << one.seed;
    const double off = std::fabs(profile.ssp_w / one.truth.ssp_w - 1);
    EXPECT_LT(off, 0.02) << "seed " << one.seed << " declared x " << window;
    near += off < 0.005 ? 1 : 0;
  }
  EXPECT_GE(asked, recordings().size() / 5);
  EXPECT_EQ(found, asked);
  EXPECT_GE(static_cast<double>(near), 0.8 * static_cast<double>(found));
  RecordProperty("found", std::to_string(found) + " of " + std::to_string(asked) + ", " +
                              std::to_string(near) + " within 0.5 %");
}

}  // namespace
}  // namespace assay
