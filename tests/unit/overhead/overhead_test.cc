#include "overhead/overhead.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

Windows whole() { return {WindowSource::kWholeTrace, {{"whole trace", INT64_MIN, INT64_MAX}}, 0}; }

HostOverheadReport analyze(const Trace& trace, const Windows& windows = whole(),
                           const HostOverheadOptions& options = {}) {
  const auto report = analyze_overhead(trace, link_trace(trace), windows, options);
  EXPECT_TRUE(report);
  return report ? *report : HostOverheadReport();
}

HostOverheadOptions with_floor(int64_t floor_ns) {
  HostOverheadOptions options;
  options.floor = LaunchFloor{.source = FloorSource::kGiven, .floor_ns = floor_ns, .text = "mine"};
  return options;
}

bool has_note(const HostOverheadReport& report, std::string_view what) {
  for (const TrustNote& note : report.trust) {
    if (note.what == what) return true;
  }
  return false;
}

// Two native operators of one launch each (dispatch 400 and 600), and a library one that launches
// twice (dispatch 300 and 900). Times in ns, far above the noise limit of 100.
Trace small_trace() {
  return TraceMaker()
      .frame(1, "f.py(1): f", 0, 10'000)
      .op(1, "aten::add", 1'000, 1'000)
      .call(1, "cudaLaunchKernel", 1'400, 100, 1)
      .kernel(0, 7, "add", 1'900, 2'000, 1)
      .op(1, "aten::mul", 3'000, 1'000)
      .call(1, "cudaLaunchKernel", 3'600, 100, 2)
      .kernel(0, 7, "mul", 4'200, 1'000, 2)
      .op(1, "aten::mm", 6'000, 2'000)
      .call(1, "cudaLaunchKernel", 6'300, 200, 3)
      .call(1, "cudaLaunchKernel", 6'900, 200, 4)
      .kernel(0, 7, "cublas_split", 7'000, 3'000, 3)
      .kernel(0, 7, "cublas_mm", 11'000, 4'000, 4)
      .build();
}

TEST(AnalyzeOverhead, LiteralSumsWorkedByHand) {
  HostOverheadOptions options = with_floor(200);
  options.mode = HostOverheadMode::kPaper;
  const HostOverheadReport report = analyze(small_trace(), whole(), options);
  const HostOverheadSums& sums = report.whole.sums;
  EXPECT_EQ(report.base_ns, 500);  // median of 400 and 600
  EXPECT_EQ(report.base_samples, 2u);
  EXPECT_EQ(sums.n, 4u);
  EXPECT_EQ(sums.t_py_ns, 1'000 + 3'000 + 6'000 + 6'000);
  EXPECT_EQ(sums.ft_dispatch_ns, 4 * 500);
  EXPECT_EQ(sums.ct_ns, 0 + 400);  // 300 is below the base, 900 is 400 above
  EXPECT_EQ(sums.kt_ns, 800);
  EXPECT_EQ(sums.t_orch_ns, 16'000 + 2'000 + 400 + 800);
  EXPECT_EQ(sums.t_device_ns, 10'000);
  EXPECT_DOUBLE_EQ(*sums.hdbi, 10'000.0 / 29'200.0);
  // T_launch 500, 600, 700, 4100 less 200 each.
  EXPECT_EQ(sums.kt_fw_ns, 300 + 400 + 500 + 3'900);
  EXPECT_EQ(report.whole.t_e2e_ns, 15'000);  // from the frame to the end of cublas_mm
  EXPECT_DOUBLE_EQ(report.whole.idle_fraction, 5.0 / 15.0);
  EXPECT_DOUBLE_EQ(report.whole.orch_over_e2e, 19'200.0 / 15'000.0);
  EXPECT_DOUBLE_EQ(report.whole.diversity_ratio, 1.0);
  EXPECT_EQ(report.library_op_kernels, 2u);
  EXPECT_TRUE(has_note(report, "orch_above_wall"));
  EXPECT_TRUE(has_note(report, "with_stack"));
}

TEST(AnalyzeOverhead, ExclusiveSumsWorkedByHand) {
  const HostOverheadReport report = analyze(small_trace());
  const ExclusiveOverhead& tiles = report.whole.exclusive;
  // mul from the end of add at 2000, mm from that of mul at 4000; the second launch of mm has none.
  EXPECT_EQ(tiles.py_ns, 1'000 + 1'000 + 2'000 + 0);
  EXPECT_EQ(tiles.dispatch_ns, 400 + 600 + 300 + 400);
  EXPECT_EQ(tiles.call_ns, 100 + 100 + 200 + 200);
  EXPECT_EQ(tiles.total_ns, 6'300);
  EXPECT_EQ(tiles.between_ns, 500 + 300);  // what add and mul did after their launches
  EXPECT_EQ(tiles.waiting_ns, 0);
  EXPECT_EQ(tiles.threads_span_ns, 7'100);
  const HostOverheadSums& sums = report.whole.sums;
  EXPECT_EQ(report.mode, HostOverheadMode::kExclusive);
  EXPECT_EQ(sums.t_py_ns, 4'000);
  EXPECT_EQ(sums.ft_dispatch_ns, 1'700);  // no dispatch of mm is above the base of 500
  EXPECT_EQ(sums.ct_ns, 0);
  EXPECT_EQ(sums.kt_ns, 600);
  EXPECT_EQ(sums.t_orch_ns, 6'300);
  EXPECT_DOUBLE_EQ(*sums.hdbi, 10'000.0 / 16'300.0);
  EXPECT_EQ(report.whole.hdbi_exclusive, sums.hdbi);
  // Without a floor: 16'000 + 2'000 + 400.
  EXPECT_EQ(report.whole.literal.t_orch_ns, 18'400);
  EXPECT_DOUBLE_EQ(*report.whole.literal.hdbi, 10'000.0 / 28'400.0);
  EXPECT_DOUBLE_EQ(report.whole.additivity, 18'400.0 / 6'300.0);
  EXPECT_FALSE(has_note(report, "orch_above_wall"));
}

// An operator that launches nothing ends what the frame is charged for, and so does the start of an
// inner frame.
TEST(AnalyzeOverhead, PythonIsChargedSinceTheLastOperatorOrTheInnermostFrame) {
  const Trace trace = TraceMaker()
                          .frame(1, "f", 0, 10'000)
                          .op(1, "aten::view", 1'000, 500)
                          .op(1, "aten::add", 2'000, 1'000)
                          .call(1, "cudaLaunchKernel", 2'400, 100, 1)
                          .frame(1, "g", 3'700, 1'000)
                          .op(1, "aten::mul", 4'000, 500)
                          .call(1, "cudaLaunchKernel", 4'300, 100, 2)
                          .kernel(0, 7, "add", 2'900, 100, 1)
                          .kernel(0, 7, "mul", 4'900, 100, 2)
                          .build();
  const HostOverheadReport report = analyze(trace);
  EXPECT_EQ(report.whole.sums.t_py_ns, 500 + 300);
  EXPECT_EQ(report.whole.literal.t_py_ns, 2'000 + 300);
}

// Of mm's 3000 before its launch 2000 go to an allocation; its launch call waits from 100'000 on.
TEST(AnalyzeOverhead, AllocationsAndFullQueuesAreNotHostTime) {
  const Trace trace = TraceMaker()
                          .op(1, "aten::mm", 0, 300'000)
                          .call(1, "cudaMalloc", 100, 2'000, 0)
                          .call(1, "cudaLaunchKernel", 3'000, 250'000, 1)
                          .kernel(0, 7, "cublas_mm", 254'000, 100, 1)
                          .build();
  const ExclusiveOverhead overhead = analyze(trace).whole.exclusive;
  EXPECT_EQ(overhead.dispatch_ns, 1'000);
  EXPECT_EQ(overhead.call_ns, 100'000);
  EXPECT_EQ(overhead.waiting_ns, 2'000 + 150'000);
  EXPECT_EQ(overhead.total_ns + overhead.between_ns + overhead.waiting_ns, 253'000);
}

TEST(AnalyzeOverhead, CodeModeChargesNativeKernelsTheirOwnDispatch) {
  HostOverheadOptions options = with_floor(200);
  options.mode = HostOverheadMode::kCode;
  const HostOverheadSums sums = analyze(small_trace(), whole(), options).whole.sums;
  EXPECT_EQ(sums.ft_dispatch_ns, 400 + 600 + 500 + 500);
}

TEST(AnalyzeOverhead, WindowsEndWithTheirLastKernelIfThatIsLater) {
  const Windows windows = {WindowSource::kLabel, {{"a", 500, 5'000}, {"b", 5'500, 8'000}}, 0};
  const HostOverheadReport report = analyze(small_trace(), windows, with_floor(200));
  EXPECT_EQ(report.windows[0].t_e2e_ns, 5'200 - 500);
  EXPECT_EQ(report.windows[1].t_e2e_ns, 15'000 - 5'500);
  EXPECT_EQ(report.windows[0].sums.n, 2u);
  // Tiles start with the window: 500 instead of 0.
  EXPECT_EQ(report.windows[0].exclusive.py_ns, 500 + 1'000);
  EXPECT_EQ(report.windows[0].sums.t_py_ns, 1'500);
  EXPECT_EQ(report.means.n.n, 2u);
  EXPECT_DOUBLE_EQ(report.means.t_device_ns.mean, 5'000);
}

TEST(AnalyzeOverhead, NothingToMeasureIsNotAnError) {
  const HostOverheadReport empty = analyze(Trace());
  EXPECT_EQ(empty.whole.sums.hdbi, std::nullopt);
  EXPECT_TRUE(std::isnan(empty.whole.idle_fraction));
  EXPECT_TRUE(empty.trust.empty());
  EXPECT_EQ(empty.base_ns, std::nullopt);
}

TEST(AnalyzeOverhead, TheHostsCostIsUnknownIfTheLaunchCallIsMissing) {
  const Trace trace = TraceMaker().kernel(0, 7, "a", 100, 900, 0).build();
  const HostOverheadReport report = analyze(trace, whole(), with_floor(200));
  EXPECT_EQ(report.whole.sums.hdbi, std::nullopt);
  EXPECT_TRUE(std::isnan(report.whole.additivity));
  EXPECT_TRUE(std::isnan(report.whole.orch_over_e2e));
  EXPECT_EQ(report.means.t_orch_ns.n, 0u);
  EXPECT_EQ(report.means.hdbi.n, 0u);
  EXPECT_TRUE(has_note(report, "host_cost_untold"));
  EXPECT_FALSE(has_note(analyze(small_trace()), "host_cost_untold"));
}

TEST(AnalyzeOverhead, SideBySideKernelsMakeUtilisationExceedOne) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaLaunchKernel", 0, 10, 1)
                          .call(1, "cudaLaunchKernel", 20, 10, 2)
                          .kernel(0, 7, "a", 100, 900, 1)
                          .kernel(0, 8, "b", 100, 900, 2)
                          .build();
  const HostOverheadReport report = analyze(trace);
  EXPECT_DOUBLE_EQ(report.whole.gpu_utilisation, 1.8);
  EXPECT_DOUBLE_EQ(report.whole.idle_fraction, -0.8);
  EXPECT_TRUE(has_note(report, "overlapping_kernels"));
  EXPECT_TRUE(has_note(report, "kernels_without_op"));
  EXPECT_TRUE(has_note(report, "no_dispatch_base"));
}

TEST(AnalyzeOverhead, WaitsInsideATileAreReported) {
  const Trace trace = TraceMaker()
                          .frame(1, "f", 0, 10'000)
                          .call(1, "cudaLaunchKernel", 100, 10, 1)
                          .call(1, "cudaStreamSynchronize", 200, 3'000, 0)
                          .call(1, "cuStreamSynchronize", 300, 2'000, 0)
                          .call(1, "cudaLaunchKernel", 4'000, 10, 2)
                          .kernel(0, 7, "a", 500, 900, 1)
                          .kernel(0, 7, "b", 4'500, 900, 2)
                          .build();
  const ExclusiveOverhead overhead = analyze(trace).whole.exclusive;
  EXPECT_EQ(overhead.waiting_ns, 3'000);
  EXPECT_EQ(overhead.between_ns, 100 + 3'890 - 3'000);
  EXPECT_EQ(overhead.total_ns, 10 + 10);
}

TEST(HostOverheadTrust, OneCallThatHoldsMuchOfTheSumIsNamed) {
  TraceMaker maker;
  for (uint32_t i = 0; i < 20; ++i) {
    const int64_t at = i * 100'000;
    const int64_t dispatch = i == 0 ? 50'000 : 500;  // a library that is loaded on first use
    maker.op(1, "aten::mm", at, 60'000)
        .call(1, "cudaLaunchKernel", at + dispatch, 100, i + 1)
        .kernel(0, 7, "cublas_gemm", at + dispatch + 4'000, 1'000, i + 1);
  }
  EXPECT_TRUE(has_note(analyze(maker.build()), "one_call"));
}

// The paper counts names as recorded: instances of one template are as many kernels.
TEST(AnalyzeOverhead, UniqueNamesAreThoseOfTheTrace) {
  TraceMaker maker;
  uint32_t id = 1;
  for (const char* name :
       {"void add<float>(float*)", "void add<__half>(__half*)", "void add<float>(float*)"}) {
    maker.call(1, "cudaLaunchKernel", 10 * id, 5, id).kernel(0, 7, name, 10 * id + 6, 3, id);
    ++id;
  }
  const HostOverheadReport report = analyze(maker.build());
  EXPECT_EQ(report.whole.unique_names, 2u);
  EXPECT_DOUBLE_EQ(report.whole.diversity_ratio, 2.0 / 3);
}

// cuBLASLt's kernels on Hopper, in an operator that takes 500 ns longer than a native one.
TEST(AnalyzeOverhead, KernelsOfCublasLtPayTheLibrary) {
  const auto trace_of = [](const char* name, const char* op, const char* call) {
    TraceMaker maker;
    maker.op(1, "aten::add", 1'000, 500).call(1, "cudaLaunchKernel", 1'400, 50, 1);
    maker.kernel(0, 7, "void at::native::vectorized_elementwise_kernel<4>(int)", 1'500, 10, 1);
    maker.op(1, op, 2'000, 1'000).call(1, call, 2'900, 50, 2).kernel(0, 7, name, 3'000, 10, 2);
    return maker.build();
  };
  const auto ct = [&](const char* name, const char* op = "aten::addmm",
                      const char* call = "cuLaunchKernelEx") {
    return analyze(trace_of(name, op, call)).whole.sums.ct_ns;
  };
  EXPECT_EQ(ct("nvjet_tst_128x64_64x10_1x2_h_bz_TNT"), 500);
  EXPECT_EQ(ct("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_32"), 500);
  // A name that nobody knows: the launch call and the operator are the evidence.
  EXPECT_EQ(ct("sm100_new_thing"), 500);
  EXPECT_EQ(ct("sm100_new_thing", "aten::addmm", "cudaLaunchKernel"), 0);
  EXPECT_EQ(ct("sm100_new_thing", "my_triton_op"), 0);
  EXPECT_EQ(ct("void at::native::reduce_kernel<512, 1>(P)"), 0);
  EXPECT_TRUE(has_note(analyze(trace_of("sm100_new_thing", "aten::mm", "cuLaunchKernelEx")),
                       "library_by_call"));

  HostOverheadOptions paper;
  paper.mode = HostOverheadMode::kPaper;
  const Trace trace = trace_of("nvjet_tst_128x64", "aten::addmm", "cuLaunchKernelEx");
  EXPECT_EQ(analyze(trace, whole(), paper).whole.sums.ct_ns, 0);
  // What the exclusive mode sets beside its own sums is that of the literal mode.
  EXPECT_EQ(analyze(trace).whole.literal.t_orch_ns,
            analyze(trace, whole(), paper).whole.sums.t_orch_ns);
}

TEST(AnalyzeOverhead, TheSplitIsUnknownIfThereIsNoNativeKernel) {
  TraceMaker maker;
  maker.op(1, "aten::mm", 1'000, 500).call(1, "cuLaunchKernelEx", 1'400, 50, 1);
  maker.kernel(0, 7, "nvjet_tst_128x64", 1'500, 10, 1);
  const HostOverheadReport report = analyze(maker.build());
  EXPECT_FALSE(report.base_ns);
  EXPECT_FALSE(report.whole.sums.split_known);
  EXPECT_EQ(report.whole.sums.t_orch_ns, 450);
  EXPECT_TRUE(has_note(report, "no_dispatch_base"));
}

// ---- phases
// --------------------------------------------------------------------------------------

TEST(HostOverheadPhases, AddUpTheirWindowsAndCountTokens) {
  TraceMaker maker;
  maker.annotation(1, "prefill", 0, 1'000);
  uint32_t id = 1;
  const auto kernels = [&](int64_t from_ns, int count) {
    for (int i = 0; i < count; ++i, ++id) {
      maker.call(1, "cudaLaunchKernel", from_ns + 10 * i, 5, id);
      maker.kernel(0, 7, "k" + std::to_string(i), from_ns + 10 * i + 6, 3, id);
    }
  };
  kernels(0, 5);
  maker.annotation(1, "decode 1", 1'000, 500);
  kernels(1'000, 3);
  maker.annotation(1, "decode 2", 1'500, 500);
  kernels(1'500, 4);
  const HostOverheadReport report = analyze(maker.build());
  ASSERT_EQ(report.phases.size(), 2u);
  EXPECT_EQ(report.phases[0].phase, HostOverheadPhase::kPrefill);
  EXPECT_EQ(report.phases[0].sums.n, 5u);
  EXPECT_EQ(report.phases[1].sums.n, 7u);
  EXPECT_EQ(report.phases[1].t_e2e_ns, 1'000);
  EXPECT_EQ(report.phases[1].unique_names, 4u);
  EXPECT_EQ(report.tokens, 2u);
  EXPECT_DOUBLE_EQ(*report.phases[1].kernels_per_token, 3.5);
  EXPECT_DOUBLE_EQ(*report.whole.kernels_per_token, 6.0);
}

}  // namespace
}  // namespace assay
