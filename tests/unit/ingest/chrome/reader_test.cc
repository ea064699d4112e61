// Every quirk of Kineto and its kin in a few lines of JSON each. Expected values are worked by
// hand.

#include "ingest/chrome/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "ingest/chrome/processes.h"
#include "ingest/load.h"
#include "support/bytes.h"
#include "support/no_threads.h"
#include "support/scratch.h"
#include "support/trace_maker.h"
#include "trace/links.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

using testing::activity_id;
using testing::bytes_of;
using testing::TempFile;

Result<Trace> read(const std::string& json, bool allow_truncated = false) {
  return read_chrome_stream(bytes_of(json), {.allow_truncated = allow_truncated});
}

Trace must_read(const std::string& json, bool allow_truncated = false) {
  auto trace = read(json, allow_truncated);
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  return trace ? *std::move(trace) : Trace{};
}

uint64_t logged(const Trace& trace, ImportCode code) { return trace.log.entry(code).count; }

std::string op(const std::string& ts, const std::string& dur, const std::string& more = "") {
  return R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":)" + ts + R"(,"dur":)" +
         dur + more + "}";
}

std::string events(const std::string& list) { return R"({"traceEvents":[)" + list + "]}"; }

std::string launched(int pid, int device, int64_t call_us, uint32_t correlation, int64_t row_us) {
  const std::string id = std::to_string(correlation);
  const std::string on = std::to_string(device);
  const std::string process = std::to_string(pid);
  return R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":)" + process +
         R"(,"tid":)" + process + R"(,"ts":)" + std::to_string(call_us) +
         R"(.5,"dur":4,"args":{"correlation":)" + id + R"(}},)" +
         R"({"ph":"X","cat":"kernel","name":"k","pid":)" + on + R"(,"tid":7,"ts":)" +
         std::to_string(row_us) + R"(.5,"dur":4,"args":{"device":)" + on +
         R"(,"stream":7,"correlation":)" + id + "}}";
}

// Two ranks count their calls from 1; the second one starts later and is faster.
TEST(ChromeReader, RanksInOneFileAreLinkedToTheirOwnCalls) {
  std::string list;
  for (uint32_t i = 1; i <= 40; ++i) {
    list += launched(70, 0, 1000 + 100 * i, i, 1050 + 100 * i) + ",";
    list += launched(80, 1, 3000 + 50 * i, i, 3020 + 50 * i) + (i < 40 ? "," : "");
  }
  const auto trace = read(events(list));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kSeveralTraces);
  const std::filesystem::path folder = testing::scratch_path("");
  std::filesystem::create_directories(folder);
  const std::string merged = (folder / "merged.json").string();
  std::ofstream(merged) << events(list);
  const auto split = split_processes(merged, folder.string());
  ASSERT_TRUE(split) << split.error().describe();
  ASSERT_EQ(split->parts.size(), 2u);
  for (int64_t rank = 0; rank < 2; ++rank) {
    const ProcessPart& part = split->parts[static_cast<size_t>(rank)];
    EXPECT_EQ(part.name, "rank" + std::to_string(rank));
    const auto own = load_trace(part.path, {});
    ASSERT_TRUE(own) << own.error().describe();
    EXPECT_EQ(own->distributed.rank, rank);
    ASSERT_EQ(own->activities.size(), 40u);
    const Links links = link_trace(*own);
    for (size_t a = 0; a < 40; ++a) {
      ASSERT_TRUE(links.activity_call[a]);
      EXPECT_EQ(own->threads[own->api_calls.thread[links.activity_call[a].index()].index()].pid,
                rank == 0 ? "70" : "80");
      EXPECT_EQ(own->streams[own->activities.stream[a].index()].device, rank);
    }
  }
  std::filesystem::remove_all(folder);
}

// All calls of both come before all work: every process could have launched all of it.
TEST(ChromeReader, RanksInOneFileThatFitEachOthersWorkAreRefused) {
  std::string list;
  for (uint32_t i = 1; i <= 40; ++i) {
    for (int rank = 0; rank < 2; ++rank) {
      list += launched(70 + 10 * rank, rank, 1000 + i, i, 9000 + 10 * i) + ",";
    }
  }
  list.pop_back();
  const std::filesystem::path folder = testing::scratch_path("");
  std::filesystem::create_directories(folder);
  const std::string merged = (folder / "merged.json").string();
  std::ofstream(merged) << events(list);
  const auto split = split_processes(merged, folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(split.error().message.find("2 processes in one file"), std::string::npos);
}

// Numbers in labels that no rank can have: the processes keep their labels, without ranks.
TEST(ChromeReader, LabelsWithImpossibleRanksGiveNoRank) {
  const auto on = [](const std::string& label, int64_t start_us) {
    return R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":")" + label +
           R"(","tid":7,"ts":)" + std::to_string(start_us) + R"(,"dur":2})";
  };
  const std::filesystem::path folder = testing::scratch_path("");
  std::filesystem::create_directories(folder);
  const std::string merged = (folder / "merged.json").string();
  std::ofstream(merged) << events(on("[TP0] 1", 10) + "," + on("[TP9223372036854775806] 2", 20));
  const auto split = split_processes(merged, folder.string());
  ASSERT_TRUE(split) << split.error().describe();
  ASSERT_EQ(split->parts.size(), 2u);
  EXPECT_EQ(split->parts[0].name, "TP0");
  for (const ProcessPart& part : split->parts) {
    const auto own = load_trace(part.path, {});
    ASSERT_TRUE(own) << own.error().describe();
    EXPECT_FALSE(own->distributed.rank);
  }
  std::filesystem::remove_all(folder);
}

TEST(ChromeReader, WaitingCommandsAreNotActivities) {
  const auto kind_of = [](const std::string& category, const std::string& name) {
    return must_read(events(R"({"ph":"X","cat":")" + category + R"(","name":")" + name +
                            R"(","pid":0,"tid":7,"ts":1,"dur":4,"args":{"device":0,"stream":7}})"))
        .activities.kind.front();
  };
  EXPECT_EQ(kind_of("mtia_ccp_events", "event_wait"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("kernel", "EVENT_WAIT"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("mtia_ccp_events", "barrier_packet"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("mtia_ccp_events", "fc_kernel"), ActivityKind::kOther);
  EXPECT_EQ(kind_of("kernel", "wait_for_grid(int*)"), ActivityKind::kKernel);
  EXPECT_EQ(kind_of("kernel", "event"), ActivityKind::kKernel);
}

// rpd2tracing and the first rocprof write rows without categories and ids: lanes and arrows tell.
TEST(ChromeReader, LanesOfRpdAreCallsAndDeviceWork) {
  const Trace trace = must_read(
      "[{},"
      R"({"name":"process_name","ph":"M","pid":"2","args":{"name":"GPU2"}},)"
      R"({"name":"thread_name","ph":"M","pid":"70","tid":"71","args":{"name":"Hip 71"}},)"
      R"({"pid":"70","tid":"71","name":"hipLaunchKernel","ts":"100","dur":"5","ph":"X","args":{}},)"
      R"({"pid":"70","tid":"71","name":"hipMemcpy","ts":"105","dur":"40","ph":"X","args":{}},)"
      R"({"pid":"70","tid":"71","name":"my range","ts":"90","dur":"90","ph":"X","args":{}},)"
      R"({"pid":"2","tid":"3","name":"gemm","ts":"110","dur":"20","ph":"X","args":{}},)"
      R"({"pid":"2","tid":"3","name":"CopyDeviceToHost","ts":"131","dur":"9","ph":"X","args":{}},)"
      R"({"pid":"70","tid":"71","cat":"api_op","name":"api_op","ts":"105","id":"1","ph":"s"},)"
      R"({"pid":"2","tid":"3","cat":"api_op","name":"api_op","ts":"110","id":"1","ph":"f","bp":"e"},)"
      R"({"pid":"70","tid":"71","cat":"api_op","name":"api_op","ts":"131","id":"2","ph":"s"},)"
      R"({"pid":"2","tid":"3","cat":"api_op","name":"api_op","ts":"131","id":"2","ph":"f","bp":"e"},)"
      R"({"pid":"9","tid":"9","name":"of nobody","ts":"120","dur":"9","ph":"X"}])");
  ASSERT_EQ(trace.activities.size(), 2u);
  EXPECT_EQ(trace.activities.kind[0], ActivityKind::kKernel);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kMemcpy);
  const Stream& stream = trace.streams[trace.activities.stream[0].index()];
  EXPECT_EQ(stream.device, 2);
  EXPECT_EQ(stream.stream, 3);
  ASSERT_EQ(trace.api_calls.size(), 2u);
  EXPECT_EQ(trace.text(trace.api_calls.name[0]), "hipLaunchKernel");
  EXPECT_NE(trace.api_calls.correlation[0], 0u);
  // The first arrow leaves where one call ends and the next begins: it is the earlier one's.
  EXPECT_EQ(trace.api_calls.correlation[0], trace.activities.correlation[0]);
  EXPECT_EQ(trace.api_calls.correlation[1], trace.activities.correlation[1]);
  EXPECT_NE(trace.api_calls.correlation[0], trace.api_calls.correlation[1]);
  ASSERT_EQ(trace.annotations.size(), 1u);
  ASSERT_EQ(trace.other_events.size(), 1u);
  EXPECT_EQ(trace.text(trace.other_events.name[0]), "of nobody");
  EXPECT_EQ(logged(trace, ImportCode::kUnknownCategory), 1u);
}

TEST(ChromeReader, LanesOfTheFirstRocprofAndCopiesOfItsOnlyDevice) {
  const Trace trace = must_read(
      R"({"traceEvents":[{},)"
      R"({"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name","sort_index":0},)"
      R"({"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name","sort_index":1},)"
      R"({"args":{"name":"GPU1"},"ph":"M","pid":7,"name":"process_name","sort_index":4},)"
      R"({"args":{"name":"GPU Barriers1"},"ph":"M","pid":519,"name":"process_name"},)"
      R"({"ph":"X","name":"hipMemcpy","pid":2,"tid":894,"ts":"10","dur":"30","args":{}},)"
      R"({"ph":"X","name":"CopyHostToDevice","pid":1,"tid":0,"ts":"20","dur":"6","args":{}},)"
      R"({"ph":"X","name":"multiply","pid":7,"tid":1,"ts":"50","dur":"6","args":{}},)"
      R"({"ph":"X","name":"barrier","pid":519,"tid":1,"ts":"60","dur":"6","args":{}},)"
      R"({"ts":20,"ph":"s","cat":"DataFlow","id":0,"pid":2,"tid":894,"name":"dep"},)"
      R"({"ts":20,"ph":"t","cat":"DataFlow","id":0,"pid":1,"tid":0,"name":"dep"}],"otherData":{}})");
  ASSERT_EQ(trace.activities.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(trace.streams[trace.activities.stream[i].index()].device, 1);
  }
  ASSERT_EQ(trace.api_calls.size(), 1u);
  const bool copy_first = trace.activities.kind[0] == ActivityKind::kMemcpy;
  const size_t copy = copy_first ? 0 : 1;
  EXPECT_EQ(trace.activities.correlation[copy], trace.api_calls.correlation[0]);
  EXPECT_EQ(trace.activities.correlation[1 - copy], 0u);
  EXPECT_EQ(trace.other_events.size(), 1u);
}

// The runtime's own commands stand in the lanes of kernels and copies; a name that only begins like
// one is a kernel's.
TEST(ChromeReader, CommandsOfTheRuntimeAreNotKernels) {
  const auto row = [](const std::string& pid, const std::string& name, int at, int dur) {
    return R"(,{"ph":"X","name":")" + name + R"(","pid":")" + pid + R"(","tid":"0","ts":")" +
           std::to_string(at) + R"(","dur":")" + std::to_string(dur) + R"(","args":{}})";
  };
  const Trace trace = must_read(
      R"({"traceEvents":[{"args":{"name":"COPY"},"ph":"M","pid":"1","name":"process_name"},)"
      R"({"args":{"name":"GPU0"},"ph":"M","pid":"6","name":"process_name"})" +
      row("6", "Unknown command type", 10, 0) + row("6", "InternalMarker", 20, 0) +
      row("6", "Barrier", 30, 1) + row("6", "CopyColumns(float*)", 40, 9) +
      row("6", "FillRows", 50, 0) + row("1", "FillBuffer", 60, 2) +
      row("1", "CopyHostToDevice", 70, 3) + row("1", "SomeNewCopy", 80, 3) +
      row("1", "Marker", 90, 0) + R"(],"otherData":{}})");
  const auto kind_of = [&](std::string_view name) {
    for (size_t i = 0; i < trace.activities.size(); ++i) {
      if (trace.text(trace.activities.name[i]) == name) return trace.activities.kind[i];
    }
    return ActivityKind::kOther;
  };
  EXPECT_EQ(kind_of("Unknown command type"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("InternalMarker"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("Barrier"), ActivityKind::kSync);
  EXPECT_EQ(kind_of("CopyColumns(float*)"), ActivityKind::kKernel);
  EXPECT_EQ(kind_of("FillRows"), ActivityKind::kKernel);
  EXPECT_EQ(kind_of("FillBuffer"), ActivityKind::kMemset);
  EXPECT_EQ(kind_of("CopyHostToDevice"), ActivityKind::kMemcpy);
  EXPECT_EQ(kind_of("SomeNewCopy"), ActivityKind::kMemcpy);
  EXPECT_EQ(kind_of("Marker"), ActivityKind::kSync);
}

TEST(ChromeReader, BaseTimeIsAddedWhereverItStands) {
  for (const char* json :
       {R"({"baseTimeNanoseconds":1759300074000000000,"traceEvents":[EVENT]})",
        R"({"traceEvents":[EVENT],"baseTimeNanoseconds":1759300074000000000})"}) {
    std::string text = json;
    text.replace(text.find("EVENT"), 5, op("573720832808.27", "2.5"));
    const Trace trace = must_read(text);
    ASSERT_EQ(trace.ops.size(), 1u);
    EXPECT_EQ(trace.ops.start_ns[0], 1759300074000000000 + 573720832808270);
    EXPECT_EQ(trace.ops.dur_ns[0], 2500);
    EXPECT_EQ(trace.base_time_ns, 1759300074000000000);
  }
}

TEST(ChromeReader, BaseTimeIsNotAddedToAbsoluteTimes) {
  const Trace trace = must_read(R"({"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)" +
                                op("1759300074000000", "1") + "]}");
  EXPECT_EQ(trace.ops.start_ns[0], 1759300074000000000);
  EXPECT_EQ(logged(trace, ImportCode::kBadBaseTime), 1u);
}

// HIP copies and fills by kernels of its own: copies and fills here as in other recordings.
TEST(ChromeReader, KernelsByWhichHipCopiesAreCopies) {
  const Trace trace = must_read(events(
      R"({"ph":"X","cat":"kernel","name":"__amd_rocclr_copyBuffer","pid":0,"tid":7,"ts":10,"dur":5,)"
      R"("args":{"device":0,"stream":7,"correlation":1}},)"
      R"({"ph":"X","cat":"kernel","name":"__amd_rocclr_fillBufferAligned","pid":0,"tid":7,"ts":20,)"
      R"("dur":5,"args":{"device":0,"stream":7,"correlation":2}},)"
      R"({"ph":"X","cat":"kernel","name":"__amd_rocclr_scheduler","pid":0,"tid":7,"ts":30,"dur":5,)"
      R"("args":{"device":0,"stream":7,"correlation":3}})"));
  ASSERT_EQ(trace.activities.size(), 3u);
  EXPECT_EQ(trace.activities.kind[0], ActivityKind::kMemcpy);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kMemset);
  EXPECT_EQ(trace.activities.kind[2], ActivityKind::kKernel);
}

TEST(ChromeReader, KernelsCallsAndCopiesWithTheirArguments) {
  const Trace trace = must_read(events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"External id":3,)"
      R"("device":1,"stream":20,"correlation":42,"registers per thread":16,"shared memory":1024,)"
      R"("grid":[4,2,1],"block":[128,1,1],"graph id":9,"graph node id":11}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel_v7000","pid":5,"tid":6,"ts":1,"dur":2,)"
      R"("args":{"cbid":211,"correlation":42,"External id":3}},)"
      R"({"ph":"X","cat":"cuda_driver","name":"cuLaunchKernelEx_v2","pid":5,"tid":6,"ts":4,"dur":2,)"
      R"("args":{"correlation":43}},)"
      R"#({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":20,)#"
      R"("dur":1,"args":{"device":0,"stream":7,"correlation":44,"bytes":"2560"}})"));
  ASSERT_EQ(trace.activities.size(), 2u);
  ASSERT_EQ(trace.api_calls.size(), 2u);
  EXPECT_EQ(trace.text(trace.api_calls.name[0]), "cudaLaunchKernel");
  EXPECT_EQ(trace.text(trace.api_calls.name[1]), "cuLaunchKernelEx_v2");
  EXPECT_EQ(trace.api_calls.kind[1], ApiKind::kDriver);
  EXPECT_EQ(trace.api_calls.correlation[0], 42u);
  const size_t kernel = trace.activities.kind[0] == ActivityKind::kKernel ? 0 : 1;
  EXPECT_EQ(trace.streams[trace.activities.stream[kernel].index()].device, 1);
  EXPECT_EQ(trace.streams[trace.activities.stream[kernel].index()].stream, 20);
  ASSERT_EQ(trace.kernel_shapes.size(), 1u);
  EXPECT_EQ(trace.kernel_shapes.activity[0].index(), kernel);
  EXPECT_EQ(trace.kernel_shapes.grid_x[0], 4u);
  EXPECT_EQ(trace.kernel_shapes.block_x[0], 128u);
  EXPECT_EQ(trace.kernel_shapes.graph_node_id[0], 11u);
  ASSERT_EQ(trace.transfers.size(), 1u);
  EXPECT_EQ(trace.transfers.bytes[0], 2560);
  EXPECT_EQ(trace.transfers.activity[0].index(), 1 - kernel);
}

// torch_npu: operators have a category, the queue its own, CANN and the hardware none.
constexpr const char* kNpuNames =
    R"({"name":"process_name","ph":"M","pid":9,"args":{"name":"CANN"}},)"
    R"({"name":"process_name","ph":"M","pid":8,"args":{"name":"Ascend Hardware"}},)"
    R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":70,"tid":71,"ts":"10.000","dur":9},)"
    R"({"ph":"X","name":"AscendCL@aclrtSynchronizeStream","pid":9,"tid":71,"ts":"30.000","dur":40},)"
    R"({"ph":"X","name":"Node@launch","pid":9,"tid":72,"ts":"15.000","dur":2},)"
    R"({"ph":"X","name":"MatMul","pid":8,"tid":5,"ts":"20.000","dur":30,"args":{"Task Type":"AI_CORE"}},)"
    R"({"ph":"X","name":"EVENT_WAIT","pid":8,"tid":5,"ts":"51.000","dur":5},)"
    R"({"ph":"X","name":"MEMCPY_ASYNC","pid":8,"tid":5,"ts":"57.000","dur":5},)"
    R"({"ph":"s","cat":"HostToDevice","name":"x","id":"7","pid":9,"tid":72,"ts":"15.000"},)"
    R"({"ph":"f","cat":"HostToDevice","name":"x","id":"7","pid":8,"tid":5,"ts":"20.000"})";

TEST(ChromeReader, LanesOfAnNpuAreCallsAndDeviceWork) {
  const Trace trace = must_read("[" + std::string(kNpuNames) + "]");
  ASSERT_EQ(trace.activities.size(), 3u);
  EXPECT_EQ(trace.activities.kind[0], ActivityKind::kKernel);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kSync);
  EXPECT_EQ(trace.activities.kind[2], ActivityKind::kMemcpy);
  EXPECT_EQ(trace.streams[trace.activities.stream[0].index()].stream, 5);
  ASSERT_EQ(trace.api_calls.size(), 2u);
  const size_t wait = trace.text(trace.api_calls.name[0]) == "Node@launch" ? 1 : 0;
  EXPECT_EQ(trace.text(trace.api_calls.name[wait]), "aclrtSynchronizeStream");
  // The thread of the operators makes the call that CANN's lane of its number shows.
  EXPECT_EQ(trace.api_calls.thread[wait], trace.ops.thread[0]);
  EXPECT_EQ(trace.api_calls.correlation[1 - wait], trace.activities.correlation[0]);
  EXPECT_NE(trace.activities.correlation[0], 0u);
  EXPECT_EQ(logged(trace, ImportCode::kUnknownCategory), 0u);
}

// Tasks that are no operator are named by their type: of those only what an engine runs computes.
TEST(ChromeReader, ControlTasksOfAnNpuAreNotKernels) {
  struct Task {
    const char* name;
    const char* type;  // nullptr: not told
    ActivityKind kind;
  };
  const std::vector<Task> tasks = {
      {"main_kernel", "MIX_AIC", ActivityKind::kKernel},
      {"AI_CORE", "AI_CORE", ActivityKind::kKernel},  // recorded without names
      {"KERNEL_AIVEC", nullptr, ActivityKind::kKernel},
      {"RELU", "AI_VECTOR_CORE", ActivityKind::kKernel},
      {"MatMulV2", nullptr, ActivityKind::kKernel},
      {"aclnnEvent", "SOMETHING_NEW", ActivityKind::kKernel},
      {"PROFILING_ENABLE", "PROFILING_ENABLE", ActivityKind::kSync},
      {"TASK_TIMEOUT_SET", nullptr, ActivityKind::kSync},
      {"MODEL_EXECUTE", "MODEL_EXECUTE", ActivityKind::kSync},
      {"EVENT_RECORD", "EVENT_RECORD", ActivityKind::kSync},
      {"MEMCPY_ASYNC", "SDMA", ActivityKind::kMemcpy},
  };
  std::string rows =
      R"([{"name":"process_name","ph":"M","pid":8,"args":{"name":"Ascend Hardware"}})";
  for (size_t i = 0; i < tasks.size(); ++i) {
    rows += R"(,{"ph":"X","name":")" + std::string(tasks[i].name) + R"(","pid":8,"tid":5,"ts":")" +
            std::to_string(10 * (i + 1)) + R"(.000","dur":1,"args":{"Task Id":4)";
    if (tasks[i].type != nullptr) rows += R"(,"Task Type":")" + std::string(tasks[i].type) + '"';
    rows += "}}";
  }
  const Trace trace = must_read(rows + "]");
  ASSERT_EQ(trace.activities.size(), tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(trace.activities.kind[i], tasks[i].kind) << tasks[i].name;
  }
}

TEST(ChromeReader, WorkOfAnNpuIsSubmittedWithItsQueuedOperator) {
  const Trace trace = must_read(
      "[" + std::string(kNpuNames) +
      R"(,{"ph":"X","cat":"enqueue","name":"Enqueue","pid":70,"tid":71,"ts":"12.000","dur":1},)"
      R"({"ph":"X","cat":"dequeue","name":"Dequeue@MatMul","pid":70,"tid":72,"ts":"14.000","dur":4},)"
      R"({"ph":"s","cat":"async_task_queue","name":"q","id":7,"pid":70,"tid":71,"ts":"12.000"},)"
      R"({"ph":"f","cat":"async_task_queue","name":"q","id":7,"pid":70,"tid":72,"ts":"14.000"}])");
  ASSERT_EQ(trace.api_calls.size(), 3u);
  for (size_t c = 0; c < 3; ++c) {
    const bool queued = trace.text(trace.api_calls.name[c]) == "Enqueue";
    EXPECT_EQ(trace.api_calls.correlation[c] == trace.activities.correlation[0], queued) << c;
  }
  ASSERT_EQ(trace.other_events.size(), 1u);  // the other end of the queue
}

TEST(ChromeReader, LanesOfXprofAreJoinedByAnArgument) {
  const Trace trace = must_read(
      R"x({"displayTimeUnit":"ns","traceEvents":[)x"
      R"x({"name":"process_name","ph":"M","pid":1,"args":{"name":"/device:GPU:3 (NVIDIA H100)"}},)x"
      R"x({"name":"thread_name","ph":"M","pid":1,"tid":13,"args":{"name":"Stream #13(Compute)"}},)x"
      R"x({"name":"thread_name","ph":"M","pid":1,"tid":99,"args":{"name":"XLA Ops"}},)x"
      R"x({"name":"process_name","ph":"M","pid":701,"args":{"name":"/host:CPU"}},)x"
      R"x({"ph":"X","pid":701,"tid":5,"ts":10,"dur":2,"name":"cuLaunchKernel","args":{"correlation_id":"42"}},)x"
      R"x({"ph":"X","pid":701,"tid":5,"ts":9,"dur":6,"name":"PjitFunction(f)"},)x"
      R"x({"ph":"X","pid":701,"tid":5,"ts":1,"dur":6,"name":"$a.py:3 f"},)x"
      R"x({"ph":"X","pid":1,"tid":13,"ts":15,"dur":9,"name":"fusion_1","args":{"correlation_id":"42"}},)x"
      R"x({"ph":"X","pid":1,"tid":13,"ts":25,"dur":9,"name":"MemcpyD2H","args":{"correlation_id":43}},)x"
      R"x({"ph":"X","pid":1,"tid":99,"ts":15,"dur":9,"name":"fusion.1"}]})x");
  ASSERT_EQ(trace.activities.size(), 2u);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kMemcpy);
  EXPECT_EQ(trace.activities.correlation[0], 42u);
  const Stream& stream = trace.streams[trace.activities.stream[0].index()];
  EXPECT_EQ(stream.device, 3);
  EXPECT_EQ(stream.stream, 13);
  ASSERT_EQ(trace.api_calls.size(), 1u);
  EXPECT_EQ(trace.api_calls.correlation[0], 42u);
  EXPECT_EQ(trace.frames.size(), 1u);
  EXPECT_EQ(trace.annotations.size(), 1u);
  EXPECT_EQ(trace.other_events.size(), 1u);
}

std::string bare(const std::string& name, int pid, int tid, const std::string& ts, int dur) {
  return R"({"ph":"X","name":")" + name + R"(","pid":)" + std::to_string(pid) + R"(,"tid":)" +
         std::to_string(tid) + R"(,"ts":)" + ts + R"(,"dur":)" + std::to_string(dur) + "}";
}

// Tools of one's own give no categories and no names of lanes: what a row is, its name says.
TEST(ChromeReader, RowsOfNoCategoryAreFiledByTheirNames) {
  const Trace trace = must_read(events(
      bare("[MEMCPY] HtoD", 1, 7, "10.5", 20) + "," +
      bare("void scale<float>(float*)", 1, 7, "31", 5) + "," +
      bare("[CUDA memset]", 1, 7, "40", 2) + "," + bare("cuLaunchKernel", 900, 901, "9", 3) + "," +
      bare("cudaMemcpyAsync", 900, 901, "13", 1) + "," + bare("cuddle", 900, 901, "20", 1)));
  ASSERT_EQ(trace.activities.size(), 3u);
  EXPECT_EQ(trace.activities.kind[0], ActivityKind::kMemcpy);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kKernel);
  EXPECT_EQ(trace.activities.kind[2], ActivityKind::kMemset);
  EXPECT_EQ(trace.streams[trace.activities.stream[0].index()].stream, 7);
  ASSERT_EQ(trace.api_calls.size(), 2u);
  EXPECT_EQ(trace.api_calls.kind[0], ApiKind::kDriver);
  EXPECT_EQ(trace.api_calls.kind[1], ApiKind::kRuntime);
  EXPECT_EQ(trace.other_events.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kNamedRows), 5u);
  EXPECT_EQ(logged(trace, ImportCode::kUnknownCategory), 1u);
}

TEST(ChromeReader, LaneWithNestedRowsIsNotAStream) {
  const Trace trace =
      must_read(events(bare("step", 1, 7, "10.5", 90) + "," + bare("Memcpy HtoD", 1, 7, "20", 9) +
                       "," + bare("cudaFree", 1, 7, "50", 9)));
  EXPECT_EQ(trace.activities.size(), 0u);
  EXPECT_EQ(trace.api_calls.size(), 1u);
}

// In a trace that was filed by what its rows tell, a name alone decides nothing.
TEST(ChromeReader, CategoriesHavePriorityOverNames) {
  const Trace trace =
      must_read(events(op("1", "2") + "," + bare("[MEMCPY] HtoD", 1, 7, "10.5", 20)));
  EXPECT_EQ(trace.activities.size(), 0u);
  EXPECT_EQ(trace.other_events.size(), 1u);
}

TEST(ChromeReader, TimelinesOfWhichNothingIsReadAreRefusedByName) {
  const auto refusal = [](const std::string& json) {
    const auto trace = read(json);
    EXPECT_FALSE(trace.has_value()) << json;
    if (trace) return std::string();
    EXPECT_EQ(trace.error().code, ErrorCode::kNotATrace);
    return trace.error().message;
  };
  const auto names = [](const std::string& message, const std::string& what) {
    return message.find(what) != std::string::npos;
  };
  // Its phases are begins and ends, some of which a cut leaves alone.
  EXPECT_TRUE(names(
      refusal(
          R"([{"name":"process_name","ph":"M","pid":1,"args":{"name":"grad_0"}},)"
          R"({"ph":"B","name":"NEGOTIATE_ALLREDUCE","ts":10,"pid":1},{"ph":"X","name":"2","ts":11,"pid":1,"dur":0},)"
          R"({"ph":"E","ts":15,"pid":1},{"ph":"B","name":"ALLREDUCE","ts":16,"pid":1}])"),
      "timeline of Horovod"));
  EXPECT_TRUE(names(
      refusal(
          R"([{"name":"process_name","ph":"M","pid":1,"args":{"name":"/device:GPU:0/stream:all Compute"}},)"
          R"({"ph":"X","cat":"Op","name":"Conv2D","pid":1,"tid":0,"ts":5,"dur":9}])"),
      "TensorFlow"));
  EXPECT_TRUE(names(
      refusal(
          R"([{"cat":"Node","pid":1,"tid":2,"dur":378,"ts":1,"ph":"X","name":"conv_kernel_time"}])"),
      "ONNX Runtime"));
  const std::string own =
      refusal(events(bare("forward", 1, 2, "1", 9) + "," + bare("forward", 1, 2, "20", 9) + "," +
                     bare("loss", 1, 2, "30", 9)));
  EXPECT_TRUE(names(own, "3 events without a category (forward, loss)")) << own;
  EXPECT_TRUE(names(own, "nsys profile")) << own;
  const Trace schema = must_read(
      events(R"({"ph":"X","cat":"backward-compute","name":"b","pid":0,"tid":0,"ts":5,"dur":9})"));
  EXPECT_EQ(schema.other_events.size(), 1u);
}

// The profiler's own span tells how long it was on, where it saw nothing else.
TEST(ChromeReader, TheProfilersSpanIsKeptWhereItSawNoWork) {
  const std::string span =
      R"x({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":77862881.765})x";
  const std::string call =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaGetDeviceCount","pid":1,"tid":5,"ts":2,"dur":1})";
  EXPECT_EQ(profiler_span_ns(must_read(events(span + "," + call))), 77862881765);
  EXPECT_EQ(profiler_span_ns(must_read(events(span + "," + op("1", "2")))), 0);
  EXPECT_EQ(profiler_span_ns(must_read(events(call))), 0);
}

TEST(ChromeReader, OldCategoriesAndStringLanes) {
  const Trace trace = must_read(events(
      R"({"ph":"X","cat":"Operator","name":"aten::empty","pid":1,"tid":"1890023232","ts":1,"dur":4},)"
      R"({"ph":"X","cat":"Runtime","name":"cudaLaunchKernel","pid":1,"tid":"5","ts":2,"dur":1,)"
      R"("args":{"correlation":9,"external id":"3"}},)"
      R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":3,"dur":1,)"
      R"("args":{"correlation":9,"external id":3}},)"
      R"({"ph":"X","cat":"Memset","name":"m","pid":0,"tid":"stream 7","ts":5,"dur":1},)"
      R"({"ph":"s","cat":"async","name":"launch","id":9,"pid":1,"tid":5,"ts":2},)"
      R"({"ph":"X","cat":"Trace","name":"span","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":9})"));
  EXPECT_EQ(trace.ops.size(), 1u);
  EXPECT_EQ(trace.api_calls.external_id[0], 3u);
  ASSERT_EQ(trace.activities.size(), 2u);
  EXPECT_EQ(trace.streams[trace.activities.stream[0].index()].stream, 7);
  EXPECT_EQ(trace.activities.kind[1], ActivityKind::kMemset);
  EXPECT_EQ(trace.counts.flow_starts, 1u);
  EXPECT_EQ(trace.counts.spans, 1u);
  EXPECT_EQ(trace.threads[trace.ops.thread[0].index()].tid, "1890023232");
}

TEST(ChromeReader, KeysInAnyOrderAndTwice) {
  const Trace trace = must_read(events(
      R"({"args":{"correlation":1,"correlation":2,"stream":3,"device":0},"dur":1,"ts":9,"ts":10,)"
      R"("tid":3,"pid":0,"name":"k","cat":"kernel","ph":"X"})"));
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.activities.correlation[0], 2u);
  EXPECT_EQ(trace.activities.start_ns[0], 10000);
  EXPECT_EQ(logged(trace, ImportCode::kDuplicateKey), 1u);
}

TEST(ChromeReader, BareArraysMayStayOpen) {
  EXPECT_EQ(must_read("[" + op("1", "1") + "]").ops.size(), 1u);
  const Trace open = must_read("[{},\n" + op("1", "1") + ",\n");
  EXPECT_EQ(open.ops.size(), 1u);
  EXPECT_EQ(logged(open, ImportCode::kUnterminatedArray), 1u);
  EXPECT_EQ(logged(open, ImportCode::kNotAnObject), 1u);
  auto object = read(R"({"traceEvents":[)" + op("1", "1"));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().code, ErrorCode::kTruncated);
}

TEST(ChromeReader, BareWordsAreAbsentNumbers) {
  const Trace trace = must_read(events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"stream":7,)"
      R"("correlation":-nan,"blocks per SM":Infinity,"x":0x262ca50,"y":ncclFloat32}})"));
  EXPECT_EQ(trace.activities.correlation[0], 0u);
  EXPECT_EQ(logged(trace, ImportCode::kNanLiteral), 4u);
}

TEST(ChromeReader, BadTimesAreCountedNeverInvented) {
  const Trace trace = must_read(
      events(op("null", "1") + "," + op("NaN", "1") + "," + op("[1]", "1") + "," +
             op("1e300", "1") + "," + op("5", "-3") + "," + op("6", "null") + "," + op("-7", "1") +
             "," + op("\"8.5\"", "\"1\"") + "," + op("9223372036854775", "9223372036854775")));
  EXPECT_EQ(trace.ops.size(), 4u);
  EXPECT_EQ(logged(trace, ImportCode::kMissingTimestamp), 3u);
  EXPECT_EQ(logged(trace, ImportCode::kTimestampOverflow), 2u);
  EXPECT_EQ(logged(trace, ImportCode::kNegativeDuration), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kMissingDuration), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kNegativeTimestamp), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kNumberAsString), 2u);
  EXPECT_TRUE(trace.log.data_lost());
  EXPECT_EQ(trace.ops.start_ns[0], -7000);
}

// A single time of another age would make every sum meaningless, or overflow it.
TEST(ChromeReader, TimesDaysAwayFromAllOthersAreLeftOut) {
  std::string list;
  for (int i = 0; i < 9; ++i) list += op(std::to_string(1759300074000000 + i * 10), "5") + ",";
  const Trace trace = must_read(events(
      list + op("12", "1", R"(,"args":{"Sequence number":7})") + "," +
      op("1759300074000100", "5", R"(,"args":{"Sequence number":8})") + "," +
      op("1759300074000200", "300000000000000") +
      R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,"args":{"grid":[1,1,1]}})"));
  EXPECT_EQ(trace.ops.size(), 10u);
  EXPECT_EQ(trace.activities.size(), 0u);
  EXPECT_EQ(trace.kernel_shapes.size(), 0u);
  EXPECT_EQ(logged(trace, ImportCode::kTimestampOverflow), 3u);
  ASSERT_EQ(trace.op_sequences.size(), 1u);
  EXPECT_EQ(trace.op_sequences.sequence[0], 8);
  EXPECT_EQ(trace.op_sequences.op[0].index(), 9u);
}

TEST(ChromeReader, WrongTypesInEveryFieldAreSurvived) {
  for (const char* wrong :
       {"null", "true", "[]", "{}", "[[1,{}]]", "{\"a\":[1]}", "\"x\"", "-1", "1.5"}) {
    for (const char* field : {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args"}) {
      const std::string json =
          events(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1,"dur":1,")" +
                 std::string(field) + "\":" + wrong + "}," + op("1", "1"));
      EXPECT_TRUE(read(json).has_value()) << json;
    }
    for (const char* arg : {"correlation", "External id", "stream", "device", "grid", "bytes"}) {
      const std::string json =
          events(R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1,"dur":1,"args":{")" +
                 std::string(arg) + "\":" + wrong + "}}");
      EXPECT_TRUE(read(json).has_value()) << json;
    }
    for (const char* key : {"baseTimeNanoseconds", "deviceProperties", "distributedInfo"}) {
      const std::string json =
          "{\"" + std::string(key) + "\":" + wrong + ",\"traceEvents\":[" + op("1", "1") + "]}";
      EXPECT_TRUE(read(json).has_value()) << json;
    }
  }
}

TEST(ChromeReader, TextRepairs) {
  const Trace trace =
      must_read(events("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\\u00e9\\n\\ud83d\\ude00C:"
                       "\\Users\",\"pid\":1,\"tid\":1,"
                       "\"ts\":1,\"dur\":1},"
                       "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\xFF\x01z\",\"pid\":1,\"tid\":"
                       "1,\"ts\":2,\"dur\":1}"));
  ASSERT_EQ(trace.ops.size(), 2u);
  EXPECT_EQ(trace.text(trace.ops.name[0]),
            "a\xC3\xA9\n\xF0\x9F\x98\x80"
            "C:\\Users");
  EXPECT_EQ(trace.text(trace.ops.name[1]), "b\xEF\xBF\xBD z");
  EXPECT_EQ(logged(trace, ImportCode::kInvalidEscape), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kInvalidUtf8), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kControlCharacter), 1u);
}

TEST(ChromeReader, UnescapedQuotesInNames) {
  const Trace trace = must_read(
      "{\"traceEvents\": [\n  {\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f "
      "{\"device\": "
      "\"cpu\"}\", \"pid\": 1, \"tid\": 2,\n    \"ts\": 5, \"dur\": 6\n  },\n  " +
      op("7", "1") + "\n]}");
  ASSERT_EQ(trace.frames.size(), 1u);
  EXPECT_EQ(trace.text(trace.frames.name[0]), "f {'device': 'cpu'}");
  EXPECT_EQ(trace.ops.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kUnescapedQuote), 1u);
}

TEST(ChromeReader, OddNumberOfUnescapedQuotes) {
  const Trace trace = must_read(
      "{\"traceEvents\": [\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"size 3\" "
      "disk\", "
      "\"pid\": 1, \"tid\": 2,\n    \"ts\": 5, \"dur\": 6\n  },\n  " +
      op("7", "1") + "\n]}");
  ASSERT_EQ(trace.ops.size(), 2u);
  EXPECT_EQ(logged(trace, ImportCode::kUnescapedQuote), 1u);
}

TEST(ChromeReader, TrailingCommasAndByteOrderMark) {
  const Trace trace =
      must_read("\xEF\xBB\xBF{\"traceEvents\":[" + op("1", "1", R"(,"args":{"x":1,})") + ",],}");
  EXPECT_EQ(trace.ops.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kTrailingComma), 2u);
  EXPECT_EQ(logged(trace, ImportCode::kByteOrderMark), 1u);
}

TEST(ChromeReader, BeginAndEndArePairedInTimeOrder) {
  const auto mark = [](const char* ph, const char* name, int ts) {
    return std::string(R"({"ph":")") + ph + R"(","cat":"cpu_op","name":")" + name +
           R"(","pid":1,"tid":1,"ts":)" + std::to_string(ts) + "}";
  };
  const Trace trace = must_read(events(mark("B", "outer", 1) + "," + mark("B", "inner", 2) + "," +
                                       mark("E", "inner", 4) + "," + mark("E", "outer", 9) + "," +
                                       mark("B", "lost", 10) + "," + mark("E", "stray", 0)));
  ASSERT_EQ(trace.ops.size(), 2u);
  EXPECT_EQ(trace.ops.dur_ns[0], 8000);
  EXPECT_EQ(trace.ops.dur_ns[1], 2000);
  EXPECT_EQ(logged(trace, ImportCode::kBeginEndPair), 2u);
  EXPECT_EQ(logged(trace, ImportCode::kUnmatchedBegin), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kUnmatchedEnd), 1u);
}

TEST(ChromeReader, CountersMemoryFlowsSequencesCollectives) {
  const Trace trace = must_read(events(
      R"({"ph":"C","name":"power","pid":0,"ts":1,"args":{"W":"120.5","":7,"bad":NaN}},)"
      R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"s":"t",)"
      R"("args":{"Addr":281474976710655,"Bytes":-512,"Total Allocated":1024,"Device Type":1,"Device Id":0}},)"
      R"({"ph":"s","id":4,"cat":"fwdbwd","name":"fwdbwd","pid":1,"tid":1,"ts":3},)"
      R"({"ph":"f","id":4,"cat":"fwdbwd","name":"fwdbwd","pid":1,"tid":2,"ts":9,"bp":"e"},)"
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":3,"dur":1,)"
      R"("args":{"Sequence number":12,"Fwd thread id":0}},)"
      R"({"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":7,"ts":5,"dur":1,"args":{"stream":7,"device":0,)"
      R"("Collective name":"allreduce","In msg nelems":8,"Out msg nelems":8,"Group size":2,"dtype":"Float",)"
      R"("Process Group Ranks":"[0, 1]","Seq":3}},)"
      R"({"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":8,"ts":7,"dur":1,"args":{"stream":8,"device":0,)"
      R"("Collective name":"send","Process Group Ranks":"[0, 1, 2]","Dst Rank":2}},)"
      R"({"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":8,"ts":9,"dur":1,"args":{"stream":8,"device":0,)"
      R"("Collective name":"recv","Process Group Ranks":"[0, 1, 2]","Src Rank":1}})"));
  ASSERT_EQ(trace.counters.size(), 2u);
  EXPECT_EQ(trace.text(trace.counters.series[0]), "");
  EXPECT_EQ(trace.text(trace.counters.series[1]), "W");
  EXPECT_EQ(trace.counters.value[1], 120.5);
  ASSERT_EQ(trace.memory_events.size(), 1u);
  EXPECT_EQ(trace.memory_events.bytes[0], -512);
  EXPECT_EQ(trace.memory_events.addr[0], 281474976710655u);
  EXPECT_EQ(trace.memory_events.total_reserved_bytes[0], -1);
  ASSERT_EQ(trace.forward_backward_flows.size(), 2u);
  EXPECT_EQ(trace.forward_backward_flows.is_end[1], 1);
  ASSERT_EQ(trace.op_sequences.size(), 1u);
  EXPECT_EQ(trace.op_sequences.sequence[0], 12);
  ASSERT_EQ(trace.collectives.size(), 3u);
  EXPECT_EQ(trace.text(trace.collectives.ranks[0]), "[0, 1]");
  EXPECT_EQ(trace.collectives.seq[0], 3);
  EXPECT_EQ(trace.collectives.peer[0], -1);
  EXPECT_EQ(trace.collectives.peer[1], 2);
  EXPECT_EQ(trace.collectives.peer[2], 1);
}

TEST(ChromeReader, SynchronizationRowsHaveTheirWaitObject) {
  const auto row = [](const char* name, const char* args) {
    return std::string(R"({"ph":"X","cat":"cuda_sync","pid":0,"tid":9,"ts":5,"dur":1,"name":")") +
           name + R"(","args":{"device":0,)" + args + "}}";
  };
  const Trace trace = must_read(events(
      row("Stream Wait Event",
          R"("stream":9,"correlation":3,"wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2)") +
      "," +
      row("Event Sync",
          R"("stream":-1,"correlation":4,"wait_on_stream":-1,"wait_on_cuda_event_record_corr_id":-1)") +
      "," + row("Stream Sync", R"("stream":7,"correlation":5)") + "," +
      row("Something Else", R"("stream":7,"correlation":6)")));
  const WaitTable& waits = trace.waits;
  ASSERT_EQ(waits.size(), 3u);
  const auto wait_of = [&](const char* name) {
    const ActivityId id = activity_id(trace, name);
    return static_cast<size_t>(std::find(waits.activity.begin(), waits.activity.end(), id) -
                               waits.activity.begin());
  };
  const size_t event = wait_of("Stream Wait Event");
  EXPECT_EQ(waits.kind[event], WaitKind::kStreamWaitEvent);
  EXPECT_EQ(waits.waited_stream[event], 7);
  EXPECT_EQ(waits.record_correlation[event], 2u);
  EXPECT_EQ(waits.record_correlation[wait_of("Event Sync")], 0u);
  EXPECT_EQ(waits.waited_stream[wait_of("Event Sync")], -1);
  EXPECT_EQ(waits.waited_stream[wait_of("Stream Sync")], 7);
  EXPECT_EQ(trace.log.entry(ImportCode::kIdOutOfRange).count, 0u);
}

const char* kInputs =
    R"(,"args":{"External id":3,"Input Dims": [[8, 128], [],  [[2],[3]] ],"Input type":["float", "Scalar , x"],)"
    R"("Input Strides":[[128,1],[]],"Concrete Inputs":["", "1.5", "[0, 1]", "a\"b , c"]})";

TEST(ChromeReader, OperatorInputsAreKeptAsCompactJsonOnlyOnRequest) {
  const std::string json = events(op("20", "1", kInputs) + "," + op("10", "1") + "," +
                                  op("5", "1", R"(,"args":{"Input dims":"[[4, 2]]"})"));
  const Trace trace = *read_chrome_stream(bytes_of(json), {.keep_op_inputs = true});
  ASSERT_EQ(trace.op_inputs.size(), 2u);  // by operator, in its order; none for the one without
  EXPECT_EQ(trace.op_inputs.op[0].index(), 0u);
  EXPECT_EQ(trace.text(trace.op_inputs.dims[0]), "[[4,2]]");
  EXPECT_EQ(trace.text(trace.op_inputs.types[0]), "");
  EXPECT_EQ(trace.op_inputs.op[1].index(), 2u);
  EXPECT_EQ(trace.text(trace.op_inputs.dims[1]), "[[8,128],[],[[2],[3]]]");
  EXPECT_EQ(trace.text(trace.op_inputs.types[1]), R"(["float","Scalar , x"])");
  EXPECT_EQ(trace.text(trace.op_inputs.strides[1]), "[[128,1],[]]");
  EXPECT_EQ(trace.text(trace.op_inputs.concrete[1]), R"(["","1.5","[0, 1]","a\"b , c"])");
  EXPECT_EQ(must_read(json).op_inputs.size(), 0u);
}

TEST(ChromeReader, OperatorInputsSurviveReadingInStretches) {
  std::string list;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    list += (i == 0 ? "" : ",\n") +
            op(number, "1", R"(,"args":{"Input Dims":[[)" + number + R"(, 7]]})");
  }
  const TempFile file(events(list));
  auto source = ByteSource::open(file.path());
  ASSERT_TRUE(source.has_value());
  auto trace =
      read_chrome_trace(*source, {.keep_op_inputs = true, .threads = 4, .stretch_bytes = 2000});
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ(trace->op_inputs.size(), 300u);
  for (size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(trace->op_inputs.op[i].index(), i);
    EXPECT_EQ(trace->text(trace->op_inputs.dims[i]), "[[" + std::to_string(i) + ",7]]");
  }
}

TEST(ChromeReader, StretchesAreReadOneByOneWhereNoThreadCanBeHad) {
  std::string list;
  for (int i = 0; i < 300; ++i) {
    list += (i == 0 ? "" : ",\n") + op(std::to_string(i), "1", R"(,"args":{"Sequence number":7})");
  }
  const TempFile file(events(list));
  auto source = ByteSource::open(file.path());
  ASSERT_TRUE(source.has_value());
  const testing::NoThreads none;
  auto trace = read_chrome_trace(*source, {.threads = 4, .stretch_bytes = 2000});
  ASSERT_TRUE(trace.has_value());
  ASSERT_EQ(trace->ops.size(), 300u);
  EXPECT_EQ(trace->ops.start_ns[299] - trace->ops.start_ns[0], 299'000);
}

TEST(ChromeReader, IrregularOperatorInputsAreKeptUnchanged) {
  const std::string json = events(
      op("1", "1", R"(,"args":{"Input Dims":null,"Input type":"float","Concrete Inputs":7})") +
      "," + op("2", "1", R"(,"args":{"Input Dims":NaN})") + "," +
      op("3", "1", R"(,"args":{"Input Dims":{"a" : 1},"Concrete Inputs":""})"));
  const Trace trace = *read_chrome_stream(bytes_of(json), {.keep_op_inputs = true});
  ASSERT_EQ(trace.op_inputs.size(), 3u);
  EXPECT_EQ(trace.text(trace.op_inputs.dims[0]), "");
  EXPECT_EQ(trace.text(trace.op_inputs.types[0]), "\"float\"");
  EXPECT_EQ(trace.text(trace.op_inputs.concrete[0]), "7");
  EXPECT_EQ(trace.text(trace.op_inputs.dims[1]), "NaN");
  EXPECT_EQ(logged(trace, ImportCode::kNanLiteral), 1u);
  EXPECT_EQ(trace.text(trace.op_inputs.dims[2]), R"({"a":1})");
  EXPECT_EQ(trace.text(trace.op_inputs.concrete[2]), "\"\"");
}

TEST(ChromeReader, HeaderFactsAndNothingOfTheEnvironment) {
  const Trace trace = must_read(
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","totalGlobalMem":85,"numSms":132,)"
      R"("warpSize":32,"computeMajor":9,"computeMinor":0}],"with_stack":1,"HF_TOKEN":"secret",)"
      R"("environment":{"PASSWORD":"secret"},"distributedInfo":{"backend":"nccl","rank":3,"world_size":8,)"
      R"("pg_config":[{"ranks":[0,1]}]},"traceEvents":[]})");
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA H100");
  EXPECT_EQ(trace.devices[0].multiprocessors, 132);
  EXPECT_EQ(trace.distributed.rank, 3);
  EXPECT_EQ(trace.distributed.world_size, 8);
  for (const MetadataEntry& entry : trace.metadata)
    EXPECT_EQ(entry.value.find("secret"), std::string::npos);
  EXPECT_EQ(trace.metadata.size(), 2u);
}

TEST(ChromeReader, DevicesOfTheFirstKineto) {
  const Trace trace = must_read(
      R"({"schemaVersion":1,"computeProperties":[{"id":0,"name":"Tesla V100","totalGlobalMem":34,"major":7,)"
      R"("minor":0,"warpSize":32,"multiProcessorCount":80}],"traceEvents":[]})");
  ASSERT_EQ(trace.devices.size(), 1u);
  EXPECT_EQ(trace.devices[0].name, "Tesla V100");
  EXPECT_EQ(trace.devices[0].multiprocessors, 80);
  EXPECT_EQ(trace.devices[0].compute_major, 7);
}

TEST(ChromeReader, ProcessesWithRowsKeepTheirNamesLabelsAndOrder) {
  const auto meta = [](const std::string& pid, const std::string& what, const std::string& args) {
    return R"({"ph":"M","pid":)" + pid + R"(,"tid":0,"ts":0,"name":")" + what + R"(","args":{)" +
           args + "}},";
  };
  const Trace trace = must_read(events(
      meta("7", "process_name", R"("name":"python")") +
      meta("7", "process_name", R"("name":"train \"2\" \u00b5")") +
      meta("7", "process_labels", R"("labels":"CPU")") +
      meta("7", "process_sort_index", R"("sort_index":-3)") +
      meta("0", "process_name", R"("name":"python")") +
      meta("0", "process_labels", R"("labels":["GPU",0])") +
      meta("5", "process_name", R"("name":"a GPU that did nothing")") +
      meta("7", "process_uptime_seconds", R"("uptime":3,"name":"no fact")") + op("1", "2") +
      R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"stream":7,"device":0}})"));
  EXPECT_EQ(process_fact(trace, kProcessName, "7"), "train \"2\" \u00b5");
  EXPECT_EQ(process_fact(trace, kProcessLabels, "7"), "CPU");
  EXPECT_EQ(process_fact(trace, kProcessSortIndex, "7"), "-3");
  EXPECT_EQ(process_fact(trace, kProcessName, "0"), "python");
  EXPECT_EQ(process_fact(trace, kProcessLabels, "0"), "");
  EXPECT_EQ(trace.metadata.size(), 4u);
}

TEST(ChromeReader, ExactDuplicatesCountOnce) {
  const std::string kernel =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"stream":7,"device":0,)"
      R"("correlation":42,"grid":[1,1,1]}})";
  const Trace trace = must_read(events(kernel + "," + op("1", "2") + "," + kernel));
  EXPECT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.kernel_shapes.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kDuplicateEvent), 1u);
}

TEST(ChromeReader, IntegerNanosecondFiles) {
  const Trace trace = must_read(R"({"displayTimeUnit":"ns","traceEvents":[)" +
                                op("1712185898123456789", "242") + "]}");
  EXPECT_EQ(trace.ops.start_ns[0], 1712185898123456789);
  EXPECT_EQ(trace.ops.dur_ns[0], 242);
  EXPECT_EQ(logged(trace, ImportCode::kTimeUnitNanoseconds), 1u);
}

// ---- refusals
// ------------------------------------------------------------------------------------

TEST(ChromeReader, RefusesWithByteOffset) {
  struct Case {
    const char* json;
    ErrorCode code;
    int64_t offset;
  };
  for (const Case& c :
       {Case{"", ErrorCode::kFormat, -1}, Case{"  \n", ErrorCode::kFormat, -1},
        Case{"{}", ErrorCode::kNotATrace, -1}, Case{R"({"a":[1]})", ErrorCode::kNotATrace, -1},
        Case{R"({"traceEvents":{}})", ErrorCode::kNotATrace, -1},
        Case{R"({"traceEvents":[)", ErrorCode::kTruncated, 16},
        Case{R"({"traceEvents":[{"ph":"X")", ErrorCode::kTruncated, 25},
        Case{R"({"traceEvents":[{"ph" "X"}]})", ErrorCode::kFormat, 22},
        Case{R"({"traceEvents":[{"ph":"X"} {}]})", ErrorCode::kFormat, 27},
        Case{R"({"traceEvents":[]} x)", ErrorCode::kFormat, 19},
        Case{R"("traceEvents")", ErrorCode::kFormat, 0}}) {
    auto trace = read(c.json);
    ASSERT_FALSE(trace.has_value()) << c.json;
    EXPECT_EQ(trace.error().code, c.code) << c.json << ": " << trace.error().describe();
    EXPECT_EQ(trace.error().offset, c.offset) << c.json << ": " << trace.error().describe();
  }
}

// A table of numbers is JSON, too; one event among other elements makes it a trace.
TEST(ChromeReader, ArrayWithoutAnEventIsNotATrace) {
  for (const char* json : {"[]", "[1,2]", "[[]]", "[{}]", R"([{"a":1},{"b":2}])",
                           R"([{"a":1},{"b":2})", R"({"traceEvents":[{"name":"k","dur":1}]})"}) {
    const auto trace = read(json);
    ASSERT_FALSE(trace.has_value()) << json;
    EXPECT_EQ(trace.error().code, ErrorCode::kNotATrace) << json;
    EXPECT_NE(trace.error().message.find("JSON, but no trace"), std::string::npos) << json;
    EXPECT_NE(trace.error().message.find("export_chrome_trace"), std::string::npos) << json;
  }
  EXPECT_EQ(must_read("[1,{}," + op("1", "2") + "]").ops.size(), 1u);
  EXPECT_EQ(must_read(R"([{},{"ph":"M"}])").ops.size(), 0u);
  EXPECT_EQ(must_read(R"({"traceEvents":[]})").ops.size(), 0u);
}

TEST(ChromeReader, TruncatedInputIsOfferedOnRequest) {
  const std::string json =
      R"({"traceEvents":[)" + op("1", "1") + "," + op("2", "1") + R"(,{"ph":"X","cat)";
  EXPECT_EQ(read(json).error().code, ErrorCode::kTruncated);
  const Trace trace = must_read(json, true);
  EXPECT_EQ(trace.ops.size(), 2u);
  EXPECT_EQ(logged(trace, ImportCode::kTruncated), 1u);
  EXPECT_TRUE(trace.log.data_lost());
}

TEST(ChromeReader, MillionDeepNestingCostsNothing) {
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  const Trace trace = must_read(events(op("1", "1", ",\"args\":{\"x\":" + deep + "}")));
  EXPECT_EQ(trace.ops.size(), 1u);
  EXPECT_FALSE(read(std::string(1000000, '[')).has_value());
  EXPECT_FALSE(read("{\"a\":" + std::string(1000000, '{')).has_value());
}

TEST(ChromeReader, EndlessStringIsRefusedInBoundedMemory) {
  uint64_t given = 0;
  ReadFn endless = [&given](char* dst, size_t n) -> Result<size_t> {
    static const std::string head = R"({"traceEvents":[{"ph":"X","name":")";
    if (given == 0) {
      std::memcpy(dst, head.data(), head.size());
      given = head.size();
      return head.size();
    }
    std::memset(dst, 'a', n);
    given += n;
    if (given > (1ull << 30)) return size_t{0};
    return n;
  };
  auto trace = read_chrome_stream(endless, {});
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupported);
  EXPECT_LT(given, 256ull << 20) << "read far beyond the limit before refusing";
}

TEST(Load, RankFromFileName) {
  EXPECT_EQ(rank_from_name("x/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"), 34);
  EXPECT_EQ(rank_from_name("profile_trace_rank_0.json.gz"), 0);
  EXPECT_EQ(rank_from_name("megatron_kineto_7.json"), -1);
  EXPECT_EQ(rank_from_name("v100_resnet50_2021-06.json.gz"), -1);
  EXPECT_EQ(rank_from_name("trace.json"), -1);
  EXPECT_EQ(rank_from_name("Rank12.json.zst"), 12);
}

TEST(Load, ForeignFilesAreNamed) {
  const TempFile sqlite(std::string("SQLite format 3\0", 16) + std::string(100, '\0'), ".sqlite");
  const TempFile table("Kernel,Start,End\na,1,2\n", ".csv");
  const TempFile report("NVIDIA Tegra Profiler", ".nsys-rep");
  struct Case {
    const TempFile& file;
    ErrorCode code;
    const char* named;
  };
  for (const Case& c :
       {Case{sqlite, ErrorCode::kFormat, "SQLite"}, Case{table, ErrorCode::kNotATrace, "a table"},
        Case{report, ErrorCode::kUnsupported, "nsys export --type sqlite"}}) {
    auto trace = load_trace(c.file.path(), {});
    ASSERT_FALSE(trace.has_value());
    EXPECT_EQ(trace.error().code, c.code) << c.named;
    EXPECT_NE(trace.error().message.find(c.named), std::string::npos) << trace.error().message;
    EXPECT_EQ(trace.error().file, c.file.path());
  }
  auto folder = expand_inputs({"/nonexistent-folder/*.json"});
  ASSERT_FALSE(folder.has_value());
}

}  // namespace
}  // namespace assay
