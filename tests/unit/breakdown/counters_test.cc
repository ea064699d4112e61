#include "breakdown/counters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "breakdown/counter_formulas.h"

#include "breakdown/lcs.h"
#include "support/trace_maker.h"

namespace assay {
namespace {

using testing::TraceMaker;

// ---- common subsequence ------------------------------------------------------------------------

TEST(CommonSubsequence, PairsRiseAndAreEqualTokens) {
  const std::vector<uint32_t> a = {1, 2, 3, 4, 5, 6};
  const std::vector<uint32_t> b = {1, 3, 4, 9, 6};
  const auto pairs = common_subsequence(a, b, 20);
  ASSERT_TRUE(pairs);
  const std::vector<std::pair<uint32_t, uint32_t>> want = {{0, 0}, {2, 1}, {3, 2}, {5, 4}};
  EXPECT_EQ(*pairs, want);
}

TEST(CommonSubsequence, GivesUpBeyondTheAllowedDifferences) {
  const std::vector<uint32_t> a = {1, 2, 3, 4};
  const std::vector<uint32_t> b = {1, 2, 4};
  EXPECT_FALSE(common_subsequence(a, b, 0));
  EXPECT_TRUE(common_subsequence(a, b, 1));
  const std::vector<uint32_t> other = {7, 8, 9};
  EXPECT_FALSE(common_subsequence(a, other, 6));
  EXPECT_TRUE(common_subsequence(a, other, 7)->empty());
}

TEST(CommonSubsequence, EmptySequencesHaveNothingInCommon) {
  EXPECT_TRUE(common_subsequence({}, {}, 0)->empty());
  const std::vector<uint32_t> a = {1};
  EXPECT_TRUE(common_subsequence(a, {}, 1)->empty());
}

// ---- formulas ----------------------------------------------------------------------------------

double derived(const char* quantity, const NamedValues& values) {
  const auto formulas = CounterFormulas::built_in();
  EXPECT_TRUE(formulas) << formulas.error().describe();
  const Derived all = formulas->derive(values);
  const DerivedValue* found = all.find(quantity);
  return found == nullptr ? NAN : found->value;
}

TEST(CounterFormulas, Mi300xByTheSpecificationsTable) {
  const NamedValues values = {{"GRBM_GUI_ACTIVE", 8e6},
                              {"SQ_VALU_MFMA_BUSY_CYCLES", 0.62 * 4 * 304 * 1e6},
                              {"SQ_INSTS_VALU_MFMA_MOPS_BF16", 1000},
                              {"SQ_INSTS_MFMA", 4e6},
                              {"TCC_BUBBLE_sum", 10},
                              {"TCC_EA0_RDREQ_sum", 100},
                              {"TCC_EA0_RDREQ_32B_sum", 20},
                              {"TCC_EA0_WRREQ_sum", 50},
                              {"TCC_EA0_WRREQ_64B_sum", 30},
                              {"TCC_HIT_sum", 3},
                              {"TCC_MISS_sum", 1},
                              {"compute_units", 304},
                              {"matrix_units_per_cu", 4},
                              {"xcds", 8},
                              {"duration_s", 2}};
  EXPECT_EQ(derived("cycles", values), 1e6);
  EXPECT_NEAR(derived("matrix_busy", values), 0.62, 1e-12);
  EXPECT_EQ(derived("matrix_flop", values), 512000);
  EXPECT_EQ(derived("read_bytes", values), 128 * 10 + 64 * 70 + 32 * 20);
  EXPECT_EQ(derived("write_bytes", values), 64 * 30 + 32 * 20);
  EXPECT_EQ(derived("bandwidth", values), (128 * 10 + 64 * 70 + 32 * 20 + 64 * 30 + 32 * 20) / 2.0);
  EXPECT_EQ(derived("l2_hit", values), 0.75);
  EXPECT_NEAR(derived("cycles_per_mfma", values), 0.62 * 4 * 304 / 4, 1e-9);
}

TEST(CounterFormulas, NvidiaByTheSpecificationsTable) {
  const NamedValues values = {
      {"gpc__cycles_elapsed.max", 5e5},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 40},
      {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 2147483648.0},
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 10},
      {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 20},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 30},
      {"dram__bytes_read.sum", 1000}};
  EXPECT_EQ(derived("cycles", values), 5e5);
  EXPECT_NEAR(derived("matrix_busy", values), 0.4, 1e-12);
  EXPECT_EQ(derived("matrix_flop", values), 2147483648.0);  // 2 * 1024^3: as measured in public
  EXPECT_EQ(derived("vector_flop", values), 10 + 20 + 60);
  EXPECT_EQ(derived("read_bytes", values), 1000);
}

TEST(CounterFormulas, NamesMissingCountersPerFormula) {
  const auto formulas = CounterFormulas::built_in();
  ASSERT_TRUE(formulas);
  const Derived all = formulas->derive({{"GRBM_GUI_ACTIVE", 1.0}});
  EXPECT_EQ(all.find("cycles"), nullptr);
  ASSERT_FALSE(all.missing.empty());
  EXPECT_EQ(all.missing.front().quantity, "cycles");
  EXPECT_EQ(all.missing.front().needs[1], "xcds");
}

TEST(CounterFormulas, OptionalCountersAreZeroOnlyWithAMeasuredOne) {
  const auto formulas = CounterFormulas::built_in();
  ASSERT_TRUE(formulas);
  EXPECT_EQ(formulas->derive({}).find("matrix_flop"), nullptr);
  const Derived all = formulas->derive({{"SQ_INSTS_VALU_MFMA_MOPS_F16", 2.0}});
  const DerivedValue* flop = all.find("matrix_flop");
  ASSERT_NE(flop, nullptr);
  EXPECT_EQ(flop->value, 1024);
  EXPECT_EQ(flop->assumed_zero.size(), 3u);
}

TEST(CounterFormulas, AUsersFormulaComesFirst) {
  auto formulas = CounterFormulas::built_in();
  ASSERT_TRUE(formulas);
  ASSERT_TRUE(
      formulas->add("[cycles]\nformula = MY_CYCLES * 2 ; mine\n[mine]\nunit = x\n"
                    "formula = cycles + 1\n",
                    "f.ini"));
  const Derived all = formulas->derive({{"MY_CYCLES", 5.0}, {"GRBM_GUI_ACTIVE_PER_XCD", 7.0}});
  EXPECT_EQ(all.find("cycles")->value, 10);
  EXPECT_EQ(all.find("cycles")->source, "mine");
  EXPECT_EQ(all.find("mine")->value, 11);
}

TEST(CounterFormulas, BadFilesAreRefusedWithTheLine) {
  auto formulas = CounterFormulas::built_in();
  ASSERT_TRUE(formulas);
  for (const char* text : {"formula = A\n", "[a b]\n", "[a]\nformula = 2 +\n", "[a]\nnonsense\n",
                           "[a]\ncolour = red\n", "[a]\nformula = f(\n"}) {
    const auto added = formulas->add(text, "f.ini");
    ASSERT_FALSE(added) << text;
    EXPECT_EQ(added.error().message.find("line "), 0u) << text;
  }
}

// ---- joining -----------------------------------------------------------------------------------

// Two iterations of four kernels, the same operator sequence in each.
struct Traced {
  Trace trace;
  Links links;
  Windows windows;
  BreakdownReport report;
};

const std::vector<std::string> kKernels = {"gemm_a", "relu_kernel", "gemm_b", "relu_kernel"};

Traced two_iterations() {
  TraceMaker maker;
  uint32_t correlation = 1;
  for (int iteration = 0; iteration < 2; ++iteration) {
    const int64_t begin = iteration * 10000;
    maker.annotation(1, "ProfilerStep#" + std::to_string(iteration), begin, 9000);
    for (size_t k = 0; k < kKernels.size(); ++k) {
      const int64_t at = begin + 100 + static_cast<int64_t>(k) * 2000;
      maker.op(1, "aten::op" + std::to_string(k), at - 10, 50);
      maker.call(1, "hipLaunchKernel", at, 20, correlation);
      maker.kernel(0, 7, kKernels[k], at + 100, 1000 + static_cast<int64_t>(k), correlation);
      ++correlation;
    }
  }
  Traced run;
  run.trace = maker.build();
  run.links = link_trace(run.trace);
  run.windows = find_iterations(run.trace, run.links);
  auto report = analyze_breakdown(run.trace, run.links, run.windows, {});
  EXPECT_TRUE(report);
  run.report = *std::move(report);
  return run;
}

CounterPass pass_of(const std::vector<std::string>& kernels, const std::string& counter,
                    double factor, const std::string& source = "pass") {
  CounterPass pass;
  pass.source = source;
  pass.format = "test";
  pass.counters = {counter};
  for (size_t i = 0; i < kernels.size(); ++i) {
    CounterDispatch dispatch;
    dispatch.order = static_cast<int64_t>(i);
    dispatch.device = 4;
    const auto known = std::find(pass.kernels.begin(), pass.kernels.end(), kernels[i]);
    dispatch.kernel = static_cast<uint32_t>(known - pass.kernels.begin());
    if (known == pass.kernels.end()) pass.kernels.push_back(kernels[i]);
    pass.dispatches.push_back(dispatch);
    pass.values.push_back(factor * static_cast<double>(i + 1));
  }
  return pass;
}

std::vector<std::string> repeated(int times) {
  std::vector<std::string> list;
  for (int i = 0; i < times; ++i) list.insert(list.end(), kKernels.begin(), kKernels.end());
  return list;
}

Result<CounterJoin> join(const Traced& run, const std::vector<CounterPass>& passes,
                         const CounterOptions& options = {}) {
  return join_counters(run.trace, run.links, run.windows, run.report, passes, options);
}

double total(const CounterJoin& joined, const std::string& counter) {
  const auto at = std::find(joined.counters.begin(), joined.counters.end(), counter);
  double sum = 0;
  for (const CounterCell& cell : joined.cells)
    sum += cell.values[static_cast<size_t>(at - joined.counters.begin())];
  return sum;
}

TEST(JoinCounters, EveryKernelGetsTheValueOfItsPartner) {
  const Traced run = two_iterations();
  const auto joined = join(run, {pass_of(repeated(2), "A", 1)});
  ASSERT_TRUE(joined) << joined.error().describe();
  ASSERT_EQ(joined->passes.size(), 1u);
  EXPECT_EQ(joined->passes[0].matched, 8u);
  EXPECT_EQ(joined->passes[0].match_rate, 1);
  EXPECT_EQ(total(*joined, "A"), 36);  // 1 + 2 + ... + 8
  for (const CounterCell& cell : joined->cells) EXPECT_TRUE(cell.complete());
}

TEST(JoinCounters, IterationsOfWarmUpAreLeftOutAndTheLastOnesUsed) {
  const Traced run = two_iterations();
  const auto joined = join(run, {pass_of(repeated(5), "A", 1)});
  ASSERT_TRUE(joined) << joined.error().describe();
  EXPECT_TRUE(joined->passes[0].split);
  EXPECT_EQ(joined->passes[0].unused_kernels, 12u);
  EXPECT_EQ(joined->passes[0].match_rate, 1);
  EXPECT_EQ(total(*joined, "A"), 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20);
}

TEST(JoinCounters, PassesMergePerKernelWhateverTheirOrder) {
  const Traced run = two_iterations();
  const CounterPass a = pass_of(repeated(2), "A", 1, "a");
  const CounterPass b = pass_of(repeated(2), "B", 10, "b");
  const auto one = join(run, {a, b});
  const auto other = join(run, {b, a});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->counters, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(total(*one, "B"), 360);
  ASSERT_EQ(one->cells.size(), other->cells.size());
  for (size_t i = 0; i < one->cells.size(); ++i)
    EXPECT_EQ(one->cells[i].values, other->cells[i].values);
}

TEST(JoinCounters, CounterOfTwoPassesIsTheirMeanWithItsSpread) {
  const Traced run = two_iterations();
  const auto joined =
      join(run, {pass_of(repeated(2), "A", 1, "a"), pass_of(repeated(2), "A", 1.1, "b")});
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->repeats.size(), 1u);
  EXPECT_EQ(joined->repeats[0].kernels, 8u);
  EXPECT_NEAR(joined->repeats[0].spread_median, 0.1 / 1.05, 1e-9);
  EXPECT_EQ(joined->repeats[0].above_limit, 8u);
  EXPECT_NEAR(total(*joined, "A"), 36 * 1.05, 1e-9);
}

TEST(JoinCounters, ADroppedKernelLeavesItsExecutionIncomplete) {
  const Traced run = two_iterations();
  std::vector<std::string> kernels = repeated(2);
  kernels.erase(kernels.begin() + 2);  // gemm_b of the first iteration
  const auto refused = join(run, {pass_of(kernels, "A", 1)});
  ASSERT_FALSE(refused);  // 7 of 8 is 87.5 %
  EXPECT_NE(refused.error().message.find("87.5 %"), std::string::npos) << refused.error().message;
  CounterOptions options;
  options.refuse_below = 0.8;
  const auto joined = join(run, {pass_of(kernels, "A", 1)}, options);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->passes[0].matched, 7u);
  uint64_t incomplete = 0;
  for (const CounterCell& cell : joined->cells) incomplete += cell.complete() ? 0 : 1;
  EXPECT_EQ(incomplete, 1u);
}

TEST(JoinCounters, ADuplicatedKernelLowersTheRateAndNothingElse) {
  const Traced run = two_iterations();
  std::vector<std::string> kernels = repeated(2);
  kernels.insert(kernels.begin() + 2, "gemm_b");
  CounterOptions options;
  options.refuse_below = 0.8;
  const auto joined = join(run, {pass_of(kernels, "A", 1)}, options);
  ASSERT_TRUE(joined);
  EXPECT_NEAR(joined->passes[0].match_rate, 8.0 / 9, 1e-12);
  for (const CounterCell& cell : joined->cells) EXPECT_TRUE(cell.complete());
}

TEST(JoinCounters, AnotherProgramIsRefusedWithRateAndAdvice) {
  const Traced run = two_iterations();
  const auto refused = join(run, {pass_of({"x", "y", "z", "x"}, "A", 1, "other.csv")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().file, "other.csv");
  EXPECT_NE(refused.error().message.find("0.0 %"), std::string::npos);
  EXPECT_NE(refused.error().message.find("same command"), std::string::npos);
}

TEST(JoinCounters, ARunRestrictedToSomeKernelsNeedsTheFlag) {
  const Traced run = two_iterations();
  const std::vector<std::string> gemms = {"gemm_a", "gemm_b", "gemm_a", "gemm_b"};
  EXPECT_FALSE(join(run, {pass_of(gemms, "A", 1)}));
  CounterOptions options;
  options.partial = true;
  const auto joined = join(run, {pass_of(gemms, "A", 1)}, options);
  ASSERT_TRUE(joined) << joined.error().describe();
  EXPECT_EQ(joined->passes[0].absent_kernels, 4u);
  EXPECT_EQ(joined->passes[0].match_rate, 1);
}

TEST(JoinCounters, CommunicationAndCopiesTakeNoPart) {
  const Traced run = two_iterations();
  std::vector<std::string> kernels = repeated(2);
  kernels.insert(kernels.begin() + 1, "ncclDevKernel_Generic(x)");
  kernels.insert(kernels.begin(), "__amd_rocclr_copyBuffer");
  const auto joined = join(run, {pass_of(kernels, "A", 1)});
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->passes[0].match_rate, 1);
}

TEST(JoinCounters, OtherTemplateArgumentsMatchByTheFunctionsName) {
  const Traced run = two_iterations();
  std::vector<std::string> kernels;
  for (const std::string& name : repeated(2)) kernels.push_back("void ns::" + name + "<4>(int)");
  const auto joined = join(run, {pass_of(kernels, "A", 1)});
  ASSERT_TRUE(joined) << joined.error().describe();
  EXPECT_TRUE(joined->passes[0].base_names);
  EXPECT_FALSE(joined->trust.empty());
}

TEST(JoinCounters, SeveralDevicesWithoutAListAreRefused) {
  const Traced run = two_iterations();
  CounterPass pass = pass_of(repeated(2), "A", 1);
  pass.dispatches[3].device = 9;
  const auto refused = join(run, {pass});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("2 devices"), std::string::npos);
}

TEST(JoinCounters, ListOfAgentsIdentifiesTheTracesGpu) {
  const Traced run = two_iterations();
  CounterPass pass = pass_of(repeated(4), "A", 1);
  for (size_t i = 0; i < pass.dispatches.size(); ++i) pass.dispatches[i].device = i < 8 ? 5 : 4;
  pass.devices = {{.device = 4, .ordinal = 1, .name = "", .architecture = ""},
                  {.device = 5, .ordinal = 0, .name = "", .architecture = ""}};
  const auto joined = join(run, {pass});
  ASSERT_TRUE(joined) << joined.error().describe();
  EXPECT_EQ(joined->passes[0].device, 5);
  EXPECT_EQ(total(*joined, "A"), 36);
}

TEST(JoinCounters, RatiosAreMeansWeightedByCycles) {
  EXPECT_TRUE(is_ratio_counter("lts__t_sector_hit_rate.pct"));
  EXPECT_TRUE(is_ratio_counter("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"));
  EXPECT_TRUE(is_ratio_counter("MemUnitBusy"));
  EXPECT_FALSE(is_ratio_counter("SQ_BUSY_CYCLES"));
  EXPECT_FALSE(is_ratio_counter("dram__bytes_read.sum"));
}

}  // namespace
}  // namespace assay
