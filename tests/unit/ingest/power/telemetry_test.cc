#include "ingest/power/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "support/scratch.h"

namespace assay {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kAprilNs = 1'712'142'494'000'000'000;  // 2024-04-03 11:08:14 UTC

Result<TelemetryLog> read_samples(const std::string& text) {
  const std::string path = testing::scratch_path(".csv");
  std::ofstream(path, std::ios::binary) << text;
  auto log = read_telemetry(path);
  std::remove(path.c_str());
  return log;
}
std::string refusal(const std::string& text) {
  const auto log = read_samples(text);
  EXPECT_FALSE(log) << text;
  return log ? "" : log.error().describe();
}
const TelemetrySeries& series(const TelemetryLog& log, TelemetryQuantity quantity,
                              const std::string& device = "") {
  for (const TelemetrySeries& one : log.series) {
    if (one.quantity == quantity && one.device == device) return one;
  }
  ADD_FAILURE() << "no such series";
  return log.series.front();
}

const std::string kHead =
    "# assay samples 1\n# tool: assay 0.1.0\n# cpus: 0 1\n# cores: 0:4 0:4\n"
    "# device gpu0: vendor=nvidia index=3 uuid=GPU-1b2c bus=0000:3B:00.0 power=instant "
    "name=NVIDIA H200\n"
    "t_ns,monotonic_ns,device,power_w,sm_clock_mhz,cpu_util_percent\n";

std::string row(int64_t wall_ns, int64_t monotonic_ns, const std::string& rest) {
  return std::to_string(wall_ns) + "," + std::to_string(monotonic_ns) + "," + rest + "\n";
}

TEST(TelemetryReader, SamplesCarryCoresTopologyAndGpus) {
  const auto log =
      read_samples(kHead + row(kAprilNs, 0, "cpu,,,") + row(kAprilNs + 1, 1, "gpu0,400,1980,") +
                   row(kAprilNs + 100 * kMs, 100 * kMs, "cpu,,,100.0 -") +
                   row(kAprilNs + 100 * kMs + 1, 100 * kMs + 1, "gpu0,,1965,") +
                   "# end: ticks=2 missed=4 clock_steps=0 cpu_s=0.1 elapsed_s=0.1\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "assay_samples");
  EXPECT_EQ(log->clock, LogClock::kEpoch);
  EXPECT_THAT(log->cpu.cpus, ElementsAre(0, 1));
  ASSERT_EQ(log->cpu.t_ns.size(), 1U);
  EXPECT_EQ(log->cpu.from_ns[0], kAprilNs);
  EXPECT_EQ(log->cpu.percent[0], 100);
  EXPECT_TRUE(std::isnan(log->cpu.percent[1]));
  ASSERT_EQ(log->cores.size(), 2U);
  EXPECT_EQ(log->cores[1].core, 4);
  ASSERT_EQ(log->devices.size(), 1U);
  EXPECT_EQ(log->devices[0].index, 3);
  EXPECT_EQ(log->devices[0].uuid, "GPU-1b2c");
  EXPECT_EQ(log->devices[0].name, "NVIDIA H200");
  EXPECT_THAT(series(*log, TelemetryQuantity::kSmClock, "gpu0").value, ElementsAre(1980, 1965));
  EXPECT_THAT(series(*log, TelemetryQuantity::kPower, "gpu0").value, ElementsAre(400));
  EXPECT_EQ(log->cells_without_value, 1U);
  EXPECT_EQ(log->ticks_missed, 4U);
  EXPECT_FALSE(log->unfinished);
}

TEST(TelemetryReader, ASetClockSplitsTheLogAndTheLongestPartStays) {
  std::string text = kHead;
  for (int i = 0; i < 8; ++i) {
    const int64_t set = i < 3 ? 3'600'000 * kMs : 0;  // an hour back after the third
    text += row(kAprilNs + set + i * 100 * kMs, i * 100 * kMs, "gpu0,400,1980,");
  }
  const auto log = read_samples(text);
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->clock_steps, 1U);
  EXPECT_EQ(log->rows_beyond_steps, 3U);
  EXPECT_EQ(series(*log, TelemetryQuantity::kPower, "gpu0").t_ns.front(), kAprilNs + 300 * kMs);
  EXPECT_TRUE(log->unfinished);
}

TEST(TelemetryReader, AnotherVersionOfTheFormatIsRefused) {
  std::string text = kHead + row(kAprilNs, 0, "gpu0,400,1980,");
  text.replace(text.find("samples 1"), 9, "samples 2");
  EXPECT_THAT(refusal(text), HasSubstr("version"));
  EXPECT_THAT(refusal(kHead + row(kAprilNs, 0, "cpu,,,") + row(kAprilNs + kMs, kMs, "cpu,,,1 2 3")),
              HasSubstr("not the utilisation of 2 processors"));
  EXPECT_THAT(refusal(kHead + "x,y,gpu0,1,1,\n"), HasSubstr("line 7"));
}

TEST(TelemetryReader, NvidiaSmiWithUnitsInCellsOrHeaders) {
  const auto cells = read_samples(
      "timestamp, index, clocks.current.sm [MHz], clocks.current.memory [MHz], power.draw [W], "
      "utilization.gpu [%], memory.used [MiB], temperature.gpu\n"
      "2024/04/03 11:08:14.958, 0, 1410 MHz, 1593 MHz, 96.35 W, 53 %, 411 MiB, 37\n"
      "2024/04/03 11:08:14.960, 1, 210 MHz, 1593 MHz, [N/A], 0 %, 3 MiB, 30\n");
  ASSERT_TRUE(cells) << cells.error().describe();
  EXPECT_EQ(cells->format, "nvidia_smi");
  EXPECT_EQ(cells->clock, LogClock::kLocalTime);
  EXPECT_THAT(series(*cells, TelemetryQuantity::kSmClock, "1").value, ElementsAre(210));
  EXPECT_THAT(series(*cells, TelemetryQuantity::kMemoryUsed, "0").value,
              ElementsAre(411.0 * 1024 * 1024));
  EXPECT_THAT(series(*cells, TelemetryQuantity::kPower, "0").t_ns,
              ElementsAre(kAprilNs + 958 * kMs));
  EXPECT_EQ(cells->cells_without_value, 1U);
  ASSERT_EQ(cells->devices.size(), 2U);
  EXPECT_EQ(cells->devices[1].index, 1);

  const auto headers = read_samples(
      "timestamp,clocks.gr [MHz],power.draw [mW],utilization.memory "
      "[%]\n1712142494,1410,96350,40\n");
  ASSERT_TRUE(headers) << headers.error().describe();
  EXPECT_EQ(headers->clock, LogClock::kEpoch);
  EXPECT_THAT(series(*headers, TelemetryQuantity::kPower).value, ElementsAre(DoubleEq(96.35)));
  EXPECT_THAT(series(*headers, TelemetryQuantity::kSmClock).value, ElementsAre(1410));
}

TEST(TelemetryReader, TheInstantaneousPowerIsTaken) {
  const auto log = read_samples(
      "timestamp,power.draw [W],power.draw.instant [W],power.limit "
      "[W]\n1712142494,56.12,60.42,400\n");
  ASSERT_TRUE(log);
  EXPECT_THAT(series(*log, TelemetryQuantity::kPower).value, ElementsAre(60.42));
}

TEST(TelemetryReader, ImpossibleValuesNameTheLine) {
  EXPECT_THAT(refusal("timestamp,utilization.gpu [%]\n1712142494,50\n1712142495,150\n"),
              HasSubstr("line 3"));
  EXPECT_THAT(refusal("timestamp,power.draw [W]\n1712142494,-5\n"), HasSubstr("cannot be"));
  EXPECT_THAT(refusal("timestamp,clocks.sm\n1712142494,[Unknown Error]\n"),
              HasSubstr("no row has both a time and a value"));
  EXPECT_THAT(refusal("timestamp,clocks.sm\nyesterday,1410\n"),
              HasSubstr("'yesterday' is not a time"));
  EXPECT_THAT(refusal("load model,216.07\n"), HasSubstr("not a known telemetry log"));
  EXPECT_THAT(refusal("timestamp,clocks.sm\n1712142494,1410\n1712142400,1410\n"),
              HasSubstr("jumps back"));
  EXPECT_THAT(refusal("gpu,ts,current_gfxclk\n0,2000000000000000000,2100\n"
                      "0,-2000000000000000000,2100\n"),
              HasSubstr("jumps back by 4000000000000 ms"));
  EXPECT_THAT(refusal("gpu,ts,current_gfxclk\n0,-9200000000000000000,2100\n"),
              HasSubstr("further away than any trace's"));
}

TEST(TelemetryReader, ATraceInItsPlaceIsCalledATrace) {
  EXPECT_THAT(refusal(" \n{\"traceEvents\": [1, \"a\nb\"]}"),
              HasSubstr("this is a trace of the PyTorch profiler"));
  EXPECT_THAT(refusal("[{\"ph\": \"X\"}]"), HasSubstr("this is a trace of the PyTorch profiler"));
  EXPECT_THAT(refusal("{\"a\": 1}"), HasSubstr("is JSON, as traces are"));
  EXPECT_THAT(refusal(std::string("SQLite format 3\0\1\2", 18)), HasSubstr("SQLite database"));
  EXPECT_THAT(refusal(std::string("ASSAY\0\1\2", 8)), HasSubstr("binary file"));
}

TEST(TelemetryReader, ChoppersColumns) {
  const auto cpu =
      read_samples("cpu,ts,percent\n0,1000,5.0\n1,1000,0.0\n1,2000,75.0\n0,2000,50.0\n");
  ASSERT_TRUE(cpu) << cpu.error().describe();
  EXPECT_EQ(cpu->format, "chopper_cpu");
  EXPECT_EQ(cpu->clock, LogClock::kUnknownOrigin);
  // The first percentages are since an unknown moment.
  EXPECT_THAT(cpu->cpu.t_ns, ElementsAre(2000));
  EXPECT_THAT(cpu->cpu.percent, ElementsAre(50, 75));
  EXPECT_TRUE(cpu->cores.empty());
  const auto gpu = read_samples(
      "gpu,ts,current_gfxclk,current_uclk,current_socket_power\n2,1000,2100,1300,750\n"
      "3,1001,2050,1300,740\n");
  ASSERT_TRUE(gpu) << gpu.error().describe();
  EXPECT_EQ(gpu->format, "chopper_gpu");
  EXPECT_THAT(series(*gpu, TelemetryQuantity::kMemoryClock, "3").value, ElementsAre(1300));
  EXPECT_THAT(refusal("cpu,ts,percent\n0,1000,101\n"), HasSubstr("line 2"));
}

TEST(TelemetryReader, ALineWithoutItsEndIsLeftOut) {
  const auto log = read_samples("timestamp,clocks.sm\n1712142494,1410\n1712142495,14");
  ASSERT_TRUE(log);
  EXPECT_THAT(series(*log, TelemetryQuantity::kSmClock).value, ElementsAre(1410));
  EXPECT_EQ(log->rows_cut, 1U);
}

TEST(TelemetryReader, UprofAndRecordingsGiveTheirPower) {
  const auto uprof = read_samples(
      "AMDPROFILER POWER PROFILE REPORT\n\nPROFILE DETAILS\n"
      "Profile Start Time:,Apr-03-2024_11-08-14,\n\nPROFILE RECORDS\n"
      "RecordId,Timestamp,socket0-package-power,socket1-package-power,core0-power,\n"
      "1,11:08:14:035,  172.47,   89.03,    5.24,\n2,11:08:14:135,  177.14,   91.29,    5.19,\n");
  ASSERT_TRUE(uprof) << uprof.error().describe();
  EXPECT_EQ(uprof->format, "amd_uprof");
  EXPECT_NEAR(series(*uprof, TelemetryQuantity::kCpuPower).value[1], 268.43, 1e-9);
  EXPECT_TRUE(uprof->devices.empty());
  const auto own = read_samples("t_ns,power_w\n1712142494000000000,400\n1712142494100000000,410\n");
  ASSERT_TRUE(own) << own.error().describe();
  EXPECT_THAT(series(*own, TelemetryQuantity::kPower).value, ElementsAre(400, 410));
}

// amd-smi metric: a clock for each compute die, of which some are told. "mem" beside "hotspot" is a
// temperature, and no load.
TEST(TelemetryReader, ClocksOfComputeDiesAreTheirMean) {
  const auto log = read_samples(
      "timestamp,gpu,gfx_activity,umc_activity,socket_power,gfx_0_clk,gfx_0_max_clk,gfx_1_clk,"
      "gfx_2_clk,mem_0_clk,hotspot,mem\n"
      "1712142494,0,95,40,650,2000,2100,1900,N/A,1300,78,60\n"
      "1712142495,0,0,0,140,N/A,2100,N/A,N/A,900,55,50\n");
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "amd_smi_csv");
  EXPECT_THAT(series(*log, TelemetryQuantity::kSmClock, "0").value, ElementsAre(1950));
  EXPECT_THAT(series(*log, TelemetryQuantity::kMemoryClock, "0").value, ElementsAre(1300, 900));
  EXPECT_THAT(series(*log, TelemetryQuantity::kGpuUtil, "0").value, ElementsAre(95, 0));
  EXPECT_THAT(series(*log, TelemetryQuantity::kMemoryUtil, "0").value, ElementsAre(40, 0));
  EXPECT_THAT(series(*log, TelemetryQuantity::kTemperature, "0").value, ElementsAre(78, 55));
}

// The load of a GPU is its own where it is told, else the mean of its dies', of all partitions.
TEST(TelemetryReader, LoadsOfComputeDiesAreTheirMean) {
  const auto metric = [](const char* time, const char* own) {
    return std::string(R"({"gpu_data": [{"timestamp": )") + time + R"(, "gpu": 0,
      "usage": {"gfx_activity": )" +
           own + R"(, "umc_activity": {"value": 12, "unit": "%"},
        "gfx_busy_inst": {"xcp_0": [{"value": 90, "unit": "%"}, "N/A"], "xcp_1": [30, 60]}},
      "power": {"socket_power": {"value": 650, "unit": "W"}},
      "clock": {"gfx_0": {"clk": {"value": 2000, "unit": "MHz"}}, "gfx_1": {"clk": "N/A"},
        "gfx_2": {"clk": {"value": 1700, "unit": "MHz"}},
        "mem_0": {"clk": {"value": 1300, "unit": "MHz"}}},
      "temperature": {"hotspot": {"value": 71, "unit": "C"}},
      "mem_usage": {"used_vram": {"value": 3, "unit": "MB"}}}]})";
  };
  const auto log = read_samples(metric("1712142494", R"({"value": 99, "unit": "%"})") +
                                metric("1712142495", R"("N/A")"));
  ASSERT_TRUE(log) << log.error().describe();
  EXPECT_EQ(log->format, "amd_smi_json");
  EXPECT_THAT(series(*log, TelemetryQuantity::kGpuUtil, "0").value, ElementsAre(99, 60));
  EXPECT_THAT(series(*log, TelemetryQuantity::kMemoryUtil, "0").value, ElementsAre(12, 12));
  EXPECT_THAT(series(*log, TelemetryQuantity::kSmClock, "0").value, ElementsAre(1850, 1850));
  EXPECT_THAT(series(*log, TelemetryQuantity::kMemoryClock, "0").value, ElementsAre(1300, 1300));
  EXPECT_THAT(series(*log, TelemetryQuantity::kTemperature, "0").value, ElementsAre(71, 71));
  EXPECT_THAT(series(*log, TelemetryQuantity::kMemoryUsed, "0").value[0], 3 * 1048576.0);
  EXPECT_THAT(series(*log, TelemetryQuantity::kPower, "0").value, ElementsAre(650, 650));
}

}  // namespace
}  // namespace assay
