#include "findings/advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/tab_table.h"
#include "findings/diagnosis.h"
#include "support/trace_maker.h"

namespace assay {

std::string_view programs_text();  // data/tables/programs.tsv

namespace findings {
namespace {

using assay::testing::TraceMaker;

constexpr std::string_view kCauses[] = {"graphs",    "launches", "breaks",    "input",   "sync", "collective",
                                        "alloc",     "copies",   "attention", "gpu",     "chains",
                                        "precision", "fp8",      "batch",     "devices", "load",   "record", "migration"};

// Kernels of one name, each launched at the end of an operator of `host_ns`.
Trace run_of(int64_t kernel_ns, int64_t host_ns, std::string_view kernel, std::string_view op) {
  TraceMaker maker;
  int64_t now_ns = 0;
  int64_t free_ns = 0;
  for (int i = 0; i < 100; ++i) {
    const auto correlation = static_cast<uint32_t>(i + 1);
    maker.op(1, op, now_ns, host_ns + 4500);
    now_ns += host_ns;
    maker.call(1, "cudaLaunchKernel", now_ns, 4000, correlation);
    now_ns += 5000;
    const int64_t start_ns = std::max(now_ns + 3000, free_ns + 1000);
    free_ns = start_ns + kernel_ns;
    maker.kernel(0, 7, kernel, start_ns, kernel_ns, correlation);
  }
  return maker.build();
}

struct MadeRun {
  Trace trace;
  Links links = link_trace(trace);
  FlowReport report = make_flow_report(trace, links, {});
  FlowVerdict verdict = judge_flow(trace, report, {});
  RunFacts facts = RunFacts({trace, report, verdict, nullptr}, {});
};

// The run as if one program had been recorded.
void record_by(RunFacts& facts, std::string_view key, ProgramLayer layer) {
  facts.program.seen = {{.key = key, .name = key, .layer = layer},
                        {.key = "pytorch", .name = "PyTorch", .layer = ProgramLayer::kFramework}};
}

TEST(AdviceTable, EveryCellIsKnownAndFitsItsLine) {
  std::set<std::string_view> programs(std::begin(kAdviceFor), std::end(kAdviceFor));
  for (const auto& row : tab_rows(programs_text(), 7)) programs.insert(row[0]);
  for (const Advice& advice : all_advice()) {
    EXPECT_NE(std::find(std::begin(kCauses), std::end(kCauses), advice.cause), std::end(kCauses))
        << advice.cause;
    EXPECT_TRUE(programs.contains(advice.program)) << advice.program;
    for (const std::string_view word : advice.when) EXPECT_TRUE(is_condition(word)) << word;
    EXPECT_LE(advice.title.size(), 46U) << advice.title;
    EXPECT_FALSE(advice.code.empty());
    // The first part fits the screen; recordings have several lines.
    if (advice.cause != "record") {
      EXPECT_LE(advice.code.size(), 97U) << advice.code;
      EXPECT_LE(std::min(advice.code.find("; "), advice.code.size()), 77U) << advice.code;
    }
    const bool named = std::find(std::begin(kAdviceFor), std::end(kAdviceFor), advice.program) ==
                       std::end(kAdviceFor);
    if (named) {
      EXPECT_FALSE(advice.source.empty()) << advice.program << ": " << advice.code;
    }
  }
}

TEST(AdviceTable, EveryCauseHasARowForAnyProgram) {
  for (const std::string_view cause : kCauses) {
    const auto any = [cause](const Advice& advice) {
      return advice.cause == cause && advice.program == "any" && advice.when.empty();
    };
    EXPECT_TRUE(std::any_of(all_advice().begin(), all_advice().end(), any)) << cause;
  }
}

TEST(Advice, AnEngineIsNotAskedToEditAModel) {
  MadeRun run{run_of(500'000, 20'000, "gemm", "aten::mm")};
  for (const auto& row : tab_rows(programs_text(), 7)) {
    if (row[2] != "engine") continue;
    record_by(run.facts, row[0], ProgramLayer::kEngine);
    for (const std::string_view cause : kCauses) {
      const Advice* advice = advice_for(cause, run.facts);
      ASSERT_NE(advice, nullptr) << cause;
      for (const std::string_view edit : {"model =", "model.", "torch.compile(", "DataLoader",
                                          "for batch in loader", "synchronize()"}) {
        EXPECT_EQ(advice->code.find(edit), std::string_view::npos) << row[0] << " " << cause;
      }
    }
  }
}

TEST(Advice, TheOutermostProgramIsAskedFirst) {
  MadeRun run{run_of(20'000, 100'000, "gemm", "aten::mm")};
  EXPECT_EQ(advice_for("graphs", run.facts)->code,
            "model = torch.compile(model, mode=\"reduce-overhead\")");
  record_by(run.facts, "vllm", ProgramLayer::kEngine);
  EXPECT_TRUE(advice_for("graphs", run.facts)->code.starts_with("drop --enforce-eager"));
  run.facts.evidence.graph_work_ns = run.facts.evidence.work_ns;
  EXPECT_TRUE(advice_for("graphs", run.facts)->code.starts_with("--max-num-seqs"));
  record_by(run.facts, "megatron", ProgramLayer::kTrainer);
  EXPECT_TRUE(advice_for("graphs", run.facts)->code.starts_with("--cuda-graph-impl"));
  EXPECT_TRUE(advice_for("fp8", run.facts)->code.starts_with("--fp8-format"));
  EXPECT_TRUE(advice_for("gpu", run.facts)->code.starts_with("a larger --micro-batch-size"));
  run.facts.kernel_kind = KernelKind::kConv;
  EXPECT_EQ(advice_for("gpu", run.facts)->program, "pytorch") << "Megatron has no row, so the next layer";
}

TEST(Advice, CompiledRunsAreNotAskedToCompile) {
  MadeRun run{run_of(20'000, 100'000, "gemm", "aten::mm")};
  EXPECT_TRUE(advice_for("launches", run.facts)->code.starts_with("model = torch.compile"));
  run.facts.compiled = true;
  for (const std::string_view cause : {"launches", "chains", "gpu"}) {
    const Advice* advice = advice_for(cause, run.facts);
    EXPECT_TRUE(advice == nullptr || advice->code.find("torch.compile(model)") == std::string::npos)
        << cause;
  }
}

// A command for a profiler of kernels can be typed as it stands.
TEST(Advice, KernelFiltersNameTheLeadingKernel) {
  MadeRun run{run_of(20'000, 100'000, "gemm", "aten::mm")};
  Advice advice;
  advice.code = "ncu -k regex:KERNEL PROGRAM";
  const auto code_for = [&](const std::string& function) {
    run.facts.longest_function = function;
    Finding finding;
    fill_advice(advice, run.facts, finding);
    return *finding.find("code")->value.get<std::string>();
  };
  EXPECT_EQ(code_for("reduce_baseline"), "ncu -k regex:reduce_baseline PROGRAM");
  EXPECT_EQ(code_for(std::string(40, 'a')), "ncu -k regex:" + std::string(28, 'a') + " PROGRAM");
  EXPECT_EQ(code_for("a $(rm b)"), "ncu -k regex:KERNEL PROGRAM") << "not an identifier";
  EXPECT_EQ(code_for(""), "ncu -k regex:KERNEL PROGRAM");
}

TEST(Advice, EveryBottleneckHasANextAction) {
  for (const std::string_view kernel : {"gemm", "stencil", "void at::native::elementwise_kernel"}) {
    for (const std::string_view op : {"aten::mm", "user_op", "sgl_kernel::rmsnorm"}) {
      for (const int64_t kernel_ns : {20'000, 500'000}) {
        const MadeRun run{run_of(kernel_ns, 100'000, kernel, op)};
        const Diagnosis diagnosis = diagnose(run.facts);
        const bool acts = std::any_of(diagnosis.actions.begin(), diagnosis.actions.end(),
                                      [](const Action& action) { return action.how.has_value(); });
        EXPECT_TRUE(acts || !diagnosis.notes.empty()) << kernel << " " << op << " " << kernel_ns;
      }
    }
  }
}

}  // namespace
}  // namespace findings
}  // namespace assay
