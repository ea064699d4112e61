#include "trace/device_names.h"

#include <gtest/gtest.h>

#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::TraceMaker;

// Devices of the header that no row names count only when all of them bear one name.
TEST(GpuOfTrace, IsTheOneThatRanMostKernels) {
  Trace trace = TraceMaker()
                    .kernel(4, 7, "a", 0, 5, 1)
                    .kernel(5, 7, "b", 9, 5, 2)
                    .kernel(5, 7, "b", 19, 5, 3)
                    .build();
  trace.devices = {{.id = 4, .name = "small"}, {.id = 5, .name = "large"}};
  EXPECT_EQ(gpu_of_trace(trace), "large");
  trace.devices = {{.id = 0, .name = "MI300X"}, {.id = 1, .name = "MI300X"}};
  EXPECT_EQ(gpu_of_trace(trace), "MI300X");
  trace.devices = {{.id = 4, .name = "small"}, {.id = 6, .name = "large"}};
  EXPECT_EQ(gpu_of_trace(trace), "");  // 4 is not the one that ran most
  trace.devices = {{.id = 0, .name = "small"}, {.id = 1, .name = "large"}};
  EXPECT_EQ(gpu_of_trace(trace), "");
}

}  // namespace
}  // namespace assay
