// Attention of several kernels, found and replayed as one, on runs whose times were worked out by
// hand.

#include "flow/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "flow/edited_lags.h"
#include "flow/edits.h"
#include "flow/flow.h"
#include "flow/replay.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr const char* kGemm = "ampere_sgemm_128x64_nn";
constexpr const char* kScale = "void at::native::vectorized_elementwise_kernel<4, MulFunctor>";
constexpr const char* kSoftmax = "void (anonymous namespace)::softmax_warp_forward<float, float>";

// Launches one behind the other: an operator, the call in its middle, the kernel on the device.
class Launches {
 public:
  explicit Launches(int64_t host_ns) : host_ns_(host_ns) {}

  Launches& add(const std::string& op, const char* kernel, int64_t kernel_ns, int64_t stream = 7) {
    maker_.op(1, op, host_, host_ns_);
    maker_.call(1, "cudaLaunchKernel", host_ + host_ns_ - 5'000, 4'000, id_);
    host_ += host_ns_;
    device_ = std::max(device_, host_ + 3'000);
    maker_.kernel(0, stream, kernel, device_, kernel_ns, id_++);
    device_ += kernel_ns;
    return *this;
  }
  Launches& wait() {
    maker_.call(1, "cudaStreamSynchronize", host_, device_ - host_ + 1'000, id_++);
    host_ = device_ + 1'000;
    return *this;
  }
  Trace build() { return maker_.build(); }

 private:
  TraceMaker maker_;
  int64_t host_ns_;
  int64_t host_ = 0;
  int64_t device_ = 0;
  uint32_t id_ = 1;
};

struct AttentionRun {
  explicit AttentionRun(Trace made)
      : trace(std::move(made)), links(link_trace(trace)), model(make_flow_model(trace, links)) {}

  UnfusedAttention found() const { return find_unfused_attention(model.run); }
  size_t cores() const { return found().cores.size(); }
  Edit edit() const { return EditMaker(model.run, Windows()).make({.kind = EditKind::kAttention}); }
  int64_t gain() const {
    const Edit made = edit();
    const Edit* const edits[] = {&made};
    const EditedLags lags = edited_lags(model.run, model.graph, edits);
    return makespan_ns(model.run, model.graph, replay(model.graph, {})) -
           makespan_ns(model.run, model.graph, replay(model.graph, {.lags_ns = &lags.lag_ns}));
  }

  Trace trace;
  Links links;
  FlowModel model;
};

AttentionRun attention(int64_t host_ns, int64_t kernel_ns,
                       const std::string& softmax = "aten::_softmax",
                       const std::string& product = "aten::bmm") {
  return AttentionRun(Launches(host_ns)
                          .add("aten::mm", kGemm, kernel_ns)
                          .add(product, kGemm, kernel_ns)
                          .add("aten::mul", kScale, 2 * kernel_ns)
                          .add(softmax, kSoftmax, 3 * kernel_ns)
                          .add(product, kGemm, kernel_ns)
                          .add("aten::mm", kGemm, kernel_ns)
                          .build());
}

TEST(Attention, OnABusyDeviceTheActivitiesBetweenProductsAreRemoved) {
  const AttentionRun run = attention(20'000, 1'000'000);
  const UnfusedAttention found = run.found();
  ASSERT_EQ(found.cores.size(), 1U);
  EXPECT_EQ(found.cores[0].between.size(), 2U);
  EXPECT_EQ(found.cores[0].second.size(), 1U);
  EXPECT_FALSE(found.falls_back);
  EXPECT_EQ(run.gain(), 5'000'000);
  EXPECT_EQ(run.edit().affected, 1U);
  EXPECT_FALSE(run.edit().predicted);
}

// Six launches of 100 us each become three: what prepares the three others goes with them.
TEST(Attention, OnABusyHostTheTimeForOtherLaunchesIsRemoved) {
  const AttentionRun run = attention(100'000, 2'000);
  EXPECT_EQ(run.gain(), 300'000);
}

TEST(Attention, ALossOrAnotherProductIsNone) {
  EXPECT_EQ(attention(20'000, 1'000'000, "aten::_log_softmax").cores(), 0U);
  EXPECT_EQ(attention(20'000, 1'000'000, "aten::_softmax", "aten::mm").cores(), 0U);
  EXPECT_EQ(attention(20'000, 1'000'000, "aten::_softmax", "aten::baddbmm").cores(), 1U);
  EXPECT_EQ(attention(20'000, 1'000'000, "aten::_log_softmax").edit().refusal,
            EditRefusal::kNothing);
}

TEST(Attention, OtherWorkAWaitOrAnotherStreamBetweenThemEndsIt) {
  const auto with = [](auto between) {
    Launches launches(20'000);
    launches.add("aten::bmm", kGemm, 1'000).add("aten::_softmax", kSoftmax, 1'000);
    between(launches);
    return AttentionRun(launches.add("aten::bmm", kGemm, 1'000).build()).cores();
  };
  EXPECT_EQ(with([](Launches&) {}), 1U);
  EXPECT_EQ(with([](Launches& l) { l.add("aten::dropout", kScale, 1'000); }), 1U);
  EXPECT_EQ(with([](Launches& l) { l.add("aten::mm", kGemm, 1'000); }), 0U);
  EXPECT_EQ(with([](Launches& l) { l.add("aten::mul", kScale, 1'000, 8); }), 0U);
  EXPECT_EQ(with([](Launches& l) { l.wait(); }), 0U);
  EXPECT_EQ(with([](Launches& l) {
              for (int i = 0; i < 40; ++i) l.add("aten::mul", kScale, 1'000);
            }),
            0U);
}

// Two products behind each other, as of a backward pass: the later one is the first of the core,
// and the second one of a core may begin the next.
TEST(Attention, EachProductIsTheEndOrTheBeginOfACoreOrBoth) {
  Launches launches(20'000);
  launches.add("aten::bmm", kGemm, 1'000);
  for (int i = 0; i < 2; ++i) {
    launches.add("aten::bmm", kGemm, 1'000)
        .add("aten::_softmax_backward_data", kSoftmax, 1'000)
        .add("aten::bmm", kGemm, 1'000);
  }
  EXPECT_EQ(AttentionRun(launches.build()).cores(), 2U);
  EXPECT_EQ(AttentionRun(Launches(20'000)
                             .add("aten::bmm", kGemm, 1'000)
                             .add("aten::_softmax", kSoftmax, 1'000)
                             .add("aten::bmm", kGemm, 1'000)
                             .add("aten::_softmax", kSoftmax, 1'000)
                             .add("aten::bmm", kGemm, 1'000)
                             .build())
                .cores(),
            2U);
}

TEST(Attention, TheOtherPathOfAFusedCallIsDetected) {
  TraceMaker maker;
  maker.op(1, "aten::_scaled_dot_product_attention_math", 0, 100'000);
  const char* const ops[] = {"aten::bmm", "aten::_softmax", "aten::bmm"};
  const char* const kernels[] = {kGemm, kSoftmax, kGemm};
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t at = 1'000 + 20'000 * int64_t{i};
    maker.op(1, ops[i], at, 10'000);
    maker.call(1, "cudaLaunchKernel", at + 2'000, 4'000, i + 1);
    maker.kernel(0, 7, kernels[i], at + 10'000, 5'000, i + 1);
  }
  const AttentionRun run(maker.build());
  EXPECT_EQ(run.cores(), 1U);
  EXPECT_TRUE(run.found().falls_back);
  EXPECT_TRUE(run.edit().falls_back);
}

}  // namespace
}  // namespace assay
