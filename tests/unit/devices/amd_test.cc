// The AMD path over a shared object that pretends to be HIP, hiprtc, ROCm-SMI and rocBLAS
// (tests/fakes).

#include "devices/amd.h"
#include "devices/amd_parts.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/fake_gpu_test.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

AmdLibraries amd_fakes() {
  const std::vector<std::string> fake = {ASSAY_FAKE_AMD};
  return {.hip = fake,
          .amd_smi = {"none.so"},
          .smi = fake,
          .blas = fake,
          .collectives = fake,
          .compiler = fake};
}

class Amd : public testing::FakeGpuTest {
 protected:
  static std::string error_with(const char* fault, const AmdLibraries& libraries = amd_fakes()) {
    return error_of(fault, [&libraries] { return open_amd_device(0, libraries); });
  }
  // Logs until there are some samples: each is of the idle GPU.
  static void expect_idle_power(const char* fault) {
    set_fault(fault);
    auto device = open_amd_device(0, amd_fakes());
    ASSERT_TRUE(device) << device.error().message;
    logged(**device, {}, 0, 0, [](const std::vector<PowerSample>& found) {
      for (const PowerSample& sample : found) EXPECT_NEAR(sample.power_w, 100, 0.05);
      return found.size() >= 10;
    });
  }
};

TEST_F(Amd, FactsComeFromHipAndRocmSmi) {
  const auto device = open_amd_device(0, amd_fakes());
  ASSERT_TRUE(device) << device.error().message;
  const DeviceFacts& facts = (*device)->facts();
  EXPECT_EQ(facts.name, "Fake MI300X");
  EXPECT_EQ(facts.driver, "6.1.0");
  EXPECT_EQ(facts.uuid, "AMD-0000000000001234");
  EXPECT_DOUBLE_EQ(facts.power_limit_w, 750);
  EXPECT_EQ(facts.documented.mode, SensorMode::kEnergyCounter);
  EXPECT_EQ(facts.documented.window_ns, 1'000'000);
}

// AMD SMI knows the GPU at HIP's address, whatever partition: 300 W by its counter, and not the 100
// W that ROCm-SMI's tells beside it.
TEST_F(Amd, AmdSmiGoesBeforeRocmSmi) {
  ::setenv("FAKE_AMDSMI", "domain0", 1);
  AmdLibraries libraries = amd_fakes();
  libraries.amd_smi = {ASSAY_FAKE_AMDSMI};
  auto device = open_amd_device(0, libraries);
  ASSERT_TRUE(device) << device.error().message;
  const DeviceFacts& facts = (*device)->facts();
  EXPECT_EQ(facts.driver, "6.12.12");
  EXPECT_EQ(facts.uuid, "a9ff74a1-0000-1000-80be-000000000001");
  EXPECT_DOUBLE_EQ(facts.power_limit_w, 1000);
  EXPECT_THAT(facts.documented.source, HasSubstr("(AMD SMI)"));
  logged(**device, {}, 0, 0, [](const std::vector<PowerSample>& found) {
    // A unit of 15.259 uJ more or less over a quarter of a millisecond, which a busy machine makes
    // shorter now and then: a poll that came late is followed by one in time.
    for (const PowerSample& sample : found) EXPECT_NEAR(sample.power_w, 300, 150);
    double sum = 0;
    for (const PowerSample& sample : found) sum += sample.power_w;
    return found.size() >= 10 && std::abs(sum / static_cast<double>(found.size()) - 300) < 10;
  });
  // Another GPU's address, no accumulator: ROCm-SMI as before.
  for (const char* fault : {"none", "no_energy", "no_start", "no_gpu"}) {
    ::setenv("FAKE_AMDSMI", fault, 1);
    device = open_amd_device(0, libraries);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ((*device)->facts().driver, "6.1.0") << fault;
    EXPECT_THAT((*device)->facts().documented.source, HasSubstr("(ROCm-SMI)")) << fault;
  }
  ::unsetenv("FAKE_AMDSMI");
  libraries.smi = {"none.so"};
  EXPECT_THAT(error_of("none", [&] { return open_amd_device(0, libraries); }),
              HasSubstr("AMD SMI does not know the GPU at"));
}

// ---- the dies of an MI300A ----

class AmdDies : public Amd {
 protected:
  void TearDown() override {
    ::unsetenv("FAKE_AMDSMI");
    ::unsetenv("FAKE_HSMP");
    Amd::TearDown();
  }
  // hsmp: what the pretended library has of it; device: a file that is there, or not.
  static Result<std::unique_ptr<PowerDevice>> open(const char* hsmp,
                                                   const char* device = "/dev/null",
                                                   const char* library = ASSAY_FAKE_AMDSMI) {
    ::setenv("FAKE_AMDSMI", "domain0", 1);
    if (hsmp != nullptr) ::setenv("FAKE_HSMP", hsmp, 1);
    AmdLibraries libraries = amd_fakes();
    libraries.amd_smi = {library};
    libraries.hsmp_device = device;
    return open_amd_device(0, libraries);
  }
  static std::string told(const Result<std::unique_ptr<PowerDevice>>& device) {
    EXPECT_TRUE(device) << device.error().message;
    return device ? (*device)->facts().parts : "";
  }
  struct Means {
    double whole = 0, xcd = 0, iod = 0, hbm = 0;
    size_t samples = 0, with_parts = 0;
  };
  static Means means(PowerDevice& device) {
    Means sums;
    const auto samples =
        logged(device, {}, 0, 0, [](const auto& found) { return found.size() >= 10; });
    for (const PowerSample& sample : samples) {
      ++sums.samples;
      if (!std::isfinite(sample.xcd_w)) continue;
      ++sums.with_parts;
      sums.whole += sample.power_w;
      sums.xcd += sample.xcd_w;
      sums.iod += sample.iod_w;
      sums.hbm += sample.hbm_w;
    }
    for (double* sum : {&sums.whole, &sums.xcd, &sums.iod, &sums.hbm}) {
      *sum /= static_cast<double>(sums.with_parts);
    }
    return sums;
  }
};

// Half of the package's 300 W in the compute dies, a fifth in the I/O dies, 15 % in memory, by the
// table of the second socket, whose energy is the GPU's.
TEST_F(AmdDies, PowersOfTheDiesAreThoseOfTheGpusSocket) {
  const auto device = open("mi300a");
  EXPECT_THAT(told(device), HasSubstr("HSMP metrics table of socket 1"));
  const Means found = means(**device);
  EXPECT_GE(found.with_parts, found.samples - 1);
  EXPECT_NEAR(found.whole, 300, 10);
  EXPECT_NEAR(found.xcd, 150, 5);
  EXPECT_NEAR(found.iod, 60, 2);
  EXPECT_NEAR(found.hbm, 45, 2);
  EXPECT_LT(found.xcd + found.iod + found.hbm, found.whole);
}

TEST_F(AmdDies, ReportsTheReasonIfTheyAreUnknown) {
  const auto expect_whole = [](const Result<std::unique_ptr<PowerDevice>>& device,
                               const char* reason) {
    EXPECT_THAT(told(device), HasSubstr(reason));
    ASSERT_TRUE(device);
    EXPECT_EQ((*device)->facts().driver, "6.12.12") << "still AMD SMI";
    EXPECT_EQ(means(**device).with_parts, 0U) << reason;
  };
  expect_whole(open("mi300a", "/no-such-driver"), "lacks the HSMP driver");
  expect_whole(open("mi300a", "/dev/null", ASSAY_FAKE_AMDSMI_NO_HSMP),
               "no amdsmi_get_hsmp_metrics_table");
  expect_whole(open("protocol5"), "protocol is 5 here, and only 6 (MI300A)");
  expect_whole(open("no_protocol"), "asking for the protocol of HSMP failed: fake AMD SMI error");
  expect_whole(open("no_table"), "reading HSMP's metrics table failed: fake AMD SMI error");
  expect_whole(open("elsewhere"), "no socket's energy");
  expect_whole(open("twins"), "more than one socket's energy");
  ::unsetenv("FAKE_HSMP");
  expect_whole(open(nullptr), "lists no CPU here");
}

// The table was found, and fails while it is logged: the whole goes on without parts.
TEST_F(AmdDies, ATableThatStopsToAnswerLeavesTheWhole) {
  const auto device = open("stops");
  EXPECT_THAT(told(device), HasSubstr("HSMP metrics table of socket 1"));
  const Means found = means(**device);
  EXPECT_GE(found.samples, 10U);
  EXPECT_EQ(found.with_parts, 0U);
}

// 1 J in 10 ms is 100 W. A counter that went back is not measured, nor time that stood still.
TEST(PartPowers, AreDifferencesByTheTablesOwnClock) {
  const PartUnits before = {1'000'000, {65536, 500, 0}};
  const PartUnits now = {2'000'000, {2 * 65536, 400, 32768}};
  const PartPowers powers = part_powers_w(before, now);
  EXPECT_DOUBLE_EQ(powers[0], 100);
  EXPECT_TRUE(std::isnan(powers[1]));
  EXPECT_DOUBLE_EQ(powers[2], 50);
  EXPECT_TRUE(std::isnan(part_powers_w(now, now)[0]));
  EXPECT_TRUE(std::isnan(part_powers_w(before, {1'000'001, {uint64_t{1} << 40, 0, 0}})[0]));
}

// The accumulator is polled four times a millisecond and changes once: repeats are dropped, and
// what is left is 100 W idle and 500 W loaded, with a unit of 15.259 uJ in a millisecond to spare.
TEST_F(Amd, PowerIsTheAccumulatorsDifference) {
  auto device = open_amd_device(0, amd_fakes());
  ASSERT_TRUE(device);
  const auto kernel = (*device)->prepare("gemm:64:f32");
  ASSERT_TRUE(kernel) << kernel.error().message;
  const auto samples = logged(**device, {}, kernel->id, 250, [](const auto& found) {
    return found.size() >= 10 && reached(found, 100) && reached(found, 500);
  });
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].t_ns - samples[i - 1].t_ns, 1'000'000);
    // Between the two where kernels ran for a part of the time between two reads.
    EXPECT_GE(samples[i].power_w, 100 - 0.05);
    EXPECT_LE(samples[i].power_w, 500 + 0.05);
  }
}

TEST_F(Amd, AnAccumulatorOf32BitsMayWrap) { expect_idle_power("wraps"); }

// What was counted around a restart is lost, not negative and not huge.
TEST_F(Amd, RestartedAccumulatorIsNotAPower) { expect_idle_power("restarts"); }

TEST_F(Amd, ClockProbesEncloseTheGpusTime) {
  expect_probe_encloses(open_amd_device(0, amd_fakes()));
}

TEST_F(Amd, FaultsAreNamed) {
  EXPECT_THAT(error_with("no_device"),
              HasSubstr("counting GPUs failed: no ROCm-capable device is detected"));
  EXPECT_THAT(error_with("no_smi_device"), HasSubstr("does not know the GPU at 0000:c1:00.0"));
  EXPECT_THAT(error_with("no_counter"), HasSubstr("this GPU has no such counter"));
  EXPECT_THAT(error_with("no_permission"), HasSubstr("groups render and video"));
  EXPECT_THAT(error_with("no_compile"), HasSubstr("bad source."));
  set_fault("none");
  auto device = open_amd_device(0, amd_fakes());
  ASSERT_TRUE(device);
  set_fault("launch_fails");
  EXPECT_THAT(prepare_error(**device, "triad:1MiB"), HasSubstr("unspecified launch failure"));
}

TEST_F(Amd, MissingLibrariesAndFunctionsAreNamed) {
  AmdLibraries libraries = amd_fakes();
  libraries.hip = {"no-hip.so"};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("no AMD ROCm runtime"));
  libraries.hip = {ASSAY_FAKE_EMPTY};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("no function hipInit"));
  libraries = amd_fakes();
  libraries.smi = {"no-smi.so"};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("ROCm-SMI is not installed"));
  libraries.smi = {ASSAY_FAKE_EMPTY};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("no function rsmi_init"));
  libraries = amd_fakes();
  libraries.compiler = {"no-hiprtc.so"};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("hiprtc"));
  libraries = amd_fakes();
  libraries.blas = {"no-blas.so"};
  set_fault("none");
  auto device = open_amd_device(0, libraries);
  ASSERT_TRUE(device);
  EXPECT_THAT(prepare_error(**device, "gemm:8"), HasSubstr("rocBLAS"));
}

TEST_F(Amd, CollectivesRunOverAllGpus) {
  ::setenv("FAKE_GPUS", "4", 1);
  expect_collectives_over_all(ASSAY_FAKE_AMD, [] { return open_amd_device(1, amd_fakes()); });
}

TEST_F(Amd, CollectivesThatCannotBeAreNamed) {
  auto alone = open_amd_device(0, amd_fakes());
  ASSERT_TRUE(alone);
  EXPECT_THAT(prepare_error(**alone, "all_reduce:8MB"),
              HasSubstr("a collective of one GPU moves nothing over a link"));
  ::setenv("FAKE_GPUS", "4", 1);
  auto device = open_amd_device(0, amd_fakes());
  ASSERT_TRUE(device);
  EXPECT_THAT(prepare_error(**device, "all_gather:10"),
              HasSubstr("from 4 GPUs in equal parts: take a multiple of 8"));
  AmdLibraries libraries = amd_fakes();
  libraries.collectives = {"no-such-library.so"};
  auto without = open_amd_device(0, libraries);
  ASSERT_TRUE(without);
  EXPECT_THAT(prepare_error(**without, "all_reduce:8MB"), HasSubstr("need RCCL, which is not"));
  expect_unconnected_is_named([] { return open_amd_device(0, amd_fakes()); });
}

}  // namespace
}  // namespace assay
