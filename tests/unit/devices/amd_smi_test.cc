// AMD GPUs through a shared object that pretends to be AMD SMI (tests/fakes): every number is one
// that it says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "devices/gpu_telemetry.h"
#include "devices/telemetry_parts.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class AmdSmi : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("FAKE_AMDSMI"); }
  static Result<std::unique_ptr<GpuTelemetry>> open(const char* fault, bool older = false) {
    ::setenv("FAKE_AMDSMI", fault, 1);
    AmdTelemetryLibraries libraries = {{ASSAY_FAKE_AMDSMI}, {"no-rocm-smi.so"}};
    if (older) libraries.rocm_smi = {ASSAY_FAKE_AMD};
    return open_amd_telemetry(libraries);
  }
  static double second_power(const char* layout) {
    const auto telemetry = open(layout);
    EXPECT_TRUE(telemetry);
    return telemetry ? (*telemetry)->read(1).power_w : -1;
  }
};

TEST_F(AmdSmi, NamesItsGpusAndItself) {
  const auto telemetry = open("", true);
  ASSERT_TRUE(telemetry) << telemetry.error().message;
  const auto& gpus = (*telemetry)->gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].source, "AMD SMI");
  EXPECT_EQ(gpus[0].name, "Fake MI325X");
  EXPECT_EQ(gpus[0].uuid, "a9ff74a1-0000-1000-80be-000000000001");
  EXPECT_EQ(gpus[0].bus_id, "0001:c1:00.0");
  EXPECT_EQ(gpus[1].bus_id, "0000:05:01.0");
  EXPECT_EQ(gpus[0].power_reading, "energy counter");
  EXPECT_EQ(gpus[1].power_reading, "average");
}

TEST_F(AmdSmi, PowerIsTheCountersDifferenceWhereThereIsOne) {
  const auto telemetry = open("");
  ASSERT_TRUE(telemetry);
  EXPECT_TRUE(std::isnan((*telemetry)->read(0).power_w)) << "nothing to take a difference from";
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const GpuReading reading = (*telemetry)->read(0);
  EXPECT_NEAR(reading.power_w, 300, 0.1);
  EXPECT_EQ(reading.sm_clock_mhz, 2100);
  EXPECT_EQ(reading.memory_clock_mhz, 1300);
  EXPECT_EQ(reading.gpu_util_percent, 97);
  EXPECT_TRUE(std::isnan(reading.memory_util_percent)) << "told as not there";
  EXPECT_EQ(reading.memory_used_bytes, 1 << 30);
  EXPECT_EQ(reading.temperature_c, 71);
  EXPECT_EQ((*telemetry)->read(1).temperature_c, 55) << "the edge, in thousandths";
}

TEST_F(AmdSmi, DetectsBothLayoutsOfThePower) {
  EXPECT_EQ(second_power(""), 250);
  EXPECT_EQ(second_power("old_layout"), 250);
  EXPECT_TRUE(std::isnan(second_power("power_zero_average"))) << "fits neither layout";
  EXPECT_TRUE(std::isnan(second_power("no_power")));
}

TEST_F(AmdSmi, FallsBackToRocmSmi) {
  for (const char* fault : {"no_start", "no_gpu", "too_old"}) {
    const auto telemetry = open(fault, true);
    ASSERT_TRUE(telemetry) << fault;
    EXPECT_EQ((*telemetry)->gpus().front().source, "ROCm-SMI");
  }
  const auto neither = open("no_start");
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().message, HasSubstr("starting AMD SMI failed: NO_PERM"));
  EXPECT_THAT(neither.error().message, HasSubstr("groups render and video"));
  EXPECT_THAT(neither.error().message, HasSubstr("ROCm-SMI is not installed here"));
}

TEST_F(AmdSmi, ReadsNothingOfAVersionWithAnotherPowerLayout) {
  const auto telemetry = open("too_old");
  ASSERT_FALSE(telemetry);
  EXPECT_THAT(telemetry.error().message,
              HasSubstr("AMD SMI 23 is not read: ROCm 6.1 and newer have 24 or later"));
}

// amdsmi_power_info_t of ROCm 6.1 (six words) and of 6.4 and later (the socket's 64 bits first).
TEST(SocketPower, IsReadInTheLayoutThatFits) {
  const auto of = [](std::vector<uint32_t> words) {
    words.resize(64, 0);
    return socket_power_w(reinterpret_cast<const unsigned char*>(words.data()));
  };
  constexpr uint32_t kNone = 0xffff'ffff;
  EXPECT_EQ(of({140, kNone, 900, 900, kNone, 750}), 140);
  EXPECT_EQ(of({140, 0xffff, 900}), 140);
  EXPECT_EQ(of({kNone, 92, 900}), 92);
  EXPECT_EQ(of({92, 0, kNone, 92, 800, 0}), 92);
  EXPECT_EQ(of({kNone, 0, 140, kNone}), 140);
  EXPECT_TRUE(std::isnan(of({kNone, kNone, kNone, kNone})));
  EXPECT_TRUE(std::isnan(of({0, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(of({140, 0, 900, 850})));
}

}  // namespace
}  // namespace assay
