// Fusion on traces: what becomes a segment, what is left out, what is recommended.

#include "launch/fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "launch/fusion_chains.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr int64_t kFar = 1'000'000'000;

Windows one_window() { return {WindowSource::kWholeTrace, {{"whole trace", -kFar, kFar}}}; }

// Small letters are kernels of PyTorch: g a product, s attention, r a reduction, i counts in
// integers, others are elementwise.
std::string kernel_named(char letter) {
  switch (letter) {
    case 'g':
      return "nvjet_tst_128x64_64x10_1x2_h_bz_TNT";
    case 's':
      return "void pytorch_flash::flash_fwd_kernel<T>(F)";
    case 'r':
      return "void at::native::reduce_kernel<512, 1, R>(R)";
    case 'i':
      return "void at::native::vectorized_elementwise_kernel<4, "
             "at::native::CUDAFunctorOnSelf_add<long>, at::detail::Array<char*, 2> >(int)";
    default:
      break;
  }
  const std::string name(1, letter);
  if (letter < 'a') return name;
  return "void at::native::vectorized_elementwise_kernel<4, " + name + ">(int)";
}

// Launches one kernel per letter, 100 ns apart, from `start_ns` on; kernels follow 50 ns later.
class Launcher {
 public:
  Launcher& launch(std::string_view letters, int64_t stream = 7, int64_t thread = 1) {
    for (char letter : letters) {
      ++correlation_;
      maker.call(thread, "cudaLaunchKernel", now, 10, correlation_)
          .kernel(0, stream, kernel_named(letter), now + 50, 20, correlation_);
      now += 100;
    }
    return *this;
  }
  Launcher& sync(const char* name = "cudaStreamSynchronize", int64_t thread = 1) {
    maker.call(thread, name, now, 10, 0);
    now += 100;
    return *this;
  }

  TraceMaker maker;
  int64_t now = 1'000;

 private:
  uint32_t correlation_ = 0;
};

FusionReport fuse(const Trace& trace, FusionOptions options = {},
                  const Windows& windows = one_window()) {
  auto report = analyze_fusion(trace, link_trace(trace), windows, options);
  EXPECT_TRUE(report) << report.error().message;
  return *report;
}

FusionOptions with_rule(SegmentRule rule) {
  FusionOptions options;
  options.segment = rule;
  options.lengths = {2, 3, 4, 5};
  return options;
}

TEST(Fuse, TheWorkedTableThroughATrace) {
  Launcher launcher;
  launcher.launch("XABCDYABCDXABCDZ").sync().launch("ABCDX");
  const FusionReport report = fuse(launcher.maker.build(), with_rule(SegmentRule::kSync));
  EXPECT_EQ(report.segments, 2u);
  EXPECT_EQ(report.longest_segment, 16u);
  EXPECT_EQ(report.distinct_kernels, 7u);
  EXPECT_EQ(report.k_eager, 21u);
  ASSERT_EQ(report.chains.size(), 4u);
  const ChainRow& four = report.chains[2];
  EXPECT_EQ(four.length, 4u);
  EXPECT_EQ(four.unique, 10u);
  EXPECT_EQ(four.total, 15u);
  EXPECT_EQ(four.c_fused, 4u);
  EXPECT_EQ(four.k_fused, 9u);
  EXPECT_NEAR(four.speedup, 2.333333, 5e-7);
  EXPECT_EQ(four.c_fused_min2, 4u);
  const ChainRow& five = report.chains[3];
  EXPECT_EQ(five.c_fused, 1u);
  EXPECT_EQ(five.c_fused_min2, 0u);
  EXPECT_EQ(five.k_fused_min2, 21u);
  EXPECT_EQ(five.speedup_min2, 1);
  ASSERT_FALSE(four.top_candidates.empty());
  EXPECT_EQ(four.top_candidates[0].kernels, (std::vector<std::string>{"A", "B", "C", "D"}));
  EXPECT_EQ(four.top_candidates[0].count, 4u);
  EXPECT_EQ(four.top_candidates[0].proximity, 1);
  // Y occurs once, so the 11 kernels from it to the end are one chain: 3 + 10 + 3 saved. Without
  // kernels seen once, four ABCD: 12.
  EXPECT_EQ(report.plan.launches_saved, 16u);
  EXPECT_EQ(report.plan.k_fused, 5u);
  EXPECT_EQ(report.plan_min.launches_saved, 12u);
  EXPECT_EQ(report.plan_min.k_fused, 9u);
}

TEST(Fuse, OnlyTheSyncRuleCutsAtWaits) {
  Launcher launcher;
  launcher.launch("AB").sync().launch("AB");
  const Trace trace = launcher.maker.build();
  EXPECT_EQ(fuse(trace, with_rule(SegmentRule::kSync)).segments, 2u);
  EXPECT_EQ(fuse(trace, with_rule(SegmentRule::kNone)).segments, 1u);
  EXPECT_EQ(fuse(trace, with_rule(SegmentRule::kIteration)).segments, 1u);
}

TEST(Fuse, EveryKindOfWaitCuts) {
  for (const char* op : {"aten::item", "aten::_local_scalar_dense", "aten::nonzero"}) {
    Launcher launcher;
    launcher.launch("AB");
    launcher.maker.op(1, op, launcher.now, 10);
    launcher.now += 100;
    launcher.launch("AB");
    EXPECT_EQ(fuse(launcher.maker.build()).segments, 2u) << op;
  }
  for (const char* copy : {"Memcpy DtoH (Device -> Pageable)", "CopyDeviceToHost"}) {
    Launcher launcher;
    launcher.launch("AB");
    launcher.maker.call(1, "cudaMemcpyAsync", launcher.now, 10, 99)
        .copy(0, 7, copy, launcher.now + 20, 5, 99);
    launcher.now += 100;
    launcher.launch("AB");
    EXPECT_EQ(fuse(launcher.maker.build()).segments, 2u) << copy;
  }
  Launcher launcher;
  launcher.launch("AB");
  launcher.maker.call(1, "cudaMemcpyAsync", launcher.now, 10, 99)
      .copy(0, 7, "Memcpy HtoD (Pinned -> Device)", launcher.now + 20, 5, 99);
  launcher.now += 100;
  launcher.launch("AB");
  EXPECT_EQ(fuse(launcher.maker.build()).segments, 1u);
}

TEST(Fuse, AnotherThreadsWaitDoesNotCut) {
  Launcher launcher;
  launcher.launch("AB").sync("cudaEventSynchronize", 2).launch("AB");
  EXPECT_EQ(fuse(launcher.maker.build()).segments, 1u);
}

TEST(Fuse, WhereAStreamChangesHandsEitherThreadsWaitCuts) {
  for (int64_t waiting : {1, 2, 3}) {
    Launcher launcher;
    launcher.launch("A", 7, 1).sync("cudaStreamSynchronize", waiting).launch("B", 7, 2);
    EXPECT_EQ(fuse(launcher.maker.build()).segments, waiting == 3 ? 1u : 2u) << waiting;
  }
}

TEST(Fuse, StreamsAndIterationsAreNeverMixed) {
  Launcher streams;
  for (int i = 0; i < 3; ++i) streams.launch("A", 7).launch("B", 8);
  FusionReport report = fuse(streams.maker.build(), with_rule(SegmentRule::kNone));
  EXPECT_EQ(report.segments, 2u);
  EXPECT_EQ(report.chains[0].c_fused, 0u);  // AAA and BBB

  Launcher steps;
  steps.launch("ABABAB");
  // Calls at 1000, 1100, ...: AB in the first window, A between, BA in the second, B after it.
  const Windows windows = {WindowSource::kProfilerStep,
                           {{"ProfilerStep#1", 1'000, 1'200}, {"ProfilerStep#2", 1'300, 1'500}}};
  const Trace trace = steps.maker.build();
  report = fuse(trace, with_rule(SegmentRule::kNone), windows);
  EXPECT_EQ(report.segments, 4u);
  EXPECT_EQ(report.k_eager, 6u);
  report = fuse(trace, with_rule(SegmentRule::kIteration), windows);
  EXPECT_EQ(report.segments, 2u);
  EXPECT_EQ(report.k_eager, 4u);
  EXPECT_EQ(report.outside_kernels, 2u);
}

TEST(Fuse, RootOperatorsCutWhenAsked) {
  Launcher launcher;
  launcher.maker.op(1, "layer", 1'000, 200).op(1, "aten::mm", 1'100, 50).op(1, "layer", 1'200, 200);
  launcher.launch("ABAB");
  EXPECT_EQ(fuse(launcher.maker.build(), with_rule(SegmentRule::kRootOp)).segments, 2u);
}

TEST(Fuse, GraphKernelsAreLeftOutAndCutTheirStream) {
  Launcher launcher;
  launcher.launch("AB");
  launcher.maker.call(1, "cudaGraphLaunch", launcher.now, 10, 99)
      .kernel(0, 7, "G", launcher.now + 20, 5, 99)
      .kernel(0, 7, "H", launcher.now + 30, 5, 99);
  launcher.now += 100;
  launcher.launch("CD");
  const FusionReport report = fuse(launcher.maker.build(), with_rule(SegmentRule::kNone));
  EXPECT_EQ(report.segments, 2u);
  EXPECT_EQ(report.k_eager, 4u);
  EXPECT_EQ(report.graph_kernels, 2u);
  EXPECT_EQ(report.chains[0].unique, 2u);  // AB, CD; not BC
  ASSERT_EQ(report.trust.size(), 1u);
  EXPECT_EQ(report.trust[0].what, "graph_kernels");
  EXPECT_EQ(report.trust[0].time_ns, 10);
}

TEST(Fuse, OrderIsThatOfLaunchingNotOfRunning) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 100, 10, 1)
      .call(1, "cudaLaunchKernel", 200, 10, 2)
      .kernel(0, 7, "A", 900, 10, 1)
      .kernel(0, 7, "B", 800, 10, 2);
  const FusionReport report = fuse(maker.build(), with_rule(SegmentRule::kNone));
  EXPECT_EQ(report.chains[0].top_candidates[0].kernels, (std::vector<std::string>{"A", "B"}));
}

TEST(Fuse, UnlinkedKernelsAreLeftOutUnlessAllAre) {
  Launcher launcher;
  launcher.launch("AB");
  launcher.maker.kernel(0, 7, "lost", 5'000, 10, 99);
  const FusionReport some = fuse(launcher.maker.build());
  EXPECT_EQ(some.k_eager, 2u);
  EXPECT_EQ(some.unlinked_kernels, 1u);
  EXPECT_FALSE(some.device_order);

  TraceMaker maker;
  maker.kernel(0, 7, "B", 200, 10, 2).kernel(0, 7, "A", 100, 10, 1);
  const FusionReport all = fuse(maker.build());
  EXPECT_TRUE(all.device_order);
  EXPECT_EQ(all.k_eager, 2u);
  EXPECT_EQ(all.unlinked_kernels, 0u);
  EXPECT_EQ(all.chains[0].top_candidates[0].kernels, (std::vector<std::string>{"A", "B"}));
}

TEST(Fuse, ShapeCanBePartOfTheIdentity) {
  Launcher launcher;
  launcher.launch("ABAB");
  Trace trace = launcher.maker.build();
  for (uint32_t a = 0; a < 4; ++a) {
    trace.kernel_shapes.push_back({.activity = ActivityId(a), .grid_x = a});
  }
  FusionOptions options;
  EXPECT_EQ(fuse(trace, options).distinct_kernels, 2u);
  options.identity = KernelIdentity::kNameAndShape;
  EXPECT_EQ(fuse(trace, options).distinct_kernels, 4u);
}

TEST(Fuse, RecommendsChainsWithTheirPlaceAndPrice) {
  Launcher launcher;
  launcher.maker.op(1, "model", 1'000, 2'000)
      .op(1, "norm", 1'000, 300)
      .op(1, "aten::x", 1'050, 100)
      .op(1, "norm", 1'300, 300);
  launcher.launch("abCabC").sync().launch("abD");
  FusionOptions options = with_rule(SegmentRule::kSync);
  options.floor = LaunchFloor{.source = FloorSource::kGiven, .floor_ns = 40, .text = "null kernel"};
  // longest: a 2 (abC and abD), b 1, C 1: the third C ends a segment.
  const FusionReport report = fuse(launcher.maker.build(), options);
  EXPECT_EQ(report.plan_min.chains, 3u);
  EXPECT_EQ(report.plan_min.launches_saved, 3u);
  EXPECT_EQ(report.plan_min.k_fused, 6u);
  EXPECT_DOUBLE_EQ(report.plan_min.speedup, 1.5);
  ASSERT_EQ(report.recommended.size(), 1u);
  const RecommendedChain& chain = report.recommended[0];
  EXPECT_EQ(chain.kernels, (std::vector<std::string>{kernel_named('a'), kernel_named('b')}));
  EXPECT_FALSE(chain.device_least_ns);  // neither shapes nor a GPU
  EXPECT_EQ(chain.length, 2u);
  EXPECT_EQ(chain.count, 3u);
  EXPECT_EQ(chain.launches_saved, 3u);
  EXPECT_EQ(chain.device_ns, 120);
  EXPECT_EQ(chain.launch_queue_ns, 300);
  EXPECT_DOUBLE_EQ(chain.saving_ns, 120);
  EXPECT_DOUBLE_EQ(chain.speedup, 1.5);
  // Twice both kernels lie in one `norm`; once only the model encloses them.
  ASSERT_EQ(chain.common_ops.size(), 2u);
  EXPECT_EQ(chain.common_ops[0].name, "norm");
  EXPECT_EQ(chain.common_ops[0].count, 2u);
  EXPECT_EQ(chain.common_ops[1].name, "model");
  ASSERT_EQ(chain.root_ops.size(), 1u);
  EXPECT_EQ(chain.root_ops[0].name, "model");
  EXPECT_EQ(chain.root_ops[0].count, 3u);
  EXPECT_EQ(chain.without_common_op, 0u);
  EXPECT_EQ(report.floor.text, "null kernel");
}

std::vector<std::string> named(std::string_view letters) {
  std::vector<std::string> names;
  for (const char letter : letters) names.push_back(kernel_named(letter));
  return names;
}

std::vector<RecommendedChain> recommended(std::string_view letters, uint32_t min_count = 2) {
  Launcher launcher;
  launcher.launch(letters);
  FusionOptions options = with_rule(SegmentRule::kNone);
  options.min_count = min_count;
  return fuse(launcher.maker.build(), options).recommended;
}

// The same 7 kernels 3 times are one chain of SKIP's; nobody merges a product with attention.
TEST(Fuse, NoChainIsRecommendedAcrossProductsAndAttention) {
  const std::vector<RecommendedChain> chains = recommended("gabsrcUgabsrcUgabsrcU");
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].kernels, named("ab"));
  EXPECT_EQ(chains[0].count, 3u);
  EXPECT_EQ(chains[0].remedy, Remedy::kTriton);
  EXPECT_EQ(chains[1].kernels, named("rc"));
  EXPECT_EQ(chains[1].remedy, Remedy::kTorchCompile);
}

TEST(Fuse, OneElementwiseKernelAfterAProductIsItsEpilogue) {
  const std::vector<RecommendedChain> chains = recommended("gagasasrgr");
  ASSERT_EQ(chains.size(), 1u);  // not after attention, and no reduction
  EXPECT_EQ(chains[0].kernels, named("ga"));
  EXPECT_EQ(chains[0].remedy, Remedy::kEpilogue);
  EXPECT_EQ(chains[0].device_least_ns, 40);  // the products', 20 each
}

// Batch normalization adds 1 to its number of batches right after the convolution.
TEST(Fuse, ACounterAfterAProductIsNotAnEpilogue) {
  EXPECT_TRUE(recommended("gisgisgis").empty());
  EXPECT_EQ(recommended("giagia").size(), 1u);  // integers share a loop with elementwise kernels
}

TEST(Fuse, MinCountCountsOccurrencesOfTheChain) {
  EXPECT_EQ(recommended("abUcdUabUc").size(), 1u);  // every kernel occurs twice but d
  EXPECT_EQ(recommended("abUbaUabU").size(), 1u);   // each of a and b three times, ba once
  EXPECT_EQ(recommended("abUbaUabU", 1).size(), 2u);
}

// One kernel reads what the run does not make itself: 256 MB of an A100's 2.039 TB/s.
TEST(Fuse, TheGainIsBoundedByBytes) {
  const auto trace_of = [](const char* second) {
    TraceMaker maker;
    maker.op(1, "aten::mul", 0, 100).call(1, "cudaLaunchKernel", 50, 10, 1);
    maker.op(1, "aten::exp", 200, 100).call(1, "cudaLaunchKernel", 250, 10, 2);
    maker.kernel(0, 7, kernel_named('a'), 1'000, 300'000, 1);
    maker.kernel(0, 7, kernel_named('b'), 400'000, 200'000, 2);
    Trace trace = maker.build();
    trace.devices = {{.id = 0, .name = "NVIDIA A100-SXM4-80GB"}};
    for (size_t o = 0; o < 2; ++o) {
      const StringId dims = trace.strings.intern(o == 0 ? "[[64000000]]" : second);
      const StringId types = trace.strings.intern("[\"float\"]");
      trace.op_inputs.push_back({OpId(o), dims, types, StringId(), StringId()});
    }
    return trace;
  };
  FusionOptions options = with_rule(SegmentRule::kNone);
  options.min_count = 1;
  const FusionReport report = fuse(trace_of("[[64000000]]"), options);
  ASSERT_EQ(report.recommended.size(), 1u);
  EXPECT_EQ(report.recommended[0].device_ns, 500'000);
  ASSERT_TRUE(report.recommended[0].device_least_ns);
  EXPECT_NEAR(static_cast<double>(*report.recommended[0].device_least_ns), 256e6 / 2.039e3, 1);
  // Loops over elements that do not divide each other are two.
  EXPECT_TRUE(fuse(trace_of("[[48000001]]"), options).recommended.empty());
}

TEST(Fuse, AnEmptyTraceHasNoChains) {
  const FusionReport report = fuse(Trace());
  EXPECT_EQ(report.k_eager, 0u);
  EXPECT_EQ(report.segments, 0u);
  EXPECT_EQ(report.chains.size(), 8u);
  EXPECT_EQ(report.chains[0].speedup, 1);
  EXPECT_TRUE(report.recommended.empty());
  EXPECT_TRUE(report.trust.empty());
}

TEST(Fuse, RefusesSenselessOptions) {
  const Trace trace;
  const Links links = link_trace(trace);
  FusionOptions options;
  options.lengths = {};
  EXPECT_FALSE(analyze_fusion(trace, links, one_window(), options));
  options.lengths = {4, 1};
  const auto short_chain = analyze_fusion(trace, links, one_window(), options);
  ASSERT_FALSE(short_chain);
  EXPECT_NE(short_chain.error().message.find("length 1"), std::string::npos);
  options.lengths = {2};
  for (double threshold : {0.0, 1.5, std::nan("")}) {
    options.threshold = threshold;
    EXPECT_FALSE(analyze_fusion(trace, links, one_window(), options));
  }
}

TEST(Fuse, LengthsAreSortedAndSaidOnce) {
  FusionOptions options;
  options.lengths = {8, 2, 8};
  const FusionReport report = fuse(Trace(), options);
  ASSERT_EQ(report.chains.size(), 2u);
  EXPECT_EQ(report.chains[0].length, 2u);
  EXPECT_EQ(report.chains[1].length, 8u);
}

TEST(Fuse, SegmentRulesHaveNames) {
  for (const char* name : {"none", "sync", "rootop", "iteration"}) {
    const auto rule = parse_segment_rule(name);
    ASSERT_TRUE(rule) << name;
    EXPECT_EQ(segment_rule_name(*rule), name);
  }
  EXPECT_FALSE(parse_segment_rule("Sync"));
}

TEST(Remedy, FollowsLengthAndKinds) {
  using K = FusionKind;
  EXPECT_EQ(advise({K::kElementwise, K::kCopy}).remedy, Remedy::kTriton);
  EXPECT_EQ(advise(std::vector<K>(9, K::kElementwise)).remedy, Remedy::kTorchCompile);
  EXPECT_EQ(advise({K::kElementwise, K::kReduction}).remedy, Remedy::kTorchCompile);
  EXPECT_EQ(advise({K::kLibrary, K::kElementwise}).remedy, Remedy::kEpilogue);
}

}  // namespace
}  // namespace assay
