// The run on other GPUs, on runs whose times were worked out by hand.

#include "flow/other_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "findings/other_gpu.h"
#include "flow/edited_lags.h"
#include "support/trace_maker.h"
#include "text/message.h"

namespace assay {
namespace {

using testing::TraceMaker;

struct Traced {
  explicit Traced(Trace made)
      : trace(std::move(made)),
        links(link_trace(trace)),
        model(make_flow_model(trace, links)),
        report(make_flow_report(model, {})) {}

  OtherGpus on(const std::vector<std::string>& names, OtherGpuOptions options = {}) const {
    for (const std::string& name : names) options.gpus.push_back({.name = name});
    return explore_gpus(model, {}, report, options);
  }

  Trace trace;
  Links links;
  FlowModel model;
  FlowReport report;
};

// A product of 312 GFLOP and 236 MB in FP16 that took 4 ms, launched after 10 us, and one of
// nothing known.
Trace product_trace(const char* device, bool shapes, int64_t product_ns = 4'000'000) {
  Trace trace = TraceMaker()
                    .op(1, "aten::mm", 0, 20'000)
                    .call(1, "cudaLaunchKernel", 1'000, 4'000, 1)
                    .call(1, "cudaLaunchKernel", 21'000, 4'000, 2)
                    .kernel(0, 7, "gemm", 10'000, product_ns, 1)
                    .kernel(0, 7, "other", 10'000 + product_ns, 500'000, 2)
                    .build();
  trace.devices = {{.id = 0, .name = device}};
  if (shapes) {
    trace.op_inputs.push_back(
        {testing::op_id(trace, "aten::mm"), trace.strings.intern("[[4000,3900],[3900,10000]]"),
         trace.strings.intern(R"(["c10::Half","c10::Half"])"), StringId(0), StringId(0)});
  }
  return trace;
}

TEST(OtherGpu, TheRecordedCardGivesTheRecordedRun) {
  const Traced run(product_trace("NVIDIA A100-SXM4-80GB", true));
  const OtherGpus found = run.on({"A100-SXM4-80GB"});
  ASSERT_EQ(found.gpus.size(), 1U);
  const RunOnGpu& own = found.gpus[0];
  EXPECT_EQ(own.change, GpuChange::kNone);
  for (double Ends90::*end : {&Ends90::low, &Ends90::middle, &Ends90::high}) {
    EXPECT_EQ(own.run_ns.*end, static_cast<double>(found.recorded_ns));
    EXPECT_EQ(own.gain.*end, 1);
    EXPECT_EQ(own.kernels.*end, 1);
  }
}

// A100: 3 us + 312e9 / 312e12 + 189.2 MB / 2.039 TB/s = 3 + 1000 + 92.8 us; the product has
// 31.2 + 78 + 80 MB. H100: 3 + 315.3 + 56.5 us: 0.342 of it.
TEST(OtherGpu, KernelsTakeWhatTheirWorkNeeds) {
  const Traced run(product_trace("NVIDIA A100-SXM4-80GB", true));
  const OtherGpus found = run.on({"H100"});
  const RunOnGpu& h100 = found.gpus[0];
  ASSERT_EQ(h100.families.size(), 2U);
  EXPECT_EQ(h100.families[0].family, ScaleFamily::kProduct);
  EXPECT_NEAR(h100.families[0].ns / 4'000'000, 374.8 / 1095.8, 1e-3);
  EXPECT_EQ(h100.families[1].family, ScaleFamily::kUnknown);
  EXPECT_TRUE(h100.has_middle);
  EXPECT_NEAR(h100.known_share, 4.0 / 4.5, 1e-9);
  EXPECT_EQ(h100.change, GpuChange::kGeneration);
  EXPECT_LT(h100.run_ns.low, h100.run_ns.middle);
  EXPECT_LT(h100.run_ns.middle, h100.run_ns.high);
  EXPECT_GT(h100.gain.middle, 2.5);
  EXPECT_FALSE(h100.host_binds);
  // Kernels that take nothing leave the launches.
  EXPECT_LE(found.host_ns.middle, 30'000);
  EXPECT_GT(found.bound_gain.middle, 100);
}

TEST(OtherGpu, GivesAnIntervalAndNoMiddleIfShapesAreMissing) {
  const Traced run(product_trace("NVIDIA A100-SXM4-80GB", false));
  const OtherGpus found = run.on({"H100"});
  EXPECT_FALSE(found.gpus[0].has_middle);
  EXPECT_EQ(found.gpus[0].known_share, 0);
  const std::string first = text::message(findings::other_gpu_findings(found)[0], 2000);
  EXPECT_NE(first.find("The work of only 0 %"), std::string::npos) << first;
}

TEST(OtherGpu, FirstSaysWhatTheRecordedGpuLacksAndNoBoundThatIsFar) {
  const Traced unnamed(product_trace("", true));
  const auto unscaled = findings::other_gpu_findings(unnamed.on({"H100"}));
  EXPECT_NE(text::message(unscaled[0], 2000).find("cannot be scaled"), std::string::npos);
  const Traced named(product_trace("NVIDIA A100-SXM4-80GB", true));
  for (const auto& found : {unscaled, findings::other_gpu_findings(named.on({"H100"}))}) {
    for (const auto& one : found) {
      EXPECT_NE(one.code, findings::Code::kOnHostBindsNext);
      EXPECT_NE(one.code, findings::Code::kOnNoGpuFaster);
    }
  }
}

// Products of 2 us, launched every 100 us: no GPU changes anything.
TEST(OtherGpu, TheFirstSentenceSaysThatTheHostBinds) {
  TraceMaker maker;
  for (int64_t i = 0; i < 20; ++i) {
    maker.call(1, "cudaLaunchKernel", i * 100'000, 4'000, i + 1)
        .kernel(0, 7, "gemm", i * 100'000 + 6'000, 2'000, i + 1);
  }
  Trace trace = maker.build();
  trace.devices = {{.id = 0, .name = "NVIDIA H100 80GB HBM3"}};
  const Traced run(std::move(trace));
  const OtherGpus found = run.on({"B200", "L40S"});
  EXPECT_EQ(found.host.source, HostPaceSource::kRecorded);  // no operator: no profiler of rows
  EXPECT_LT(found.bound_gain.high, 1.05);
  EXPECT_TRUE(findings::host_binds_first(found));
  EXPECT_EQ(text::message(findings::other_gpu_findings(found)[0], 2000),
            "Your host binds first: no GPU makes this run faster than 1.00x.");
  // The last kernel alone makes the run longer until kernels are as long as a period: 5 % of
  // 1908 us is 95 us, of 2 us 48.7 times.
  EXPECT_NEAR(found.slack_5_percent, 48.7, 0.5);
  EXPECT_TRUE(found.gpus[0].host_binds);
}

TEST(OtherGpu, AFasterHostIsReplayedToo) {
  TraceMaker maker;
  for (int64_t i = 0; i < 20; ++i) {
    maker.op(1, "aten::mm", i * 100'000, 90'000)
        .call(1, "cudaLaunchKernel", i * 100'000 + 80'000, 4'000, i + 1)
        .kernel(0, 7, "gemm", i * 100'000 + 86'000, 2'000, i + 1);
  }
  Trace trace = maker.build();
  trace.devices = {{.id = 0, .name = "NVIDIA H100 80GB HBM3"}};
  const Traced run(std::move(trace));
  const OtherGpus twice = run.on({"H100"}, {.host = faster_host(2)});
  EXPECT_EQ(twice.host.source, HostPaceSource::kSpeed);
  EXPECT_NEAR(twice.now_ns.middle / static_cast<double>(twice.recorded_ns), 0.5, 0.03);
  EXPECT_LT(twice.now_ns.low, twice.now_ns.middle);
  const OtherGpus half = run.on({"H100"}, {.host = faster_host(0.5)});
  EXPECT_NEAR(half.now_ns.middle / static_cast<double>(half.recorded_ns), 2, 0.06);
  // Two rows a step of 2.3 us of 100.
  const OtherGpus untraced = run.on({"H100"}, {.row_cost_ns = {{6'300, 2'300, 300}}});
  EXPECT_EQ(untraced.host.source, HostPaceSource::kUntraced);
  EXPECT_NEAR(untraced.now_ns.middle / static_cast<double>(untraced.recorded_ns), 0.954, 0.01);
}

// As a host of twice the speed, and the interval is that of single names where it is the wider one.
TEST(OtherGpu, TheHostOfAnotherRecordingIsReplayedToo) {
  TraceMaker maker;
  for (int64_t i = 0; i < 20; ++i) {
    maker.op(1, "aten::mm", i * 100'000, 90'000)
        .call(1, "cudaLaunchKernel", i * 100'000 + 80'000, 4'000, i + 1)
        .kernel(0, 7, "gemm", i * 100'000 + 86'000, 2'000, i + 1);
  }
  Trace trace = maker.build();
  trace.devices = {{.id = 0, .name = "NVIDIA H100 80GB HBM3"}};
  const Traced run(std::move(trace));
  const OtherGpus twice = run.on({"H100"}, {.host = faster_host(2)});
  const OtherGpus like =
      run.on({"H100"}, {.host = host_of_recording("b.json", 31, 0.3, 0.5, 0.51)});
  EXPECT_EQ(like.host.source, HostPaceSource::kLike);
  EXPECT_EQ(like.now_ns.middle, twice.now_ns.middle);
  EXPECT_LT(like.now_ns.low, twice.now_ns.low);
  EXPECT_EQ(like.now_ns.high, twice.now_ns.high);
  std::vector<std::string> said;
  for (const findings::Finding& finding : findings::other_gpu_findings(like)) {
    said.push_back(text::message(finding, 2000));
  }
  EXPECT_NE(std::find(said.begin(), said.end(),
                      "In b.json, 31 operators and calls take 0.50 of their time here: the host "
                      "takes 50.1 % of its recorded time (30.1 % to 55.0 %)."),
            said.end())
      << ::testing::PrintToString(said);
}

TEST(OtherGpu, ARunThatDoesNotFitGetsNoTime) {
  Trace trace = product_trace("NVIDIA H200", true);
  trace.memory_events.push_back({.time_ns = 0,
                                 .bytes = 1,
                                 .total_allocated_bytes = 1,
                                 .total_reserved_bytes = 61'200'000'000,
                                 .addr = 1,
                                 .device_type = 1,
                                 .device = 0});
  const Traced run(std::move(trace));
  const OtherGpus found = run.on({"L40S", "B200"});
  EXPECT_FALSE(found.gpus[0].fits);
  EXPECT_EQ(found.gpus[0].run_ns.high, 0);
  EXPECT_TRUE(found.gpus[1].fits);
  EXPECT_EQ(findings::best_gpu(found), &found.gpus[1]);
}

TEST(OtherGpu, AGpuThatIsNotDescribedIsRefusedByName) {
  const Traced run(product_trace("NVIDIA H200", true));
  EXPECT_NE(run.on({"Gaudi2"}).gpus[0].missing, "");
  const Traced unknown(product_trace("Somebody's GPU", true));
  const OtherGpus found = unknown.on({"H100"});
  EXPECT_NE(found.recorded_missing, "");
  EXPECT_EQ(findings::best_gpu(found), nullptr);
  // The bound needs no kernel's work.
  EXPECT_GT(found.bound_gain.middle, 100);
}

RunCost cost_of(const char* gpu, bool recorded, double per_hour, Ends90 for_hour) {
  return {.gpu = gpu, .recorded = recorded, .usd_per_hour = per_hour, .usd_for_hour = for_hour};
}

TEST(OtherGpu, SaysWhereTheWorkCostsLeast) {
  const auto said = [](const std::vector<RunCost>& costs) {
    const auto finding = findings::cost_finding(costs);
    return finding ? text::message(*finding, 2000) : std::string();
  };
  const RunCost now = cost_of("A100", true, 2, {2, 2, 2});
  EXPECT_EQ(said({now, cost_of("H100", false, 3, {1, 1.5, 1.8})}),
            "H100 is cheapest at these prices: an hour of the recorded GPU's work costs $1.50 "
            "there, $1.00 to $1.80, instead of $2.00.");
  EXPECT_EQ(said({now, cost_of("H100", false, 3, {1, 1.5, 2.2})}),
            "H100 is cheapest at these prices: an hour of the recorded GPU's work costs $1.50 "
            "there, $1.00 to $2.20, instead of $2.00 (not certain, intervals overlap).");
  EXPECT_EQ(said({now, cost_of("B200", false, 9, {3, 4, 5}), cost_of("L4", false, 1, {5, 6, 7})}),
            "The recorded GPU is cheapest at these prices: an hour costs $2.00. The same work on "
            "B200 costs $4.00, $3.00 to $5.00.");
  EXPECT_EQ(said({cost_of("B200", false, 9, {3, 4, 5}), cost_of("L4", false, 1, {5, 6, 7})}),
            "B200 is cheapest at these prices: an hour of the recorded GPU's work costs $4.00 "
            "there, $3.00 to $5.00.");
  RunCost unknown = cost_of("L4", false, 0.05, {0.01, 0.02, 0.04});
  unknown.has_middle = false;
  EXPECT_EQ(said({unknown}),
            "L4 is cheapest at these prices: an hour of the recorded GPU's work costs $0.01 to "
            "$0.04.");
  EXPECT_EQ(said({now}), "");
  EXPECT_EQ(said({}), "");
}

// 30 kernels of 100 us every 200 us, on one stream.
Trace trace_without_calls(const char* device, bool calls) {
  TraceMaker maker;
  for (int64_t i = 0; i < 30; ++i) {
    if (calls) maker.call(1, "cudaLaunchKernel", i * 200'000, 4'000, i + 1);
    maker.kernel(0, 7, "gemm", i * 200'000 + 6'000, 100'000, i + 1);
  }
  Trace trace = maker.build();
  trace.devices = {{.id = 0, .name = device}};
  return trace;
}

// H200 has the FLOP of H100 and 4.8 / 3.35 times its bandwidth: kernels of unknown work take 0.698
// to 1 of their time. If the gaps are waits of the GPU for itself, the run does as well; if they
// are the host's, it takes what it takes. No launch call says which.
TEST(OtherGpu, KernelsWithoutLaunchCallsHaveBothEnds) {
  const Traced run(trace_without_calls("NVIDIA H100 80GB HBM3", false));
  const OtherGpus found = run.on({"H200"});
  EXPECT_EQ(found.refusal, EditRefusal::kNone);
  EXPECT_EQ(found.unlinked_share, 1);
  EXPECT_FALSE(found.host_known());
  const RunOnGpu& h200 = found.gpus[0];
  EXPECT_FALSE(h200.has_middle);
  EXPECT_NEAR(h200.kernels.low, 3.35 / 4.8, 1e-3);
  EXPECT_EQ(h200.kernels.high, 1);
  EXPECT_EQ(h200.gain.low, 1);
  EXPECT_NEAR(h200.gain.high, 4.8 / 3.35, 1e-2);
  EXPECT_EQ(found.bound_gain.middle, 0);
  const auto said = findings::other_gpu_findings(found);
  EXPECT_EQ(said[0].code, findings::Code::kOnRunInterval);
  EXPECT_EQ(said[1].code, findings::Code::kOnHostUnknown);
  const std::string first = text::message(said[0], 2000);
  EXPECT_EQ(first.find("The work of only"), std::string::npos) << first;
  EXPECT_FALSE(findings::host_binds_first(found));
}

// With the calls the host is known, and the same kernels leave the run as long as it is.
TEST(OtherGpu, LaunchCallsShowThatTheHostBinds) {
  const Traced run(trace_without_calls("NVIDIA H100 80GB HBM3", true));
  const OtherGpus found = run.on({"H200"});
  EXPECT_TRUE(found.host_known());
  EXPECT_LT(found.gpus[0].gain.high, 1.03);
  EXPECT_TRUE(findings::host_binds_first(found));
}

// A slower GPU may take time that the gaps have room for, or not.
TEST(OtherGpu, ASlowerGpuMayFillGapsWithoutLaunchCalls) {
  const Traced run(trace_without_calls("NVIDIA H200", false));
  const OtherGpus found = run.on({"H100"});
  EXPECT_NEAR(found.gpus[0].gain.low, 3.35 / 4.8, 1e-2);
  EXPECT_EQ(found.gpus[0].gain.high, 1);
}

// Factors of several edits multiply, whatever their size.
TEST(OtherGpu, FactorsMultiply) {
  const Traced run(product_trace("NVIDIA H200", true));
  Edit twice;
  twice.cause.fill(1);
  twice.work.fill(1);
  twice.works_scale.assign(run.model.run.works.size(), 2);
  Edit thrice = twice;
  thrice.works_scale.assign(run.model.run.works.size(), 3);
  const Edit* const both[] = {&twice, &thrice};
  const EditedLags lags = edited_lags(run.model.run, run.model.graph, both);
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  for (size_t e = 0; e < lags.lag_ns.size(); ++e) {
    if (run.model.graph.kind[e] != EdgeKind::kWork) continue;
    before_ns += run.model.graph.lag_ns[e];
    after_ns += lags.lag_ns[e];
  }
  EXPECT_EQ(after_ns, 6 * before_ns);
}

}  // namespace
}  // namespace assay
