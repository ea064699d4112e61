#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/power/section.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

EnergyPart part(const char* name, double joules, double low, double high) {
  EnergyPart made;
  made.name = name;
  made.energy_uj = static_cast<int64_t>(joules * 1e6);
  made.low_j = low;
  made.high_j = high;
  return made;
}

EnergyReport report_of(std::vector<EnergyPart> kernels) {
  EnergyReport r;
  r.follows = true;
  r.covered_ns = 10'000'000'000;
  r.mean_w = 100;
  r.total_uj = 1'000'000'000;
  for (const EnergyPart& kernel : kernels) r.kernels_uj += kernel.energy_uj;
  r.base_uj = 400'000'000;
  r.unattributed_uj = r.total_uj - r.base_uj - r.kernels_uj;
  r.kernels_low_j = 480;
  r.kernels_high_j = 520;
  r.kernels = std::move(kernels);
  return r;
}

TEST(EnergyWords, TheLargestPartIsNamedWhereItIsSure) {
  const auto sure =
      energy_verdict_words(report_of({part("gemm", 300, 290, 310), part("copy", 200, 190, 210)}));
  EXPECT_THAT(sure[0], AllOf(HasSubstr("1.00 kJ in 10.0 s"), HasSubstr("50.0 % goes to kernels")));
  EXPECT_EQ(sure[1], "The largest part goes to gemm: 300 J (290 J to 310 J).");
  const auto close =
      energy_verdict_words(report_of({part("gemm", 260, 220, 300), part("copy", 240, 200, 280)}));
  EXPECT_EQ(
      close[1],
      "The largest parts go to gemm: 260 J (220 J to 300 J) and copy: 240 J (200 J to 280 J).");
}

// An interval over a factor of two names no winner, and says why.
TEST(EnergyWords, AWideIntervalNamesNoWinner) {
  EnergyReport r = report_of({part("gemm", 300, 100, 450)});
  r.kernels[0].why = "runs_alike:base";
  const auto words = energy_verdict_words(r);
  EXPECT_THAT(words[1], AllOf(HasSubstr("is not known"), HasSubstr("100 J to 450 J"),
                              HasSubstr("because it hardly ever stops")));
}

TEST(EnergyWords, SamplesThatDoNotFollowNameNoKernel) {
  EnergyReport r = report_of({part("gemm", 300, 0, 450)});
  r.follows = false;
  const auto words = energy_verdict_words(r);
  EXPECT_THAT(words[0],
              HasSubstr("do not follow the trace: kernels took anything from 0 to 520 J"));
  EXPECT_THAT(words, Not(Contains(HasSubstr("gemm"))));
  r.kernels_high_j = 2 * static_cast<double>(r.total_uj) * 1e-6;
  EXPECT_THAT(energy_verdict_words(r)[0], HasSubstr("kernels took anything from nothing to all"));
}

TEST(EnergyWords, APartTimeSensorIsReadByItsModel) {
  EnergyReport r = report_of({part("gemm", 500, 480, 520)});
  r.aliased = true;
  r.model_low_j = 880;
  r.model_high_j = 920;
  EXPECT_THAT(energy_verdict_words(r)[0],
              AllOf(HasSubstr("900 J (880 J to 920 J) in 10.0 s by the model"),
                    HasSubstr("with a plain sum of 1.00 kJ"), HasSubstr("55.6 % goes to kernels")));
}

// The lag is told where it is surely not 0, and several where there are several.
TEST(EnergyWords, ReportsDelayAndGain) {
  EnergyReport r = report_of({part("gemm", 500, 480, 520)});
  r.lag_ns = {30e6, 29e6, 31e6, -150e6, 250e6};
  r.gain = {0.95, 0.95 * 0.97, 0.95 * 1.03, "a meter"};
  const auto words = energy_verdict_words(r);
  EXPECT_THAT(words, Contains(HasSubstr("The log is 30.0 ms behind the trace")));
  EXPECT_THAT(words, Contains(HasSubstr("A meter would read 5.3 % more (2.2 % to 8.5 %)")));
  r.modes = {{30e6, 0}, {-60e6, 0.4}};
  EXPECT_THAT(energy_verdict_words(r), Contains(HasSubstr("several offsets")));
  r.modes.clear();
  r.lag_ns = {3e6, -1e6, 7e6, -150e6, 250e6};
  EXPECT_THAT(energy_verdict_words(r), Not(Contains(HasSubstr("behind"))));
}

}  // namespace
}  // namespace assay
