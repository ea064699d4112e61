// The published constants, against what the papers say about them (spec/launch 5, facts 1 and 2).

#include "floor/published.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(PublishedFloors, TableFive) {
  const PublishedFloor* a100 = find_published_floor("AMD+A100");
  const PublishedFloor* h100 = find_published_floor("Intel+H100");
  const PublishedFloor* gh200 = find_published_floor("GH200");
  ASSERT_NE(a100, nullptr);
  ASSERT_NE(h100, nullptr);
  ASSERT_NE(gh200, nullptr);
  EXPECT_EQ(published_floors().size(), 3u);
  EXPECT_EQ(a100->launch_ns, 2260.5);
  EXPECT_EQ(h100->launch_ns, 2374.6);
  EXPECT_EQ(gh200->launch_ns, 2771.6);
  // "roughly 400-500 ns more than other platforms"
  EXPECT_NEAR(gh200->launch_ns - a100->launch_ns, 511.1, 1e-9);
  EXPECT_NEAR(gh200->launch_ns - h100->launch_ns, 397.0, 1e-9);
  EXPECT_GT(a100->duration_ns, h100->duration_ns);
  EXPECT_GT(h100->duration_ns, gh200->duration_ns);
}

TEST(PublishedFloors, FoundByTheNameThatATraceGives) {
  EXPECT_EQ(find_published_floor("NVIDIA A100-SXM4-80GB")->platform, "AMD+A100");
  EXPECT_EQ(find_published_floor("nvidia h100 pcie")->platform, "Intel+H100");
  EXPECT_EQ(find_published_floor("NVIDIA GH200 480GB")->platform, "GH200");
  EXPECT_EQ(find_published_floor("AMD Instinct MI300X"), nullptr);
  EXPECT_EQ(find_published_floor(""), nullptr);
}

TEST(PublishedFloors, APlatformIsFoundByItsWholeName) {
  EXPECT_EQ(floor_of_platform("dgx-h100", Tracer::kNsightSystems)->launch_ns, 4707);
  EXPECT_EQ(floor_of_platform("dgx-h100", Tracer::kPyTorchProfiler), nullptr);
  EXPECT_EQ(floor_of_platform("H100", Tracer::kNsightSystems), nullptr);
}

TEST(PublishedFloors, AreTakenOnOneKindOfGpu) {
  const PublishedFloor& a100 = *find_published_floor("AMD+A100");
  EXPECT_TRUE(taken_on(a100, "NVIDIA A100-SXM4-40GB"));
  EXPECT_FALSE(taken_on(a100, "NVIDIA H100 80GB HBM3"));
}

}  // namespace
}  // namespace assay
