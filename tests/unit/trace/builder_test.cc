#include "trace/builder.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Rooms keep what they know of names by their index, so none may be missing.
TEST(TraceBuilder, RowsThatAReaderGaveNoNameHaveTheEmptyOne) {
  TraceBuilder builder;
  builder.ops.push_back({.start_ns = 1, .dur_ns = 2, .thread = builder.thread("1", "1")});
  builder.annotations.push_back({.start_ns = 1,
                                 .dur_ns = 2,
                                 .name = builder.text("ProfilerStep#3"),
                                 .thread = builder.thread("1", "1")});
  builder.activities.push_back({.start_ns = 1, .dur_ns = 2, .stream = builder.stream(0, 7)});
  const Trace trace = std::move(builder).finish(0);
  ASSERT_TRUE(trace.ops.name[0]);
  EXPECT_EQ(trace.text(trace.ops.name[0]), "");
  ASSERT_TRUE(trace.activities.name[0]);
  EXPECT_EQ(trace.text(trace.annotations.name[0]), "ProfilerStep#3");
}

}  // namespace
}  // namespace assay
