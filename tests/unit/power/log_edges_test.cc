#include "power/log_edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace assay {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kPeriod = kSecond / 50;

// Until `end_s`; each sample stands for the time since the previous one.
std::vector<PowerReading> samples_of(double end_s, const std::function<double(double)>& watts) {
  std::vector<PowerReading> samples;
  for (int64_t t = 0; static_cast<double>(t) <= end_s * 1e9; t += kPeriod) {
    samples.push_back({t, watts(static_cast<double>(t - kPeriod / 2) * 1e-9)});
  }
  return samples;
}

Span95 left_out(const std::vector<PowerReading>& samples, double latest_s = 1.5) {
  return left_out_j(samples, 4 * kPeriod, 0, 2 * kSecond, static_cast<int64_t>(latest_s * kSecond));
}

// A mean of 1 s that starts at 100 W and comes to 400 W leaves half a second of 300 W out.
double rise(double t) { return 100 + 300 * std::min(1.0, std::max(0.0, t)); }

TEST(LogEdges, AMeanBeginsWithPowerFromBefore) {
  const Span95 range = left_out(samples_of(2, rise));
  EXPECT_NEAR(range.high, 150, 2);
  EXPECT_EQ(range.low, 0);
}

TEST(LogEdges, ASensorThatIsNeverSoLateLeavesLessOut) {
  // No more than 30 J of 300 W are missing in 0.1 s.
  EXPECT_LT(left_out(samples_of(2, rise), 0.1).high, 30);
}

TEST(LogEdges, SamplesAfterTheWorkShowTheRest) {
  const auto falls = [](double t) { return t < 2 ? 400 : 400 - 300 * std::min(1.0, t - 2); };
  EXPECT_NEAR(left_out(samples_of(5, falls)).high, 150, 2);
  EXPECT_NEAR(left_out(samples_of(2, falls)).high, 0, 1e-9);  // a log that ends with the work
}

TEST(LogEdges, MoreBeforeTheWorkIsTooMuch) {
  const Span95 range = left_out(samples_of(2, [](double t) { return 500 - rise(t); }));
  EXPECT_NEAR(range.low, -150, 2);
  EXPECT_EQ(range.high, 0);
}

TEST(LogEdges, SteadySamplesLeaveNothingOut) {
  const Span95 range = left_out(samples_of(5, [](double) { return 300.0; }));
  EXPECT_NEAR(range.low, 0, 1e-9);
  EXPECT_NEAR(range.high, 0, 1e-9);
}

TEST(LogEdges, JoulesAreOfTheGivenTime) {
  const auto samples = samples_of(2, [](double) { return 300.0; });
  EXPECT_NEAR(joules_between(samples, 4 * kPeriod, kSecond / 2, kSecond), 150, 1e-9);
  // A hole stands for nothing.
  EXPECT_NEAR(joules_between({{0, 300}, {kSecond, 300}}, 4 * kPeriod, 0, kSecond), 0, 1e-9);
}

}  // namespace
}  // namespace assay
