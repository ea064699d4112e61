#include "trace/kernel_periods.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

// A sequence by names: "gemm..." is heavy, "attention..." and "adam..." are what they say,
// "read..." is a copy to the host. A pause is a gap of 50 us before the next item.
class Sequence {
 public:
  Sequence& add(std::string_view name, bool begins = true) {
    const auto [found, is_new] =
        tokens_.try_emplace(std::string(name), static_cast<uint32_t>(tokens_.size()));
    SequenceItem item{.token = found->second};
    if (name.starts_with("gemm")) item.role = WorkRole::kHeavy;
    if (name.starts_with("attention")) item.role = WorkRole::kAttention;
    if (name.starts_with("adam")) item.role = WorkRole::kOptimizer;
    if (name.starts_with("read")) item.role = WorkRole::kReadback;
    item.begins = begins;
    item.gap_ns = pause_;
    item.dur_ns = 300;
    pause_ = 100;
    items_.push_back(item);
    return *this;
  }
  Sequence& all(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
    return *this;
  }
  Sequence& pause() {
    pause_ = 50'000;
    return *this;
  }
  size_t size() const { return items_.size(); }
  std::optional<Periods> find() const { return find_periods(items_); }

 private:
  std::vector<SequenceItem> items_;
  std::map<std::string, uint32_t> tokens_;
  int64_t pause_ = 100;
};

const std::vector<std::string> kLayer = {"norm", "gemm_qkv", "rotary", "attention", "gemm_o", "add",
                                         "norm", "gemm_up",  "silu",   "gemm_down", "add"};
const std::vector<std::string> kBackwardLayer = {
    "add_b",      "gemm_down_dx", "gemm_down_dw", "silu_b",    "gemm_up_dx",
    "gemm_up_dw", "norm_b",       "gemm_o_dx",    "gemm_o_dw", "attention_b",
    "rotary_b",   "gemm_qkv_dx",  "gemm_qkv_dw",  "norm_b"};

void forward(Sequence& to, size_t layers) {
  to.add("embedding");
  for (size_t l = 0; l < layers; ++l) to.all(kLayer);
  to.add("norm").add("gemm_head").add("loss");
}

void train_step(Sequence& to, size_t layers) {
  to.pause();
  forward(to, layers);
  to.add("loss_b").add("gemm_head_dx").add("gemm_head_dw");
  for (size_t l = 0; l < layers; ++l) to.all(kBackwardLayer);
  to.add("embedding_b");
  for (int k = 0; k < 4; ++k) to.add("adam");
}

void decode_step(Sequence& to, size_t layers) {
  to.pause().add("get_rows");
  for (size_t l = 0; l < layers; ++l) to.all(kLayer);
  to.add("norm").add("gemm_head").add("argmax");
}

std::vector<size_t> begins_of(const Periods& found) {
  std::vector<size_t> begins;
  for (const Period& one : found.periods) begins.push_back(one.begin);
  return begins;
}

TEST(KernelPeriods, TrainingStepsAreIterationsAndNotTheirLayers) {
  Sequence run;
  std::vector<size_t> begins;
  for (int step = 0; step < 30; ++step) {
    begins.push_back(run.size());
    train_step(run, 28);
  }
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kOptimizer);
  EXPECT_EQ(begins_of(*found), begins);
  EXPECT_EQ(found->periods.back().end, run.size());
  EXPECT_EQ(found->outside, 0u);
  EXPECT_EQ(found->items, 4 + 28 * 11 + 3 + 28 * 14 + 1 + 4u);
}

TEST(KernelPeriods, WarmUpEvaluationCheckpointAndLoggingAreNone) {
  Sequence run;
  for (int k = 0; k < 200; ++k) run.add(k % 2 == 0 ? "init" : "fill");
  for (int k = 0; k < 40; ++k) run.add("gemm_candidate_" + std::to_string(k));  // autotuning
  std::vector<size_t> begins;
  for (int step = 0; step < 30; ++step) {
    begins.push_back(run.size());
    train_step(run, 12);
    if (step % 5 == 4) run.add("loss_mean").add("read_loss");
    if (step == 14) {
      for (int batch = 0; batch < 4; ++batch) forward(run, 12);
    }
    if (step == 19) {
      for (int k = 0; k < 60; ++k) run.add("read_weights");
    }
  }
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kOptimizer);
  EXPECT_EQ(found->periods.size(), 30u);
  EXPECT_GE(found->periods.front().begin, 200u);
  EXPECT_GE(found->outside, 240u);
}

TEST(KernelPeriods, DecodingIsStepsOfLayers) {
  Sequence run;
  for (int k = 0; k < 30; ++k) run.add("load");
  std::vector<size_t> begins;
  for (int step = 0; step < 50; ++step) {
    begins.push_back(run.size());
    decode_step(run, 16);
  }
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kLayers);
  EXPECT_EQ(begins_of(*found), begins);
  EXPECT_EQ(found->outside, 30u);
}

TEST(KernelPeriods, TwoStacksInOneIteration) {
  Sequence run;
  std::vector<size_t> begins;
  const std::vector<std::string> narrow = {"mod",  "gemm_in",  "attention_joint",
                                           "gelu", "gemm_out", "gate"};
  for (int step = 0; step < 4; ++step) {
    run.pause();
    begins.push_back(run.size());
    run.add("timestep").add("gemm_time");
    for (int l = 0; l < 19; ++l) run.all(kLayer);
    for (int l = 0; l < 38; ++l) run.all(narrow);
    run.add("gemm_last").add("euler");
  }
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(begins_of(*found), begins);
}

TEST(KernelPeriods, AStepWithoutLayersThatIsReadBack) {
  Sequence run;
  std::vector<size_t> begins;
  for (int k = 0; k < 20; ++k) run.add("setup_" + std::to_string(k));
  for (int step = 0; step < 10; ++step) {
    run.pause();
    begins.push_back(run.size());
    for (int k = 0; k < 30; ++k) run.add("stencil_" + std::to_string(k));
    run.add(step % 2 == 0 ? "sweep_x" : "sweep_y").add("reduce").add("read_dt");
  }
  for (int k = 0; k < 5; ++k) run.add("summary_" + std::to_string(k));
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kReadback);
  EXPECT_EQ(begins_of(*found), begins);
  EXPECT_EQ(found->outside, 25u);
}

// What a filter left of one layer of each step: 11 kernels in 4.3 us, then 50 us without any.
TEST(KernelPeriods, GapsThatNoLayerHas) {
  Sequence run;
  for (int step = 0; step < 6; ++step) run.pause().all(kLayer);
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kPause);
  EXPECT_EQ(found->periods.size(), 6u);
  Sequence busy;  // a layer of 22 us
  for (int l = 0; l < 6; ++l) {
    busy.pause();
    for (int k = 0; k < 5; ++k) busy.all(kLayer);
  }
  EXPECT_FALSE(busy.find());
}

TEST(KernelPeriods, NothingButAPeriod) {
  Sequence run;
  for (int step = 0; step < 7; ++step) {
    for (int k = 0; k < 20; ++k) run.add("kernel_" + std::to_string(k));
  }
  for (int k = 0; k < 6; ++k) run.add("kernel_" + std::to_string(k));
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evidence, PeriodEvidence::kWhole);
  EXPECT_EQ(found->periods.size(), 7u);
}

TEST(KernelPeriods, LayersOfOnePassAreNone) {
  Sequence pass;
  forward(pass, 36);
  EXPECT_FALSE(pass.find());
  Sequence step;
  train_step(step, 36);
  EXPECT_FALSE(step.find());
  Sequence cut;  // recorded from the middle of a pass
  for (int l = 0; l < 10; ++l) cut.all(kLayer);
  EXPECT_FALSE(cut.find());
}

// Attention of products and a softmax has no name of its own.
TEST(KernelPeriods, LayersOfAPassThatIsCutAtBothEndsAreNone) {
  const std::vector<std::string> layer = {"norm",   "gemm_qkv", "gemm_qk", "softmax", "gemm_pv",
                                          "gemm_o", "add",      "gemm_up", "gelu",    "gemm_down"};
  Sequence cut;
  cut.add("gemm_up").add("gelu").add("gemm_down");
  for (int l = 0; l < 20; ++l) cut.all(layer);
  cut.all({"norm", "gemm_qkv"});
  EXPECT_FALSE(cut.find());
  Sequence whole;
  for (int l = 0; l < 20; ++l) whole.all(layer);
  EXPECT_TRUE(whole.find());
}

// The same bags of names between marks, and no order in them.
TEST(KernelPeriods, WorkInNoOrderHasNone) {
  Sequence run;
  uint32_t state = 1;
  for (int step = 0; step < 8; ++step) {
    std::vector<std::string> names;
    for (int k = 0; k < 60; ++k) names.push_back((k % 3 == 0 ? "gemm_" : "k_") + std::to_string(k));
    for (size_t k = names.size(); k > 1; --k) {
      state = state * 1664525 + 1013904223;
      std::swap(names[k - 1], names[(state >> 16) % k]);
    }
    run.all(names).add("adam");
  }
  EXPECT_FALSE(run.find());
}

TEST(KernelPeriods, LayersOfTwoKindsAreNone) {
  const std::vector<std::string> wide = {
      "norm",   "gemm_q", "gemm_kv", "rotary_full", "attention_full", "split",     "combine",
      "gemm_o", "add",    "norm",    "gemm_up",     "silu",           "gemm_down", "add"};
  Sequence pass;
  pass.add("embedding");
  for (int l = 0; l < 48; ++l) pass.all(l % 4 == 3 ? wide : kLayer);
  pass.add("norm").add("gemm_head");
  EXPECT_FALSE(pass.find());
}

// Each layer copies to the host which experts its tokens go to, and runs them one by one.
TEST(KernelPeriods, LayersThatLookAtTheHostAreNone) {
  Sequence pass;
  pass.add("embedding");
  for (int l = 0; l < 20; ++l) {
    pass.add("norm").add("gemm_qkv").add("attention").add("gemm_o").add("route").add("read_counts");
    for (int e = 0; e < 8; ++e) pass.add("gather").add("gemm_up").add("silu").add("gemm_down");
  }
  pass.add("norm").add("gemm_head");
  EXPECT_FALSE(pass.find());
}

TEST(KernelPeriods, UnknownNamesShowNoLayers) {
  Sequence pass;
  for (int l = 0; l < 20; ++l) {
    for (int k = 0; k < 9; ++k) pass.add("a" + std::to_string(k));
    for (int e = 0; e < 8; ++e) pass.add("b").add("c").add("d").add("e");
  }
  pass.add("f").add("g");
  EXPECT_FALSE(pass.find());
}

TEST(KernelPeriods, LoopOverOneKernelAndTwoStepsAreNone) {
  Sequence loop;
  for (int k = 0; k < 300; ++k) loop.add(k % 2 == 0 ? "fill" : "gemm");
  EXPECT_FALSE(loop.find());
  Sequence two;
  for (int step = 0; step < 2; ++step) train_step(two, 12);
  EXPECT_FALSE(two.find());
  EXPECT_FALSE(find_periods({}));
}

TEST(KernelPeriods, IterationsInsideOneLaunchAreNone) {
  Sequence run;
  for (int step = 0; step < 8; ++step) {
    run.add("get_rows", step % 4 == 0);
    for (int l = 0; l < 8; ++l) {
      for (const std::string& name : kLayer) run.add(name, false);
    }
    run.add("gemm_head", false).add("argmax", false);
  }
  EXPECT_FALSE(run.find());
}

TEST(KernelPeriods, AttentionInMoreKernelsAboveSomeLength) {
  Sequence run;
  std::vector<size_t> begins;
  for (int step = 0; step < 40; ++step) {
    begins.push_back(run.size());
    run.pause().add("get_rows");
    for (int l = 0; l < 12; ++l) {
      for (const std::string& name : kLayer) {
        run.add(name);
        if (name == "attention" && step >= 20) run.add("combine");
      }
    }
    run.add("gemm_head").add("argmax");
  }
  const auto found = run.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(begins_of(*found), begins);
}

}  // namespace
}  // namespace assay
