#include "base/turns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace assay {
namespace {

// Watts of one device that works now and then: 80 W, else 250 W more, by a share of each window.
std::vector<double> worked(SplitMix64& random, size_t count, double period, double jitter) {
  std::vector<double> watts(count, 80);
  for (double begin = random.uniform() * period; begin < static_cast<double>(count);) {
    const double length = period * std::fmax(0.2, 1 + jitter * random.normal());
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<double>(i);
      watts[i] += 250 * std::fmax(0, std::fmin(at + 1, begin + length / 2) - std::fmax(at, begin));
    }
    begin += length;
  }
  for (double& one : watts) one += 0.5 * random.normal();
  return watts;
}

std::vector<double> in_turn(const std::vector<std::vector<double>>& devices) {
  std::vector<double> all;
  for (size_t i = 0; i < devices[0].size(); ++i) {
    for (const std::vector<double>& one : devices) all.push_back(one[i]);
  }
  return all;
}

TEST(Turns, OneThatWorksAmongIdleOnes) {
  for (size_t count : {2, 3, 4, 8, 16}) {
    SplitMix64 random(count);
    std::vector<std::vector<double>> devices;
    for (size_t i = 0; i < count; ++i) {
      devices.push_back(worked(random, 300, i == 1 ? 4.3 : 1e9, 0.05));
      const double idle = random.uniform(-25, 25);
      for (double& watts : devices.back()) watts += idle;
    }
    EXPECT_EQ(written_in_turn(in_turn(devices)), count);
  }
}

// All do the same at the same time, as ranks of one job; they differ by a few watts.
TEST(Turns, RanksOfOneJob) {
  SplitMix64 random(4);
  const std::vector<double> job = worked(random, 500, 21.7, 0.03);
  std::vector<std::vector<double>> devices(4, job);
  const double more[] = {0, 6, -4, 9};
  for (size_t i = 0; i < 4; ++i) {
    for (double& watts : devices[i]) watts += more[i] + 0.5 * random.normal();
  }
  EXPECT_EQ(written_in_turn(in_turn(devices)), 4U);
}

// One device whose work repeats itself, at distances that are no whole number of readings or drift.
TEST(Turns, OneDeviceIsOne) {
  size_t several = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SplitMix64 random(seed);
    const std::vector<double> watts = worked(random, 1000, random.uniform(1.1, 40), 0.05);
    several += written_in_turn(watts) > 1 ? 1 : 0;
  }
  EXPECT_LE(several, 3U);
  EXPECT_EQ(written_in_turn(std::vector<double>(500, 71)), 1U);
  EXPECT_EQ(written_in_turn({}), 1U);
  EXPECT_EQ(written_in_turn({1, 2, 1, 2, 1, 2}), 1U) << "too few to tell";
}

}  // namespace
}  // namespace assay
