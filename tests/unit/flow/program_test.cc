#include "flow/program.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/tab_table.h"
#include "support/trace_maker.h"

namespace assay {

std::string_view programs_text();  // data/tables/programs.tsv

namespace {

TEST(Programs, EveryRowMatchesItsExample) {
  std::set<std::string_view> programs;
  for (const auto& row : tab_rows(programs_text(), 7)) {
    EXPECT_TRUE(matches_program(row[5], row[6])) << row[0] << " " << row[6];
    const bool first = programs.insert(row[0]).second;
    EXPECT_EQ(first, !row[1].empty()) << row[0] << ": its name stands on its first row";
  }
  EXPECT_EQ(programs.size(), 20U);
}

TEST(Programs, TextsBeginWhereWordsBegin) {
  EXPECT_TRUE(matches_program("vllm/v1/", "/usr/lib/vllm/v1/worker.py(3): run"));
  EXPECT_FALSE(matches_program("vllm/v1/", "my_vllm/v1/worker.py(3): run"));
  EXPECT_TRUE(matches_program("^step[DECODE bs=~", "step[DECODE bs=8]"));
  EXPECT_FALSE(matches_program("^step[DECODE bs=~", "step[DECODE bs=x]"));
  EXPECT_FALSE(matches_program("^step[DECODE bs=~", "my step[DECODE bs=8]"));
  EXPECT_TRUE(matches_program("^execute_~_context_~(", "execute_64_context_2(512)_generation_0()"));
  EXPECT_FALSE(matches_program("^execute_~_context_~(", "execute_context_2(512)"));
  EXPECT_TRUE(matches_program("a::|b::", "void b::kernel"));
}

TEST(Programs, AnEngineIsOverTheFrameworkThatItUses) {
  testing::TraceMaker maker;
  maker.op(1, "aten::mm", 0, 10);
  maker.op(1, "sgl_kernel::rmsnorm", 20, 10);
  maker.call(1, "hipLaunchKernel", 21, 2, 1);
  maker.kernel(0, 7, "void vllm::rotary_embedding_kernel", 30, 5, 1);
  const Program program = program_of(maker.build());
  ASSERT_NE(program.engine(), nullptr);
  EXPECT_EQ(program.engine()->key, "sglang") << "a borrowed kernel weighs less than an operator";
  EXPECT_EQ(program.engine()->names[static_cast<size_t>(ProgramTable::kOps)], 1U);
  EXPECT_EQ(program.kind, ProgramKind::kPyTorch);
  EXPECT_TRUE(program.hip);
  EXPECT_FALSE(program.trains);
  ASSERT_EQ(program.seen.size(), 2U);
  EXPECT_EQ(program.seen[1].key, "pytorch");
}

TEST(Programs, NothingIsSeenInPlainCuda) {
  testing::TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 0, 2, 1);
  maker.kernel(0, 7, "stencil", 5, 5, 1);
  const Program program = program_of(maker.build());
  EXPECT_TRUE(program.seen.empty());
  EXPECT_EQ(program.engine(), nullptr);
  EXPECT_EQ(program.kind, ProgramKind::kCuda);
}

}  // namespace
}  // namespace assay
