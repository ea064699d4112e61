// What recordings of AMD GPUs have and others have not.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/recording_maker.h"

namespace assay {
namespace {

using wire::Kind;

wire::Process process_of(wire::TracerKind tracer) {
  wire::Process process = {};
  process.pid = 42;
  process.clock = wire::ClockKind::kTracerOwn;
  process.tracer_version = 10100;
  process.tracer = tracer;
  return process;
}

class AmdRecording : public testing::RecordingText {
 public:
  AmdRecording() : RecordingText(process_of(wire::TracerKind::kRocprofiler)) {}

  void call(uint32_t correlation, const std::string& name, wire::Domain domain, uint64_t start) {
    wire::ApiCall call = {};
    call.correlation = correlation;
    call.start = start;
    call.end = start + 10;
    call.thread = 42;
    call.domain = domain;
    call.name = text(name);
    add(Kind::kApiCall, call);
  }
  void inside(uint32_t inner, uint32_t outer) {
    wire::Inside inside = {};
    inside.correlation = inner;
    inside.outer = outer;
    add(Kind::kInside, inside);
  }
  void copy(uint32_t correlation) {
    wire::Copy copy = {};
    copy.correlation = correlation;
    copy.start = 200;
    copy.end = 250;
    copy.direction = 1;
    add(Kind::kCopy, copy);
  }
  void kernel(const std::string& name) {
    wire::Kernel kernel = {};
    kernel.correlation = 1;
    kernel.start = 300;
    kernel.end = 340;
    kernel.grid[0] = kernel.block[0] = 1;
    kernel.name = text(name);
    add(Kind::kKernel, kernel);
  }
};

std::string value_of(const Trace& trace, const std::string& key) {
  const auto found = std::find_if(trace.metadata.begin(), trace.metadata.end(),
                                  [&key](const MetadataEntry& entry) { return entry.key == key; });
  return found != trace.metadata.end() ? found->value : "";
}

// The copy is HSA's to start and HIP's to answer for: two calls deep.
TEST(AmdRecording, WorkOfACallInsideBelongsToTheOuterOne) {
  AmdRecording recording;
  recording.call(1, "hipMemcpyAsync", wire::Domain::kRuntime, 100);
  recording.call(2, "hsa_outer", wire::Domain::kHsa, 102);
  recording.call(3, "hsa_amd_memory_async_copy", wire::Domain::kHsa, 104);
  recording.inside(3, 2);
  recording.inside(2, 1);
  recording.copy(3);
  const auto trace = recording.read(false);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->api_calls.size(), 1u);
  EXPECT_EQ(trace->api_calls.correlation[0], 1u);
  ASSERT_EQ(trace->activities.size(), 1u);
  EXPECT_EQ(trace->activities.correlation[0], 1u);
  ASSERT_EQ(trace->other_events.size(), 2u);
  EXPECT_EQ(trace->strings.view(trace->other_events.category[0]), "HSA");
}

TEST(AmdRecording, NestedCallsAreNotAnEndlessLoop) {
  AmdRecording recording;
  recording.call(1, "hipMemcpyAsync", wire::Domain::kRuntime, 100);
  recording.inside(5, 6);
  recording.inside(6, 5);
  recording.copy(5);
  const auto trace = recording.read(false);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->activities.size(), 1u);
}

TEST(AmdRecording, HipsOwnKernelsAreCopiesAndFills) {
  AmdRecording recording;
  recording.kernel("__amd_rocclr_copyBufferAligned");
  recording.kernel("__amd_rocclr_fillBufferAligned");
  recording.kernel("_Z3addPf");
  const auto trace = recording.read(false);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->activities.size(), 3u);
  const auto count = [&trace](ActivityKind kind) {
    return std::count(trace->activities.kind.begin(), trace->activities.kind.end(), kind);
  };
  EXPECT_EQ(count(ActivityKind::kMemcpy), 1);
  EXPECT_EQ(count(ActivityKind::kMemset), 1);
  EXPECT_EQ(count(ActivityKind::kKernel), 1);
  EXPECT_EQ(trace->kernel_shapes.size(), 1u);
}

TEST(AmdRecording, HasTheTracer) {
  const auto amd = AmdRecording().read(false);
  ASSERT_TRUE(amd);
  EXPECT_EQ(value_of(*amd, "rocprofiler_sdk_version"), "10100");
  EXPECT_EQ(value_of(*amd, "cupti_version"), "");
  const auto nvidia = testing::RecordingText(process_of(wire::TracerKind::kCupti)).read(false);
  ASSERT_TRUE(nvidia);
  EXPECT_EQ(value_of(*nvidia, "cupti_version"), "10100");
}

}  // namespace
}  // namespace assay
