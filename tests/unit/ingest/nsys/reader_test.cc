// Every rule of docs/formats/nsys.md on small exports made by hand, and damage at many places.
// Expected values are worked by hand.

#include "ingest/nsys/reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "ingest/load.h"
#include "ingest/sqlite_file.h"
#include "support/bytes.h"
#include "support/nsys_maker.h"
#include "support/trace_maker.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/process_facts.h"

namespace assay {
namespace {

using testing::activity_id;
using testing::annotation_id;
using testing::call_id;
using testing::global_pid;
using testing::global_tid;
using testing::NsysMaker;
using testing::op_id;
using testing::Sql;
using testing::TempFile;

constexpr int64_t kThread = global_tid(100, 101);
const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";

Trace must_read(NsysMaker& file, const ReadOptions& options = {}) {
  auto trace = load_trace(file.finish(), options);
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  return trace ? *std::move(trace) : Trace{};
}

Error must_refuse(const std::string& path) {
  const auto trace = load_trace(path, {});
  EXPECT_FALSE(trace.has_value());
  return trace ? Error{} : trace.error();
}

uint64_t logged(const Trace& trace, ImportCode code) { return trace.log.entry(code).count; }

std::string name_of(const Trace& trace, const std::vector<StringId>& names, size_t row) {
  return std::string(trace.text(names[row]));
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One launch on one thread: call 100..110, kernel 150..450, ids 1.
void add_launch(NsysMaker& file) {
  file.call(kThread, 100, 110, 1, "cudaLaunchKernel_v7000");
  file.kernel({.start = 150, .end = 450, .correlation = 1, .name = "gemm<float>(int)"});
}

TEST(NsysReader, LaunchesWithShapesTimesAndLanes) {
  NsysMaker file;
  file.session(1'700'000'000'000'000'000, 5000);
  add_launch(file);
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.tracer, Tracer::kNsightSystems);
  EXPECT_EQ(trace.base_time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(trace.counts.events, 2u);
  ASSERT_EQ(trace.api_calls.size(), 1u);
  EXPECT_EQ(trace.api_calls.start_ns[0], 1'700'000'000'000'000'100);
  EXPECT_EQ(trace.api_calls.dur_ns[0], 10);
  EXPECT_EQ(name_of(trace, trace.api_calls.name, 0), "cudaLaunchKernel");
  EXPECT_EQ(trace.api_calls.kind[0], ApiKind::kRuntime);
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(trace.threads[0].pid, "100");
  EXPECT_EQ(trace.threads[0].tid, "101");
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(name_of(trace, trace.activities.name, 0), "gemm<float>(int)");
  EXPECT_EQ(trace.activities.dur_ns[0], 300);
  EXPECT_EQ(trace.streams[0].device, 0);
  EXPECT_EQ(trace.streams[0].stream, 7);
  ASSERT_EQ(trace.kernel_shapes.size(), 1u);
  EXPECT_EQ(trace.kernel_shapes.grid_x[0], 4u);
  EXPECT_EQ(trace.kernel_shapes.grid_y[0], 2u);
  EXPECT_EQ(trace.kernel_shapes.block_x[0], 256u);
  EXPECT_EQ(trace.kernel_shapes.registers[0], 32u);
  EXPECT_EQ(trace.kernel_shapes.shared_memory_bytes[0], 1536u);  // 1024 static + 512 dynamic
  EXPECT_FALSE(trace.whole_microseconds);
  EXPECT_EQ(link_trace(trace).stats.kernels_linked, 1u);
}

TEST(NsysReader, OldSchemaWithoutManyColumns) {
  NsysMaker file;
  file.sql("UPDATE META_DATA_EXPORT SET value = '3.1.7' WHERE name = 'EXPORT_SCHEMA_VERSION'");
  for (const char* column : {"greenContextId", "globalPid", "graphNodeId", "mangledName",
                             "sharedMemoryExecuted", "sharedMemoryLimitConfig", "launchType"}) {
    file.drop_column(kKernels, column);
  }
  file.drop_column(kCalls, "eventClass");
  file.drop_column("CUPTI_ACTIVITY_KIND_MEMSET", "memKind");
  file.drop_column("NVTX_EVENTS", "textId");
  add_launch(file);
  file.call(kThread, 500, 510, 2, "cuLaunchKernelEx");
  file.fill(600, 700, 3, 2, 64);
  file.push_pop(kThread, 50, 800, "step");
  const Trace trace = must_read(file);
  EXPECT_EQ(link_trace(trace).stats.kernels_linked, 1u);
  EXPECT_EQ(trace.api_calls.kind[call_id(trace, "cuLaunchKernelEx").index()], ApiKind::kDriver);
  EXPECT_LT(activity_id(trace, "Memset (Unknown)").index(), trace.activities.size());
  EXPECT_EQ(trace.ops.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kUnknownSchema), 0u);
  EXPECT_FALSE(trace.log.data_lost());
}

TEST(NsysReader, NewColumnsInTheMiddleOfTables) {
  NsysMaker file;
  file.insert_column(kKernels, 3, "clusterX");
  file.insert_column(kKernels, 0, "graphId");
  file.insert_column(kCalls, 2, "somethingNew");
  file.call(kThread, 100, 110, 1, "cudaLaunchKernel_v7000");
  testing::SqlRow row = file.kernel_row({.start = 150, .end = 450, .correlation = 1});
  row.emplace_back("graphId", 12);
  row.emplace_back("clusterX", 99);
  file.insert(kKernels, row);
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.activities.start_ns[0], 150);
  EXPECT_EQ(trace.kernel_shapes.graph_id[0], 12u);
  EXPECT_EQ(link_trace(trace).stats.kernels_linked, 1u);
}

TEST(NsysReader, VersionOfTheSchema) {
  NsysMaker two;
  two.sql("UPDATE META_DATA_EXPORT SET value = '4.0.0' WHERE name = 'EXPORT_SCHEMA_VERSION'");
  EXPECT_EQ(logged(must_read(two), ImportCode::kUnknownSchema), 1u);
  NsysMaker old_name;
  old_name.drop_table("META_DATA_EXPORT");
  old_name.insert("EXPORT_META_DATA", {{"name", "EXPORT_SCHEMA_VERSION"}, {"value", "3.2.0"}});
  EXPECT_EQ(logged(must_read(old_name), ImportCode::kUnknownSchema), 0u);
  NsysMaker none;
  none.drop_table("META_DATA_EXPORT");
  add_launch(none);
  EXPECT_EQ(logged(must_read(none), ImportCode::kUnknownSchema), 1u);
}

TEST(NsysReader, NothingOfTheEnvironment) {
  NsysMaker file;
  add_launch(file);
  file.insert("TARGET_INFO_SYSTEM_ENV", {{"name", "HF_TOKEN"}, {"value", "secret"}});
  file.meta("EXPORT_USER", "secret");
  file.meta("EXPORT_PARAM_INPUT_PATH", "/home/secret");
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.metadata.size(), 2u);
  for (const MetadataEntry& entry : trace.metadata) {
    EXPECT_EQ(entry.value.find("secret"), std::string::npos);
  }
  EXPECT_FALSE(trace.strings.find("secret"));
}

TEST(NsysReader, CopiesFillsAndSyncsAreNamedAsKinetoNamesThem) {
  NsysMaker file;
  file.copy(10, 20, 1, 1, 1, 2, 4096);
  file.copy(30, 40, 2, 2, 2, 0, 128);
  file.copy(50, 60, 3, 10, 2, 2, 7);
  file.copy(70, 80, 4, 11, 4, 2, 7);
  file.copy(90, 95, 5, 77, -3, 1000, 7);
  file.fill(100, 110, 6, 2, 64);
  file.sync(120, 130, 7, 3, 7);
  file.sync(140, 150, 8, 4, 4294967295);
  const Trace trace = must_read(file);
  const auto bytes = [&](const char* name) {
    const ActivityId id = activity_id(trace, name);
    for (size_t i = 0; i < trace.transfers.size(); ++i) {
      if (trace.transfers.activity[i] == id) return trace.transfers.bytes[i];
    }
    return int64_t{-1};
  };
  EXPECT_EQ(bytes("Memcpy HtoD (Pinned -> Device)"), 4096);
  EXPECT_EQ(bytes("Memcpy DtoH (Device -> Pageable)"), 128);
  EXPECT_EQ(bytes("Memcpy PtoP (Device -> Device)"), 7);
  EXPECT_EQ(bytes("Memcpy HtoD (Managed -> Device)"), 7);
  EXPECT_EQ(bytes("Memcpy Unknown (Unknown -> Unknown)"), 7);
  EXPECT_EQ(bytes("Memset (Device)"), 64);
  const ActivityId stream_sync = activity_id(trace, "Stream Sync");
  EXPECT_EQ(trace.activities.kind[stream_sync.index()], ActivityKind::kSync);
  const ActivityId context_sync = activity_id(trace, "Context Sync");
  EXPECT_EQ(trace.streams[trace.activities.stream[context_sync.index()].index()].stream, -1);
}

// The stream of the last record of the event before the wait, by correlation ids: rows of records
// bear no time.
TEST(NsysReader, WaitsKnowWhoRecordedTheirEvent) {
  NsysMaker file;
  file.kernel({.start = 10, .end = 20, .correlation = 1});
  file.event_record(2, 7, 5);
  file.event_record(40, 7, 5);
  file.sync(30, 31, 4, 2, 9, 5);
  file.sync(40, 50, 41, 3, 7);
  file.sync(60, 70, 42, 4, 4294967295);
  file.sync(80, 81, 43, 1, 4294967295, 6);
  file.sync(90, 91, 44, 0, 7);
  const Trace trace = must_read(file);
  const WaitTable& waits = trace.waits;
  ASSERT_EQ(waits.size(), 4u);
  const auto wait_of = [&](const char* name) {
    const ActivityId id = activity_id(trace, name);
    return static_cast<size_t>(std::find(waits.activity.begin(), waits.activity.end(), id) -
                               waits.activity.begin());
  };
  const size_t event = wait_of("Stream Wait Event");
  EXPECT_EQ(waits.kind[event], WaitKind::kStreamWaitEvent);
  EXPECT_EQ(waits.waited_stream[event], 7);
  EXPECT_EQ(waits.record_correlation[event], 2u);
  EXPECT_EQ(waits.waited_stream[wait_of("Stream Sync")], 7);
  EXPECT_EQ(waits.waited_stream[wait_of("Context Sync")], -1);
  const size_t unknown = wait_of("Event Sync");  // nothing tells who recorded event 6
  EXPECT_EQ(waits.record_correlation[unknown], 0u);
  EXPECT_EQ(waits.waited_stream[unknown], -1);
}

TEST(NsysReader, WordsOfTheFileGoBeforeOurs) {
  NsysMaker file;
  file.insert("ENUM_CUDA_MEMCPY_OPER", {{"id", 1}, {"name", "CUDA_MEMCPY_KIND_DTOD"}});
  file.insert("ENUM_CUDA_MEM_KIND", {{"id", 20}, {"label", "Far"}});
  file.insert("ENUM_CUDA_MEM_KIND", {{"id", 3}, {"label", "Near"}});
  file.copy(10, 20, 1, 1, 3, 2, 1);
  const Trace trace = must_read(file);
  EXPECT_EQ(name_of(trace, trace.activities.name, 0), "Memcpy DtoD (Near -> Device)");
}

TEST(NsysReader, InnermostRangesReplaceOperatorsAndAllLabelWindows) {
  NsysMaker file;
  file.push_pop(kThread, 10, 90, "outer");
  file.push_pop(kThread, 20, 30, "registered", true);
  file.push_pop(kThread, 30, 60, "alone");
  file.push_pop(global_tid(100, 102), 35, 36, "other thread");
  file.nvtx(60, kThread, 15, 200, "start and end");
  file.nvtx(34, kThread, 16, {}, "mark");
  file.nvtx(75, kThread, 0, {}, "domain");
  file.nvtx(37, kThread, 17, {}, "half");
  file.call(kThread, 22, 24, 1, "cudaLaunchKernel_v7000");
  file.kernel({.start = 40, .end = 50, .correlation = 1});
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.ops.size(), 3u);
  EXPECT_EQ(trace.ops.dur_ns[op_id(trace, "registered").index()], 10);
  EXPECT_EQ(trace.ops.dur_ns[op_id(trace, "alone").index()], 30);
  EXPECT_LT(op_id(trace, "other thread").index(), 3u);
  EXPECT_EQ(link_trace(trace).activity_op[0], op_id(trace, "registered"));
  EXPECT_EQ(trace.annotations.size(), 5u);
  EXPECT_EQ(trace.counts.instants, 1u);
  EXPECT_EQ(trace.counts.metadata, 1u);
  EXPECT_EQ(logged(trace, ImportCode::kUnknownPhase), 1u);
}

TEST(NsysReader, OpenRangesEndWithTheSession) {
  NsysMaker file;
  file.session(0, 1000);
  file.nvtx(59, kThread, 100, {}, "never popped");
  file.nvtx(60, kThread, 200, {}, "never ended");
  add_launch(file);
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.ops.dur_ns[0], 900);
  EXPECT_EQ(trace.annotations.dur_ns[annotation_id(trace, "never ended").index()], 800);
  EXPECT_EQ(logged(trace, ImportCode::kOpenRange), 2u);
}

// Sessions without ANALYSIS_DETAILS end with the latest row.
TEST(NsysReader, OpenRowsEndWithTheLatestOneIfTheSessionIsUnknown) {
  NsysMaker file;
  file.nvtx(59, kThread, 100, {}, "open");
  add_launch(file);
  testing::SqlRow row = file.kernel_row({.start = 460, .correlation = 2});
  row[1].second = Sql::null();
  file.insert(kKernels, row);
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.ops.dur_ns[0], 360);  // to 460, the latest time of any row
  EXPECT_EQ(trace.activities.dur_ns[1], 0);
  EXPECT_EQ(logged(trace, ImportCode::kOpenRange), 2u);
}

TEST(NsysReader, UnpairedPushesAndPopsArePairedPerThread) {
  NsysMaker file;
  const int64_t other = global_tid(100, 102);
  file.nvtx(35, kThread, 10, {}, "outer");
  file.nvtx(35, kThread, 20, {}, "inner");
  file.nvtx(36, other, 25, {}, "");
  file.nvtx(36, kThread, 30, {}, "");
  file.nvtx(36, kThread, 50, {}, "");
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.annotations.size(), 2u);
  EXPECT_EQ(trace.annotations.dur_ns[annotation_id(trace, "outer").index()], 40);
  EXPECT_EQ(trace.annotations.dur_ns[annotation_id(trace, "inner").index()], 10);
  ASSERT_EQ(trace.ops.size(), 1u);
  EXPECT_EQ(name_of(trace, trace.ops.name, 0), "inner");
  EXPECT_EQ(logged(trace, ImportCode::kUnmatchedEnd), 1u);
}

TEST(NsysReader, RangesOfTheFrameworkAreOperatorsOnly) {
  NsysMaker file;
  file.push_pop(
      kThread, 10, 90,
      "aten::mm, seq = 12, op_id = 40, sizes = [[8, 128], [128, 64]], input_op_ids = [(1,0)]");
  file.push_pop(kThread, 100, 110, "aten::add, op_id = 41");
  file.push_pop(kThread, 120, 130, "my range, with a comma");
  const Trace trace = must_read(file, {.keep_op_inputs = true});
  ASSERT_EQ(trace.ops.size(), 2u);  // beside the framework's own, the user's are labels only
  EXPECT_EQ(name_of(trace, trace.ops.name, 0), "aten::mm");
  EXPECT_EQ(name_of(trace, trace.ops.name, 1), "aten::add");
  ASSERT_EQ(trace.op_sequences.size(), 1u);
  EXPECT_EQ(trace.op_sequences.sequence[0], 12);
  ASSERT_EQ(trace.op_inputs.size(), 1u);
  EXPECT_EQ(trace.text(trace.op_inputs.dims[0]), "[[8,128],[128,64]]");
  ASSERT_EQ(trace.annotations.size(), 1u);
  EXPECT_EQ(name_of(trace, trace.annotations.name, 0), "my range, with a comma");
}

// Nodes of the backward pass carry the number of the operator that they undo.
TEST(NsysReader, NodesOfTheBackwardPassAreNotForwardOperators) {
  NsysMaker file;
  file.push_pop(kThread, 10, 20, "aten::mm, seq = 12");
  file.push_pop(kThread, 30, 60, "autograd::engine::evaluate_function: MmBackward0, seq = 12");
  file.push_pop(kThread, 31, 59, "MmBackward0, seq = 12");
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.op_sequences.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string name(trace.text(trace.ops.name[trace.op_sequences.op[i].index()]));
    EXPECT_EQ(trace.op_sequences.forward_thread[i] == 0, name == "aten::mm") << name;
  }
}

// An LLM run: one prefill, ten decode steps of 12 launches each.
TEST(NsysReader, DecodeStepsOfAnLlmRunAreTheIterations) {
  NsysMaker file;
  int64_t id = 0;
  int64_t now = 0;
  const auto phase = [&](const std::string& label) {
    const int64_t start = now;
    for (int i = 0; i < 12; ++i, now += 100) {
      ++id;
      file.push_pop(kThread, now, now + 50, "aten::linear, op_id = " + std::to_string(id));
      file.call(kThread, now + 10, now + 20, id, "cudaLaunchKernel_v7000");
      file.kernel({.start = now + 30, .end = now + 90, .correlation = id});
    }
    file.push_pop(kThread, start, now, label, label == "prefill");
  };
  phase("prefill");
  for (int step = 0; step < 10; ++step) phase("decode step " + std::to_string(step));
  const Trace trace = must_read(file);
  const Links links = link_trace(trace);
  EXPECT_EQ(links.stats.kernels_linked, 132u);
  EXPECT_EQ(links.stats.calls_without_op, 0u);
  const Windows windows = find_iterations(trace, links);
  EXPECT_EQ(windows.source, WindowSource::kRepeatedRoot);
  ASSERT_EQ(windows.windows.size(), 10u);
  EXPECT_EQ(windows.windows[0].start_ns, 1200);
  EXPECT_EQ(windows.windows[9].end_ns, 13200);
}

TEST(NsysReader, KernelsOfAGraphShareTheLaunchsCorrelation) {
  NsysMaker file;
  file.call(kThread, 100, 110, 9, "cudaGraphLaunch_v10000");
  for (int64_t node = 1; node <= 3; ++node) {
    file.kernel(
        {.start = 200 * node, .end = 200 * node + 100, .correlation = 9, .graph_node = node});
  }
  file.graph(200, 700, 9, 4);  // told as nodes: the row as a whole would count them twice
  const Trace trace = must_read(file);
  EXPECT_EQ(trace.activities.size(), 3u);
  EXPECT_EQ(trace.kernel_shapes.graph_node_id[2], 3u);
  const Links links = link_trace(trace);
  EXPECT_EQ(links.stats.graph_launches, 1u);
  EXPECT_EQ(links.stats.graph_kernels, 3u);
  EXPECT_EQ(logged(trace, ImportCode::kGraphWithoutKernels), 0u);
}

TEST(NsysReader, GraphsWithoutTheirKernelsAreALoss) {
  NsysMaker file;
  file.call(kThread, 100, 110, 9, "cudaGraphLaunch_v10000");
  file.graph(200, 700, 9, 4);
  file.call(kThread, 300, 310, 10, "cudaGraphLaunch_v10000");
  file.graph(800, 900, 10, 4);
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.activities.size(), 2u);
  EXPECT_EQ(trace.activities.kind[0], ActivityKind::kOther);
  EXPECT_EQ(name_of(trace, trace.activities.name, 0), "CUDA graph 4");
  EXPECT_EQ(trace.activities.dur_ns[0], 500);
  EXPECT_EQ(logged(trace, ImportCode::kGraphWithoutKernels), 2u);
  EXPECT_TRUE(trace.log.data_lost());
}

TEST(NsysReader, SeveralProcessesNumberTheirCallsAlike) {
  NsysMaker file;
  for (int64_t pid : {100, 200}) {
    const int64_t shift = pid == 100 ? 0 : 1000;
    for (int64_t id : {1, 2}) {
      file.call(global_tid(pid, pid), shift + 100 * id, shift + 100 * id + 10, id,
                "cudaLaunchKernel_v7000");
      file.kernel({.start = shift + 100 * id + 20,
                   .end = shift + 100 * id + 50,
                   .correlation = id,
                   .pid = pid});
    }
  }
  const Trace trace = must_read(file);
  EXPECT_EQ(logged(trace, ImportCode::kSeveralProcesses), 2u);
  const Links links = link_trace(trace);
  EXPECT_EQ(links.stats.kernels_linked, 4u);
  EXPECT_EQ(links.stats.duplicate_calls, 0u);
  for (size_t i = 0; i < trace.activities.size(); ++i) {
    const ApiCallId call = links.activity_call[i];
    EXPECT_EQ(trace.activities.start_ns[i] - trace.api_calls.start_ns[call.index()], 20);
  }
  ASSERT_EQ(trace.streams.size(), 2u);
  EXPECT_EQ(trace.streams[0].stream, 7);
  EXPECT_EQ(trace.streams[1].stream, 1'000'007);
  EXPECT_EQ(trace.streams[1].name, "stream 7 of process 200");
}

TEST(NsysReader, ProcessesOnDevicesOfTheirOwnKeepTheirStreams) {
  NsysMaker file;
  file.gpu(5, 0, 5, "first");
  file.gpu(6, 1, 6, "second");
  for (int64_t pid : {100, 200}) {  // each sees its GPU as CUDA device 0
    file.insert("TARGET_INFO_CUDA_DEVICE",
                {{"gpuId", pid == 100 ? 5 : 6}, {"cudaId", 0}, {"pid", pid}});
    file.kernel({.start = 100, .end = 200, .correlation = 1, .pid = pid});
  }
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.streams.size(), 2u);
  EXPECT_EQ(trace.streams[0].device, 5);
  EXPECT_EQ(trace.streams[1].device, 6);
  EXPECT_EQ(trace.streams[1].stream, 7);
  EXPECT_EQ(trace.devices[0].id, 5);
}

TEST(NsysReader, CorrelationsThatAreMissingOrTooLarge) {
  NsysMaker file;
  add_launch(file);
  testing::SqlRow row = file.kernel_row({.start = 500, .end = 600});
  row[5].second = Sql::null();
  file.insert(kKernels, row);
  file.kernel({.start = 700, .end = 800, .correlation = int64_t{1} << 40});
  const Trace trace = must_read(file);
  EXPECT_EQ(logged(trace, ImportCode::kMissingCorrelation), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kIdOutOfRange), 1u);
  EXPECT_EQ(link_trace(trace).stats.kernels_unlinked, 2u);
}

// Should both levels carry the id, the one that starts first is the launch.
TEST(NsysReader, RuntimeCallAboveItsDriverCall) {
  NsysMaker file;
  file.call(kThread, 104, 108, 1, "cuLaunchKernel", 1);
  file.call(kThread, 100, 110, 1, "cudaLaunchKernel_v7000", 0);
  file.kernel({.start = 150, .end = 450, .correlation = 1});
  file.call(kThread, 500, 510, 2, "cuLaunchKernelEx", 1);  // driver only, as cuBLAS and Triton
  file.kernel({.start = 550, .end = 560, .correlation = 2});
  const Trace trace = must_read(file);
  const Links links = link_trace(trace);
  EXPECT_EQ(links.stats.kernels_linked, 2u);
  EXPECT_EQ(links.activity_call[0], call_id(trace, "cudaLaunchKernel"));
  EXPECT_EQ(links.activity_call[1], call_id(trace, "cuLaunchKernelEx"));
  EXPECT_EQ(trace.api_calls.kind[call_id(trace, "cuLaunchKernelEx").index()], ApiKind::kDriver);
}

TEST(NsysReader, MetricsBecomeCountersOfTheirGpu) {
  NsysMaker file;
  file.gpu(0, 3, 2, "A100");
  file.insert(
      "TARGET_INFO_GPU_METRICS",
      {{"typeId", 0x100 + 2}, {"metricId", 7}, {"metricName", "SMs Active [Throughput %]"}});
  file.insert("GPU_METRICS",
              {{"timestamp", 1000}, {"typeId", 0x102}, {"metricId", 7}, {"value", 55}});
  file.insert("GPU_METRICS",
              {{"timestamp", 500}, {"typeId", 0x102}, {"metricId", 8}, {"value", 0.5}});
  file.insert("GPU_METRICS",
              {{"timestamp", 600}, {"typeId", 0x102}, {"metricId", 7}, {"value", "bad"}});
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.counters.size(), 2u);
  EXPECT_EQ(name_of(trace, trace.counters.name, 0), "metric 8");
  EXPECT_EQ(trace.counters.value[0], 0.5);
  EXPECT_EQ(name_of(trace, trace.counters.name, 1), "SMs Active [Throughput %]");
  EXPECT_EQ(trace.counters.value[1], 55);
  EXPECT_EQ(trace.threads[trace.counters.thread[0].index()].pid, "GPU 3 Counters");
  EXPECT_EQ(logged(trace, ImportCode::kWrongType), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kMissingName), 1u);
}

TEST(NsysReader, PageFaultsOfManagedMemoryAreEventsOfNoThread) {
  NsysMaker file;
  add_launch(file);
  file.insert("CUDA_UM_CPU_PAGE_FAULT_EVENTS", {{"start", 20}, {"globalPid", global_pid(1)}});
  file.insert("CUDA_UM_GPU_PAGE_FAULT_EVENTS",
              {{"start", 12}, {"end", 19}, {"globalPid", global_pid(1)}, {"deviceId", 0}});
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.other_events.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const bool gpu = name_of(trace, trace.other_events.name, i) == "GPU page fault";
    EXPECT_EQ(name_of(trace, trace.other_events.category, i), "page_fault");
    EXPECT_EQ(trace.other_events.dur_ns[i], gpu ? 7 : 0);
    EXPECT_FALSE(trace.other_events.thread[i]);
  }
  EXPECT_EQ(logged(trace, ImportCode::kUnknownCategory), 0u);
  EXPECT_EQ(logged(trace, ImportCode::kOpenRange), 0u);
}

TEST(NsysReader, DevicesNamesMemoryAndWhatIsKeptAside) {
  NsysMaker file;
  add_launch(file);
  file.gpu(0, 3, 0, "fourth");
  file.gpu(3, 0, 3, "first");
  file.insert("ThreadNames", {{"nameId", file.string("worker")}, {"globalTid", kThread}});
  file.insert("ThreadNames", {{"nameId", file.string("idle")}, {"globalTid", global_tid(9, 9)}});
  file.call(global_tid(100, 100), 5, 6, 50, "cudaMalloc_v3020");
  file.insert("PROCESSES", {{"globalPid", global_pid(100)}, {"name", "/opt/bin/serve"}});
  file.insert("OSRT_API",
              {{"start", 1}, {"end", 9}, {"nameId", file.string("poll")}, {"globalTid", kThread}});
  file.insert("PROFILER_OVERHEAD",
              {{"start", 1}, {"end", 9}, {"nameId", file.string("TLS allocation")}});
  file.insert("DIAGNOSTIC_EVENT", {{"severity", 3}, {"text", "CUPTI failed"}});
  file.insert("DIAGNOSTIC_EVENT", {{"severity", 2}, {"text", "a warning"}});
  for (int operation : {0, 1}) {
    file.insert("CUDA_GPU_MEMORY_USAGE_EVENTS", {{"start", 10 + operation},
                                                 {"deviceId", 1},
                                                 {"address", 4096},
                                                 {"bytes", 256},
                                                 {"memKind", 2},
                                                 {"memoryOperationType", operation}});
  }
  const Trace trace = must_read(file);
  ASSERT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[0].name, "first");  // CUDA device 0 is the GPU that the report numbers 3
  EXPECT_EQ(trace.devices[1].id, 3);
  EXPECT_EQ(trace.devices[0].multiprocessors, 132);
  EXPECT_EQ(process_fact(trace, kProcessName, "100"), "serve");
  EXPECT_EQ(trace.devices[0].compute_major, 9);
  const auto thread_name = [&](const char* call) {
    return trace.threads[trace.api_calls.thread[call_id(trace, call).index()].index()].name;
  };
  EXPECT_EQ(thread_name("cudaLaunchKernel"), "worker");
  EXPECT_EQ(thread_name("cudaMalloc"), "serve");
  ASSERT_EQ(trace.other_events.size(), 1u);
  EXPECT_EQ(name_of(trace, trace.other_events.category, 0), "osrt");
  EXPECT_EQ(logged(trace, ImportCode::kUnknownCategory), 0u);
  EXPECT_EQ(trace.overheads.size(), 1u);
  EXPECT_EQ(logged(trace, ImportCode::kProfilerError), 1u);
  ASSERT_EQ(trace.memory_events.size(), 2u);
  EXPECT_EQ(trace.memory_events.bytes[0], 256);
  EXPECT_EQ(trace.memory_events.bytes[1], -256);
  EXPECT_EQ(trace.memory_events.device_type[0], 1);
  EXPECT_EQ(trace.memory_events.device[0], 1);
}

TEST(NsysReader, NullsAndWrongTypesInEveryCell) {
  for (const char* bad :
       {"NULL", "'text'", "x'00ff'", "0.5", "-9223372036854775808", "9223372036854775807"}) {
    NsysMaker file;
    add_launch(file);
    const testing::SqlRow good = file.kernel_row({.start = 500, .end = 600, .correlation = 2});
    for (size_t cell = 0; cell < good.size(); ++cell) {
      testing::SqlRow row = good;
      row[cell].second = Sql::raw(bad);
      file.insert(kKernels, row);
    }
    for (const char* column : {"start", "end", "eventType", "text", "textId", "globalTid"}) {
      testing::SqlRow row = {{"start", 10}, {"end", 20}, {"eventType", 59}, {"globalTid", kThread}};
      std::erase_if(row, [column](const auto& named) { return named.first == column; });
      row.emplace_back(column, Sql::raw(bad));
      file.insert("NVTX_EVENTS", row);
    }
    file.insert("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs", Sql::raw(bad)}});
    file.insert("ANALYSIS_DETAILS", {{"duration", Sql::raw(bad)}});
    file.insert("TARGET_INFO_GPU", {{"id", Sql::raw(bad)}, {"name", Sql::raw(bad)}});
    const Trace trace = must_read(file);
    EXPECT_GE(trace.activities.size(), 2u) << bad;
    EXPECT_EQ(link_trace(trace).stats.kernels_linked >= 1, true) << bad;
  }
}

TEST(NsysReader, InvalidUtf8AndMissingNames) {
  NsysMaker file;
  add_launch(file);
  file.insert("NVTX_EVENTS", {{"start", 1},
                              {"end", 2},
                              {"eventType", 59},
                              {"globalTid", kThread},
                              {"text", Sql::raw("CAST(x'61ff62' AS TEXT)")}});
  file.sql("DELETE FROM StringIds WHERE value LIKE 'gemm%'");
  const Trace trace = must_read(file);
  EXPECT_EQ(name_of(trace, trace.ops.name, 0),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(logged(trace, ImportCode::kInvalidUtf8), 1u);
  EXPECT_EQ(name_of(trace, trace.activities.name, 0), "");
  EXPECT_EQ(logged(trace, ImportCode::kMissingName), 1u);
}

TEST(NsysReader, StringsWithoutAKeyAndNumbersAsText) {
  NsysMaker file;
  file.sql("CREATE TABLE plain(id, value)");
  file.string("gemm");
  file.sql("DROP TABLE StringIds");
  file.sql("ALTER TABLE plain RENAME TO StringIds");
  file.sql("INSERT INTO StringIds VALUES('41', 'cudaLaunchKernel_v7000'), (42.0, 'gemm')");
  file.insert(kCalls, {{"start", "100"},
                       {"end", 110.0},
                       {"globalTid", kThread},
                       {"correlationId", 1},
                       {"nameId", 41}});
  file.insert(kKernels, {{"start", 150},
                         {"end", 450},
                         {"correlationId", "1"},
                         {"shortName", 42},
                         {"deviceId", 0},
                         {"streamId", 7},
                         {"globalPid", global_pid(100)}});
  const Trace trace = must_read(file);
  EXPECT_EQ(name_of(trace, trace.api_calls.name, 0), "cudaLaunchKernel");
  EXPECT_EQ(name_of(trace, trace.activities.name, 0), "gemm");
  EXPECT_EQ(link_trace(trace).stats.kernels_linked, 1u);
}

TEST(NsysReader, ViewsAreNotRun) {
  NsysMaker file;
  add_launch(file);
  file.sql(
      "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 "
      "FROM n) SELECT start FROM n");
  EXPECT_EQ(must_read(file).ops.size(), 0u);
}

TEST(NsysReader, NothingIsWrittenNextToTheFile) {
  NsysMaker file;
  add_launch(file);
  const std::string path = file.finish();
  const std::string folder = path + ".folder";
  std::filesystem::create_directory(folder);
  const std::string copy = folder + "/100% odd?name#1.sqlite";
  std::filesystem::copy_file(path, copy);
  ::chmod(copy.c_str(), 0400);
  ::chmod(folder.c_str(), 0500);
  const auto trace = load_trace(copy, {});
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files += entry.exists();
  EXPECT_EQ(files, 1u);
  ::chmod(folder.c_str(), 0700);
  std::filesystem::remove_all(folder);
}

TEST(NsysReader, UnmergedChangesInASecondFileAreRefused) {
  NsysMaker file;
  add_launch(file);
  const std::string path = file.finish();
  for (const char* suffix : {"-wal", "-journal"}) {
    std::ofstream(path + suffix) << "changes";
    EXPECT_NE(must_refuse(path).message.find("unfinished"), std::string::npos);
    std::filesystem::remove(path + suffix);
  }
  EXPECT_TRUE(load_trace(path, {}).has_value());
}

TEST(NsysReader, DatabasesOfOtherToolsAreNamed) {
  struct Case {
    const char* tables;
    const char* named;
  };
  for (const Case& c :
       {Case{"CREATE TABLE StringTable(_id_, value); CREATE TABLE "
             "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_)",
             "nvprof"},
        Case{"CREATE TABLE rocpd_kernel_dispatch_12(id)", "rocprofv3"},
        Case{"CREATE TABLE rocpd_api(id); CREATE TABLE rocpd_op(id)", "RPD"},
        Case{"CREATE TABLE moz_places(id); CREATE TABLE moz_hosts(id)", "moz_hosts, moz_places"},
        Case{"SELECT 1", "without tables"}}) {
    NsysMaker file;
    file.drop_table("META_DATA_EXPORT");
    file.sql(c.tables);
    const Error error = must_refuse(file.finish());
    EXPECT_NE(error.message.find(c.named), std::string::npos) << error.message;
    EXPECT_EQ(error.file, file.finish());
  }
}

TEST(NsysReader, PipesCompressedAndEncryptedFilesAreNamed) {
  const TempFile encrypted(std::string("\x8f\x00\x11\xfe", 4) + std::string(4096, '\x5a'),
                           ".sqlite");
  EXPECT_NE(must_refuse(encrypted.path()).message.find("encrypted"), std::string::npos);
  const TempFile header_only(std::string(kSqliteMagic), ".sqlite");
  EXPECT_EQ(must_refuse(header_only.path()).code, ErrorCode::kTruncated);
}

// ---- damage -------------------------------------------------------------------------------------

std::string damaged_sample() {
  NsysMaker file;
  file.session(0, 100000);
  for (int64_t i = 1; i <= 300; ++i) {
    file.call(kThread, 100 * i, 100 * i + 10, i, "cudaLaunchKernel_v7000");
    file.kernel({.start = 100 * i + 20,
                 .end = 100 * i + 60,
                 .correlation = i,
                 .name = "kernel " + std::to_string(i % 7)});
    file.push_pop(kThread, 100 * i - 5, 100 * i + 50, "range " + std::to_string(i), i % 2 == 0);
  }
  return bytes_of_file(file.finish());
}

void expect_named_or_read(const std::string& bytes, const std::string& how) {
  const TempFile file(bytes, ".sqlite");
  const auto trace = load_trace(file.path(), {});
  if (trace) {
    link_trace(*trace);
    return;
  }
  EXPECT_EQ(trace.error().file, file.path()) << how;
  EXPECT_GT(trace.error().message.size(), 10u) << how;
}

TEST(NsysReader, CutAnywhereIsNamed) {
  const std::string whole = damaged_sample();
  for (size_t length = 0; length < whole.size(); length += 1 + length / 3 + length % 97) {
    const TempFile file(whole.substr(0, length), ".sqlite");
    const Error error = must_refuse(file.path());
    EXPECT_EQ(error.file, file.path());
    if (length > 100) {
      EXPECT_EQ(error.code, ErrorCode::kTruncated) << length;
    }
  }
}

TEST(NsysReader, FlippedBytesNeverCrash) {
  const std::string whole = damaged_sample();
  std::mt19937_64 random(20240625);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    const size_t flips = 1 + random() % 8;
    for (size_t i = 0; i < flips; ++i) {
      // Half of them where the structure is: in the first kilobyte, and at the start of pages.
      const size_t page = random() % (whole.size() / 4096) * 4096;
      const size_t at = round % 2 == 0 ? random() % whole.size() : page + random() % 128;
      bytes[at] = static_cast<char>(random());
    }
    expect_named_or_read(bytes, "round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace assay
