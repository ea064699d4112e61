#pragma once

// What tests of devices over pretended drivers (tests/fakes) share: the fault in the environment,
// and what holds for a GPU of any vendor.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"

namespace assay::testing {

using OpenedDevice = Result<std::unique_ptr<PowerDevice>>;

class FakeGpuTest : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("FAKE_GPU");
    ::unsetenv("FAKE_GPUS");
  }

  static void set_fault(const char* fault) { ::setenv("FAKE_GPU", fault, 1); }

  // What opening says with that fault; "" and a failed test when it succeeds.
  template <typename Open>
  static std::string error_of(const char* fault, Open open) {
    set_fault(fault);
    const OpenedDevice device = open();
    EXPECT_FALSE(device) << fault;
    return device ? "" : device.error().message;
  }

  // What preparing a workload says on a device that opened well.
  static std::string prepare_error(PowerDevice& device, const char* workload) {
    const auto kernel = device.prepare(workload);
    EXPECT_FALSE(kernel) << workload;
    return kernel ? "" : kernel.error().message;
  }

  // What is logged while `count` kernels of 200 us run, between two waits of 20 ms. A busy machine
  // may leave the logger no time in so short a session: sessions get longer until one has `enough`,
  // and whatever else holds must hold for that one.
  template <typename Enough>
  static std::vector<PowerSample> logged(PowerDevice& device, LogRequest request, uint32_t kernel,
                                         uint32_t count, Enough enough) {
    constexpr uint32_t kMostTimesLonger = 256;
    std::vector<PowerSample> samples;
    for (uint32_t times = 1; times <= kMostTimesLonger; times *= 2) {
      EXPECT_TRUE(device.start_logging(request));
      EXPECT_TRUE(device.wait_ns(20'000'000 * int64_t{times}));
      if (count > 0) {
        EXPECT_TRUE(device.execute(0, std::vector<uint32_t>(count * times, kernel)));
      }
      EXPECT_TRUE(device.wait_ns(20'000'000 * int64_t{times}));
      auto found = device.stop_logging();
      EXPECT_TRUE(found);
      if (!found) return samples;
      samples = *std::move(found);
      if (enough(samples)) return samples;
    }
    ADD_FAILURE() << "never enough: " << samples.size() << " samples in the longest session";
    return samples;
  }
  static bool reached(const std::vector<PowerSample>& samples, double watts) {
    return std::any_of(samples.begin(), samples.end(), [watts](const PowerSample& sample) {
      return std::abs(sample.power_w - watts) <= 0.05;
    });
  }

  // The pretended GPU's clock is the CPU's, so that a probe's ticks lie between its two reads.
  static void expect_probe_encloses(OpenedDevice device) {
    ASSERT_TRUE(device) << device.error().message;
    const auto probe = (*device)->probe();
    ASSERT_TRUE(probe);
    EXPECT_GE(probe->gpu_ticks, probe->c0_ns);
    EXPECT_LE(probe->gpu_ticks, probe->c1_ns);
  }

  // How many collectives the pretended NCCL or RCCL of `library` ran, and how many of its
  // communicators are open.
  struct Collectives {
    size_t done = 0;
    size_t open = 0;
  };
  static Collectives collectives_of(const char* library) {
    const auto truth = reinterpret_cast<void (*)(size_t*, size_t*)>(
        ::dlsym(::dlopen(library, RTLD_NOW), "fake_collectives"));
    Collectives found;
    truth(&found.done, &found.open);
    return found;
  }

  // On four GPUs each time, and the measured one is in use after it: events and kernels go on.
  template <typename Open>
  static void expect_collectives_over_all(const char* library, Open open) {
    const size_t earlier = collectives_of(library).done;
    {
      OpenedDevice device = open();
      ASSERT_TRUE(device) << device.error().message;
      const auto reduce = (*device)->prepare("all_reduce:8MB");
      ASSERT_TRUE(reduce) << reduce.error().message;
      EXPECT_EQ(reduce->name, "all_reduce:8MB over 4 GPUs");
      EXPECT_DOUBLE_EQ(reduce->bytes, 16e6) << "read and written, 8 MB each";
      const auto gather = (*device)->prepare("all_gather:8MB:f32");
      ASSERT_TRUE(gather) << gather.error().message;
      EXPECT_DOUBLE_EQ(gather->bytes, 10e6) << "2 MB read, 8 MB written";
      const auto product = (*device)->prepare("gemm:64");
      ASSERT_TRUE(product) << product.error().message;
      EXPECT_EQ(collectives_of(library).open, 4U);
      const auto executions = (*device)->execute(
          0, {reduce->id, reduce->id, product->id, gather->id, gather->id, gather->id});
      ASSERT_TRUE(executions) << executions.error().message;
      ASSERT_EQ(executions->size(), 6U);
      // 8 MB at 400 GB/s and 20 us; longer where the machine keeps the stream waiting.
      for (const size_t i : {1U, 4U, 5U}) {
        EXPECT_GE((*executions)[i].end_ns - (*executions)[i].start_ns, 38'000);
      }
      EXPECT_EQ(collectives_of(library).done - earlier, 5U);
    }
    EXPECT_EQ(collectives_of(library).open, 0U) << "communicators left open";
  }

  template <typename Open>
  static void expect_unconnected_is_named(Open open) {
    set_fault("nccl_fails");
    OpenedDevice device = open();
    ASSERT_TRUE(device);
    EXPECT_THAT(
        prepare_error(**device, "all_reduce:8MB"),
        ::testing::HasSubstr("connecting the GPUs for collectives failed: unhandled system error"));
    EXPECT_TRUE((*device)->prepare("gemm:64")) << "what failed leaves the device usable";
  }
};

}  // namespace assay::testing
