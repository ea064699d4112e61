// Results are declared once: one title and one unit a key, in the declarations and in documents.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/breakdown/results.h"
#include "report/document/columns.h"
#include "report/document/means.h"
#include "report/flow/results.h"
#include "report/launch/results.h"
#include "report/overhead/results.h"
#include "report/run/results.h"
#include "report/throughput/results.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

struct Declared {
  ResultKey result;
  std::string_view meaning;
};

#define ASSAY_LISTED(key, title, unit, meaning) {{#key, title, Unit::unit}, meaning},
#define ASSAY_NOT_LISTED(...)
const std::vector<Declared> kDeclared = {
    ASSAY_SHARED_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)
        ASSAY_LAUNCH_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)
            ASSAY_RUN_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED) ASSAY_FLOW_RESULTS(
                ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)
                ASSAY_OVERHEAD_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)
                    ASSAY_BREAKDOWN_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)
                        ASSAY_THROUGHPUT_RESULTS(ASSAY_LISTED, ASSAY_NOT_LISTED, ASSAY_NOT_LISTED)};

TEST(Results, AKeyIsDeclaredOnceInTheWholeProgram) {
  std::map<std::string_view, int> times;
  for (const Declared& one : kDeclared) ++times[one.result.key];
  for (const auto& [key, count] : times) EXPECT_EQ(count, 1) << key;
  EXPECT_GT(times.size(), 500U);
}

TEST(Results, EveryKeyHasATitle) {
  for (const Declared& one : kDeclared) EXPECT_STRNE(one.result.title, "") << one.result.key;
}

// What docs/metrics.md promises of the ends of keys.
TEST(Results, EndOfAKeyIsItsUnit) {
  // Since 1970 or since the machine started: no durations, so no unit scales them.
  const std::vector<std::string_view> moments = {"call_start_ns", "kernel_start_ns"};
  for (const Declared& one : kDeclared) {
    const std::string_view key = one.result.key;
    const bool moment = std::find(moments.begin(), moments.end(), key) != moments.end();
    if (key.ends_with("_ns") && !moment) {
      EXPECT_EQ(one.result.unit, Unit::kNanoseconds) << key;
    }
    if (key.ends_with("_share")) {
      EXPECT_EQ(one.result.unit, Unit::kShare) << key;
    }
    if (key.ends_with("_ape")) {
      EXPECT_EQ(one.result.unit, Unit::kShare) << key;
    }
    if (one.result.unit == Unit::kNanoseconds) {
      EXPECT_TRUE(key == "ns" || key.ends_with("_ns")) << key;
    }
  }
}

struct Chain {
  int length = 0;
  double saving_ns = 0;
  std::string where;
};

TEST(TableOf, CellHasTheKeyItWasGivenWith) {
  const std::vector<Chain> chains = {{3, 1500.4, "here"}, {7, 0, ""}};
  TableOf table(chains, {.key = "chains", .title = "Chains", .terminal_limit = 5});
  table.add(keys::length, &Chain::length)
      .add_ns(keys::saving_ns, &Chain::saving_ns, Show::kDataOnly)
      .add(
          keys::where, [](const Chain& c) { return c.where.empty() ? Value() : Value(c.where); },
          elastic());
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[0].key, "length");
  EXPECT_EQ(table.columns[0].title, "L");
  EXPECT_EQ(table.columns[1].key, "saving_ns");
  EXPECT_EQ(table.columns[1].unit, Unit::kNanoseconds);
  EXPECT_EQ(table.columns[1].show, Show::kDataOnly);
  EXPECT_TRUE(table.columns[2].elastic);
  EXPECT_EQ(table.rows, (std::vector<Row>{{3, int64_t{1500}, "here"}, {7, int64_t{0}, Value()}}));
  EXPECT_EQ(table.terminal_limit, 5U);
}

TEST(TableOf, EmptyTableHasItsColumns) {
  const std::vector<Chain> none;
  TableOf table(none, {});
  table.add(keys::length, &Chain::length);
  EXPECT_EQ(table.columns.size(), 1U);
  EXPECT_TRUE(table.rows.empty());
}

TEST(MeansTable, EndsAtZeroUnlessTheQuantityIsSigned) {
  const MeanInterval mean{.mean = 2, .low = -3, .high = 7, .n = 4};
  const Table table = means_table(
      {{keys::kernels, mean}, {keys::gpu_idle_eq5_ns, mean, true}, {keys::queue_share, mean}}, 0);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0], (Row{"kernels", 2.0, 0.0, 7.0, 4, "kernels", "2", "0", "7"}));
  EXPECT_EQ(table.rows[1], (Row{"gpu_idle_eq5_ns", int64_t{2}, int64_t{-3}, int64_t{7}, 4,
                                "GPU idle, Eq. 5", "2.00 ns", "-3.00 ns", "7.00 ns"}));
  EXPECT_EQ(table.rows[2][2], Value(0.0));
}

}  // namespace
}  // namespace assay
