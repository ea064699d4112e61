#include "answers/host_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using testing::Folder;
using testing::traces_at;

// An operator of 50 us with another of 20 us inside it, a launch call of 5 us in that with the
// driver's call inside, and one that waits 8 us; 100 us later the outer one again, alone.
constexpr const char* kTrace = R"({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "outer", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
  {"ph": "X", "cat": "cpu_op", "name": "inner", "pid": 1, "tid": 1, "ts": 10, "dur": 20},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 12,
   "dur": 5, "args": {"correlation": 7}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 1, "tid": 1, "ts": 13,
   "dur": 3, "args": {"correlation": 8}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 1, "tid": 1, "ts": 20,
   "dur": 8, "args": {"correlation": 9}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 7,
   "args": {"device": 0, "stream": 7, "correlation": 7}},
  {"ph": "X", "cat": "cpu_op", "name": "outer", "pid": 1, "tid": 1, "ts": 150, "dur": 40}]})";

TEST(HostCalls, SelfTimeOfACall) {
  const Folder folder("host_calls");
  const std::string file = folder.add("a.json", kTrace);
  const auto loaded = load_input(file, traces_at({file}));
  ASSERT_TRUE(loaded);
  const int64_t begin_ns = loaded->trace.ops.start_ns[0];
  const auto calls = [&](int64_t from_us, int64_t to_us) {
    return host_calls(loaded->trace, loaded->links,
                      {{begin_ns + 1000 * from_us, begin_ns + 1000 * to_us}});
  };
  EXPECT_THAT(calls(0, 200), ElementsAre(FieldsAre("cuLaunchKernel", 1U, 3000.0),
                                         FieldsAre("cudaLaunchKernel", 1U, 5000.0),
                                         FieldsAre("inner", 1U, 7000.0),     // 20 - 5 - 8
                                         FieldsAre("outer", 2U, 35000.0)));  // of 30 and 40
  EXPECT_THAT(calls(100, 200), ElementsAre(FieldsAre("outer", 1U, 40000.0)));
}

}  // namespace
}  // namespace assay
