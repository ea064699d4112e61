#include "breakdown/shape_phases.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr const char* kSdpa = "aten::_scaled_dot_product_flash_attention";

// An operator in each iteration of 1,000 ns, with the lengths of its queries and keys.
struct Call {
  int step;
  int queries;
  int keys;
  std::string op = kSdpa;
};

Trace trace_of(const std::vector<Call>& calls) {
  TraceMaker maker;
  int at = 0;
  for (const Call& call : calls) maker.op(1, call.op, 1000 * call.step + at++, 1);
  Trace trace = maker.build();
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string q = "[2,32," + std::to_string(calls[i].queries) + ",128]";
    const std::string k = "[2,8," + std::to_string(calls[i].keys) + ",128]";
    std::string dims = "[";
    dims.append(q).append(",").append(k).append(",").append(k).append(",[],[]]");
    if (calls[i].op == "_C::paged_attention_v1")
      dims = "[[4,32,128],[4,32,128],[9,8,16,16,8],[9,8,128,16],[],[],[4,20],[4],[],[]]";
    trace.op_inputs.push_back({OpId(static_cast<uint32_t>(i)), trace.strings.intern(dims),
                               StringId(0), StringId(0), StringId(0)});
  }
  return trace;
}

std::string phases_of(const std::vector<Call>& calls) {
  Windows windows{.source = WindowSource::kProfilerStep, .windows = {}};
  for (int step = 0; step <= calls.back().step; ++step)
    windows.windows.push_back({"step", 1000 * step, 1000 * step + 1000});
  const Phases phases = phases_by_shape(trace_of(calls), windows);
  std::string words(phase_source_name(phases.source));
  for (const Phase phase : phases.phase) words.append(" ").append(phase_name(phase));
  return words + " " + std::to_string(phases.decode_steps);
}

TEST(PhasesByShape, ManyQueriesArePrefillAndOneIsDecode) {
  EXPECT_EQ(phases_of({{0, 512, 512}, {0, 512, 512}, {1, 1, 513}, {2, 1, 514}, {3, 300, 300}}),
            "shapes prefill decode decode prefill 2");
}

// A sequence that is prefilled beside others that decode makes neither.
TEST(PhasesByShape, BothInOneIterationAreNeither) {
  EXPECT_EQ(phases_of({{0, 512, 512}, {1, 1, 513}, {1, 64, 64}, {2, 1, 514}}),
            "shapes prefill none decode 1");
}

// Without a prefill, keys that somebody keeps tell decoding from a pooled token.
TEST(PhasesByShape, DecodingAloneIsDetectedByItsKeys) {
  EXPECT_EQ(phases_of({{0, 1, 77}, {1, 1, 78}}), "shapes decode decode 2");
  EXPECT_EQ(phases_of({{0, 1, 77}, {1, 1, 77}}), "none 0");
  EXPECT_EQ(phases_of({{0, 0, 0, "_C::paged_attention_v1"}}), "shapes decode 1");
}

// Four queries of packed sequences: of four sequences with one each, or of three, of which one has
// two. The sizes are the same, and the longest is a value.
TEST(PhasesByShape, TheLongestOfPackedSequencesIsAValue) {
  Trace trace = trace_of({{0, 1, 77}, {1, 1, 78}, {2, 1, 1}, {3, 1, 1}});
  for (size_t i = 2; i < 4; ++i) {
    trace.ops.name[i] = trace.strings.intern("flash_attn::_flash_attn_varlen_forward");
    trace.op_inputs.dims[i] =
        trace.strings.intern("[[4,8,64],[308,8,64],[308,8,64],[5],[5],[],[],[],[],[]]");
    trace.op_inputs.concrete[i] = trace.strings.intern(
        std::string(R"(["","","","","",")") + (i == 2 ? "1" : "2") + R"(","77","","",""])");
  }
  Windows windows{.source = WindowSource::kProfilerStep, .windows = {}};
  for (int step = 0; step < 4; ++step)
    windows.windows.push_back({"step", 1000 * step, 1000 * step + 1000});
  const Phases phases = phases_by_shape(trace, windows);
  EXPECT_EQ(phases.phase,
            (std::vector<Phase>{Phase::kDecode, Phase::kDecode, Phase::kDecode, Phase::kNone}));
}

TEST(PhasesByShape, EncodersAndTrainingHaveNone) {
  EXPECT_EQ(phases_of({{0, 197, 197}, {1, 197, 197}}), "none 0");
  EXPECT_EQ(
      phases_of(
          {{0, 512, 512}, {1, 1, 513}, {1, 1, 513, "autograd::engine::evaluate_function: X"}}),
      "none 0");
}

}  // namespace
}  // namespace assay
