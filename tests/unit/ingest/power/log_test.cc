#include "ingest/power/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/bytes.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using testing::TempFile;

constexpr int64_t kSecond = 1'000'000'000;
// 2024-04-03 11:08:14 UTC.
constexpr int64_t kApril = 1'712'142'494 * kSecond;

Result<PowerLog> read(const std::string& text, const std::string& column = "") {
  const TempFile file(text, ".csv");
  return read_power_log(file.path(), {.column = column});
}

std::string error(const std::string& text, const std::string& column = "") {
  const auto log = read(text, column);
  return log ? "accepted" : log.error().describe();
}

TEST(PowerLogReader, NvidiaSmiWithUnits) {
  const auto log = read(
      "timestamp, power.draw [W], utilization.gpu [%]\n"
      "2024/04/03 11:08:14.958, 29.91 W, 0 %\n"
      "2024/04/03 11:08:15.064, 30.01 W, 0 %\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "nvidia_smi");
  EXPECT_EQ(log->clock, LogClock::kLocalTime);
  ASSERT_EQ(log->series.size(), 1u);
  EXPECT_EQ(log->series[0].readings[0].t_ns, kApril + 958'000'000);
  EXPECT_DOUBLE_EQ(log->series[0].readings[1].power_w, 30.01);
}

TEST(PowerLogReader, UtilizationClocksAndStatesComeWithThePower) {
  const auto log = read(
      "timestamp, index, pstate, utilization.gpu [%], clocks.current.sm [MHz], power.draw [W]\n"
      "2024/04/03 11:08:14.958, 0, P0, 98 %, 1980 MHz, 629.9 W\n"
      "2024/04/03 11:08:14.958, 1, P8, 0 %, [N/A], 29.9 W\n"
      "2024/04/03 11:08:15.064, 0, P0, 97 %, 1400 MHz, 630.0 W\n");
  ASSERT_TRUE(log) << log.error().describe();
  ASSERT_EQ(log->series.size(), 2u);
  const PowerSeries& first = log->series[0];
  ASSERT_EQ(first.use.size(), 2u);
  EXPECT_EQ(first.use[1].t_ns, first.readings[1].t_ns);
  EXPECT_DOUBLE_EQ(first.use[1].value, 97);
  EXPECT_DOUBLE_EQ(first.clock_mhz[1].value, 1400);
  EXPECT_DOUBLE_EQ(first.state[0].value, 0);
  EXPECT_TRUE(log->series[1].clock_mhz.empty());
  EXPECT_DOUBLE_EQ(log->series[1].state[0].value, 8);
}

// A sampler of ten rows a second that stamps whole seconds: tegrastats, dmon -o T.
TEST(PowerLogReader, RowsOfOneSecondAreSpreadOverIt) {
  std::string text = "timestamp, index, power.draw [W]\n";
  for (int i = 3; i < 42; ++i) {  // the log begins in the middle of its first second
    text += "2024/04/03 11:08:" + std::to_string(14 + i / 10) + ", 0, " + std::to_string(100 + i) +
            " W\n";
  }
  const auto log = read(text);
  ASSERT_TRUE(log) << log.error().describe();
  const std::vector<PowerReading>& readings = log->series[0].readings;
  ASSERT_EQ(readings.size(), 39u);
  EXPECT_EQ(log->stamps_shared, 39u);
  for (size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(readings[i].t_ns, kApril + static_cast<int64_t>(i + 3) * 100'000'000 + 50'000'000)
        << i;
    EXPECT_EQ(readings[i].power_w, 103 + static_cast<double>(i));
  }
}

TEST(PowerLogReader, StampsAreLeftAsTheyAreWhereASecondHasOne) {
  const auto log = read(
      "timestamp, index, power.draw [W]\n2024/04/03 11:08:14, 0, 1 W\n"
      "2024/04/03 11:08:15, 0, 2 W\n2024/04/03 11:08:15, 0, 3 W\n"
      "2024/04/03 11:08:16, 0, 4 W\n2024/04/03 11:08:17, 0, 5 W\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->stamps_shared, 0u);
  EXPECT_EQ(log->series[0].readings[2].t_ns, kApril + kSecond);
}

// dcgm_structs.h: 2^47 for a real number, just under 2^63 for a whole one.
TEST(PowerLogReader, CellsBetweenSemicolonsWithDecimalCommas) {
  const auto log = read(
      "timestamp;index;power.draw [W]\n"
      "2024/04/03 11:08:14,958;0;29,91 W\n"
      "2024/04/03 11:08:15.064;0;30.01 W\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->series[0].device, "0");
  EXPECT_EQ(log->series[0].readings[0].t_ns, kApril + 958'000'000);
  EXPECT_DOUBLE_EQ(log->series[0].readings[0].power_w, 29.91);
  EXPECT_DOUBLE_EQ(log->series[0].readings[1].power_w, 30.01);
  const auto tabs = read("timestamp\tpower.draw [W]\n2024/04/03 11:08:14.958\t29.91 W\n");
  ASSERT_TRUE(tabs) << tabs.error().describe();
  EXPECT_DOUBLE_EQ(tabs->series[0].readings[0].power_w, 29.91);
}

TEST(PowerLogReader, AColumnOfEnergyThatGrowsIsACounter) {
  const auto log = read(
      "timestamp,energy_j\n"
      "1712142494.0,100\n1712142494.5,140\n1712142495.0,140\n1712142495.5,200\n");
  ASSERT_TRUE(log) << log.error().describe();
  const std::vector<PowerReading>& readings = log->series[0].readings;
  ASSERT_EQ(readings.size(), 2u);
  EXPECT_DOUBLE_EQ(readings[0].power_w, 80);
  EXPECT_DOUBLE_EQ(readings[1].power_w, 60);  // over the second since it changed
  EXPECT_TRUE(log->means);
  EXPECT_EQ(log->series[0].counter.size(), 4u);
  EXPECT_EQ(read("timestamp,index,energy [mJ]\n1712142494,1,1000\n1712142495,1,3000\n")
                ->series[0]
                .readings[0]
                .power_w,
            2);
  EXPECT_THAT(error("timestamp,energy_j\n1712142494,10\n1712142495,9\n1712142496,11\n"),
              HasSubstr("does not grow, so it is not a counter"));
}

// With the counter's range beside it, the step over its end is known too: 262.143 J - 260 J + 5 J.
TEST(PowerLogReader, ACounterThatWrapsAtItsRangeLosesNothing) {
  const char* const rows =
      "1712142494,250000000,262143000\n1712142495,260000000,262143000\n"
      "1712142496,5000000,262143000\n1712142497,17000000,262143000\n";
  for (const char* range : {"max_energy_range_uj", "package-0_max_energy_range_uj"}) {
    const auto log = read(std::string("timestamp,package-0_energy_uj,") + range + "\n" + rows);
    ASSERT_TRUE(log) << log.error().describe();
    EXPECT_EQ(log->counter_resets, 0U);
    ASSERT_EQ(log->series.size(), 1U);
    ASSERT_EQ(log->series[0].readings.size(), 3U);
    EXPECT_NEAR(log->series[0].readings[1].power_w, 7.143, 1e-9);
    EXPECT_NEAR(log->series[0].readings[2].power_w, 12, 1e-9);
  }
  // Back from the middle of its range it did not wrap.
  const auto set_back = read(
      "timestamp,energy_uj,max_energy_range_uj\n1712142494,100000000,262143000\n"
      "1712142495,110000000,262143000\n1712142496,5000000,262143000\n"
      "1712142497,17000000,262143000\n1712142498,29000000,262143000\n");
  ASSERT_TRUE(set_back) << set_back.error().describe();
  EXPECT_EQ(set_back->counter_resets, 1U);
}

// A counter that comes to its end: only the step over it is not known.
TEST(PowerLogReader, ACounterThatWrapsLosesOneStep) {
  const auto log = read(
      "timestamp,package-0_energy_uj\n"
      "1712142494,250000000\n1712142495,260000000\n1712142496,5000000\n1712142497,17000000\n"
      "1712142498,29000000\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->counter_resets, 1u);
  std::vector<double> watts;
  for (const PowerReading& reading : log->series[0].readings) watts.push_back(reading.power_w);
  EXPECT_EQ(watts, (std::vector<double>{10, 12, 12}));
  EXPECT_EQ(log->series[0].counter.size(), 3u);
}

TEST(PowerLogReader, OneMomentOfPrometheusIsRefused) {
  EXPECT_THAT(error("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{"
                    "\"metric\":{\"__name__\":\"DCGM_FI_DEV_POWER_USAGE\",\"gpu\":\"0\"},"
                    "\"value\":[1712142494,\"300\"]}]}}"),
              HasSubstr("/api/v1/query_range"));
}

TEST(PowerLogReader, BlanksOfDcgmAreNotValues) {
  const auto log = read(
      "#Entity   POWER   TOTEC\nID        W       mJ\n"
      "1712142494.0 GPU 0   120.5   1000000\n1712142494.1 GPU 0   140737488355328.0   1012050\n"
      "1712142494.2 GPU 0   121.5   9223372036854775794\n1712142494.3 GPU 0   120.5   1036200\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->series[0].readings.size(), 3u);
  EXPECT_EQ(log->counter_resets, 0u);
  ASSERT_EQ(log->series[0].counter.size(), 3u);
  EXPECT_DOUBLE_EQ(log->series[0].counter.back().joules, 1036.2);
}

TEST(PowerLogReader, InstantaneousPowerIsPreferred) {
  const char* text =
      "timestamp, power.draw [W], power.draw.instant [W]\n"
      "2024/04/03 11:08:14.000, 50, 60\n";
  EXPECT_EQ(read(text)->series[0].readings[0].power_w, 60);
  EXPECT_EQ(read(text, "power.draw [W]")->series[0].readings[0].power_w, 50);
  EXPECT_THAT(error(text, "volts"), HasSubstr("has no column volts"));
}

TEST(PowerLogReader, ColumnsOtherThanPowerAreRefused) {
  for (const char* column :
       {"clocks.sm [MHz]", "temperature.gpu", "utilization.gpu [%]", "memory.used", "fan.speed",
        "pstate", "power.limit [W]", "x [V]", "power_limit_w", "power_cap", "power_percent",
        "power [%]", "enforced.limit [W]", "board_powercapped_w"}) {
    const std::string text =
        "timestamp, " + std::string(column) + "\n2024/04/03 11:08:14.000, 50\n";
    EXPECT_THAT(error(text, column), HasSubstr("is not a possible power draw")) << column;
  }
  for (const char* column : {"module.power.draw [W]", "gpu_w", "socket watts", "board (mW)"}) {
    const std::string text =
        "timestamp, " + std::string(column) + "\n2024/04/03 11:08:14.000, 5000\n";
    EXPECT_TRUE(read(text, column)) << column;
  }
}

TEST(PowerLogReader, OfColumnsThatSayPowerTheOneThatIsDrawnIsRead) {
  const auto log = read("timestamp,power_cap_w,board_power,power_pct\n1712142494,400,55,14\n");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->series[0].readings[0].power_w, 55);
  EXPECT_THAT(error("timestamp,power_limit_w,power_cap\n1712142494,400,400\n"),
              HasSubstr("no column of power"));
}

TEST(PowerLogReader, ANameThatSaysMilliwattsOverWattsIsRefused) {
  EXPECT_THAT(error("timestamp,power_mw\n1712142494,250\n1712142495,251\n"),
              HasSubstr("no device draws so little"));
  const auto log = read("timestamp,power_mw\n1712142494,2500\n1712142495,2510\n");
  ASSERT_TRUE(log);
  EXPECT_NEAR(log->series[0].readings[0].power_w, 2.5, 1e-9);
}

TEST(PowerLogReader, ALastLineWithoutItsEndIsLeftOut) {
  const auto log = read("timestamp,power_w\n1712142494,55\n1712142495,5");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->rows_cut, 1u);
  EXPECT_EQ(log->series[0].readings.size(), 1u);
}

TEST(PowerLogReader, ErrorsInCellsAreCounted) {
  const auto log = read(
      "timestamp, power.draw [W]\n"
      "2024/04/03 11:08:14.000, [Unknown Error]\n"
      "2024/04/03 11:08:15.000, 46.19 W\n"
      "2024/04/03 11:08:16.000, [N/A]\n"
      "20");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->rows, 3u);
  EXPECT_EQ(log->rows_without_power, 2u);
  EXPECT_EQ(log->rows_cut, 1u);
  EXPECT_EQ(log->series[0].readings.size(), 1u);
}

// 1.2 or 1200 joules: the cell does not say.
TEST(PowerLogReader, NumbersWithACommaInsideAreNotRead) {
  const auto log = read(
      "timestamp,total_energy [J]\n"
      "2024/04/03 11:08:14.000,900\n"
      "2024/04/03 11:08:15.000,\"1,200\"\n"
      "2024/04/03 11:08:16.000,1500\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->rows_without_power, 1u);
  EXPECT_EQ(log->counter_resets, 0u);
}

TEST(PowerLogReader, RowsPerGpuWithAndWithoutAnIndex) {
  const auto named = read(
      "timestamp, index, power.draw [W]\n"
      "2024/04/03 11:08:14.000, 0, 10 W\n"
      "2024/04/03 11:08:14.000, 1, 20 W\n"
      "2024/04/03 11:08:15.000, 0, 11 W\n"
      "2024/04/03 11:08:15.000, 1, 21 W\n");
  ASSERT_TRUE(named);
  ASSERT_EQ(named->series.size(), 2u);
  EXPECT_EQ(named->series[1].device, "1");
  EXPECT_EQ(named->series[1].readings[1].power_w, 21);
  std::string text = "timestamp, power.draw [W]\n";
  for (int i = 0; i < 20; ++i) {
    const std::string second = std::to_string(10 + i);
    for (int gpu = 0; gpu < 4; ++gpu) {
      text += "2024/04/03 11:08:" + second + ".00" + std::to_string(gpu / 2) + ", " +
              std::to_string(100 * (gpu + 1)) + " W\n";
    }
  }
  const auto bare = read(text);
  ASSERT_TRUE(bare) << bare.error().describe();
  ASSERT_EQ(bare->series.size(), 4u);
  EXPECT_EQ(bare->series[2].readings.size(), 20u);
  EXPECT_EQ(bare->series[2].readings[7].power_w, 300);
}

TEST(PowerLogReader, Milliwatts) {
  EXPECT_DOUBLE_EQ(read("timestamp, power.draw [mW]\n2024/04/03 11:08:14, 29910\n")
                       ->series[0]
                       .readings[0]
                       .power_w,
                   29.91);
  EXPECT_DOUBLE_EQ(
      read("timestamp,power_w\n2024-04-03T11:08:14Z,29910 mW\n")->series[0].readings[0].power_w,
      29.91);
  EXPECT_THAT(error("timestamp, power.draw [W]\n2024/04/03 11:08:14, 299100\n"),
              HasSubstr("line 2: '299100' cannot be watts"));
}

TEST(PowerLogReader, EpochStampsByTheirSize) {
  for (const char* stamp : {"1712142494", "1712142494000", "1712142494000000",
                            "1712142494000000000", "2024-04-03T11:08:14Z"}) {
    const auto log = read(std::string("timestamp,power_w\n") + stamp + ",5\n");
    ASSERT_TRUE(log) << stamp;
    EXPECT_EQ(log->series[0].readings[0].t_ns, kApril) << stamp;
    EXPECT_EQ(log->clock, LogClock::kEpoch) << stamp;
  }
}

TEST(PowerLogReader, TimesWithoutADateGoPastMidnight) {
  const auto log = read("timestamp,power_w\n23:59:59.500,5\n00:00:00.500,6\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->clock, LogClock::kTimeOfDay);
  EXPECT_EQ(log->series[0].readings[1].t_ns - log->series[0].readings[0].t_ns, kSecond);
}

TEST(PowerLogReader, ClockThatJumpsBackIsRefused) {
  EXPECT_THAT(error("timestamp,power_w\n1712142494,5\n1712142490,6\n"),
              HasSubstr("jumps back by 4000 ms"));
  // Rows of two writers a few milliseconds out of order are sorted and counted.
  const auto log = read("t_ns,power_w\n5000000,5\n4000000,6\n");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->rows_out_of_order, 1u);
  EXPECT_EQ(log->series[0].readings[0].power_w, 6);
}

TEST(PowerLogReader, AmdUprofSumsItsSockets) {
  const auto log = read(
      "AMDPROFILER POWER PROFILE REPORT\n\nPROFILE DETAILS\n"
      "Profile Start Time:,Apr-03-2024_11-08-14,\n\nPROFILE RECORDS\n"
      "RecordId,Timestamp,socket0-package-power,socket1-package-power,core0-power,\n"
      "1,11:08:14:035,  172.47,   89.03,    5.24,\n"
      "2,11:08:14:135,  177.14,   91.29,    5.19,\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "amd_uprof");
  EXPECT_EQ(log->series[0].readings[0].t_ns, kApril + 35'000'000);
  EXPECT_NEAR(log->series[0].readings[1].power_w, 268.43, 1e-9);
}

TEST(PowerLogReader, TakesTheSamplersFile) {
  const auto log = read(
      "# assay samples 1\n# cpus: 0 1\n"
      "t_ns,monotonic_ns,device,power_w,energy_j,cpu_util_percent\n"
      "1712142494035000000,7,cpu,,,\n"
      "1712142494035100000,8,gpu0,412.5,81234.5,\n"
      "# clock step: CLOCK_REALTIME was set by 5 ns before the next row\n"
      "1712142494135000000,9,cpu,,,100.0 0.0\n"
      "1712142494135100000,10,gpu0,,,\n"
      "1712142494235100000,11,gpu0,400,81275.5,\n"
      "# end: ticks=3 missed=0\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "assay");
  EXPECT_EQ(log->clock, LogClock::kEpoch);
  ASSERT_EQ(log->series.size(), 1u);
  EXPECT_EQ(log->series[0].device, "gpu0");
  ASSERT_EQ(log->series[0].readings.size(), 2u);
  EXPECT_EQ(log->series[0].readings[1].t_ns, 1712142494235100000);
  EXPECT_EQ(log->series[0].readings[1].power_w, 400);
  ASSERT_EQ(log->series[0].counter.size(), 2u);
  EXPECT_EQ(log->series[0].counter[0].t_ns, 1712142494035100000);
  EXPECT_EQ(log->series[0].counter[1].joules, 81275.5);
  EXPECT_EQ(log->rows, 3u);  // of GPUs
  EXPECT_EQ(log->rows_without_power, 1u);
}

TEST(PowerLogReader, LogsWithoutTimesOrPowersAreRefused) {
  EXPECT_THAT(error("load model,216.07,324.83\nload model,217.55,328.91\n"),
              HasSubstr("no column of time"));
  EXPECT_THAT(error("timestamp,volts\n1712142494,5\n"), HasSubstr("no column of power"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("timestamp,power_w\nyesterday,5\n"), HasSubstr("'yesterday' is not a time"));
  EXPECT_THAT(error("timestamp,power_w\n2024/13/41 11:08:14,5\n"), HasSubstr("is not a time"));
  EXPECT_THAT(error("timestamp,power_w\n1712142494,[N/A]\n"),
              HasSubstr("no row has both a time and a power"));
}

}  // namespace
}  // namespace assay
