#include "query/trace_relations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/relation_maker.h"
#include "support/trace_maker.h"
#include "trace/links.h"

namespace assay {
namespace {

using testing::cells_of;
using ::testing::ElementsAre;

class TraceRelations : public ::testing::Test {
 protected:
  TraceRelations()
      : trace_(testing::TraceMaker()
                   .op(1, "aten::mm", 0, 100)
                   .call(1, "cudaLaunchKernel", 10, 20, 7)
                   .kernel(0, 7, "gemm", 50, 500, 7)
                   .kernel(0, 7, "orphan", 600, 5, 99)
                   .build()),
        links_(link_trace(trace_)),
        catalog_(trace_catalog(trace_, links_, 3)) {}

  const Relation& table(const char* name) { return *catalog_.find(name); }

  Trace trace_;
  Links links_;
  Catalog catalog_;
};

TEST_F(TraceRelations, TextsAndEnumsAreWords) {
  EXPECT_THAT(cells_of(table("activities"), "name").texts, ElementsAre("gemm", "orphan"));
  EXPECT_THAT(cells_of(table("activities"), "kind").texts, ElementsAre("kernel", "kernel"));
  EXPECT_THAT(cells_of(table("api_calls"), "kind").texts, ElementsAre("runtime"));
  EXPECT_THAT(cells_of(table("activities"), "dur_ns").integers, ElementsAre(500, 5));
}

TEST_F(TraceRelations, IdIsTheRowThatLinksReferTo) {
  EXPECT_THAT(cells_of(table("activities"), "id").integers, ElementsAre(0, 1));
  const Cells ops = cells_of(table("activity_links"), "op");
  EXPECT_FALSE(ops.is_missing(0));
  EXPECT_EQ(ops.integers[0], 0);
  EXPECT_TRUE(ops.is_missing(1)) << "the orphan has no launch";
}

TEST_F(TraceRelations, KernelsHaveDeviceAndStreamAsRecorded) {
  const Trace trace = testing::TraceMaker()
                          .kernel(3, 20, "a", 0, 5, 1)
                          .kernel(3, 7, "b", 10, 5, 2)
                          .kernel(3, 20, "c", 20, 5, 3)
                          .build();
  const Links links = link_trace(trace);
  const Catalog catalog = trace_catalog(trace, links, 0);
  const Relation& kernels = *catalog.find("kernels");
  EXPECT_THAT(cells_of(kernels, "device").integers, ElementsAre(3, 3, 3));
  EXPECT_THAT(cells_of(kernels, "stream").integers, ElementsAre(20, 20, 7));
  EXPECT_THAT(cells_of(kernels, "start_ns").integers, ElementsAre(0, 20, 10));
}

TEST_F(TraceRelations, AddressesAreUnsignedAndEveryColumnHasItsPart) {
  for (const Relation& relation : catalog_.relations) {
    ASSERT_EQ(relation.parts.size(), 1u);
    EXPECT_EQ(relation.parts[0].rank, 3);
    EXPECT_EQ(relation.parts[0].columns.size(), relation.columns.size()) << relation.name;
    EXPECT_EQ(relation.columns[0].name, "id") << relation.name;
  }
  const Relation& memory = table("memory_events");
  for (const RelationColumn& column : memory.columns) {
    EXPECT_EQ(column.type == CellType::kUnsigned, column.unit == "address") << column.name;
  }
}

TEST_F(TraceRelations, KernelsKnowTheirLaunchAndOperator) {
  const Relation& kernels = table("kernels");
  EXPECT_THAT(cells_of(kernels, "activity").integers, ElementsAre(0, 1));
  EXPECT_THAT(cells_of(kernels, "name").texts, ElementsAre("gemm", "orphan"));
  EXPECT_THAT(cells_of(kernels, "dur_ns").integers, ElementsAre(500, 5));
  EXPECT_THAT(cells_of(kernels, "device").integers, ElementsAre(0, 0));
  const Cells op = cells_of(kernels, "op");
  EXPECT_EQ(op.texts[0], "aten::mm");
  EXPECT_TRUE(op.is_missing(1));
  const Cells launch = cells_of(kernels, "launch_ns");
  EXPECT_EQ(launch.integers[0], 10);
  EXPECT_FALSE(launch.is_missing(0));
  EXPECT_TRUE(launch.is_missing(1));
}

TEST_F(TraceRelations, CellsAreReadFromAnyRow) {
  const Relation& activities = table("activities");
  Cells cells;
  activities.parts[0].columns[0](1, 1, cells);
  EXPECT_THAT(cells.integers, ElementsAre(1));
}

}  // namespace
}  // namespace assay
