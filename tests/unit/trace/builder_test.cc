#include "trace/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

// Lanes, rows and texts of a run, filed forward or backward.
Trace run_filed(bool backward) {
  struct Row {
    std::string tid;
    int64_t start_ns;
    std::string name;
    uint32_t id;
  };
  std::vector<Row> rows = {{"20", 5, "b", 9}, {"3", 5, "c", 2}, {"3", 5, "a", 2}, {"3", 5, "d", 1}};
  if (backward) std::reverse(rows.begin(), rows.end());
  TraceBuilder builder;
  for (const Row& row : rows) {
    builder.ops.push_back(
        {row.start_ns, 7, builder.text(row.name), builder.thread("1", row.tid), row.id});
    builder.frames.push_back(
        {row.start_ns, 7, builder.text(row.name), builder.thread("1", row.tid)});
  }
  return std::move(builder).finish(0);
}

TEST(TraceBuilder, TheOrderOfTheInputIsNotSeen) {
  const Trace forward = run_filed(false);
  const Trace backward = run_filed(true);
  for (const Trace* trace : {&forward, &backward}) {
    EXPECT_EQ(trace->threads[0].tid, "3");  // numbers by value
    std::string names;
    for (const StringId name : trace->ops.name) names += trace->text(name);
    EXPECT_EQ(names, "dacb");  // by id, then by text
  }
  EXPECT_EQ(forward.ops.name, backward.ops.name);
  EXPECT_EQ(forward.frames.name, backward.frames.name);
}

TEST(TraceBuilder, BuiltInFunctionsAreWithinTheFrameOfTheSameTime) {
  TraceBuilder builder;
  const ThreadId thread = builder.thread("1", "1");
  builder.frames.push_back({5, 7, builder.text("<built-in function sleep>"), thread});
  builder.frames.push_back({5, 7, builder.text("queue.py(154): get"), thread});
  const Trace trace = std::move(builder).finish(0);
  EXPECT_EQ(trace.text(trace.frames.name[0]), "queue.py(154): get");
}

TEST(TraceBuilder, AnAllocatorRecordThatRepeatsCountsOnce) {
  TraceBuilder builder;
  const auto record = [&builder](int64_t time_ns, int64_t bytes) {
    builder.memory_events.push_back({time_ns, bytes, -1, -1, 512, 1, 0});
  };
  record(10, 64);
  record(10, 64);  // the block is in use
  record(20, -64);
  record(30, 64);  // given out, freed and given out again at one time
  record(30, -64);
  record(30, 64);
  const Trace trace = std::move(builder).finish(0);
  EXPECT_EQ(trace.memory_events.size(), 5u);
  EXPECT_EQ(trace.log.entry(ImportCode::kDuplicateEvent).count, 1u);
}

}  // namespace
}  // namespace assay
