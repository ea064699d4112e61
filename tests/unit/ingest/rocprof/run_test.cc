#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "ingest/counters/files.h"
#include "ingest/counters/tables.h"
#include "ingest/load.h"
#include "ingest/rocprof/run.h"
#include "trace/links.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A folder that is gone after the test.
class RocprofFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("assay_rocprof_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

// ROCm 6: integers bare, no stream.
constexpr const char* kKernels6 =
    "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
    "Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,"
    "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
    "KERNEL_DISPATCH,2,1,77,1,5,\"void a<int, float>(int)\",11,1000,1500,0,64,256,1,1,1024,2,1\n"
    "KERNEL_DISPATCH,2,1,77,2,6,b,12,2000,2100,0,0,64,1,1,100,1,1\n";
constexpr const char* kCalls =
    "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
    "HIP_RUNTIME_API,hipLaunchKernel,70,77,11,900,950\n"
    "HIP_RUNTIME_API,hipModuleLaunchKernel,70,77,12,1800,1850\n"
    "HSA_CORE_API,hsa_signal_wait,70,77,13,1810,1820\n";
constexpr const char* kAgents =
    "Node_Id,Logical_Node_Id,Agent_Type,Cpu_Cores_Count,Simd_Count,Num_Xcc,Cu_Count,Simd_Per_Cu,"
    "Max_Engine_Clk_Fcompute,Name,Product_Name\n"
    "0,0,CPU,64,0,1,64,0,0,EPYC,EPYC\n"
    "2,2,GPU,0,1216,8,304,4,2100,gfx942,AMD Instinct MI300X\n";

TEST_F(RocprofFiles, ARunIsItsKernelTraceAndTheOtherTablesOfTheFolder) {
  const std::string path = write("9_kernel_trace.csv", kKernels6);
  write("9_hip_api_trace.csv", kCalls);
  write("9_agent_info.csv", kAgents);
  write("8_hip_api_trace.csv", "Function,Start_Timestamp,End_Timestamp\nhipFree,1,2\n");
  const auto trace = load_trace(path, {});
  ASSERT_TRUE(trace) << trace.error().describe();
  ASSERT_EQ(trace->activities.size(), 2u);
  EXPECT_EQ(trace->text(trace->activities.name[0]), "void a<int, float>(int)");
  EXPECT_EQ(trace->activities.start_ns[0], 1000);
  EXPECT_EQ(trace->activities.dur_ns[0], 500);
  EXPECT_EQ(trace->api_calls.size(), 2u);
  EXPECT_EQ(trace->other_events.size(), 1u);  // HSA is kept aside
  ASSERT_EQ(trace->devices.size(), 1u);
  EXPECT_EQ(trace->devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(trace->streams[0].device, 0);  // agent 2 is the first GPU
  const Links links = link_trace(*trace);
  EXPECT_EQ(links.stats.kernels_linked, 2u);
  EXPECT_EQ(links.stats.launch_calls, 2u);
  // Grid sizes are work-items: 1024 x 2 over 256 x 1, and a partly filled last workgroup.
  EXPECT_EQ(trace->kernel_shapes.grid_x[0], 4u);
  EXPECT_EQ(trace->kernel_shapes.grid_y[0], 2u);
  EXPECT_EQ(trace->kernel_shapes.grid_x[1], 2u);
}

TEST_F(RocprofFiles, OfRocm7EveryFieldIsQuotedAndAgentsAreWords) {
  const std::string path = write(
      "k_kernel_trace.csv",
      "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_"
      "Id\","
      "\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\r\n"
      "\"KERNEL_DISPATCH\",\"Agent 4\",\"2\",\"3\",\"77\",\"1\",\"5\",\"a(b, \"\"c\"\")\",\"11\","
      "\"1000\",\"1500\"\r\n");
  const auto trace = load_trace(path, {});
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_EQ(trace->text(trace->activities.name[0]), "a(b, \"c\")");
  EXPECT_EQ(trace->streams[0].device, 4);
  EXPECT_EQ(trace->streams[0].stream, 3);
}

// The runtime copies and fills by kernels of its own; other tracers record them as copies and
// fills.
TEST_F(RocprofFiles, KernelsThatCopyAndFillAreNotKernels) {
  std::string text = kKernels6;
  text +=
      "KERNEL_DISPATCH,2,1,77,3,7,__amd_rocclr_copyBufferAligned.kd,13,2200,2300,0,0,64,1,1,64,1,"
      "1\n"
      "KERNEL_DISPATCH,2,1,77,4,8,__amd_rocclr_fillBufferAligned,14,2400,2500,0,0,64,1,1,64,1,1\n"
      "KERNEL_DISPATCH,2,1,77,5,9,__amd_rocclr_scheduler,15,2600,2700,0,0,64,1,1,64,1,1\n";
  const auto trace = load_trace(write("k_kernel_trace.csv", text), {});
  ASSERT_TRUE(trace) << trace.error().describe();
  ASSERT_EQ(trace->activities.size(), 5u);
  EXPECT_EQ(trace->activities.kind[2], ActivityKind::kMemcpy);
  EXPECT_EQ(trace->activities.kind[3], ActivityKind::kMemset);
  EXPECT_EQ(trace->activities.kind[4], ActivityKind::kKernel);
  EXPECT_EQ(trace->kernel_shapes.size(), 3u);
  EXPECT_EQ(link_trace(*trace).stats.kernels, 3u);
}

TEST_F(RocprofFiles, RoctxRangesAreLabelsAndReplaceOperators) {
  const std::string path = write("k_kernel_trace.csv", kKernels6);
  write("k_hip_api_trace.csv", kCalls);
  write("k_marker_api_trace.csv",
        "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n"
        "MARKER_CORE_RANGE_API,forward,70,77,20,850,1900\n");
  const auto trace = load_trace(path, {});
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->annotations.size(), 1u);
  EXPECT_EQ(trace->text(trace->annotations.name[0]), "forward");
}

TEST_F(RocprofFiles, IrregularRowsAreCountedAndTheRestIsRead) {
  std::string text = kKernels6;
  const std::string header = text.substr(0, text.find('\n') + 1);
  text += header;                                                        // files put together
  text += "KERNEL_DISPATCH,2,1\n";                                       // short
  text += "KERNEL_DISPATCH,2,1,77,3,6,c,12,x,y,0,0,64,1,1,100,1,1\n";    // no time
  text += "KERNEL_DISPATCH,2,1,77,3,6,c,12,50,40,0,0,64,1,1,100,1,1\n";  // ends before it starts
  text += "KERNEL_DISPATCH,2,1,77,3,6,c,12,1,99999999999999999999,0,0,64,1,1,100,1,1\n";
  const auto trace = load_trace(write("k_kernel_trace.csv", text), {});
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_EQ(trace->activities.size(), 3u);
  EXPECT_EQ(trace->log.entry(ImportCode::kRepeatedHeader).count, 1u);
  EXPECT_EQ(trace->log.entry(ImportCode::kShortRow).count, 1u);
  EXPECT_EQ(trace->log.entry(ImportCode::kMissingTimestamp).count, 2u);
  EXPECT_EQ(trace->log.entry(ImportCode::kNegativeDuration).count, 1u);
}

TEST_F(RocprofFiles, TimesThatASpreadsheetRoundedAreNone) {
  constexpr const char* kHeader = "Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n";
  const auto rounded = load_trace(
      write("r_kernel_trace.csv", std::string(kHeader) + "1,a,8.1097E+14,8.1097E+14\n"), {});
  ASSERT_FALSE(rounded);
  EXPECT_NE(rounded.error().describe().find("8.1097E+14 were rounded"), std::string::npos)
      << rounded.error().describe();
  const auto exact =
      load_trace(write("e_kernel_trace.csv",
                       std::string(kHeader) + "1,a,8.10970123456e11,8.10970133456E+11\n"),
                 {});
  ASSERT_TRUE(exact) << exact.error().describe();
  EXPECT_EQ(exact->activities.dur_ns[0], 10'000);
}

TEST_F(RocprofFiles, ACutTableIsRefusedUnlessAllowed) {
  const std::string text = std::string(kKernels6) + "KERNEL_DISPATCH,2,1,77,3";
  const std::string path = write("k_kernel_trace.csv", text);
  const auto refused = load_trace(path, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTruncated);
  ReadOptions options;
  options.allow_truncated = true;
  const auto trace = load_trace(path, options);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->activities.size(), 2u);
  EXPECT_EQ(trace->log.entry(ImportCode::kTruncated).count, 1u);
}

TEST_F(RocprofFiles, ACallTraceAloneIsNotATrace) {
  const auto refused = load_trace(write("k_hip_api_trace.csv", kCalls), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("kernel_trace.csv"), std::string::npos);
}

// rocprof v1 writes kernels with their times, and with counters where it counts.
TEST_F(RocprofFiles, KernelsOfTheFirstRocprofAreReadUnlessTheyWereCounted) {
  const std::string header =
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\","
      "\"wgr\","
      "\"lds\",\"scr\",\"arch_vgpr\",\"accum_vgpr\",\"sgpr\",\"wave_size\",\"sig\",\"obj\","
      "\"DispatchNs\","
      "\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"";
  const std::string rows =
      "0,\"void scale<double>(double*, int) [clone .kd]\",8,3,0,70,71,1024,256,512,0,16,0,32,64,"
      "\"0x0\",\"0x7f\",900,1000,1500,1600,500";
  const auto trace = load_trace(
      write("results.csv", header + "\n" + rows +
                               "\n1,\"__amd_rocclr_fillBufferAligned.kd\",8,3,1,70,71,256,256,0,0,"
                               "12,4,32,64,\"0x0\",\"0x7f\",950,1500,1700,1800,200\n"),
      {});
  ASSERT_TRUE(trace) << trace.error().describe();
  ASSERT_EQ(trace->activities.size(), 2u);
  EXPECT_EQ(trace->text(trace->activities.name[0]), "void scale<double>(double*, int)");
  EXPECT_EQ(trace->activities.start_ns[0], 1000);
  EXPECT_EQ(trace->activities.dur_ns[0], 500);
  EXPECT_EQ(trace->activities.kind[1], ActivityKind::kMemset);
  const Stream& stream = trace->streams[trace->activities.stream[0].index()];
  EXPECT_EQ(stream.device, 8);
  EXPECT_EQ(stream.stream, 3);
  const auto counted = load_trace(write("pmc.csv", header + ",\"SQ_WAVES\"\n" + rows + ",4\n"), {});
  ASSERT_FALSE(counted);
  EXPECT_NE(counted.error().message.find("rocprof v1"), std::string::npos);
  EXPECT_NE(counted.error().message.find("--pmc"), std::string::npos);
}

// Totals have no kernels, whatever lies beside them.
TEST_F(RocprofFiles, StatisticsAreRefusedByWhatTheyAre) {
  const std::string stats = "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"a\",2,700\n";
  write("k_kernel_trace.csv", kKernels6);
  const std::string path = write("k_kernel_stats.csv", stats);
  const auto refused = load_trace(path, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("statistics of rocprof"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("must be in the same folder"), std::string::npos);
  const auto counters = read_counter_pass(path, false);
  ASSERT_FALSE(counters);
  EXPECT_NE(counters.error().message.find("statistics of rocprof"), std::string::npos);
  EXPECT_EQ(counters.error().message.find("which have"), std::string::npos);
}

constexpr const char* kCounters =
    "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,"
    "Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,SGPR_Count,Counter_Name,"
    "Counter_Value\n"
    "1,2,Agent 4,1,70,77,1024,5,\"b<1, 2>\",256,0,0,8,16,GRBM_GUI_ACTIVE,200.5\n"
    "1,1,Agent 4,1,70,77,100,5,a,64,0,0,8,16,GRBM_GUI_ACTIVE,100\n"
    "1,1,Agent 4,1,70,77,100,5,a,64,0,0,8,16,SQ_WAVES,3\n";

TEST_F(RocprofFiles, CountersComePerDispatchInItsOrder) {
  const auto pass = read_counter_pass(write("k_counter_collection.csv", kCounters), false);
  ASSERT_TRUE(pass) << pass.error().describe();
  ASSERT_EQ(pass->dispatches.size(), 2u);
  EXPECT_EQ(pass->counters, (std::vector<std::string>{"GRBM_GUI_ACTIVE", "SQ_WAVES"}));
  EXPECT_EQ(pass->kernels[pass->dispatches[0].kernel], "a");
  EXPECT_EQ(pass->value(0, 0), 100);
  EXPECT_EQ(pass->value(0, 1), 3);
  EXPECT_EQ(pass->value(1, 0), 200.5);
  EXPECT_TRUE(std::isnan(pass->value(1, 1)));
  EXPECT_EQ(pass->dispatches[0].device, 4);
  EXPECT_EQ(pass->dispatches[0].blocks, 2u);  // 100 work-items in groups of 64
  EXPECT_EQ(pass->dispatches[1].blocks, 4u);
  EXPECT_EQ(pass->dispatches[1].threads_per_block, 256u);
}

TEST_F(RocprofFiles, ACounterFileAsTraceIsRefusedWithTheCommandThatReadsIt) {
  const auto refused = load_trace(write("k_counter_collection.csv", kCounters), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("counter_collection.csv"), std::string::npos);
  EXPECT_NE(refused.error().message.find("assay breakdown TRACE --counters"), std::string::npos);
}

TEST_F(RocprofFiles, AKernelTraceAsCountersIsRefusedByItsName) {
  const auto refused = read_counter_pass(write("k_kernel_trace.csv", kKernels6), false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("kernel trace"), std::string::npos);
}

TEST_F(RocprofFiles, AFolderGivesEveryPassBelowIt) {
  write("out/pass_1/host/70_counter_collection.csv", kCounters);
  write("out/pass_2/host/71_counter_collection.csv", kCounters);
  write("out/pass_2/host/71_agent_info.csv", kAgents);
  write("out/pass_2/host/71_kernel_trace.csv", kKernels6);
  write("out/notes.json", "{}");
  const auto passes = read_counter_passes({(folder_ / "out").string()}, false);
  ASSERT_TRUE(passes) << passes.error().describe();
  ASSERT_EQ(passes->size(), 2u);
  EXPECT_EQ((*passes)[1].devices.size(), 1u);
  EXPECT_EQ((*passes)[1].devices[0].compute_units, 304);
  const auto none = read_counter_passes({(folder_ / "out/pass_2/none").string()}, false);
  EXPECT_FALSE(none);
}

// ---- times of runs for counters ----------------------------------------------------------------

// rocprof-compute over rocprof v1: the ends of a kernel renamed, what is around them not.
constexpr const char* kTimesOfV1 =
    "Dispatch_ID,Kernel_Name,GPU_ID,queue-id,pid,Grid_Size,Workgroup_Size,sig,obj,DispatchNs,"
    "Start_Timestamp,End_Timestamp,CompleteNs\n"
    "0,k,2,0,7,1048576,256,0x0,0x7,100,200,300,400\n";
// Over rocprofv2, whose own tables of kernels have these columns.
constexpr const char* kTimesOfV2 =
    "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Kernel_Name,"
    "Start_Timestamp,End_Timestamp,Correlation_ID\n"
    "1,2,1,7,7,1048576,256,0,k,200,300,0\n";
constexpr const char* kSysinfo =
    "workload_name,command,ip_blocks,timestamp,gpu_arch\nvcopy,./vcopy,SQ|LDS,today,gfx90a\n";

// Empty where the file was read.
std::string why_no_trace(const std::string& path) {
  const auto trace = load_trace(path, {});
  return trace ? "" : trace.error().message;
}

void expect_times_of_counters(const std::string& path) {
  const std::string why = why_no_trace(path);
  EXPECT_NE(why.find("kernel times of a run of rocprof-compute"), std::string::npos) << why;
  EXPECT_NE(why.find("record a trace: rocprofv3 --kernel-trace"), std::string::npos) << why;
}

TEST_F(RocprofFiles, TimesOfCounterRunsAreNotATraceUnderAnyName) {
  expect_times_of_counters(write("a/timestamps.csv", kTimesOfV1));
  expect_times_of_counters(write("b/results.csv", kTimesOfV1));
  expect_times_of_counters(write("b/my_kernel_trace.csv", kTimesOfV1));
}

TEST_F(RocprofFiles, ColumnsOfRocprofv2AreTimesOfCountersByNameOrNeighbour) {
  expect_times_of_counters(write("a/timestamps.csv", kTimesOfV2));
  write("b/sysinfo.csv", kSysinfo);
  expect_times_of_counters(write("b/renamed.csv", kTimesOfV2));
  EXPECT_EQ(why_no_trace(write("c/results_vcopy.csv", kTimesOfV2)), "");
  write("d/sysinfo.csv", "host,memory\nme,1\n");  // somebody else's
  EXPECT_EQ(why_no_trace(write("d/results_vcopy.csv", kTimesOfV2)), "");
}

TEST_F(RocprofFiles, ATraceOfRocprofv3StaysOneAmongCounterRuns) {
  write("a/sysinfo.csv", kSysinfo);
  EXPECT_EQ(why_no_trace(write("a/7_kernel_trace.csv", kKernels6)), "");
  EXPECT_EQ(why_no_trace(write("a/timestamps.csv", kKernels6)), "");
}

TEST_F(RocprofFiles, AFolderOfCounterRunsIsRefusedWithWhatToDo) {
  write("a/sysinfo.csv", kSysinfo);
  write("a/timestamps.csv", kTimesOfV2);
  const auto files = expand_inputs({(folder_ / "a").string()});
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().message.find("timestamps.csv is kernel times of a run of"),
            std::string::npos)
      << files.error().message;
  const auto counters = read_counter_pass((folder_ / "a/timestamps.csv").string(), false);
  ASSERT_FALSE(counters);
  EXPECT_NE(counters.error().message.find("kernel times of a run of rocprof-compute"),
            std::string::npos);
}

// ---- JSON --------------------------------------------------------------------------------------

constexpr const char* kJson = R"json({"rocprofiler-sdk-tool": [{
 "metadata": {"pid": 70},
 "agents": [{"id": {"handle": 5}, "type": 1, "name": "cpu"},
            {"id": {"handle": 9}, "type": 2, "name": "gfx942", "product_name": "MI300X",
             "cu_count": 304, "simd_per_cu": 4, "num_xcc": 8, "max_engine_clk_fcompute": 2100,
             "logical_node_type_id": 0}],
 "counters": [{"id": {"handle": 44}, "name": "SQ_WAVES"}],
 "strings": {"buffer_records": [{"kind": "NONE", "operations": []},
                                {"kind": "HIP_RUNTIME_API", "operations": ["hipFree", "hipLaunchKernel"]}]},
 "kernel_symbols": [{"kernel_id": 3, "formatted_kernel_name": "a(int)"
}],
 "callback_records": {"counter_collection": [
   {"dispatch_data": {"correlation_id": {"internal": 11, "external": 0},
      "dispatch_info": {"agent_id": {"handle": 9}, "kernel_id": 3, "dispatch_id": 1,
                        "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 128, "y": 1, "z": 1}}},
    "records": [{"counter_id": {"handle": 44}, "value": 1.5}, {"counter_id": {"handle": 65580}, "value": 2}],
    "thread_id": 77}]},
 "buffer_records": {
  "kernel_dispatch" : [ {
    "kind" : 9,
    "thread_id" : 77,
    "correlation_id" : {"internal" : 11, "external" : 0},
    "start_timestamp" : 1000,
    "end_timestamp" : 1500,
    "dispatch_info" : {
      "agent_id" : {"handle" : 9},
      "queue_id" : {"handle" : 1},
      "kernel_id" : 3,
      "dispatch_id" : 1,
      "workgroup_size" : {"x" : 64, "y" : 1, "z" : 1},
      "grid_size" : {"x" : 128, "y" : 1, "z" : 1}
    }
  } ],
                      "hip_api" : [ {
                        "kind" : 1,
                        "operation" : 1,
                        "correlation_id" : {"internal" : 11, "external" : 0},
                        "start_timestamp" : 900,
                        "end_timestamp" : 950,
                        "thread_id" : 77
                      } ]
}
}]
})json";

TEST_F(RocprofFiles, ResultsJsonIsATraceAndACounterRun) {
  const std::string path = write("k_results.json", kJson);
  const auto trace = load_trace(path, {});
  ASSERT_TRUE(trace) << trace.error().describe();
  EXPECT_EQ(link_trace(*trace).stats.kernels_linked, 1u);
  EXPECT_EQ(trace->text(trace->api_calls.name[0]), "hipLaunchKernel");
  EXPECT_EQ(trace->text(trace->activities.name[0]), "a(int)");
  const auto pass = read_counter_pass(path, false);
  ASSERT_TRUE(pass) << pass.error().describe();
  ASSERT_EQ(pass->dispatches.size(), 1u);
  // The second record's id carries an instance in its high bits: 65580 = 1 << 16 | 44.
  EXPECT_EQ(pass->value(0, 0), 3.5);
  EXPECT_EQ(pass->dispatches[0].blocks, 2u);
  EXPECT_EQ(pass->devices[0].xcds, 8);
}

TEST_F(RocprofFiles, CutOrWrongJsonIsRefused) {
  const std::string text = kJson;
  for (size_t cut : {text.size() / 4, text.size() / 2, text.size() - 2}) {
    const auto refused = load_trace(write("cut_results.json", text.substr(0, cut)), {});
    ASSERT_FALSE(refused) << cut;
  }
  for (const char* odd :
       {R"({"rocprofiler-sdk-tool": 5})", R"({"rocprofiler-sdk-tool": []})",
        R"({"rocprofiler-sdk-tool": [7]})", R"({"rocprofiler-sdk-tool": [{"agents": {"a": 1}}]})",
        R"({"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [3, null, {}]}}]})"}) {
    EXPECT_FALSE(load_trace(write("odd_results.json", odd), {})) << odd;
  }
}

// ---- Nsight Compute ----------------------------------------------------------------------------

constexpr const char* kRaw =
    "==PROF== Connected to process 12 (python)\n"
    "some text, of the program\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\","
    "\"gpu__time_duration.sum\",\"launch__func_cache_config\",\"sm__cycles_elapsed.max\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"usecond\",\"\",\"cycle\"\n"
    "\"0\",\"12\",\"python\",\"host\",\"void gemm<float, 2>(int)\",\"1\",\"7\",\"(256, 1, 1)\","
    "\"(8, 4, 1)\",\"0\",\"9.0\",\"1.5\",\"2.25\",\"CachePreferNone\",\"1,234,567\"\n"
    "\"1\",\"12\",\"python\",\"host\",\"relu\",\"1\",\"7\",\"(64, 1, 1)\",\"(3, 1, 1)\",\"0\","
    "\"9.0\",\"2\",\"1\",\"CachePreferNone\",\"100\"\n";

TEST_F(RocprofFiles, NcuRawPageHasAUnitsLineAndScaledUnits) {
  const auto pass = read_counter_pass(write("ncu.csv", kRaw), false);
  ASSERT_TRUE(pass) << pass.error().describe();
  ASSERT_EQ(pass->dispatches.size(), 2u);
  EXPECT_EQ(pass->counters,
            (std::vector<std::string>{"dram__bytes_read.sum", "gpu__time_duration.sum",
                                      "sm__cycles_elapsed.max"}));
  EXPECT_EQ(pass->value(0, 0), 1.5e6);
  EXPECT_EQ(pass->value(0, 1), 2250);
  EXPECT_EQ(pass->value(0, 2), 1234567);
  EXPECT_EQ(pass->dispatches[0].blocks, 32u);
  EXPECT_EQ(pass->dispatches[0].threads_per_block, 256u);
  EXPECT_EQ(pass->kernels[0], "void gemm<float, 2>(int)");
}

TEST_F(RocprofFiles, NcuDetailsPageHasARowPerMetric) {
  const auto pass = read_counter_pass(
      write("ncu.csv",
            "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\","
            "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n"
            "\"0\",\"12\",\"gemm\",\"(256, 1, 1)\",\"(8, 4, 1)\",\"0\",\"SOL\",\"Duration\",\"us\","
            "\"1,000.5\",\"\"\n"
            "\"0\",\"12\",\"gemm\",\"(256, 1, 1)\",\"(8, 4, 1)\",\"0\",\"SOL\",\"Elapsed Cycles\","
            "\"cycle\",\"500\",\"\"\n"
            "\"0\",\"12\",\"gemm\",\"(256, 1, 1)\",\"(8, 4, 1)\",\"0\",\"SOL\",\"\",\"\",\"\","
            "\"Bottleneck\"\n"),
      false);
  ASSERT_TRUE(pass) << pass.error().describe();
  EXPECT_EQ(pass->counters,
            (std::vector<std::string>{"gpc__cycles_elapsed.max", "gpu__time_duration.sum"}));
  EXPECT_EQ(pass->value(0, 0), 500);
  EXPECT_EQ(pass->value(0, 1), 1000500);
}

TEST_F(RocprofFiles, CuptiTablesAreReadByTheirHeaders) {
  const auto wide = read_counter_pass(
      write("cupti.csv", "Range Name,sm__cycles_elapsed.max,dram__bytes.sum\ngemm,10,20\n"), false);
  ASSERT_TRUE(wide) << wide.error().describe();
  EXPECT_EQ(wide->kernels[0], "gemm");
  EXPECT_EQ(wide->value(0, 0), 20);
  const auto rows = read_counter_pass(
      write("long.csv", "Kernel,ID,Metric,Value\ngemm,0,a.sum,1\ngemm,0,b.sum,2\nrelu,1,a.sum,3\n"),
      false);
  ASSERT_TRUE(rows) << rows.error().describe();
  EXPECT_EQ(rows->dispatches.size(), 2u);
  EXPECT_EQ(rows->value(0, 1), 2);
}

TEST_F(RocprofFiles, ChannelsOfRocprofComputeAreSummed) {
  const auto pass = read_counter_pass(
      write("pmc_perf.csv",
            "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,SQ_WAVES,Wave_Size,"
            "Wave_Size_1,TCC_HIT[0],TCC_HIT[1]\n0,2,1024,256,\"copy(double*, "
            "int)\",7.0,64,64,1.5,2\n"),
      false);
  ASSERT_TRUE(pass) << pass.error().describe();
  const auto at = std::find(pass->counters.begin(), pass->counters.end(), "TCC_HIT_sum");
  ASSERT_NE(at, pass->counters.end());
  EXPECT_EQ(pass->value(0, static_cast<size_t>(at - pass->counters.begin())), 3.5);
  EXPECT_EQ(pass->dispatches[0].blocks, 4u);
}

TEST(UnitFactor, ScalesWhatNsightComputeScales) {
  std::string base;
  EXPECT_EQ(prefix_factor("Gbyte", base), 1e9);
  EXPECT_EQ(base, "byte");
  EXPECT_EQ(prefix_factor("Tbyte/s", base), 1e12);
  EXPECT_EQ(prefix_factor("cycle/nsecond", base), 1e9);
  EXPECT_EQ(prefix_factor("Kinst", base), 1e3);
  EXPECT_EQ(prefix_factor("%", base), 1);
  EXPECT_EQ(base, "%");
}

TEST_F(RocprofFiles, HostileTablesAreRefusedOrRead) {
  for (const std::string& text :
       {std::string("\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"\n"),
        std::string("ID,Kernel Name,Block Size,Grid Size,a.sum\n\n\n"),
        std::string(
            "ID,Kernel Name,Block Size,Grid Size,a.sum\n0,k,(1e99),(99999999999999999999),x\n"),
        std::string("ID,ID,Kernel Name,Block Size,Grid Size\n"), std::string("\n\n\n"),
        std::string(5000, '"'),
        std::string("Counter_Name,Counter_Value,Dispatch_Id\n,,\nA,NaN,1\n")}) {
    EXPECT_FALSE(read_counter_pass(write("odd.csv", text), false)) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace assay
