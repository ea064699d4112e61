#include "power/log_idle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace assay {
namespace {

constexpr WorkSpan kWork{0, 10};

std::vector<TimedPower> updates_of(const std::function<double(double)>& watts) {
  std::vector<TimedPower> updates;
  for (int i = -50; i <= 150; ++i) updates.push_back({i * 0.1, watts(i * 0.1)});
  return updates;
}

LogIdle idle_of(const std::function<double(double)>& watts, const std::vector<TimedUse>& use = {}) {
  return find_log_idle(updates_of(watts), kWork, {}, 0.1, use);
}

bool works(double t_s) { return t_s >= 0 && t_s <= 10; }

TEST(LogIdle, BothSidesOfTheWorkAreIdle) {
  const LogIdle idle = idle_of([](double t) { return works(t) ? 400.0 : t < 0 ? 130.0 : 140.0; });
  ASSERT_TRUE(idle.before && idle.after);
  EXPECT_DOUBLE_EQ(idle.before->level_w, 130);
  EXPECT_DOUBLE_EQ(idle.before->begin_s, -5);
  EXPECT_DOUBLE_EQ(idle.after->level_w, 140);
  EXPECT_DOUBLE_EQ(idle.after->end_s, 15);
  EXPECT_EQ(idle.levels(), (std::vector<double>{130, 140}));
}

TEST(LogIdle, UnrecordedWorkIsNotIdle) {
  // As high as the recorded, in pulses, or level but above the gaps in the work.
  EXPECT_FALSE(idle_of([](double) { return 400.0; }).any());
  EXPECT_FALSE(idle_of([](double t) {
                 const bool pulse = static_cast<int>(t * 10 + 1000) % 7 < 3;
                 return works(t) || pulse ? 400.0 : 130.0;
               }).any());
  EXPECT_FALSE(idle_of([](double t) {
                 const bool pulse = static_cast<int>(t * 10 + 1000) % 7 < 3;
                 return !works(t) ? 250.0 : pulse ? 400.0 : 130.0;
               }).any());
}

TEST(LogIdle, AStateHeldAfterTheWorkIsNotIdle) {
  const auto watts = [](double t) {
    return works(t) ? 200.0 : t < 0 ? 77.0 : t < 11.5 ? 105.0 : 80.0;
  };
  const LogIdle idle = idle_of(watts);
  EXPECT_TRUE(idle.before);
  EXPECT_FALSE(idle.after);
  // A sensor with a mean of 1 s passes by.
  EXPECT_TRUE(idle_of([](double t) {
                return works(t) ? 200.0 : t < 0 ? 80.0 : std::max(80.0, 200 - (t - 10) * 120);
              }).after);
}

TEST(LogIdle, UtilisationDecides) {
  std::vector<TimedUse> none;
  std::vector<TimedUse> some;
  for (int i = -50; i <= 150; ++i) {
    none.push_back({i * 0.1, works(i * 0.1) ? 100.0 : 0.0});
    some.push_back({i * 0.1, 40});
  }
  const auto close = [](double t) { return works(t) ? 150.0 : 130.0; };
  EXPECT_FALSE(idle_of(close).any());
  EXPECT_TRUE(idle_of(close, none).before);
  const auto clear = [](double t) { return works(t) ? 400.0 : 130.0; };
  EXPECT_TRUE(idle_of(clear).before);
  EXPECT_FALSE(idle_of(clear, some).any());
}

}  // namespace
}  // namespace assay
