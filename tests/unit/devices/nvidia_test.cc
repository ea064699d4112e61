// The NVIDIA path over shared objects that pretend to be its driver (tests/fakes).

#include "devices/nvidia.h"

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

NvidiaLibraries nvidia_fakes() {
  const std::vector<std::string> fake = {ASSAY_FAKE_NVIDIA};
  return {.driver = fake,
          .nvml = fake,
          .blas = fake,
          .collectives = fake,
          .compiler = {"no-such-library.so"}};
}

class Nvidia : public testing::FakeGpuTest {
 protected:
  static std::string error_with(const char* fault,
                                const NvidiaLibraries& libraries = nvidia_fakes()) {
    return error_of(fault, [&libraries] { return open_nvidia_device(0, libraries); });
  }
};

TEST_F(Nvidia, FactsComeFromTheDriverAndNvml) {
  const auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device) << device.error().message;
  const DeviceFacts& facts = (*device)->facts();
  EXPECT_EQ(facts.name, "Fake H200");
  EXPECT_EQ(facts.driver, "999.1");
  EXPECT_EQ(facts.uuid, "GPU-fake");
  EXPECT_DOUBLE_EQ(facts.power_limit_w, 700);
  EXPECT_TRUE(facts.samples_on_cpu_clock);
  // Instant power: NVML does not document a window, so that calibration is asked for.
  EXPECT_EQ(facts.documented.window_ns, 0);
}

TEST_F(Nvidia, ExecutionsAreTimedBackToBackOnTheCpuClock) {
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto kernel = (*device)->prepare("gemm:64");
  ASSERT_TRUE(kernel) << kernel.error().message;
  const int64_t before = (*device)->now_ns();
  const auto executions = (*device)->execute(3, std::vector<uint32_t>(5, kernel->id));
  const int64_t after = (*device)->now_ns();
  ASSERT_TRUE(executions) << executions.error().message;
  ASSERT_EQ(executions->size(), 5U);
  for (size_t i = 0; i < 5; ++i) {
    const PowerExecution& one = (*executions)[i];
    EXPECT_EQ(one.run, 3U);
    EXPECT_EQ(one.index, i);
    // 200 us of the stream each; the machine may stop between two calls.
    EXPECT_GT(one.end_ns - one.start_ns, 150'000);
    if (i > 0) {
      EXPECT_EQ(one.start_ns, (*executions)[i - 1].end_ns);
    }
  }
  EXPECT_GE(executions->front().start_ns, before - 1'000'000);
  EXPECT_LE(executions->back().end_ns, after + 1'000'000);
}

// More executions than there are events: blocks of them share two, and what is told of each block
// is what the pretended GPU did.
TEST_F(Nvidia, ManyShortExecutionsAreTimedInBlocks) {
  constexpr size_t kCount = 300'000;
  void* fake = ::dlopen(ASSAY_FAKE_NVIDIA, RTLD_NOW);
  ASSERT_NE(fake, nullptr);
  const auto truth =
      reinterpret_cast<int (*)(size_t, int64_t*, int64_t*)>(::dlsym(fake, "fake_product"));
  ASSERT_NE(truth, nullptr);
  size_t earlier = 0;  // products of other tests in this process
  int64_t start = 0;
  int64_t end = 0;
  while (truth(earlier, &start, &end) == 0) ++earlier;
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto kernel = (*device)->prepare("triad:8MiB");
  ASSERT_TRUE(kernel) << kernel.error().message;
  const std::vector<uint32_t> kernels(kCount, kernel->id);
  EXPECT_EQ((*device)->timed_together(std::vector<uint32_t>(200'000, kernel->id)), 1U);
  const uint32_t together = (*device)->timed_together(kernels);
  EXPECT_EQ(together, 2U);  // 20,000 alone, 280,000 two and two
  const auto executions = (*device)->execute(0, kernels);
  ASSERT_TRUE(executions) << executions.error().message;
  ASSERT_EQ(executions->size(), kCount);
  size_t checked = 0;
  size_t off = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const PowerExecution& one = (*executions)[i];
    ASSERT_EQ(one.index, i);
    ASSERT_LE(one.start_ns, one.end_ns);
    if (i > 0) {
      ASSERT_EQ(one.start_ns, (*executions)[i - 1].end_ns);
    }
    const bool ends_block = i < 20'000 || (i - 20'000) % together == together - 1;
    if (!ends_block) continue;
    ASSERT_EQ(truth(earlier + i, &start, &end), 0);
    ++checked;
    if (std::abs(one.end_ns - end) > 20'000) ++off;
  }
  EXPECT_EQ(checked, 160'000U);
  // Off are those before which a busy machine kept the stream waiting.
  EXPECT_LT(off, checked / 50);
  const int64_t took = executions->back().end_ns - executions->front().start_ns;
  EXPECT_NEAR(static_cast<double>(took) / kCount, 5242, 300) << "24 MiB at 4.8 TB/s";
}

TEST_F(Nvidia, PowerIsLoggedWhileKernelsRun) {
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto kernel = (*device)->prepare("gemm:64:f32");
  ASSERT_TRUE(kernel);
  const auto samples = logged(**device, {}, kernel->id, 250, [](const auto& found) {
    return reached(found, 100) && reached(found, 500);
  });
  for (const PowerSample& sample : samples) {
    EXPECT_TRUE(sample.power_w == 100 || sample.power_w == 500) << sample.power_w;
  }
  // Repeats are dropped: each sample differs from the one before.
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_NE(samples[i].power_w, samples[i - 1].power_w);
    EXPECT_GT(samples[i].t_ns, samples[i - 1].t_ns);
  }
}

TEST_F(Nvidia, PollsKeepRepeatsForCalibration) {
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto samples =
      logged(**device, {1'000'000}, 0, 0, [](const auto& found) { return found.size() >= 3; });
  for (const PowerSample& sample : samples) EXPECT_DOUBLE_EQ(sample.power_w, 100);
}

TEST_F(Nvidia, ClockProbesEncloseTheGpusTime) {
  expect_probe_encloses(open_nvidia_device(0, nvidia_fakes()));
}

TEST_F(Nvidia, CommandsAreKernelsToo) {
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto good = (*device)->prepare("cmd:true");
  const auto bad = (*device)->prepare("cmd:false");
  ASSERT_TRUE(good);
  ASSERT_TRUE(bad);
  EXPECT_TRUE((*device)->execute(0, {good->id, good->id}));
  const auto failed = (*device)->execute(0, {bad->id});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("false"));
}

TEST_F(Nvidia, UsesTheDocumentedSecondIfThereIsNoInstantPower) {
  set_fault("no_instant");
  const auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->facts().documented.mode, SensorMode::kOneSecondAverage);
  EXPECT_EQ((*device)->facts().documented.window_ns, 1'000'000'000);
}

TEST_F(Nvidia, KindOfSampleCanBeChosen) {
  const auto watts_with = [](SensorChoice choice) {
    auto device = open_nvidia_device(0, nvidia_fakes(), choice);
    EXPECT_TRUE(device) << (device ? "" : device.error().message);
    EXPECT_TRUE((*device)->start_logging({1'000'000}));
    EXPECT_TRUE((*device)->wait_ns(20'000'000));
    const auto samples = (*device)->stop_logging();
    EXPECT_TRUE(samples && !samples->empty());
    return std::pair((*device)->facts().documented.reading, samples->back().power_w);
  };
  EXPECT_EQ(watts_with(SensorChoice::kAuto), std::pair(std::string("instant"), 100.0));
  EXPECT_EQ(watts_with(SensorChoice::kInstant), std::pair(std::string("instant"), 100.0));
  EXPECT_EQ(watts_with(SensorChoice::kAverage), std::pair(std::string("average"), 300.0));
  EXPECT_EQ(watts_with(SensorChoice::kUsage), std::pair(std::string("usage"), 100.0));
  EXPECT_EQ(watts_with(SensorChoice::kSamples), std::pair(std::string("samples"), 100.0));
}

// Every 5 ms by their own stamps, repeats of a value kept, none twice, none from before opening.
TEST_F(Nvidia, BufferedSamplesKeepTheirStamps) {
  const int64_t before = (*open_nvidia_device(0, nvidia_fakes()))->now_ns();
  auto device = open_nvidia_device(0, nvidia_fakes(), SensorChoice::kSamples);
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->facts().documented.window_ns, 0);
  const auto kernel = (*device)->prepare("gemm:64:f32");
  ASSERT_TRUE(kernel);
  const auto samples = logged(**device, {}, kernel->id, 250, [](const auto& found) {
    return found.size() >= 15 && std::count_if(found.begin(), found.end(), [](const auto& sample) {
                                   return sample.power_w == 500;
                                 }) >= 8;
  });
  ASSERT_FALSE(samples.empty());
  EXPECT_GT(samples.front().t_ns, before - 5'000'000);
  for (size_t i = 1; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].t_ns - samples[i - 1].t_ns, 5'000'000);
  }
}

TEST_F(Nvidia, AReadingThatIsMissingIsNamed) {
  const auto error = [](SensorChoice choice) {
    const auto device = open_nvidia_device(0, nvidia_fakes(), choice);
    EXPECT_FALSE(device);
    return device ? std::string() : device.error().message;
  };
  set_fault("no_instant");
  EXPECT_THAT(error(SensorChoice::kInstant), HasSubstr("--sensor instant: reading power failed"));
  set_fault("no_samples");
  EXPECT_THAT(error(SensorChoice::kSamples), HasSubstr("--sensor samples: asking for the buffer"));
}

TEST_F(Nvidia, FaultsAreNamed) {
  EXPECT_THAT(error_with("no_device"), HasSubstr("shows 0 GPUs"));
  EXPECT_THAT(error_with("mig"), HasSubstr("MIG"));
  EXPECT_THAT(error_with("no_permission"), HasSubstr("Insufficient Permissions"));
  set_fault("none");
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  set_fault("launch_fails");
  EXPECT_THAT(prepare_error(**device, "triad:1MiB"), HasSubstr("unspecified launch failure"));
}

TEST_F(Nvidia, MissingLibrariesAndFunctionsAreNamed) {
  NvidiaLibraries libraries = nvidia_fakes();
  libraries.driver = {"libcuda-that-is-not-there.so"};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("no NVIDIA driver"));
  libraries.driver = {ASSAY_FAKE_EMPTY};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("no function cuInit"));
  libraries = nvidia_fakes();
  libraries.nvml = {"no-nvml.so"};
  EXPECT_THAT(error_with("none", libraries), HasSubstr("NVML"));
  libraries = nvidia_fakes();
  libraries.blas = {"no-blas.so"};
  auto device = open_nvidia_device(0, libraries);
  ASSERT_TRUE(device);
  EXPECT_THAT(prepare_error(**device, "gemm:8"), HasSubstr("cuBLAS"));
}

TEST_F(Nvidia, SourcesNeedTheirCompilerAndTheirVendor) {
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  const auto hip = (*device)->prepare("hip:a.hip:kernel");
  ASSERT_FALSE(hip);
  EXPECT_THAT(hip.error().message, HasSubstr("amd devices"));
  const auto missing = (*device)->prepare("cu:/no/such/file.cu:kernel");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().file, "/no/such/file.cu");
  const auto compiler = (*device)->prepare(std::string("cu:") + ASSAY_SOURCE_DIR +
                                           "/tests/fakes/fake_empty.cc:kernel");
  ASSERT_FALSE(compiler);
  EXPECT_THAT(compiler.error().message, HasSubstr("NVRTC"));
}

TEST_F(Nvidia, CollectivesRunOverAllGpus) {
  ::setenv("FAKE_GPUS", "4", 1);
  expect_collectives_over_all(ASSAY_FAKE_NVIDIA,
                              [] { return open_nvidia_device(1, nvidia_fakes()); });
}

TEST_F(Nvidia, CollectivesThatCannotBeAreNamed) {
  auto alone = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(alone);
  EXPECT_THAT(prepare_error(**alone, "all_reduce:8MB"),
              HasSubstr("a collective of one GPU moves nothing over a link"));
  ::setenv("FAKE_GPUS", "4", 1);
  auto device = open_nvidia_device(0, nvidia_fakes());
  ASSERT_TRUE(device);
  EXPECT_THAT(prepare_error(**device, "all_gather:10"),
              HasSubstr("from 4 GPUs in equal parts: take a multiple of 8"));
  NvidiaLibraries libraries = nvidia_fakes();
  libraries.collectives = {"no-such-library.so"};
  auto without = open_nvidia_device(0, libraries);
  ASSERT_TRUE(without);
  EXPECT_THAT(prepare_error(**without, "all_reduce:8MB"), HasSubstr("need NCCL, which is not"));
  expect_unconnected_is_named([] { return open_nvidia_device(0, nvidia_fakes()); });
}

}  // namespace
}  // namespace assay
