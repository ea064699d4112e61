// What Assay's own timelines add to a trace, and how it is read past (docs/formats/perfetto.md).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ingest/chrome/reader.h"
#include "ingest/load.h"
#include "support/bytes.h"
#include "support/scratch.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

using testing::bytes_of;
using testing::TempFile;

Trace read_timeline(const std::string& json) {
  auto trace = read_chrome_stream(bytes_of(json), {});
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  return trace ? *std::move(trace) : Trace{};
}

std::string lane(int pid, int tid, const std::string& of_pid, const std::string& of_tid) {
  return R"({"ph":"M","pid":)" + std::to_string(pid) + R"(,"tid":)" + std::to_string(tid) +
         R"(,"name":"assay_lane","args":{"lane process":")" + of_pid + R"(","lane thread":")" +
         of_tid + R"(","name":"python"}})";
}

std::string op(int pid, int tid, const std::string& ts) {
  return R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":)" + std::to_string(pid) +
         R"(,"tid":)" + std::to_string(tid) + R"(,"ts":)" + ts + R"(,"dur":5.000})";
}

TEST(Timeline, LanesOfOneThreadAreOneThread) {
  const Trace trace =
      read_timeline("[" + lane(10, 20, "1", "2") + "," + lane(10, 21, "1", "2") + "," +
                    lane(10, 30, "one", "3") + "," + op(10, 30, "1") + "," + op(10, 21, "3") + "," +
                    op(10, 20, "2") + "," + op(10, 40, "4") + "]");
  ASSERT_EQ(trace.threads.size(), 4u - 1u);
  EXPECT_EQ(trace.threads[0].pid, "1");
  EXPECT_EQ(trace.threads[0].tid, "2");
  EXPECT_EQ(trace.threads[0].name, "python");
  EXPECT_EQ(trace.threads[1].tid, "40");  // a lane that nobody spoke of is a thread
  EXPECT_EQ(trace.threads[2].pid, "one");
  EXPECT_EQ(trace.ops.thread[0], ThreadId(0));
  EXPECT_EQ(trace.ops.start_ns[0], 2'000);
  EXPECT_EQ(trace.ops.thread[1], ThreadId(0));
  EXPECT_EQ(trace.ops.start_ns[1], 3'000);
  EXPECT_EQ(trace.ops.thread[2], ThreadId(1));
  EXPECT_EQ(trace.ops.thread[3], ThreadId(2));
}

// Later stretches of a file know nothing of its head until they are merged.
TEST(Timeline, LanesAreJoinedAtAnyNumberOfThreads) {
  std::string json = R"({"traceEvents":[)" + lane(10, 20, "1", "2") + "," + lane(10, 21, "1", "2");
  for (int i = 0; i < 3000; ++i) json += "," + op(10, 20 + i % 2, std::to_string(10 * i) + ".001");
  json += "]}";
  const TempFile file(json);
  for (const unsigned threads : {1u, 2u, 4u}) {
    auto source = ByteSource::open(file.path());
    ASSERT_TRUE(source);
    const auto trace = read_chrome_trace(*source, {.threads = threads, .stretch_bytes = 4096});
    ASSERT_TRUE(trace) << trace.error().describe();
    EXPECT_EQ(trace->threads.size(), 1u) << threads;
    EXPECT_EQ(trace->ops.size(), 3000u);
  }
}

// The timeline's own names of its processes are no facts of the trace.
TEST(Timeline, ProcessesGetBackWhatTheTraceSaidOfThem) {
  const auto meta = [](int pid, const std::string& what, const std::string& args) {
    return R"({"ph":"M","pid":)" + std::to_string(pid) + R"(,"tid":1,"name":")" + what +
           R"(","args":{)" + args + "}},";
  };
  const Trace trace = read_timeline(
      "[" + meta(10, "process_name", R"("name":"Host: python3")") +
      meta(10, "process_sort_index", R"("sort_index":1)") +
      meta(10, "assay_process", R"("lane process":"7","name":"python3","sort_index":"5")") +
      meta(7, "process_name", R"("name":"Assay")") + lane(10, 20, "7", "2") + "," +
      op(10, 20, "1") + "]");
  ASSERT_EQ(trace.metadata.size(), 2u);
  EXPECT_EQ(process_fact(trace, kProcessName, "7"), "python3");
  EXPECT_EQ(process_fact(trace, kProcessSortIndex, "7"), "5");
}

TEST(Timeline, AddedRowsAreInNoTable) {
  const Trace trace = read_timeline(
      R"([{"ph":"X","cat":"assay","name":"host busy","pid":1,"tid":1,"ts":0.001,"dur":0.001},)"
      R"({"ph":"C","cat":"assay","name":"queue","pid":1,"tid":1,"ts":0.001,"args":{"n":1}},)"
      R"({"ph":"C","name":"power","pid":1,"tid":1,"ts":1,"args":{"W":1}},)" +
      op(1, 1, "1") + "]");
  EXPECT_EQ(trace.other_events.size(), 0u);
  EXPECT_EQ(trace.counters.size(), 1u);
  EXPECT_EQ(trace.counts.spans, 2u);
  EXPECT_TRUE(trace.whole_microseconds) << "times of annotations say nothing of the trace's";
}

TEST(Timeline, TheTracerComesBack) {
  const Trace trace = read_timeline(
      R"({"traceEvents":[],"assayTimeline":{"version":1,"traces":1,"tracer":"nsight_systems"}})");
  EXPECT_EQ(trace.tracer, Tracer::kNsightSystems);
}

TEST(Timeline, SeveralTracesInOneFileAreRefused) {
  const auto trace = read_chrome_stream(
      bytes_of(R"({"traceEvents":[],"assayTimeline":{"version":1,"traces":8,"tracer":"assay"}})"),
      {});
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(trace.error().message.find("timeline of 8 traces"), std::string::npos);
}

constexpr const char* kOwnTimeline =
    R"({"schemaVersion":1,"writtenBy":"assay report --perfetto","traceEvents":[]})";

TEST(Timeline, IsNotATraceOfItsFolder) {
  const std::filesystem::path folder = testing::scratch_path("");
  std::filesystem::create_directories(folder);
  const std::string timeline = (folder / "a.json").string();
  const std::string trace = (folder / "rank0.json").string();
  std::ofstream(timeline) << kOwnTimeline;
  std::vector<std::string> left_out;
  const auto alone = expand_inputs({folder.string()}, &left_out);
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find("only timelines"), std::string::npos);

  std::ofstream(trace) << R"({"traceEvents":[{"writtenBy":"assay report --perfetto"}]})";
  const auto files = expand_inputs({folder.string()}, &left_out);
  const auto named = expand_inputs({timeline});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, std::vector<std::string>{trace});
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_NE(left_out[0].find(timeline), std::string::npos);
  ASSERT_TRUE(named);
  EXPECT_EQ(*named, std::vector<std::string>{timeline});
}

}  // namespace
}  // namespace assay
