#pragma once

// What tests of devices over pretended drivers (tests/fakes) share: the fault in the environment,
// and what holds for a GPU of any vendor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "devices/device.h"

namespace assay::testing {

using OpenedDevice = Result<std::unique_ptr<PowerDevice>>;

class FakeGpuTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("FAKE_GPU"); }

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

  // The pretended GPU's clock is the CPU's, so that a probe's ticks lie between its two reads.
  static void expect_probe_encloses(OpenedDevice device) {
    ASSERT_TRUE(device) << device.error().message;
    const auto probe = (*device)->probe();
    ASSERT_TRUE(probe);
    EXPECT_GE(probe->gpu_ticks, probe->c0_ns);
    EXPECT_LE(probe->gpu_ticks, probe->c1_ns);
  }
};

}  // namespace assay::testing
