#include "power/written_by_one.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/random.h"
#include "base/turns.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int64_t kStepNs = 100 * kMillisecondNs;  // of the log, and what a reading is a mean over

// A job of one GPU, by its power in steps of a millisecond, and its trace.
struct OneGpu {
  struct Run {
    std::string name;
    int64_t start_ns;
    int64_t dur_ns;
  };
  std::vector<Run> runs;
  std::vector<double> watts;

  void run(const std::string& name, int64_t ms, double power_w) {
    runs.push_back(
        {name, static_cast<int64_t>(watts.size()) * kMillisecondNs, ms * kMillisecondNs});
    wait(ms, power_w);
  }
  void wait(int64_t ms, double power_w = 0) {
    watts.insert(watts.end(), static_cast<size_t>(ms), 80 + power_w);
  }
  Trace trace() const {
    TraceMaker maker;
    int number = 0;
    for (const Run& run : runs) {
      maker.call(1, "cudaLaunchKernel", run.start_ns, 1000, ++number);
      maker.kernel(0, 7, run.name, run.start_ns, run.dur_ns, number);
    }
    return maker.build();
  }
  // Readings of the time up to `readings` steps, `late_ns` behind what they show.
  PowerSeries log(SplitMix64& random, int64_t late_ns) const {
    constexpr size_t kPerReading = kStepNs / kMillisecondNs;
    PowerSeries series;
    for (size_t end = kPerReading; end <= watts.size(); end += kPerReading) {
      double mean = 0;
      for (size_t i = end - kPerReading; i < end; ++i) mean += watts[i] / kPerReading;
      const auto t_ns = static_cast<int64_t>(end) * kMillisecondNs;
      series.readings.push_back({t_ns + late_ns, mean + 0.5 * random.normal()});
    }
    return series;
  }
};

// 300 s of three kernels. `repeats`: of what step of the log the work is; 0: of none.
OneGpu made_job(uint64_t seed, int64_t repeats) {
  SplitMix64 random(seed);
  OneGpu job;
  const int64_t round_ms = repeats * 100;
  while (job.watts.size() < 300'000) {
    const auto begin = static_cast<int64_t>(job.watts.size());
    const int64_t longest = repeats > 0 ? std::max<int64_t>(round_ms / 4, 1) : 200;
    const auto piece = [&] { return repeats > 0 ? longest : 5 + random.below(longest); };
    job.run("gemm", piece(), 300);
    job.run("norm", repeats > 0 ? 5 + random.below(longest / 2) : piece(), 60);
    job.wait(piece());
    if (random.uniform() < 0.5) job.run("copy", 5 + random.below(longest / 2), 30);
    const auto used = static_cast<int64_t>(job.watts.size()) - begin;
    if (repeats > 0) job.wait(round_ms - used);
  }
  return job;
}

Status checked(const Trace& trace, const PowerSeries& series) {
  return check_turns_before_fit(writers_in_turn(series), series, trace, link_trace(trace), {},
                                "log.csv", "");
}

// One GPU whose work comes back every so many readings: its log alone looks as if several had
// written it, and no clock that is off makes it one to refuse before a fit.
TEST(WrittenByOne, WorkInStepWithTheRowsIsLeftToTheFit) {
  for (int64_t repeats = 2; repeats <= 16; ++repeats) {
    SplitMix64 random(static_cast<uint64_t>(repeats));
    const OneGpu job = made_job(static_cast<uint64_t>(300 + repeats), repeats);
    const Trace trace = job.trace();
    for (const int64_t late_ms : {-2000, -130, 0, 50, 240, 2000}) {
      const PowerSeries series = job.log(random, late_ms * kMillisecondNs);
      std::vector<double> powers;
      for (const PowerReading& reading : series.readings) powers.push_back(reading.power_w);
      EXPECT_GT(written_in_turn(powers), 1U) << repeats;
      EXPECT_TRUE(checked(trace, series)) << repeats << " readings, late by " << late_ms << " ms";
    }
  }
}

// Rows of an idle neighbour between those of a GPU whose work does not repeat itself.
TEST(WrittenByOne, OtherWorkIsRefusedBeforeAFit) {
  for (const size_t gpus : {2U, 3U, 8U, 16U}) {
    SplitMix64 random(gpus);
    const OneGpu job = made_job(400 + gpus, 0);
    PowerSeries series;
    for (const PowerReading& reading : job.log(random, 0).readings) {
      for (size_t gpu = 0; gpu < gpus; ++gpu) {
        const auto apart_ns = static_cast<int64_t>(gpu) * kStepNs / static_cast<int64_t>(gpus);
        const double idle_w = 60 + static_cast<double>(gpu) + 0.5 * random.normal();
        series.readings.push_back({reading.t_ns + apart_ns, gpu == 1 ? reading.power_w : idle_w});
      }
    }
    const Status status = checked(job.trace(), series);
    ASSERT_FALSE(status) << gpus;
    EXPECT_NE(status.error().message.find("as if " + std::to_string(gpus) + " GPUs"),
              std::string::npos)
        << status.error().message;
  }
}

// A log that covers little of the trace tells nothing before a fit.
TEST(WrittenByOne, AFewTurnsAreLeftToTheFit) {
  SplitMix64 random(5);
  const OneGpu job = made_job(500, 0);
  PowerSeries series;
  for (const PowerReading& reading : job.log(random, 0).readings) {
    series.readings.push_back({reading.t_ns + 298 * 1'000'000'000LL, reading.power_w});
    series.readings.push_back({reading.t_ns + 298 * 1'000'000'000LL + kStepNs / 2, 60});
  }
  EXPECT_TRUE(checked(job.trace(), series));
}

// Rows that all have one stamp have no time between them.
TEST(WrittenByOne, OneStampIsLeftToTheFit) {
  SplitMix64 random(6);
  const OneGpu job = made_job(600, 0);
  PowerSeries series;
  const int64_t stamp_ns = job.log(random, 0).readings[1000].t_ns;
  for (const PowerReading& reading : job.log(random, 0).readings) {
    series.readings.push_back({stamp_ns, reading.power_w});
    series.readings.push_back({stamp_ns, 60});
  }
  EXPECT_TRUE(checked(job.trace(), series));
}

}  // namespace
}  // namespace assay
