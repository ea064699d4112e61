#include "breakdown/place.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "breakdown/forward_links.h"
#include "breakdown/labels.h"
#include "breakdown/mapping.h"
#include "breakdown/structure.h"
#include "flow/replays.h"
#include "flow/run.h"
#include "kernels/name.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using assay::testing::op_id;
using assay::testing::TraceMaker;

struct Placed {
  std::string op;
  int32_t layer;
  LevelPhase phase;
  PlacedBy by;
};

// By kernel name; the last one of a name counts.
std::map<std::string, Placed> place(const Trace& trace, const BreakdownOptions& options = {}) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  const Placements placements = place_activities(trace, links, windows, options);
  std::map<std::string, Placed> result;
  for (const KernelLevel& row : placements.rows) {
    result[std::string(trace.text(row.kernel))] = {placements.op_names[row.op], row.layer,
                                                   row.phase, row.by};
  }
  return result;
}

// Builds a host timeline step by step on thread 1.
class Timeline {
 public:
  Timeline& launch(const char* op, const char* kernel) {
    maker_.op(1, op, now_, 8);
    maker_.call(1, "cudaLaunchKernel", now_ + 1, 2, ++correlation_);
    maker_.kernel(0, 7, kernel, 1'000'000 + now_, 5, correlation_);
    now_ += 10;
    return *this;
  }
  Timeline& module(const char* name, int64_t launches, int64_t lead = 0) {
    maker_.frame(1, name, now_ - lead, launches * 10 + lead);
    return *this;
  }
  TraceMaker& maker() { return maker_; }
  int64_t now() const { return now_; }

 private:
  TraceMaker maker_;
  int64_t now_ = 100;
  uint32_t correlation_ = 0;
};

// Two decoder layers of a Llama-like model between an embedding and the head.
Trace llama() {
  Timeline run;
  const char* names[2][16] = {
      {"nn.Module: LlamaDecoderLayer_0", "nn.Module: LlamaRMSNorm_0", "nn.Module: LlamaAttention_0",
       "nn.Module: Linear_0", "nn.Module: Linear_1", "nn.Module: Linear_2", "nn.Module: Linear_3",
       "nn.Module: LlamaRMSNorm_1", "nn.Module: LlamaMLP_0", "nn.Module: Linear_4",
       "nn.Module: SiLU_0", "nn.Module: Linear_5", "nn.Module: Linear_6"},
      {"nn.Module: LlamaDecoderLayer_1", "nn.Module: LlamaRMSNorm_2", "nn.Module: LlamaAttention_1",
       "nn.Module: Linear_7", "nn.Module: Linear_8", "nn.Module: Linear_9", "nn.Module: Linear_10",
       "nn.Module: LlamaRMSNorm_3", "nn.Module: LlamaMLP_1", "nn.Module: Linear_11",
       "nn.Module: SiLU_1", "nn.Module: Linear_12", "nn.Module: Linear_13"}};
  run.module("nn.Module: LlamaForCausalLM_0", 33).module("nn.Module: LlamaModel_0", 32);
  run.module("nn.Module: Embedding_0", 1).launch("aten::embedding", "emb");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string tag = std::to_string(layer);
    const auto kernel = [&tag](const char* name) { return std::string(name) + tag; };
    const auto& n = names[layer];
    run.module(n[0], 15);
    run.module(n[1], 1).launch("aten::mul", kernel("norm_a").c_str());
    run.module(n[2], 6);
    run.module(n[3], 1).launch("aten::linear", kernel("q").c_str());
    run.module(n[4], 1).launch("aten::linear", kernel("k").c_str());
    run.module(n[5], 1).launch("aten::linear", kernel("v").c_str());
    run.launch("aten::mul", kernel("rope").c_str());
    run.launch("aten::scaled_dot_product_attention", kernel("core").c_str());
    run.module(n[6], 1).launch("aten::linear", kernel("o").c_str());
    run.launch("aten::add", kernel("res_a").c_str());
    run.module(n[7], 1).launch("aten::mul", kernel("norm_m").c_str());
    run.module(n[8], 5);
    run.module(n[9], 1).launch("aten::linear", kernel("gate").c_str());
    run.module(n[10], 1).launch("aten::silu", kernel("silu").c_str());
    run.module(n[11], 1).launch("aten::linear", kernel("up").c_str());
    run.launch("aten::mul", kernel("gate_up").c_str());
    run.module(n[12], 1).launch("aten::linear", kernel("down").c_str());
    run.launch("aten::add", kernel("res_m").c_str());
  }
  run.module("nn.Module: LlamaRMSNorm_4", 1).launch("aten::mul", "norm_last");
  run.module("nn.Module: Linear_14", 1).launch("aten::linear", "head");
  return run.maker().build();
}

TEST(Place, ModulesOfALlamaGetThePapersNames) {
  const auto placed = place(llama());
  const std::map<std::string, std::string> expected = {
      {"norm_a", "attn_n"},  {"q", "qkv_ip"},     {"k", "qkv_ip"},    {"v", "qkv_ip"},
      {"rope", "qkv_re"},    {"core", "attn_fa"}, {"o", "attn_op"},   {"res_a", "attn_ra"},
      {"norm_m", "mlp_n"},   {"gate", "mlp_gp"},  {"silu", "mlp_gs"}, {"up", "mlp_up"},
      {"gate_up", "mlp_gu"}, {"down", "mlp_dp"},  {"res_m", "mlp_ra"}};
  for (int layer = 0; layer < 2; ++layer) {
    for (const auto& [kernel, op] : expected) {
      const Placed& one = placed.at(kernel + std::to_string(layer));
      EXPECT_EQ(one.op, op) << kernel;
      EXPECT_EQ(one.layer, layer) << kernel;
      EXPECT_EQ(one.phase, LevelPhase::kForward) << kernel;
    }
  }
  EXPECT_EQ(placed.at("emb").op, "ie");
  EXPECT_EQ(placed.at("emb").layer, kNoLayer);
  EXPECT_EQ(placed.at("norm_last").op, "ln");
  EXPECT_EQ(placed.at("head").op, "lp");
}

TEST(Place, OtherModelsGetTheModulePathBelowTheLayer) {
  Timeline run;
  run.module("nn.Module: Net_0", 4);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string k = std::to_string(layer);
    run.module(("nn.Module: Block_" + k).c_str(), 2);
    run.module(("nn.Module: Conv2d_" + k).c_str(), 1);
    run.launch("aten::conv2d", ("conv" + k).c_str());
    run.launch("aten::add_", ("add" + k).c_str());
  }
  const auto placed = place(run.maker().build());
  EXPECT_EQ(placed.at("conv1").op, "Conv2d");
  EXPECT_EQ(placed.at("conv1").layer, 1);
  EXPECT_EQ(placed.at("add0").op, "Block/aten::add_");
  EXPECT_EQ(placed.at("add0").layer, 0);
}

// A forward operator with sequence number 5, its backward on another thread, and AccumulateGrad.
TraceMaker training() {
  TraceMaker maker;
  maker.op(1, "aten::linear", 100, 50).op(1, "aten::addmm", 110, 30);
  maker.call(1, "cudaLaunchKernel", 115, 2, 1).kernel(0, 7, "fwd", 1000, 5, 1);
  maker.op(2, "autograd::engine::evaluate_function: AddmmBackward0", 500, 50);
  maker.op(2, "AddmmBackward0", 505, 40).op(2, "aten::mm", 510, 20);
  maker.call(2, "cudaLaunchKernel", 515, 2, 2).kernel(0, 7, "bwd", 2000, 5, 2);
  maker.op(2, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 600, 50);
  maker.op(2, "aten::add_", 610, 20);
  maker.call(2, "cudaLaunchKernel", 615, 2, 3).kernel(0, 7, "accumulate", 3000, 5, 3);
  maker.annotation(1, "Optimizer.step#AdamW.step", 700, 100).op(1, "aten::_foreach_add_", 710, 20);
  maker.call(1, "cudaLaunchKernel", 715, 2, 4).kernel(0, 7, "step", 4000, 5, 4);
  return maker;
}

void add_sequences(Trace& trace) {
  trace.op_sequences.push_back({op_id(trace, "aten::linear"), 5, 0});
  trace.op_sequences.push_back({op_id(trace, "aten::addmm"), 5, 0});
  trace.op_sequences.push_back(
      {op_id(trace, "autograd::engine::evaluate_function: AddmmBackward0"), 5, 1});
}

TEST(Place, BackwardWorkBearsTheNameOfItsForwardOperation) {
  Trace trace = training().build();
  add_sequences(trace);
  const auto placed = place(trace);
  EXPECT_EQ(placed.at("fwd").op, "aten::linear");
  EXPECT_EQ(placed.at("bwd").op, "b_aten::linear");
  EXPECT_EQ(placed.at("bwd").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("bwd").by, PlacedBy::kSequence);
  EXPECT_EQ(placed.at("accumulate").op, "b_ga");
  EXPECT_EQ(placed.at("accumulate").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("step").op, "opt_step");
  EXPECT_EQ(placed.at("step").phase, LevelPhase::kOptimizer);
}

TEST(Place, BackwardWorkWithoutItsForwardOperatorIsUnmapped) {
  Trace trace = training().build();
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  EXPECT_EQ(place(trace).at("bwd").op, "b_unmapped");
  EXPECT_EQ(placed.stats.unplaced.activities, 1u);
  EXPECT_EQ(placed.stats.reasons[static_cast<size_t>(UnplacedReason::kNoForward)].activities, 1u);
}

// The node's number is the first operator's, and that of the second is the next.
void number_around_node(Trace& trace, const char* first, const char* second, const char* node) {
  trace.op_sequences.push_back({op_id(trace, first), 5, 0});
  trace.op_sequences.push_back({op_id(trace, second), 6, 0});
  trace.op_sequences.push_back({op_id(trace, node), 5, 1});
}

// An autograd function in C++ has a node, but the operator that made it carries no number: the last
// one that does is part of another operator before it. With two that may have made it, neither is
// told, and the work bears the node's name.
TEST(Place, ANodeOfTheUsersOwnIsNotTakenForTheOperatorBeforeIt) {
  for (const bool two : {false, true}) {
    TraceMaker maker;
    maker.op(1, "own::check", 100, 40).op(1, "aten::zero_", 110, 10);
    maker.op(1, "own::inner", 125, 5);
    maker.op(1, "own::lookup", 200, 40).op(1, "own::part", 210, 10);
    if (two) maker.op(1, "own::other", 250, 10);
    maker.call(1, "cudaLaunchKernel", 215, 2, 1).kernel(0, 7, "fwd", 1000, 5, 1);
    maker.op(1, "aten::cat", 300, 10);
    maker.op(2, "torch::autograd::CppNode<Lookup_Op>", 500, 50);
    maker.call(2, "cudaLaunchKernel", 515, 2, 2).kernel(0, 7, "bwd", 2000, 5, 2);
    Trace trace = maker.build();
    number_around_node(trace, "aten::zero_", "aten::cat", "torch::autograd::CppNode<Lookup_Op>");
    const auto placed = place(trace);
    EXPECT_EQ(placed.at("bwd").op, two ? "torch::autograd::CppNode<Lookup_Op>" : "b_own::lookup");
    EXPECT_EQ(placed.at("bwd").by, two ? PlacedBy::kOperator : PlacedBy::kBetween);
    EXPECT_EQ(placed.at("bwd").phase, LevelPhase::kBackward);
  }
}

// The maker may carry the number after all: what merely follows it is not taken for it.
TEST(Place, AnOperatorWithTheNumberOfItsNodeMadeIt) {
  TraceMaker maker;
  maker.op(1, "own::permute", 100, 40).op(1, "own::after", 200, 40);
  maker.op(1, "aten::mm", 300, 10).op(2, "torch::autograd::CppNode<PermuteFn>", 500, 50);
  maker.call(2, "cudaLaunchKernel", 515, 2, 2).kernel(0, 7, "bwd", 2000, 5, 2);
  Trace trace = maker.build();
  number_around_node(trace, "own::permute", "aten::mm", "torch::autograd::CppNode<PermuteFn>");
  const auto placed = place(trace);
  EXPECT_EQ(placed.at("bwd").op, "b_own::permute");
  EXPECT_EQ(placed.at("bwd").by, PlacedBy::kSequence);
}

TEST(Place, ACollectiveMakesNoNodeOfTheUsersOwn) {
  for (const char* collective : {"c10d::allreduce_", "_c10d_functional::all_gather_into_tensor",
                                 "c10d_functional::wait_tensor", "nccl:all_reduce"}) {
    TraceMaker maker;
    maker.op(1, "aten::zero_", 100, 10).op(1, "own::lookup", 120, 40);
    maker.op(1, collective, 200, 40).op(1, "record_param_comms", 250, 20);
    maker.op(1, "aten::mm", 300, 10).op(2, "torch::autograd::CppNode<Lookup>", 500, 50);
    maker.call(2, "cudaLaunchKernel", 515, 2, 2).kernel(0, 7, "bwd", 2000, 5, 2);
    Trace trace = maker.build();
    number_around_node(trace, "aten::zero_", "aten::mm", "torch::autograd::CppNode<Lookup>");
    EXPECT_EQ(place(trace).at("bwd").op, "b_own::lookup") << collective;
  }
}

TEST(Place, FlowsAndSequenceNumbersFindTheSameForwardOperator) {
  Trace trace = training().build();
  add_sequences(trace);
  const ThreadId forward = trace.ops.thread[op_id(trace, "aten::linear").index()];
  const OpId node = op_id(trace, "autograd::engine::evaluate_function: AddmmBackward0");
  trace.forward_backward_flows.push_back({110, 77, forward, 0});
  trace.forward_backward_flows.push_back({500, 77, trace.ops.thread[node.index()], 1});
  const ForwardLinks links(trace);
  // Of the operators with number 5 the one that started last.
  EXPECT_EQ(links.by_flow(node), op_id(trace, "aten::addmm"));
  EXPECT_EQ(links.by_sequence(node), op_id(trace, "aten::addmm"));
  EXPECT_EQ(links.flows_compared(), 1u);
  EXPECT_EQ(links.flows_agree(), 1u);
}

// A forward pass of four operators, and the node of the last one with operators inside it. All
// carry numbers; numbers of nodes are those of their forward operators.
Trace node_with(const std::vector<std::string>& inside) {
  TraceMaker maker;
  const std::vector<std::string> forward = {"NormFn", "aten::conv2d", "aten::batch_norm",
                                            "aten::relu_"};
  for (size_t i = 0; i < forward.size(); ++i) {
    maker.op(1, forward[i], 100 + 20 * static_cast<int64_t>(i), 10);
  }
  maker.op(2, "ReluBackward0", 500, 300);
  int64_t now = 510;
  for (size_t i = 0; i < inside.size(); ++i, now += 40) {
    const auto id = static_cast<uint32_t>(i + 1);
    maker.op(2, inside[i], now, 30).call(2, "cudaLaunchKernel", now + 5, 2, id);
    maker.kernel(0, 7, "k" + std::to_string(i), 2000 + 10 * static_cast<int64_t>(i), 5, id);
  }
  Trace trace = maker.build();
  int64_t number = 1;
  for (size_t o = 0; o < trace.ops.size(); ++o) {
    const bool node = trace.text(trace.ops.name[o]) == "ReluBackward0";
    trace.op_sequences.push_back({OpId(o), node ? 4 : number++, node ? 1 : 0});
  }
  return trace;
}

TEST(Place, TheForwardPassAgainInsideItsNodeIsRecomputed) {
  const auto placed = place(node_with({"aten::conv2d", "aten::batch_norm", "aten::relu_"}));
  EXPECT_EQ(placed.at("k0").phase, LevelPhase::kRecompute);
  EXPECT_EQ(placed.at("k0").op, "aten::conv2d");
  EXPECT_EQ(placed.at("k2").phase, LevelPhase::kRecompute);
}

TEST(Place, AFunctionOfTheUsersOwnInsideANodeIsRecomputed) {
  EXPECT_EQ(place(node_with({"NormFn"})).at("k0").phase, LevelPhase::kRecompute);
  EXPECT_EQ(place(node_with({"OtherFn"})).at("k0").phase, LevelPhase::kBackward);
}

// With create_graph the operators of the backward pass are differentiable themselves.
TEST(Place, DifferentiableWorkInsideANodeIsBackwardUnlessItRepeatsTheForwardPass) {
  for (const std::vector<std::string>& inside :
       {std::vector<std::string>{"aten::threshold_backward", "aten::mul"},
        {"aten::relu_"},
        {"aten::conv2d", "aten::mul"},
        {"aten::conv2d", "aten::batch_norm"}}) {
    EXPECT_EQ(place(node_with(inside)).at("k0").phase, LevelPhase::kBackward) << inside.back();
  }
}

TEST(Place, LabelsOfThePaperComeBeforeModules) {
  Timeline run;
  run.maker().annotation(1, "Layer7", 100, 10).annotation(1, "f_qkv_ip", 100, 10);
  run.module("nn.Module: Linear_0", 1).launch("aten::linear", "gemm");
  const auto placed = place(run.maker().build());
  EXPECT_EQ(placed.at("gemm").op, "qkv_ip");
  EXPECT_EQ(placed.at("gemm").layer, 7);
  EXPECT_EQ(placed.at("gemm").by, PlacedBy::kLabel);
}

TEST(Place, LabelsShowBackwardOperationsWithoutAutograd) {
  Timeline run;
  run.maker().annotation(1, "b_mlp_up", 100, 10);
  run.launch("aten::mm", "bwd");
  const auto result = place(run.maker().build());
  EXPECT_EQ(result.at("bwd").op, "b_mlp_up");
  EXPECT_EQ(result.at("bwd").phase, LevelPhase::kBackward);
}

TEST(Place, ALabelForwardInsideADecodeStepIsDecode) {
  Timeline run;
  run.maker().annotation(1, "execute_context_0(0)_generation_8(8)", 100, 10);
  run.maker().annotation(1, "gpu_model_runner: forward", 100, 10);
  run.launch("aten::linear", "step");
  run.maker().annotation(1, "forward", 110, 10);
  run.launch("aten::linear", "apart");
  const auto result = place(run.maker().build());
  EXPECT_EQ(result.at("step").phase, LevelPhase::kDecode);
  EXPECT_EQ(result.at("apart").phase, LevelPhase::kForward);
}

TEST(Place, MappingFileOverridesEverything) {
  Timeline run;
  run.maker().annotation(1, "f_qkv_ip", 100, 10);
  run.launch("aten::linear", "my_gemm");
  const auto rules = parse_level_rules("# ours\nkernel my_* mlp_gp 3 backward\n", "map");
  ASSERT_TRUE(rules.has_value());
  BreakdownOptions options;
  options.rules = &*rules;
  const auto placed = place(run.maker().build(), options);
  EXPECT_EQ(placed.at("my_gemm").op, "mlp_gp");
  EXPECT_EQ(placed.at("my_gemm").layer, 3);
  EXPECT_EQ(placed.at("my_gemm").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("my_gemm").by, PlacedBy::kMap);
}

TEST(Place, MappingFileErrorsHaveTheLine) {
  const auto rules = parse_level_rules("\nkernel a b\nthread a b\n", "map");
  ASSERT_FALSE(rules.has_value());
  EXPECT_NE(rules.error().message.find("line 3"), std::string::npos);
  EXPECT_EQ(rules.error().file, "map");
}

TEST(Place, KernelsQueuedBeforeTheWindowAreAttributedLikeTheirMatches) {
  // Three names for ten operators: only their order tells which kernel is whose.
  const std::vector<std::string> ops = {"aten::a", "aten::b", "aten::c", "aten::d", "aten::e",
                                        "aten::f", "aten::g", "aten::h", "aten::i", "aten::j"};
  const std::vector<std::string> kernels = {"x", "y", "x", "z", "z", "y", "x", "y", "z", "x"};
  Timeline timeline;
  for (size_t i = 0; i < ops.size(); ++i) {
    timeline.launch(ops[i].c_str(), kernels[i].c_str());
  }
  // The end of the same run, before, without launches.
  for (size_t i = 1; i < ops.size(); ++i) {
    timeline.maker().kernel(0, 7, kernels[i], 1000 + 10 * static_cast<int64_t>(i), 5,
                            static_cast<uint32_t>(500 + i));
  }
  const Trace trace = timeline.maker().build();
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  EXPECT_EQ(placed.stats.unplaced.activities, 0u);
  EXPECT_EQ(placed.stats.by[static_cast<size_t>(PlacedBy::kTwin)].activities, 9u);
  for (const KernelLevel& row : placed.rows) {
    if (row.t_ks_ns > 100'000) continue;
    EXPECT_EQ(placed.op_names[row.op], ops[static_cast<size_t>(row.t_ks_ns - 1000) / 10]);
  }
}

// Two stacks right below one model, as a diffusion transformer has them, and two heads whose
// numbers are those of layers.
TEST(Place, LmHeadIsNotCountedAsLayer) {
  Timeline run;
  run.module("nn.Module: Model_0", 9);
  const auto block = [&run](const std::string& name, const std::string& linear,
                            const char* kernel) {
    run.module(("nn.Module: " + name).c_str(), 1);
    run.module(("nn.Module: Linear_" + linear).c_str(), 1);
    run.launch("aten::linear", kernel);
  };
  block("DoubleBlock_0", "0", "double0");
  block("DoubleBlock_1", "1", "double1");
  block("DoubleBlock_2", "2", "double2");
  block("SingleBlock_0", "3", "single0");
  block("SingleBlock_1", "4", "single1");
  block("SingleBlock_2", "5", "single2");
  block("SingleBlock_3", "6", "single3");
  block("BoxHead_0", "7", "box");
  block("BoxHead_1", "8", "other box");
  const auto placed = place(run.maker().build());
  EXPECT_EQ(placed.at("double2").layer, 2);
  EXPECT_EQ(placed.at("single0").layer, 3);
  EXPECT_EQ(placed.at("single3").layer, 6);
  EXPECT_EQ(placed.at("box").layer, kNoLayer);
  EXPECT_EQ(placed.at("other box").layer, kNoLayer);
}

// Two encoders with layers of the same numbers, and a rotary embedding that the layers of the
// second one share: its first caller is their layer 0.
TEST(Place, StacksOfTheSameNumbersStayApart) {
  Timeline run;
  run.module("nn.Module: Model_0", 12);
  run.module("nn.Module: TextEncoder_0", 4);
  for (const char* k : {"0", "1", "2", "3"}) {
    run.module((std::string("nn.Module: TextBlock_") + k).c_str(), 1);
    run.module((std::string("nn.Module: Linear_") + k).c_str(), 1);
    run.launch("aten::linear", (std::string("text") + k).c_str());
  }
  run.module("nn.Module: ImageEncoder_0", 8);
  for (const char* k : {"0", "1", "2", "3"}) {
    run.module((std::string("nn.Module: ImageBlock_") + k).c_str(), 2);
    run.module("nn.Module: Rotary_0", 1).launch("aten::mul", (std::string("rotary") + k).c_str());
    run.module((std::string("nn.Module: Linear_1") + k).c_str(), 1);
    run.launch("aten::linear", (std::string("image") + k).c_str());
  }
  const Trace trace = run.maker().build();
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  ASSERT_EQ(placed.stacks.size(), 2u);
  EXPECT_EQ(placed.stacks[0].name, "TextBlock");
  EXPECT_EQ(placed.stacks[0].layers, 4);
  EXPECT_EQ(placed.stacks[1].name, "ImageBlock");
  EXPECT_EQ(placed.stacks[1].first, 4);
  EXPECT_EQ(placed.stats.layers, 8);
  const auto by_kernel = place(trace);
  EXPECT_EQ(by_kernel.at("text3").layer, 3);
  EXPECT_EQ(by_kernel.at("image0").layer, 4);
  EXPECT_EQ(by_kernel.at("image3").layer, 7);
  EXPECT_EQ(by_kernel.at("rotary3").layer, 7);
  EXPECT_EQ(stack_of(placed.stacks, 3), 0);
  EXPECT_EQ(stack_of(placed.stacks, 4), 1);
  EXPECT_EQ(stack_of(placed.stacks, kNoLayer), kNoStack);
}

// Old profiles hold no rows of the autograd engine: the operators' own names tell.
TEST(Place, BackwardOperatorsOutsideTheEngineAreBackward) {
  Timeline run;
  run.launch("aten::conv2d", "conv").launch("aten::cudnn_convolution_backward", "dgrad");
  run.launch("torch::autograd::AccumulateGrad", "grad").launch("MulBackward0", "mul");
  run.launch("aten::_fused_adamw_", "adam").launch("MyBackwardCompatibleLinear", "linear");
  const auto placed = place(run.maker().build());
  EXPECT_EQ(placed.at("conv").phase, LevelPhase::kForward);
  EXPECT_EQ(placed.at("dgrad").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("dgrad").op, "aten::cudnn_convolution_backward");
  EXPECT_EQ(placed.at("grad").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("mul").phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at("adam").phase, LevelPhase::kOptimizer);
  EXPECT_EQ(placed.at("linear").phase, LevelPhase::kForward);
}

// A program that is no training at all launches kernels without operators.
TEST(Place, PhaseIsUnknownIfThereAreNoOperators) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 5, 1).kernel(0, 7, "advec_cell", 10, 50, 1);
  EXPECT_EQ(place(maker.build()).at("advec_cell").phase, LevelPhase::kNone);
}

// Two fused kernels without any operator: one is an optimizer's by its name.
TEST(Place, OptimizerIsKnownByItsKernelsIfThereIsNoOtherSource) {
  TraceMaker maker;
  const char* adam =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
      "namespace)::FusedAdamMathFunctor<float, 4> >(int)";
  maker.call(1, "cudaLaunchKernel", 0, 5, 1).kernel(0, 7, adam, 10, 50, 1);
  maker.call(1, "cudaLaunchKernel", 6, 5, 2).kernel(0, 7, "relu", 70, 50, 2);
  const auto placed = place(maker.build());
  EXPECT_EQ(placed.at(adam).phase, LevelPhase::kOptimizer);
  EXPECT_EQ(placed.at("relu").phase, LevelPhase::kNone);
}

// Kernels of a ResNet's backward pass on an AMD GPU, without any host side. MIOpen's igemm_bwd is
// also how it computes a transposed convolution: backward work where the weights' gradient (wrw) is
// there, and not told where it is not. What has no such name stays open, and it is counted.
TEST(Place, GradientsAreKnownByTheirKernelsIfThereIsNoOtherSource) {
  const std::string weights = "igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_wt32x32x8_gkgs";
  const std::string data = "igemm_bwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x128x32_wt16x64x4_mh_gkgs";
  const std::string forward = "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt256x64x32_wt32x32x8_gkgs";
  const auto made = [&](bool trains) {
    TraceMaker maker;
    maker.kernel(0, 7, forward, 10, 50, 1).kernel(0, 7, data, 70, 40, 2);
    if (trains) maker.kernel(0, 7, weights, 120, 30, 3);
    return maker.build();
  };
  EXPECT_EQ(place(made(false)).at(data).phase, LevelPhase::kNone);
  const auto placed = place(made(true));
  EXPECT_EQ(placed.at(data).phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at(weights).phase, LevelPhase::kBackward);
  EXPECT_EQ(placed.at(forward).phase, LevelPhase::kNone);
  const Trace trace = made(true);
  const Links links = link_trace(trace);
  const auto report = analyze_breakdown(trace, links, find_iterations(trace, links), {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->placement.phase_by_name.dur_ns, 70);
  EXPECT_EQ(report->placement.no_phase.dur_ns, 50);
  EXPECT_TRUE(std::any_of(report->trust.begin(), report->trust.end(), [](const TrustNote& one) {
    return one.what == "breakdown_phase_by_name" && one.count == 2;
  }));
}

// The recording begins with ProfilerStep#4 at 1,000. "early" was queued before and still runs in
// it; "own" is launched in it and runs after it; "late" has no launch but runs behind launched
// work.
TEST(Place, ActivitiesQueuedBeforeTheRecordingBelongToNoIteration) {
  TraceMaker maker;
  maker.annotation(1, "ProfilerStep#4", 1000, 500).annotation(1, "ProfilerStep#5", 1500, 500);
  maker.op(1, "aten::mm", 1100, 50).call(1, "cudaLaunchKernel", 1110, 5, 1);
  maker.op(1, "aten::mm", 1600, 50).call(1, "cudaLaunchKernel", 1610, 5, 2);
  maker.kernel(0, 7, "early", 1050, 300, 90).kernel(0, 7, "own", 1550, 100, 1);
  maker.kernel(0, 7, "next", 1700, 100, 2).kernel(0, 7, "late", 1850, 100, 91);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  std::map<std::string, int32_t> windows;
  for (const KernelLevel& row : placed.rows) {
    windows[std::string(trace.text(row.kernel))] = row.window;
  }
  EXPECT_EQ(windows, (std::map<std::string, int32_t>{
                         {"early", kNoIteration}, {"own", 0}, {"next", 1}, {"late", 1}}));
}

// A text encoder of four modules, then a compiled transformer: one module without modules inside,
// one region around all of its work, five blocks of four operators between a first and a last one.
TEST(Place, BlocksOfACompiledModelAreAStackInAdditionToModules) {
  Timeline run;
  run.module("nn.Module: Pipeline_0", 26).module("nn.Module: TextEncoder_0", 4);
  for (const char* k : {"0", "1", "2", "3"}) {
    run.module((std::string("nn.Module: TextBlock_") + k).c_str(), 1);
    run.module((std::string("nn.Module: Linear_") + k).c_str(), 1).launch("aten::linear", "text");
  }
  run.module("nn.Module: Transformer_0", 22);
  run.maker().op(1, "Torch-Compiled Region: 0/0", run.now() - 1, 222);
  run.launch("triton_first", "embed");
  for (int k = 0; k < 5; ++k) {
    const std::string number = std::to_string(k);
    run.launch("triton_norm", "norm").launch("aten::mm", ("sgemm_qkv_" + number).c_str());
    run.launch("aten::_flash_attention_forward", "flash_fwd_kernel");
    run.launch("aten::mm", ("sgemm_out_" + number).c_str());
  }
  run.launch("triton_last", "head");
  const Trace trace = run.maker().build();
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  ASSERT_EQ(placed.stacks.size(), 2u);
  EXPECT_EQ(placed.stacks[0].name, "Transformer, block of 4 operators");
  EXPECT_EQ(placed.stacks[0].layers, 5);
  EXPECT_EQ(placed.stacks[1].name, "TextBlock");
  EXPECT_EQ(placed.stacks[1].layers, 4);
  const auto by_kernel = place(trace);
  EXPECT_EQ(by_kernel.at("sgemm_out_3").layer, 3);
  EXPECT_EQ(by_kernel.at("sgemm_out_3").op, "aten::mm[1]");
  EXPECT_EQ(by_kernel.at("embed").layer, kNoLayer);
  EXPECT_EQ(by_kernel.at("embed").op, "Pipeline.Transformer");
  EXPECT_EQ(by_kernel.at("text").layer, 5 + 3) << "behind the transformer's layers";
}

// Three training steps of eight layers on a device, without any host side: kernels of 10 ns.
Trace training_without_host(int steps) {
  TraceMaker maker;
  int64_t now = 0;
  const auto run = [&](std::initializer_list<const char*> kernels) {
    for (const char* name : kernels) maker.kernel(0, 7, name, now += 15, 10, 0);
  };
  for (int step = 0; step < steps; ++step) {
    now += 1000;
    run({"indexSelectLargeIndex"});
    for (int l = 0; l < 8; ++l) {
      run({"rms_norm_kernel", "ampere_sgemm_qkv", "flash_fwd_kernel", "ampere_sgemm_out",
           "silu_kernel", "ampere_sgemm_down"});
    }
    run({"ampere_sgemm_head", "nll_loss_forward", "nll_loss_backward", "ampere_sgemm_head_dx"});
    for (int l = 0; l < 8; ++l) {
      run({"ampere_sgemm_down_dx", "ampere_sgemm_down_dw", "silu_backward_kernel",
           "ampere_sgemm_out_dx", "flash_bwd_kernel", "ampere_sgemm_qkv_dw", "rms_norm_bwd"});
    }
    run({"multi_tensor_apply_kernel<FusedAdamMathFunctor>",
         "multi_tensor_apply_kernel<FusedAdamMathFunctor>"});
  }
  return maker.build();
}

TEST(Place, TrainingWithoutAHostHasStepsOfLayersInTwoPasses) {
  const Trace trace = training_without_host(3);
  const Links links = link_trace(trace);
  std::vector<WorkRole> roles(trace.strings.size());
  for (size_t s = 0; s < roles.size(); ++s) {
    const std::string_view name = trace.text(StringId(s));
    if (name.starts_with("ampere")) roles[s] = WorkRole::kHeavy;
    if (name.starts_with("flash")) roles[s] = WorkRole::kAttention;
    if (name.starts_with("multi")) roles[s] = WorkRole::kOptimizer;
  }
  const Windows windows = find_iterations(trace, links, roles);
  EXPECT_EQ(windows.windows.size(), 3u);
  const Placements placed = place_activities(trace, links, windows, BreakdownOptions{});
  ASSERT_EQ(placed.stacks.size(), 1u);
  EXPECT_EQ(placed.stacks[0].name, "block of 6 kernels");
  EXPECT_EQ(placed.stacks[0].layers, 8);
  std::map<LevelPhase, int> kernels;
  std::vector<int32_t> attention;
  for (const KernelLevel& row : placed.rows) {
    ++kernels[row.phase];
    if (row.window == 1 && trace.text(row.kernel).starts_with("flash")) {
      attention.push_back(row.layer);
    }
  }
  EXPECT_EQ(kernels, (std::map<LevelPhase, int>{{LevelPhase::kNone, 3 * 4},
                                                {LevelPhase::kForward, 3 * 8 * 6},
                                                {LevelPhase::kBackward, 3 * (8 * 7 + 1)},
                                                {LevelPhase::kOptimizer, 3 * 2}}));
  EXPECT_EQ(attention, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0}));
}

// Attention is launched between graphs that hold the rest of a layer, as serving engines do with
// graphs of pieces: six layers.
Trace layers_in_pieces(bool trains) {
  TraceMaker maker;
  int64_t now = 100;
  uint32_t correlation = 0;
  for (int l = 0; l < 6; ++l) {
    maker.call(1, "cudaGraphLaunch", now, 5, ++correlation);
    for (const char* name : {"ampere_sgemm_out", "rms_norm_kernel", "ampere_sgemm_up",
                             "silu_kernel", "ampere_sgemm_down", "ampere_sgemm_qkv"}) {
      maker.kernel(0, 7, name, 1000 + now++, 1, correlation);
    }
    now += 10;
    maker.op(1, "vllm::unified_attention", now, 10);
    maker.call(1, "cudaLaunchKernel", now + 1, 5, ++correlation);
    maker.kernel(0, 7, "flash_fwd_kernel", 1000 + now, 5, correlation);
    now += 10;
  }
  if (trains) {
    maker.call(1, "cudaLaunchKernel", now, 5, ++correlation);
    maker.kernel(0, 7, "multi_tensor_apply_kernel<FusedAdamMathFunctor>", 1500 + now, 5,
                 correlation);
  }
  return maker.build();
}

TEST(Place, LayersOfWhichAPartIsInGraphs) {
  const Trace trace = layers_in_pieces(false);
  const Links links = link_trace(trace);
  const Placements placed =
      place_activities(trace, links, find_iterations(trace, links), BreakdownOptions{});
  ASSERT_EQ(placed.stacks.size(), 1u);
  EXPECT_EQ(placed.stacks[0].layers, 6);
  const auto by_kernel = place(trace);
  EXPECT_EQ(by_kernel.at("flash_fwd_kernel").layer, 5);
  EXPECT_EQ(by_kernel.at("flash_fwd_kernel").op, "vllm::unified_attention");
  EXPECT_EQ(by_kernel.at("ampere_sgemm_qkv").layer, 5);
  EXPECT_EQ(by_kernel.at("ampere_sgemm_qkv").phase, LevelPhase::kForward)
      << "where nothing trains, a layer has one phase";
}

// Two steps of five times three labels of a person's own.
std::map<std::string, Placed> labelled(const std::vector<std::string>& labels) {
  Timeline run;
  for (int step = 0; step < 2; ++step) {
    run.maker().annotation(1, "ProfilerStep#" + std::to_string(step), run.now(), 170);
    run.launch("aten::embedding", "embed");
    for (int l = 0; l < 5; ++l) {
      for (const std::string& label : labels) {
        run.maker().annotation(1, label, run.now(), 10);
        run.launch("aten::a", (label + std::to_string(l)).c_str());
      }
    }
    run.launch("aten::c", "head");
  }
  return place(run.maker().build());
}

TEST(Place, LabelsOfThePartsOfALayerRepeatLayerByLayer) {
  const auto placed = labelled({"attn(F)", "dispatch(F)", "mlp(F)"});
  for (int l = 0; l < 5; ++l) {
    EXPECT_EQ(placed.at("attn(F)" + std::to_string(l)).layer, l) << "in each step anew";
    EXPECT_EQ(placed.at("mlp(F)" + std::to_string(l)).layer, l);
  }
  EXPECT_EQ(placed.at("attn(F)3").op, "attn(F)");
  EXPECT_EQ(placed.at("attn(F)3").by, PlacedBy::kLabel);
  EXPECT_EQ(placed.at("embed").layer, kNoLayer);
  EXPECT_EQ(placed.at("head").layer, kNoLayer);
  // Parts of an iteration that is accumulated are no parts of a layer.
  const auto accumulated = labelled({"load", "loss of attention", "gradients"});
  EXPECT_EQ(accumulated.at("gradients3").op, "gradients");
  EXPECT_EQ(accumulated.at("gradients3").layer, kNoLayer);
}

TEST(Place, CopyIsClassifiedByItsNameIfThereAreNoOperators) {
  const auto placed = [](bool operators) {
    TraceMaker maker;
    maker.kernel(0, 7, "ampere_sgemm", 100, 50, 0);
    maker.copy(0, 7, "Memcpy HtoD", 200, 50, 0);
    if (operators) maker.op(1, "aten::copy_", 10, 10);
    return place(maker.build()).at("Memcpy HtoD");
  };
  EXPECT_EQ(placed(false).by, PlacedBy::kKernelName);
  EXPECT_EQ(placed(false).op, "Memcpy HtoD");
  EXPECT_EQ(placed(true).by, PlacedBy::kNone);
}

TEST(Place, LayerMayHaveSeveralPhasesInTraining) {
  const auto by_kernel = place(layers_in_pieces(true));
  EXPECT_EQ(by_kernel.at("flash_fwd_kernel").phase, LevelPhase::kForward);
  EXPECT_EQ(by_kernel.at("ampere_sgemm_qkv").phase, LevelPhase::kNone);
}

TEST(Place, KernelsHaveTheirEvidence) {
  const Trace trace = layers_in_pieces(false);
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  const auto evidence = [&](const char* asked) {
    BreakdownOptions options;
    options.explain = asked;
    return place_activities(trace, links, windows, options).evidence;
  };
  const auto replayed = evidence("sgemm_qkv");
  ASSERT_EQ(replayed.size(), 1u);
  EXPECT_EQ(replayed[0].by, PlacedBy::kStructure);
  EXPECT_TRUE(is_likeness(replayed[0].by));
  EXPECT_EQ(replayed[0].activities, 6u);
  EXPECT_EQ(replayed[0].dur_ns, 6);
  EXPECT_EQ(replayed[0].call, "cudaGraphLaunch");
  EXPECT_EQ(std::pair(replayed[0].first_layer, replayed[0].last_layer), std::pair(0, 5));
  EXPECT_TRUE(replayed[0].operators.empty());
  const auto launched = evidence("flash*kernel");
  ASSERT_EQ(launched.size(), 1u);
  EXPECT_EQ(launched[0].by, PlacedBy::kOperator);
  EXPECT_EQ(launched[0].operators, std::vector<std::string>{"vllm::unified_attention"});
  EXPECT_EQ(launched[0].dur_ns, 30);
  EXPECT_TRUE(evidence("flash*x").empty()) << "a pattern is of all of the name";
  EXPECT_TRUE(evidence("").empty());
}

TEST(Place, KernelsAreRequestedAsTheyAreShown) {
  const std::string recorded =
      "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)";
  const std::string shown = describe_kernel(recorded);
  ASSERT_EQ(recorded.find(shown), std::string::npos);
  TraceMaker maker;
  maker.kernel(0, 7, recorded, 100, 50, 0);
  const Trace trace = maker.build();
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  for (const std::string& asked : {shown, std::string("AddFunctor<float>")}) {
    BreakdownOptions options;
    options.explain = asked;
    EXPECT_EQ(place_activities(trace, links, windows, options).evidence.size(), 1u) << asked;
  }
}

TEST(Place, CaveatsNameAttributionBySimilarity) {
  const Trace trace = layers_in_pieces(false);
  const Links links = link_trace(trace);
  const auto report =
      analyze_breakdown(trace, links, find_iterations(trace, links), BreakdownOptions{});
  ASSERT_TRUE(report);
  const auto note =
      std::find_if(report->trust.begin(), report->trust.end(),
                   [](const TrustNote& one) { return one.what == "breakdown_likeness"; });
  ASSERT_NE(note, report->trust.end());
  EXPECT_EQ(note->count, 36u);
  int64_t likeness_ns = 0;
  for (const LevelCell& cell : report->cells) likeness_ns += cell.sums.likeness_ns;
  EXPECT_EQ(likeness_ns, note->time_ns);
  EXPECT_EQ(likeness_ns, 36) << "the kernels of graphs, of 1 ns each";
}

TEST(Structure, FindsTheBlockThatRepeats) {
  // head, 4 x (1 2 3 4 2), tail
  std::vector<uint32_t> tokens = {9, 8};
  for (int i = 0; i < 4; ++i) tokens.insert(tokens.end(), {1, 2, 3, 4, 2});
  tokens.insert(tokens.end(), {7, 6});
  const RepeatingBlock block = find_repeating_block(tokens);
  EXPECT_EQ(block.begin, 2u);
  EXPECT_EQ(block.period, 5u);
  EXPECT_EQ(block.repeats, 4u);
}

TEST(Structure, FindsNothingWhereNothingRepeats) {
  EXPECT_EQ(find_repeating_block({1, 2, 3, 4, 5, 6, 7, 8}).repeats, 0u);
  EXPECT_EQ(find_repeating_block({}).repeats, 0u);
}

// Units of one letter each: g and h matrix products, a and b kinds of attention, o an optimizer.
struct Sequence {
  std::vector<uint32_t> tokens;
  std::vector<BlockUnit> units;

  Sequence& add(const std::string& letters, int times = 1) {
    for (int i = 0; i < times; ++i) {
      for (const char c : letters) {
        tokens.push_back(static_cast<uint32_t>(c));
        const bool attends = c == 'a' || c == 'b';
        const bool multiplies = c == 'g' || c == 'h';
        const OpType type = attends      ? OpType::kAttention
                            : multiplies ? OpType::kGemm
                                         : OpType::kVector;
        units.push_back({c == 'n' ? "norm" : std::string(1, c), type, 10, c == 'o'});
      }
    }
    return *this;
  }
  BlockLayers layers() const { return find_block_layers(tokens, units); }
};

// Six layers that alternate between two attentions, one of which takes a kernel more: the first
// begins with another norm than the others, the last lacks nothing.
TEST(Structure, LayersThatAlternateAreCountedOneByOne) {
  Sequence run;
  run.add("EM").add("gragnghy").add("ngrbsgnghyngragnghy", 2).add("ngrbsgnghy").add("F");
  const BlockLayers found = run.layers();
  EXPECT_EQ(found.period, 19u);  // ngrbsgnghy is 10, ngragnghy 9
  ASSERT_EQ(found.kinds.size(), 2u);
  ASSERT_EQ(found.layers.size(), 6u);
  EXPECT_EQ(found.layers.front().begin, 2u);
  EXPECT_EQ(found.layers.front().length, 8u);
  EXPECT_EQ(found.layers.front().from, 1u) << "the first norm is another one";
  EXPECT_EQ(found.layers.back().begin, 48u);  // 2 + 8 + 2 * 19
  EXPECT_EQ(found.layers.back().length, 10u);
  EXPECT_EQ(found.layers.back().number, 5);
}

// A library adds a kernel to one layer, another lacks one, and the last one ends early: 10 layers.
TEST(Structure, LayersThatDifferInAUnitContinueTheStack) {
  Sequence run;
  run.add("EM").add("ngrahxyzgh", 6).add("ngrahxyzgkh").add("ngrahxyzgh").add("ngraxyzgh");
  run.add("ngrahxyz").add("F");
  const BlockLayers found = run.layers();
  ASSERT_EQ(found.layers.size(), 10u);
  EXPECT_EQ(found.layers[6].length, 11u);
  EXPECT_EQ(found.layers[6].unit_at(8), 8u);
  EXPECT_EQ(found.layers[6].unit_at(9), kNoUnit) << "the kernel that the others lack";
  EXPECT_EQ(found.layers[6].unit_at(10), 9u);
  EXPECT_EQ(found.layers[8].length, 9u);
  EXPECT_EQ(found.layers[8].unit_at(4), 5u) << "behind the kernel that it lacks";
  EXPECT_EQ(found.layers[9].length, 8u);
}

// Three layers of one kind and one of another, which is longer and shares little with them; five
// times.
TEST(Structure, LayersOfTwoKindsInOneStack) {
  Sequence run;
  run.add("EM").add("ngrahxngygngrahxngygngrahxngygnguvwbxgkngzzygz", 5).add("Fg");
  const BlockLayers found = run.layers();
  EXPECT_EQ(found.period, 46u);
  ASSERT_EQ(found.layers.size(), 20u);
  EXPECT_EQ(found.layers[2].begin, 22u);
  EXPECT_EQ(found.layers[3].begin, 32u);
  EXPECT_EQ(found.layers[3].length, 16u);
  EXPECT_EQ(found.layers[19].number, 19);
}

// The first of seven layers begins with another norm and has k where the others have y.
TEST(Structure, TheFirstLayerMayBeginOtherwise) {
  const BlockLayers found = Sequence().add("EM").add("wgrahxkzgh").add("ngrahxyzgh", 6).layers();
  ASSERT_EQ(found.layers.size(), 7u);
  EXPECT_EQ(found.layers[0].begin, 3u) << "from the first kernel that all have";
  EXPECT_EQ(found.layers[0].length, 9u);
  EXPECT_EQ(found.layers[0].unit_at(0), 1u);
  EXPECT_EQ(found.layers[0].unit_at(5), kNoUnit);
  EXPECT_EQ(found.layers[0].unit_at(6), 7u);
  EXPECT_EQ(found.layers[6].number, 6);
}

// What repeats exactly begins in the middle of the first of seven layers and ends in the middle of
// the last: six blocks, with "ng" behind the others. A block that begins with the norm holds one
// less, and the two around it.
TEST(Structure, ARunThatBeginsInALayerHidesNone) {
  const BlockLayers found = Sequence()
                                .add("EM")
                                .add("wgkkrahxyzgh")
                                .add("ngrahxyzgh", 5)
                                .add("ngrahxyq")
                                .add("F")
                                .layers();
  ASSERT_EQ(found.layers.size(), 7u);
  EXPECT_EQ(found.layers[1].begin, 14u);
  EXPECT_EQ(found.layers[1].length, 10u);
  EXPECT_EQ(found.layers[6].begin, 64u);
  EXPECT_EQ(found.layers[6].length, 7u);
}

// A loop of three operators around a graph that replays the layers: its rounds are no layers.
TEST(Structure, RoundsAroundAReplayOfLayersAreNotLayers) {
  Sequence rounds;
  rounds.add("ngagh", 6);
  EXPECT_EQ(rounds.layers().layers.size(), 6u);
  for (size_t unit = 2; unit < rounds.units.size(); unit += 5) rounds.units[unit].step = true;
  EXPECT_TRUE(rounds.layers().layers.empty());
}

// Halves of one layer are no layers: attention and MLP differ.
TEST(Structure, AttentionAndMlpOfALayerAreNotTwoLayers) {
  const BlockLayers found = Sequence().add("E").add("ngragxnghhyz", 5).add("F").layers();
  EXPECT_EQ(found.kinds.size(), 1u);
  EXPECT_EQ(found.layers.size(), 5u);
}

// Three training steps of four layers without any host side: 4 layers, three times, and no 3.
TEST(Structure, IterationAroundLayersIsNotALayer) {
  Sequence steps;
  for (int i = 0; i < 3; ++i) steps.add("EM").add("ngrag", 4).add("Lqwe").add("ooo");
  const BlockLayers found = steps.layers();
  ASSERT_EQ(found.layers.size(), 12u);
  EXPECT_EQ(found.layers[3].number, 3);
  EXPECT_EQ(found.layers[4].number, 0);
  EXPECT_EQ(found.layers[4].begin, 31u);  // 29 units a step, 2 before its first layer
}

// Steps of a model whose layers all differ: what repeats ends with the optimizer.
TEST(Structure, TrainingStepsAreNotLayers) {
  EXPECT_TRUE(Sequence().add("EghnLwhgo", 30).layers().layers.empty());
}

TEST(Structure, NamesABlockBuiltLikeLlamas) {
  const std::vector<BlockUnit> block = {
      {"rms_norm_kernel", OpType::kVector}, {"nvjet_qkv", OpType::kGemm},
      {"rotary_kernel", OpType::kVector},   {"flash_fwd", OpType::kAttention},
      {"nvjet_o", OpType::kGemm},           {"elementwise_add", OpType::kVector},
      {"rms_norm_kernel", OpType::kVector}, {"nvjet_gate_up", OpType::kGemm},
      {"silu_and_mul", OpType::kVector},    {"nvjet_down", OpType::kGemm},
      {"elementwise_add", OpType::kVector}};
  const std::vector<std::string> names = name_block(block);
  const std::vector<std::string> expected = {"attn_n",  "qkv_ip",  "qkv_re", "attn_fa",
                                             "attn_op", "attn_ra", "mlp_n",  "mlp_gp",
                                             "mlp_gu",  "mlp_dp",  "mlp_ra"};
  EXPECT_EQ(names, expected);
}

// The product before the choice of experts is no part of them.
TEST(Structure, RouterOfExpertsIsNotAGateProjection) {
  const std::vector<BlockUnit> block = {{"rms_norm_kernel", OpType::kVector},
                                        {"nvjet_qkv", OpType::kGemm},
                                        {"flash_fwd", OpType::kAttention},
                                        {"nvjet_o", OpType::kGemm},
                                        {"rms_norm_kernel", OpType::kVector},
                                        {"nvjet_router", OpType::kGemm},
                                        {"_topk_forward", OpType::kOther},
                                        {"_routing_compute", OpType::kOther},
                                        {"_matmul_swiglu", OpType::kGemm},
                                        {"_matmul", OpType::kGemm},
                                        {"_finalize_matmul_scatter", OpType::kVector}};
  const std::vector<std::string> expected = {"attn_n",
                                             "qkv_ip",
                                             "attn_fa",
                                             "attn_op",
                                             "mlp_n",
                                             "router",
                                             "_topk_forward",
                                             "_routing_compute",
                                             "mlp_gp",
                                             "mlp_dp",
                                             "_finalize_matmul_scatter"};
  EXPECT_EQ(name_block(block), expected);
}

TEST(Labels, ShowPhaseLayerAndOperation) {
  EXPECT_EQ(read_label("## backward ##").phase, LevelPhase::kBackward);
  EXPECT_EQ(read_label("Optimizer.step#SGD.step").phase, LevelPhase::kOptimizer);
  EXPECT_EQ(read_label("b_mlp_dp").phase, LevelPhase::kBackward);
  EXPECT_EQ(read_label("b_mlp_dp").op, "mlp_dp");
  EXPECT_EQ(read_label("Layer12").layer, 12);
  EXPECT_EQ(read_label("layers.3.mlp").layer, 3);
  EXPECT_EQ(read_label("attn(F)").phase, LevelPhase::kForward);
  EXPECT_TRUE(read_label("attn(F)").own);
  EXPECT_FALSE(read_label("ProfilerStep#3").own);
  EXPECT_FALSE(read_label("nccl:all_reduce").own);
}

// Two blocks of a model with a Linear each, recorded into one graph from `at_ns` on.
void record_blocks(TraceMaker& maker, int64_t at_ns, int first) {
  maker.call(1, "cudaStreamBeginCapture", at_ns, 5, 0);
  maker.frame(1, "nn.Module: Net_0", at_ns + 10, 400);
  for (int i = 0; i < 2; ++i) {
    const std::string tag = std::to_string(first + i);
    const int64_t start = at_ns + 20 + 100 * i;
    maker.frame(1, ("nn.Module: Block_" + tag).c_str(), start, 90);
    maker.frame(1, ("nn.Module: Linear_" + tag).c_str(), start + 5, 80);
    maker.op(1, "aten::mm", start + 10, 60);
    maker.call(1, "cudaLaunchKernel", start + 20, 10, static_cast<uint32_t>(start));
  }
  maker.call(1, "cudaStreamEndCapture", at_ns + 450, 5, 0);
}

void replay_blocks(TraceMaker& maker, int64_t at_ns) {
  const auto id = static_cast<uint32_t>(at_ns);
  maker.call(1, "cudaGraphLaunch", at_ns, 20, id);
  maker.kernel(0, 7, "gemm_one", at_ns + 100, 50, id);
  maker.kernel(0, 7, "gemm_two", at_ns + 160, 50, id);
}

std::map<std::string, Placed> place_replays(const Trace& trace) {
  const Links links = link_trace(trace);
  const Windows windows = find_iterations(trace, links);
  const FlowRun run = make_flow_run(trace, links);
  std::vector<CapturedGraph> graphs = captured_graphs(run);
  place_captured(trace, links, windows, {}, graphs);
  const ReplayReport replays = find_replays(run, std::move(graphs), nullptr);
  EXPECT_EQ(replays.joined, 2u);
  return place(trace, {.replays = &replays});
}

TEST(Place, GraphReplayHasTheAttributionOfItsCapture) {
  TraceMaker maker;
  record_blocks(maker, 1000, 0);
  replay_blocks(maker, 5000);
  const auto placed = place_replays(maker.build());
  EXPECT_EQ(placed.at("gemm_one").op, "Linear");
  EXPECT_EQ(placed.at("gemm_one").by, PlacedBy::kRecording);
  EXPECT_EQ(placed.at("gemm_one").layer, 0);
  EXPECT_EQ(placed.at("gemm_two").layer, 1);
  EXPECT_EQ(placed.at("gemm_two").phase, LevelPhase::kForward);
}

// A graph for every two layers: the same operators, and nothing tells which one is replayed.
TEST(Place, RecordingsOfOtherLayersLeaveThePlaceToStructure) {
  TraceMaker maker;
  record_blocks(maker, 1000, 0);
  record_blocks(maker, 2000, 2);
  replay_blocks(maker, 5000);
  for (const auto& [kernel, placed] : place_replays(maker.build()))
    EXPECT_NE(placed.by, PlacedBy::kRecording) << kernel;
}

}  // namespace
}  // namespace assay
