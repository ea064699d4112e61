// The timeline file: its texts, its lanes, its arrows, as the importer takes them. That real traces
// survive the way there and back is checked by tests/golden/check_perfetto.py.

#include "report/perfetto/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/perfetto/text.h"
#include "support/trace_maker.h"
#include "trace/links.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TraceMaker;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;

std::string microseconds(int64_t ns) {
  std::string out;
  append_microseconds(ns, out);
  return out;
}

// ---- texts ----

TEST(PerfettoText, TimesHaveThreeDecimals) {
  EXPECT_EQ(microseconds(0), "0.000");
  EXPECT_EQ(microseconds(7), "0.007");
  EXPECT_EQ(microseconds(1'000), "1.000");
  EXPECT_EQ(microseconds(123'456'789), "123456.789");
  EXPECT_EQ(microseconds(-1'001), "-1.001");
  EXPECT_EQ(microseconds(INT64_MIN), "-9223372036854775.808");
}

// The importer reads a double and rounds the product: no nanosecond is lost for 50 days.
TEST(PerfettoText, TimesSurviveTheImportersDoubles) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t limit = uint64_t{1000} << (i % 43);
    const auto ns = static_cast<int64_t>(random() % limit);
    const double read = std::stod(microseconds(ns));
    ASSERT_EQ(std::llround(read * 1000.0), ns);
  }
}

TEST(PerfettoText, IdsAreKeptWhereTheyAreFreeAndFreshElse) {
  LaneIds ids;
  EXPECT_EQ(ids.take("4711"), 4711u);
  EXPECT_EQ(ids.take("4711"), 10'000'001u);
  EXPECT_EQ(ids.take("10000002"), 10'000'002u);
  EXPECT_EQ(ids.take("0"), 10'000'003u);
  EXPECT_EQ(ids.take("-1"), 10'000'004u);
  EXPECT_EQ(ids.take("stream 7"), 10'000'005u);
  EXPECT_EQ(ids.take("4294967296"), 10'000'006u);
  EXPECT_EQ(ids.take("4294967295"), 4294967295u);
  EXPECT_EQ(ids.fresh(), 10'000'007u);
}

// ---- files ----

struct Written {
  Json document;
  PerfettoCounts counts;

  std::vector<Json> events(const std::string& phase, const std::string& category = "") const {
    std::vector<Json> found;
    for (const Json& event : document["traceEvents"]) {
      if (event["ph"] != phase) continue;
      if (category.empty() || event.value("cat", "") == category) found.push_back(event);
    }
    return found;
  }
  Json named(const std::string& name) const {
    for (const Json& event : document["traceEvents"]) {
      if (event["ph"] == "X" && event["name"] == name) return event;
    }
    return Json();
  }
  std::vector<std::string> lanes() const {
    std::vector<std::string> names;
    for (const Json& event : events("M")) {
      if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
    }
    return names;
  }
  std::vector<std::string> processes() const {
    std::vector<std::string> names;
    for (const Json& event : events("M")) {
      if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
    }
    return names;
  }
};

Written written(const std::vector<const Trace*>& traces, const Timeline& timeline = {}) {
  std::string text;
  PerfettoWriter writer(
      [&text](std::string_view piece) {
        text += piece;
        return Status(Ok{});
      },
      traces.size());
  for (const Trace* trace : traces) EXPECT_TRUE(writer.add(*trace, link_trace(*trace), timeline));
  EXPECT_TRUE(writer.finish());
  EXPECT_EQ(writer.counts().bytes, text.size());
  return {Json::parse(text), writer.counts()};
}

Written written(const Trace& trace, const Timeline& timeline = {}) {
  return written(std::vector<const Trace*>{&trace}, timeline);
}

TEST(Perfetto, KernelsThatOverlapGoToLanesOfTheirOwn) {
  const Trace trace = TraceMaker()
                          .kernel(0, 7, "a", 1'000, 500, 0)
                          .kernel(0, 7, "b", 1'400, 500, 0)  // programmatic dependent launch
                          .kernel(0, 7, "c", 1'900, 100, 0)
                          .build();
  const Written file = written(trace);
  EXPECT_THAT(file.lanes(), ElementsAre("stream 7", "stream 7 (2)"));
  EXPECT_THAT(file.processes(), ElementsAre("Assay", "GPU 0"));
  EXPECT_EQ(file.named("a")["tid"], file.named("c")["tid"]);
  EXPECT_NE(file.named("a")["tid"], file.named("b")["tid"]);
  EXPECT_EQ(file.named("b")["args"]["stream"], 7);
  EXPECT_EQ(file.counts.slices, 3u);
  EXPECT_EQ(file.counts.extra_lanes, 1u);
}

TEST(Perfetto, ParentsComeBeforeTheirChildrenOfTheSameTime) {
  const Trace trace = TraceMaker()
                          .call(1, "call", 1'000, 900, 0)
                          .op(1, "child", 1'000, 500)
                          .op(1, "parent", 1'000, 1'000)
                          .frame(1, "frame", 1'000, 1'000)
                          .annotation(1, "label", 1'000, 1'000)
                          .build();
  std::vector<std::string> names;
  const Written file = written(trace);
  for (const Json& event : file.events("X")) {
    names.push_back(event["name"]);
  }
  EXPECT_THAT(names, ElementsAre("label", "frame", "parent", "call", "child"));
  EXPECT_THAT(file.lanes(), ElementsAre("thread 1"));
}

TEST(Perfetto, OneLaunchPointsToAllItsKernels) {
  const Trace trace = TraceMaker()
                          .call(1, "cudaGraphLaunch", 1'000, 100, 5)
                          .kernel(0, 7, "a", 1'200, 10, 5)
                          .kernel(0, 7, "b", 1'220, 10, 5)
                          .call(1, "cudaLaunchKernel", 2'000, 100, 6)
                          .kernel(0, 7, "early", 1'990, 5, 6)  // a clock that is off
                          .kernel(0, 7, "nobody's", 5'000, 5, 9)
                          .build();
  const Written file = written(trace);
  const std::vector<Json> starts = file.events("s", "ac2g");
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0]["ts"], 1.0);
  const std::vector<Json> ends = file.events("f", "ac2g");
  ASSERT_EQ(ends.size(), 2u);
  for (const Json& end : ends) EXPECT_EQ(end["id"], starts[0]["id"]);
  EXPECT_EQ(file.counts.arrows, 2u);
  EXPECT_EQ(file.counts.arrows_left_out, 1u);
}

TEST(Perfetto, TimesCountFromADayBeforeAnEpochTime) {
  constexpr int64_t kTime = 1'750'000'000'123'456'789;
  const Trace trace = TraceMaker().kernel(0, 7, "a", kTime, 1, 0).build();
  const Written file = written(trace);
  const auto base = file.document["baseTimeNanoseconds"].get<int64_t>();
  EXPECT_EQ(base % 86'400'000'000'000, 0);
  EXPECT_EQ(base + std::llround(file.named("a")["ts"].get<double>() * 1000.0), kTime);
}

TEST(Perfetto, NothingLiesBeforeZero) {
  const Trace late = TraceMaker().kernel(0, 7, "late", 5'000, 10, 0).build();
  const Trace early = TraceMaker().kernel(0, 7, "early", -3'000, 10, 0).build();
  EXPECT_EQ(written(early).named("early")["ts"], 0.0);
  EXPECT_EQ(written(early).counts.moved_traces, 1u);
  const Written both = written({&late, &early});
  EXPECT_EQ(both.named("late")["ts"], 5.0);
  EXPECT_EQ(both.named("early")["ts"], 5.0);
  EXPECT_EQ(both.counts.moved_traces, 1u);
}

TEST(Perfetto, RanksAreProcessesOfTheirOwn) {
  Trace first = TraceMaker().op(1, "x", 0, 10).kernel(0, 7, "a", 0, 10, 0).build();
  Trace second = TraceMaker().op(1, "y", 0, 10).kernel(0, 7, "b", 0, 10, 0).build();
  first.distributed.rank = 0;
  second.distributed.rank = 1;
  const Written file = written({&first, &second});
  EXPECT_THAT(file.processes(),
              ElementsAre("Assay: rank 0", "Host (pid 1): rank 0", "GPU 0: rank 0", "Assay: rank 1",
                          "Host (pid 1): rank 1", "GPU 0: rank 1"));
  EXPECT_NE(file.named("x")["pid"], file.named("y")["pid"]);
  EXPECT_NE(file.named("a")["tid"], file.named("b")["tid"]);
  EXPECT_EQ(file.document["assayTimeline"]["traces"], 2);
}

TEST(Perfetto, ProcessesKeepTheirNames) {
  Trace trace = TraceMaker().op(1, "x", 0, 10).kernel(0, 7, "a", 0, 10, 0).build();
  trace.threads[0].pid = "4711";
  trace.metadata = {{"process_name 4711", "serve \"a\""},
                    {"process_labels 4711", "CPU"},
                    {"process_name 0", "python"},
                    {"process_labels 0", "GPU 0"}};
  const Written file = written(trace);
  EXPECT_THAT(file.processes(), ElementsAre("Assay", "Host (serve \"a\", pid 4711)", "GPU 0"));
  std::vector<std::string> labels;
  std::vector<Json> told;
  for (const Json& event : file.events("M")) {
    if (event["name"] == "process_labels") labels.push_back(event["args"]["labels"]);
    if (event["name"] == "assay_process") told.push_back(event["args"]);
  }
  EXPECT_THAT(labels, ElementsAre("CPU", "python, GPU 0"));
  EXPECT_THAT(
      told, ElementsAre(Json{{"lane process", "4711"}, {"name", "serve \"a\""}, {"labels", "CPU"}},
                        Json{{"lane process", "0"}, {"name", "python"}, {"labels", "GPU 0"}}));
}

TEST(Perfetto, ProcessesLieInTheOrderThatTheTraceAsksFor) {
  Trace trace = TraceMaker().op(1, "x", 0, 10).op(2, "y", 5, 10).build();
  trace.threads[0].pid = "10";
  trace.threads[1].pid = "20";
  trace.metadata = {{"process_sort_index 10", "7"}, {"process_sort_index 20", "-1"}};
  std::map<uint32_t, int64_t> order;
  const Written file = written(trace);
  for (const Json& event : file.events("M")) {
    if (event["name"] == "process_sort_index") order[event["pid"]] = event["args"]["sort_index"];
  }
  EXPECT_EQ(order[20], 1);
  EXPECT_EQ(order[10], 2);
  EXPECT_EQ(file.processes()[1], "Host (pid 10)") << "threads keep their numbers for a reader";
}

TEST(Perfetto, DistinguishesThreadsOfOneName) {
  Trace trace =
      TraceMaker().op(1, "x", 0, 10).op(2, "y", 0, 10).op(3, "z", 0, 10).op(4, "w", 0, 10).build();
  for (Thread& thread : trace.threads) thread.name = "worker";
  trace.threads[2].name = "main";
  trace.threads[3].name = "";
  const Written file = written(trace);
  EXPECT_THAT(file.lanes(), ElementsAre("worker [1]", "worker [2]", "main", "thread 4"));
  for (const Json& event : file.events("M")) {
    if (event["name"] == "assay_lane" && event["args"]["lane thread"] == "2") {
      EXPECT_EQ(event["args"]["name"], "worker") << "the name that the trace has";
    }
  }
}

TEST(Perfetto, AnnotationsAreTracksWithTheirValues) {
  const Trace trace = TraceMaker().kernel(0, 7, "a", 0, 10, 0).build();
  Timeline timeline;
  TimelineTrack track{.name = "GPU idle", .keys = {{"gap"}, {"why", true}}};
  const StringId busy = timeline.texts.intern("host \"busy\"");
  track.add(100, 200, busy, 3, busy.value);
  track.add(0, 50, busy, kNoTimelineValue, busy.value);
  timeline.tracks.push_back(track);
  timeline.counters.push_back({"depth", "kernels", {5, 7}, {1, std::nan("")}});
  const Written file = written(trace, timeline);
  const std::vector<Json> slices = file.events("X", "assay");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0]["args"], Json({{"why", "host \"busy\""}}));
  EXPECT_EQ(slices[1]["args"], Json({{"gap", 3}, {"why", "host \"busy\""}}));
  EXPECT_EQ(slices[1]["ts"], 0.1);
  ASSERT_EQ(file.events("C", "assay").size(), 1u);
  EXPECT_EQ(file.events("C", "assay")[0]["args"], Json({{"kernels", 1}}));
  EXPECT_EQ(file.counts.values_left_out, 1u);
  EXPECT_EQ(file.counts.annotations, 2u);
}

TEST(Perfetto, AnEmptyFileIsAFile) {
  EXPECT_TRUE(written(std::vector<const Trace*>{}).document["traceEvents"].empty());
  EXPECT_THAT(written(Trace()).processes(), ElementsAre("Assay"));
}

TEST(Perfetto, AFullDiskEndsTheWork) {
  TraceMaker maker;
  for (int i = 0; i < 40'000; ++i) maker.kernel(0, 7, "a kernel", i * 10, 5, 0);
  const Trace trace = maker.build();
  int pieces = 0;
  PerfettoWriter writer(
      [&pieces](std::string_view) {
        ++pieces;
        return Status(Error{ErrorCode::kIo, "No space left on device", "", -1});
      },
      1);
  const Status added = writer.add(trace, link_trace(trace), {});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("No space left"));
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace assay
