// The library says nothing by itself, and the number of threads changes no byte.
#include <gtest/gtest.h>

#include "answers/breakdown/breakdown.h"
#include "answers/diff.h"
#include "answers/launch.h"
#include "answers/report.h"
#include "answers/throughput/throughput.h"
#include "report/writers/writers.h"
#include "unit/answers/small_traces.h"

namespace assay {
namespace {

using testing::Folder;
using testing::in_repository;
using testing::one_kernel_trace;
using testing::traces_at;

TEST(AnswerSilence, NothingIsPrinted) {
  const Folder folder("silence");
  const std::string trace = folder.add("a.json", one_kernel_trace(100));
  folder.add("results.json", R"({"accuracy": 0.5})");
  const std::string table = in_repository("examples/h100_vllm_throughput.csv");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const bool report =
      static_cast<bool>(answer_report({.traces = traces_at({folder.scratch.path})}));
  const bool missing = static_cast<bool>(answer_report({.traces = traces_at({"/no/such.json"})}));
  DiffRequest sides;
  sides.a = sides.b = trace;
  const bool diff = static_cast<bool>(answer_diff(sides));
  ThroughputFitRequest fit;
  fit.bench.tables = {table};
  const bool fitted = static_cast<bool>(answer_fit(fit));
  const std::string out = ::testing::internal::GetCapturedStdout();
  const std::string err = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(report);
  EXPECT_FALSE(missing);
  EXPECT_TRUE(diff);
  EXPECT_TRUE(fitted);
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
}

// 200,000 rows, over 16 MB: read in several stretches.
std::string long_trace() {
  std::string text = R"({"traceEvents": [)";
  for (int i = 0; i < 100'000; ++i) {
    const std::string at = std::to_string(i * 10), id = std::to_string(i + 1);
    text += (i == 0 ? "\n" : ",\n");
    text +=
        R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
        at + R"(, "dur": 2, "args": {"correlation": )" + id + "}},\n" +
        R"({"ph": "X", "cat": "kernel", "name": "gemm)" + std::to_string(i % 7) +
        R"(", "pid": 0, "tid": 7, "ts": )" + at + R"(.5, "dur": 3, "args": {"correlation": )" + id +
        R"(, "device": 0, "stream": 7}})";
  }
  return text + "]}\n";
}

TEST(AnswerThreads, SameBytesAtOneAndFour) {
  const Folder folder("threads");
  const std::string text = long_trace();
  ASSERT_GT(text.size(), size_t{16} << 20);
  LaunchRequest request{.traces = traces_at({folder.add("long.json", text)})};
  request.traces.threads = 1;
  const auto one = answer_launch(request);
  request.traces.threads = 4;
  const auto four = answer_launch(request);
  ASSERT_TRUE(one);
  ASSERT_TRUE(four);
  const std::string json = write_json(one->document);
  EXPECT_NE(json.find("gemm6"), std::string::npos);
  EXPECT_EQ(json, write_json(four->document));
}

}  // namespace
}  // namespace assay
