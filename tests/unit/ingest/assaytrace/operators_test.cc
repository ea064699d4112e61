// PyTorch's operators in a recording: rows as its own profiler's file would give them.

#include <gtest/gtest.h>

#include <string>

#include "ingest/assaytrace/reader.h"
#include "support/bytes.h"
#include "support/recording_maker.h"

namespace assay {
namespace {

using wire::Kind;

class Operators : public testing::RecordingText {
 public:
  Operators() : RecordingText(process()) {}

  wire::Operator op(const std::string& name, uint64_t start, uint64_t end) {
    wire::Operator record = {};
    record.thread = 7;
    record.start = start;
    record.end = end;
    record.sequence = -1;
    record.name = text(name);
    return record;
  }

 private:
  static wire::Process process() {
    wire::Process process = {};
    process.pid = 42;
    process.clock = wire::ClockKind::kMonotonic;
    return process;
  }
};

Operators forward_and_backward() {
  Operators file;
  wire::Operator forward = file.op("aten::addmm", 1000, 9000);
  forward.sequence = 5;
  forward.dims = file.text("[[3],[2,4],[4,3],[],[]]");
  forward.types = file.text("[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]");
  forward.concrete = file.text("[\"\",\"\",\"\",\"1\",\"1\"]");
  file.add(Kind::kOperator, forward);
  wire::Operator backward = file.op("AddmmBackward0", 20'000, 30'000);
  backward.sequence = 5;
  backward.forward_thread = 1;
  file.add(Kind::kOperator, backward);
  for (const char* name : {"my step", "nn.Module: Linear_0"}) {
    wire::Operator range = file.op(name, 500, 40'000);
    range.flags = wire::kUserRange;
    file.add(Kind::kOperator, range);
  }
  return file;
}

TEST(RecordedOperators, AreOperatorsWithSequenceNumbersAndInputs) {
  const Result<Trace> trace = forward_and_backward().read(true);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->ops.size(), 2u);
  EXPECT_EQ(trace->strings.view(trace->ops.name[0]), "aten::addmm");
  EXPECT_EQ(trace->ops.dur_ns[0], 8000);
  ASSERT_EQ(trace->op_sequences.size(), 2u);
  EXPECT_EQ(trace->op_sequences.sequence[1], 5);
  EXPECT_EQ(trace->op_sequences.forward_thread[0], 0);
  EXPECT_EQ(trace->op_sequences.forward_thread[1], 1);
  ASSERT_EQ(trace->op_inputs.size(), 1u);
  EXPECT_EQ(trace->strings.view(trace->op_inputs.dims[0]), "[[3],[2,4],[4,3],[],[]]");
  EXPECT_EQ(trace->strings.view(trace->op_inputs.concrete[0]), "[\"\",\"\",\"\",\"1\",\"1\"]");
  EXPECT_EQ(trace->strings.view(trace->op_inputs.strides[0]), "");
  EXPECT_TRUE(forward_and_backward().read(false)->op_inputs.empty());
}

TEST(RecordedOperators, RangesAreAnnotationsAndModulesAreFrames) {
  const Result<Trace> trace = forward_and_backward().read(false);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->annotations.size(), 1u);
  EXPECT_EQ(trace->strings.view(trace->annotations.name[0]), "my step");
  ASSERT_EQ(trace->frames.size(), 1u);
  EXPECT_EQ(trace->strings.view(trace->frames.name[0]), "nn.Module: Linear_0");
}

// NVTX ranges stand in for operators only where there are none.
TEST(RecordedOperators, ExistingOperatorsAreNotReplacedByRanges) {
  Operators file = forward_and_backward();
  wire::Range range = {};
  range.thread = 7;
  range.start = 600;
  range.end = 700;
  range.flags = wire::kPushPop;
  range.name = file.text("mine");
  file.add(Kind::kRange, range);
  const Result<Trace> trace = file.read(false);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->ops.size(), 2u);
  EXPECT_EQ(trace->annotations.size(), 2u);
}

TEST(RecordedOperators, OperatorsWithoutATimeAreCountedAndLeftOut) {
  Operators file;
  file.add(Kind::kOperator, file.op("aten::mm", 0, 10));
  file.add(Kind::kOperator, file.op("aten::mm", 10, 20));
  const Result<Trace> trace = file.read(false);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->ops.size(), 1u);
  EXPECT_EQ(trace->log.entry(ImportCode::kMissingTimestamp).count, 1u);
}

}  // namespace
}  // namespace assay
