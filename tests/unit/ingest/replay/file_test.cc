// The files of the collectors: one good example each, and every way of being wrong named. Expected
// values are those written in the texts.

#include "ingest/replay/file.h"

#include <gtest/gtest.h>

#include <string>

#include "support/bytes.h"

namespace assay {
namespace {

using testing::TempFile;

const char* const kStats =
    R"({"n":150,"mean_ns":4503,"std_ns":210.5,"min_ns":4100,"p5_ns":4177,"p50_ns":4452,"p95_ns":4909,"max_ns":6000})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string floor_text() {
  return std::string(
             R"({"kind":"assay-floor","schema_version":1,"tracer":"cupti","driver":"570.1","warmups":50,"runs":150,)"
             R"("gpus":[{"name":"NVIDIA H200","uuid":"GPU-1","launch":)") +
         kStats + R"(,"duration":)" + replaced(kStats, "\"max_ns\":6000", "\"max_ns\":9000") +
         "}]}";
}

std::string replay_text() {
  return std::string(
             R"({"kind":"assay-replay","schema_version":1,"tracer":"nsys","warmups":50,"runs":150,)"
             R"("gpu":{"name":"NVIDIA H200"},"entries":[)"
             R"json({"key":"gemm g1","status":"ok","ranges":150,"candidates":[{"name":"void gemm<float>()",)json"
             R"json("grid":[8,4,1],"block":[128,1,1],"shared_memory_bytes":49152,"registers":168,"count":300,"dispatch":)json") +
         kStats + R"(,"launch":)" + kStats + R"(,"duration":)" + kStats +
         R"(}]},{"key":"nonzero g2","status":"skipped_dynamic"},)"
         R"({"key":"custom g3","status":"failed","reason":"no tensor 2"}]})";
}

Result<FloorFile> read_floor(const std::string& text) {
  const TempFile file(text);
  return read_floor_file(file.path());
}

Result<ReplayFile> read_replay(const std::string& text) {
  const TempFile file(text);
  return read_replay_file(file.path());
}

// What the reader says about the text with `from` replaced by `to`.
std::string floor_problem(const std::string& from, const std::string& to) {
  const auto file = read_floor(replaced(floor_text(), from, to));
  return file ? "accepted" : file.error().message;
}

std::string replay_problem(const std::string& from, const std::string& to) {
  const auto file = read_replay(replaced(replay_text(), from, to));
  return file ? "accepted" : file.error().message;
}

TEST(FloorFile, ReadsWhatItSays) {
  const auto file = read_floor(floor_text());
  ASSERT_TRUE(file) << file.error().describe();
  EXPECT_EQ(file->head.tracer, CollectorTracer::kCupti);
  EXPECT_EQ(file->head.driver, "570.1");
  EXPECT_EQ(file->head.warmups, 50u);
  EXPECT_EQ(file->head.runs, 150u);
  ASSERT_EQ(file->gpus.size(), 1u);
  EXPECT_EQ(file->gpus[0].gpu.name, "NVIDIA H200");
  EXPECT_EQ(file->gpus[0].gpu.uuid, "GPU-1");
  EXPECT_EQ(file->gpus[0].launch.n, 150u);
  EXPECT_EQ(file->gpus[0].launch.mean_ns, 4503);
  EXPECT_EQ(file->gpus[0].launch.std_ns, 210.5);
  EXPECT_EQ(file->gpus[0].launch.p5_ns, 4177);
  EXPECT_EQ(file->gpus[0].launch.p50_ns, 4452);
  EXPECT_EQ(file->gpus[0].launch.p95_ns, 4909);
  EXPECT_EQ(file->gpus[0].duration.max_ns, 9000);
}

TEST(FloorFile, TheSmallestMeanOfSeveralGpusCounts) {
  std::string text = floor_text();
  const std::string first =
      text.substr(text.find("{\"name\""), text.rfind("]}") - text.find("{\"name\""));
  const std::string second =
      replaced(replaced(first, "GPU-1", "GPU-2"), "\"mean_ns\":4503", "\"mean_ns\":4499");
  text.insert(text.rfind("]}"), "," + second);
  const auto file = read_floor(text);
  ASSERT_TRUE(file) << file.error().describe();
  ASSERT_EQ(file->gpus.size(), 2u);
  EXPECT_EQ(lowest_floor(*file).gpu.uuid, "GPU-2");
  EXPECT_EQ(lowest_floor(*file).launch.mean_ns, 4499);
}

TEST(FloorFile, RefusesWhatCannotBeAFloor) {
  EXPECT_EQ(floor_problem("assay-floor", "assay-replay"),
            "this is a replay file, no floor file; give it with the trace: assay overhead TRACE "
            "--replay FILE");
  EXPECT_EQ(floor_problem("\"schema_version\":1", "\"schema_version\":2"),
            "schema_version 2 of assay-floor is unknown; this program reads version 1");
  EXPECT_EQ(floor_problem("cupti", "perf"),
            "tracer 'perf' is none of cupti, nsys, kineto, rocprofiler, hip");
  EXPECT_EQ(floor_problem("\"runs\":150", "\"runs\":0"), "runs is 0: nothing was measured");
  EXPECT_EQ(floor_problem("\"runs\":150", "\"runs\":149"),
            "gpus[0].launch.n is 150, more than the 149 runs that were measured");
  EXPECT_EQ(floor_problem("\"min_ns\":4100", "\"min_ns\":-1"), "gpus[0].launch.min_ns is negative");
  EXPECT_EQ(floor_problem("\"std_ns\":210.5,", ""), "no gpus[0].launch.std_ns");
  EXPECT_EQ(floor_problem("\"p5_ns\":4177", "\"p5_ns\":4453"),
            "gpus[0].launch: min, p5, p50, p95 and max are not in that order");
  EXPECT_EQ(floor_problem("\"mean_ns\":4503", "\"mean_ns\":7000"),
            "gpus[0].launch: the mean lies outside min and max");
  EXPECT_EQ(floor_problem("NVIDIA H200", ""), "gpus[0].name is empty");
  EXPECT_EQ(floor_problem("\"gpus\":[", "\"gpus\":[],\"other\":["),
            "gpus is empty: nothing was measured");
  EXPECT_EQ(floor_problem("\"driver\":\"570.1\"", "\"driver\":570"), "driver is not a string");
}

TEST(FloorFile, AMillisecondIsNotALaunchOverhead) {
  const std::string slow =
      R"("launch":{"n":1,"mean_ns":1000001,"std_ns":0,"min_ns":1000001,"p5_ns":1000001,"p50_ns":1000001,"p95_ns":1000001,"max_ns":1000001},"x":)";
  EXPECT_EQ(
      floor_problem("\"launch\":", slow),
      "gpus[0].launch.mean_ns lies outside 1 ns to 1 ms: no launch of an empty kernel takes that");
}

TEST(FloorFile, FloorsOfDifferentGpusAreNotMixed) {
  std::string text = floor_text();
  const std::string first =
      text.substr(text.find("{\"name\""), text.rfind("]}") - text.find("{\"name\""));
  text.insert(text.rfind("]}"), "," + replaced(first, "NVIDIA H200", "NVIDIA H100"));
  const auto file = read_floor(text);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "launch-overhead floors of different GPUs in one file (NVIDIA H200, NVIDIA H100): "
            "their minimum means nothing");
}

TEST(ReplayFile, ReadsWhatItSays) {
  const auto file = read_replay(replay_text());
  ASSERT_TRUE(file) << file.error().describe();
  EXPECT_EQ(file->head.tracer, CollectorTracer::kNsys);
  EXPECT_EQ(file->gpu.name, "NVIDIA H200");
  EXPECT_EQ(file->through, ReplayThrough::kCpp) << "as files of before it was told";
  ASSERT_EQ(file->entries.size(), 3u);
  const ReplayEntry& gemm = file->entries[0];
  EXPECT_EQ(gemm.key, "gemm g1");
  EXPECT_EQ(gemm.status, ReplayStatus::kOk);
  EXPECT_EQ(gemm.ranges, 150u);
  ASSERT_EQ(gemm.candidates.size(), 1u);
  EXPECT_EQ(gemm.candidates[0].name, "void gemm<float>()");
  EXPECT_EQ(gemm.candidates[0].grid, (Dim3{8, 4, 1}));
  EXPECT_EQ(gemm.candidates[0].block, (Dim3{128, 1, 1}));
  EXPECT_EQ(gemm.candidates[0].shared_memory_bytes, 49152u);
  EXPECT_EQ(gemm.candidates[0].registers, 168u);
  EXPECT_EQ(gemm.candidates[0].count, 300u);
  EXPECT_EQ(gemm.candidates[0].launch.p95_ns, 4909);
  EXPECT_EQ(file->entries[1].status, ReplayStatus::kSkippedDynamic);
  EXPECT_EQ(file->entries[2].status, ReplayStatus::kFailed);
  EXPECT_EQ(file->entries[2].reason, "no tensor 2");
}

TEST(ReplayFile, RefusesWhatCannotBeAReplay) {
  EXPECT_EQ(replay_problem("\"schema_version\":1", "\"schema_version\":7"),
            "schema_version 7 of assay-replay is unknown; this program reads version 1");
  EXPECT_EQ(replay_problem("nonzero g2", "gemm g1"), "entries[1].key occurs twice: 'gemm g1'");
  EXPECT_EQ(replay_problem("skipped_dynamic", "skipped"),
            "entries[1].status 'skipped' is none of ok, skipped_dynamic, op_missing, failed");
  EXPECT_EQ(replay_problem(",\"reason\":\"no tensor 2\"", ""), "no entries[2].reason");
  EXPECT_EQ(replay_problem("\"ranges\":150", "\"ranges\":151"),
            "entries[0].ranges lies outside 1 to runs (150)");
  EXPECT_EQ(
      replay_problem("\"ranges\":150", "\"ranges\":140"),
      "entries[0].candidates[0].dispatch.n is 150, more than the 140 runs that were measured");
  EXPECT_EQ(replay_problem("\"count\":300", "\"count\":149"),
            "entries[0].candidates[0].count is less than launch.n: fewer launches than samples");
  EXPECT_EQ(replay_problem("[8,4,1]", "[8,4]"),
            "entries[0].candidates[0].grid is not three numbers");
  EXPECT_EQ(replay_problem("[8,4,1]", "[8,-4,1]"),
            "entries[0].candidates[0].grid is not three whole numbers from 0");
  EXPECT_EQ(replay_problem("\"max_ns\":6000", "\"max_ns\":6e12"),
            "entries[0].candidates[0].dispatch.max_ns is beyond 100 s: are these nanoseconds?");
  EXPECT_EQ(replay_problem("\"gpu\":", "\"device\":"), "no gpu");
  EXPECT_EQ(replay_problem("\"gpu\":", "\"through\":\"rust\",\"gpu\":"),
            "through 'rust' is neither cpp nor python");
  EXPECT_EQ(replay_problem("\"gpu\":", "\"through\":1,\"gpu\":"), "through is not a string");
}

TEST(ReplayFile, SaysWhereTheJsonBreaks) {
  const std::string text = replay_text();
  const auto cut = read_replay(text.substr(0, 200));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kTruncated);
  const auto broken = read_replay(replaced(text, "\"entries\"", "entries"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kFormat);
  EXPECT_EQ(broken.error().offset, static_cast<int64_t>(text.find("\"entries\"")));
  EXPECT_EQ(read_replay("[]").error().message, "not a JSON object");
  EXPECT_EQ(read_replay_file("/nowhere/replay.json").error().code, ErrorCode::kIo);
}

TEST(ReplayFile, WrittenFilesAreReadAgain) {
  ReplayFile file;
  file.head = {CollectorTracer::kCupti, "13.0", 50, 150};
  file.gpu = {"NVIDIA H200", "GPU-1"};
  file.framework = "PyTorch 2.11.0";
  file.through = ReplayThrough::kPython;
  const SampleStats stats = {2, 3.5, 0.5, 3, 3.05, 3.5, 3.95, 4};
  file.entries.push_back(
      {.key = "k|1,1,1",
       .reason = "",
       .ranges = 2,
       .candidates = {{"void k()", {1, 1, 1}, {32, 1, 1}, 16, 24, 2, stats, stats, stats}},
       .call = "aten::add.Tensor(1)",
       .assumed = {"a number"},
       .host = stats});
  ReplayEntry failed;
  failed.key = "f";
  failed.status = ReplayStatus::kFailed;
  failed.reason = "why";
  file.entries.push_back(failed);
  const auto read = read_replay(replay_file_json(file));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->head.tracer, CollectorTracer::kCupti);
  EXPECT_EQ(read->framework, "PyTorch 2.11.0");
  EXPECT_EQ(read->through, ReplayThrough::kPython);
  ASSERT_EQ(read->entries.size(), 2u);
  EXPECT_EQ(read->entries[0].call, "aten::add.Tensor(1)");
  EXPECT_EQ(read->entries[0].assumed, std::vector<std::string>{"a number"});
  ASSERT_TRUE(read->entries[0].host);
  EXPECT_EQ(read->entries[0].host->p95_ns, 3.95);
  EXPECT_EQ(read->entries[0].candidates[0].launch.mean_ns, 3.5);
  EXPECT_EQ(read->entries[0].candidates[0].registers, 24u);
  EXPECT_EQ(read->entries[1].reason, "why");
  EXPECT_EQ(replay_file_json(*read), replay_file_json(file));
}

TEST(ReplayFile, AReplayWithoutADeviceIsReadButIsNotAFloorFile) {
  EXPECT_TRUE(read_replay(replaced(replay_text(), "\"nsys\"", "\"host\"")));
  EXPECT_EQ(floor_problem("\"cupti\"", "\"host\""), "tracer 'host' sees no kernels");
}

TEST(FloorFile, HipMeasuresLaunchesButNotReplaysIfThereIsNoTracer) {
  const auto file = read_floor(replaced(floor_text(), "\"cupti\"", "\"hip\""));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->head.tracer, CollectorTracer::kHip);
  const auto replay = read_replay(replaced(replay_text(), "\"nsys\"", "\"hip\""));
  ASSERT_FALSE(replay);
  EXPECT_EQ(replay.error().message, "tracer 'hip' does not separate kernels");
}

}  // namespace
}  // namespace assay
