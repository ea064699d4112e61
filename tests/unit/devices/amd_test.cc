// The AMD path over a shared object that pretends to be HIP, hiprtc, ROCm-SMI and rocBLAS
// (tests/fakes).

#include "devices/amd.h"

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
TEST_F(Amd, AnAccumulatorThatBeginsAnewIsNoPower) { expect_idle_power("restarts"); }

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
