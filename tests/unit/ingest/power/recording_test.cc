#include "ingest/power/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ingest/power/json.h"
#include "support/power_maker.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using testing::PowerMaker;

class RecordingFolder : public ::testing::Test {
 protected:
  RecordingFolder() {
    std::string name = "/tmp/assay-recording-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::filesystem::remove(folder_);
  }
  ~RecordingFolder() override { std::filesystem::remove_all(folder_); }

  void write(const char* file, const std::string& text) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/" + file, std::ios::binary) << text;
  }
  void good() {
    write("meta.json", R"({"w_us":1000,"P_us":1000,"tick_hz":1e8,"mode":"boxcar"})");
    write("samples.csv", "t_ns,power_w\n10,100\n20,101.5\n");
    write("execs.csv", "run,exec,start_ns,end_ns,kernel\n0,0,1,5,gemm\n0,1,5,9,gemm\n");
    write("sync.csv", "c0_ns,gpu_ticks,c1_ns\n1,2,3\n");
  }
  std::string error() {
    const auto recording = read_power_recording(folder_);
    return recording ? "accepted" : recording.error().describe();
  }
  std::string folder_;
};

TEST_F(RecordingFolder, PlansThatCannotBeGoneOnWithAreRefusedByName) {
  const auto error_of = [this](PowerPlan plan) {
    std::filesystem::create_directories(folder_);
    EXPECT_TRUE(write_power_plan(plan, folder_));
    const auto read = read_power_plan(folder_);
    return read ? std::string("accepted") : read.error().describe();
  };
  PowerPlan plan;
  plan.t_exec_ns = 100'000;
  plan.executions_per_run = 14;
  plan.runs = 200;
  EXPECT_EQ(error_of(plan), "accepted");
  plan.t_exec_ns = 0;
  EXPECT_THAT(error_of(plan), HasSubstr("t_exec_ns must be above 0"));
  plan.t_exec_ns = 1'000'000'000'000;
  plan.executions_per_run = 4'000'000'000;
  EXPECT_THAT(error_of(plan), HasSubstr("executions_per_run times t_exec_ns"));
  plan.executions_per_run = 0;
  EXPECT_THAT(error_of(plan), HasSubstr("executions_per_run and runs"));
}

TEST_F(RecordingFolder, WrittenFilesAreReadBack) {
  PowerRecording before = PowerMaker{.runs = 3, .noise_w = 3}.make();
  before.device = "GPU, \"quoted\"";
  before.kernels = {"copy, big", "gemm:2048"};
  before.kernel_flop = {std::nan(""), 17179869184.0};
  before.kernel_bytes = {2147483648.0, std::nan("")};
  before.executions[2].kernel = 1;
  before.samples[0].xcd_w = 0.1 + 0.2;
  before.sensor.delay_ns = 1234;
  before.parts = "by a table";
  auto writer = PowerRecordingWriter::create(folder_, before);
  ASSERT_TRUE(writer) << writer.error().describe();
  ASSERT_TRUE(writer->append(before.samples));
  ASSERT_TRUE(writer->append(before.executions));
  ASSERT_TRUE(writer->append(before.probes));
  const auto after = read_power_recording(folder_);
  ASSERT_TRUE(after) << after.error().describe();
  EXPECT_EQ(after->parts, before.parts);
  EXPECT_EQ(after->device, before.device);
  EXPECT_EQ(after->kernels, before.kernels);
  EXPECT_TRUE(std::isnan(after->kernel_flop[0]));
  EXPECT_EQ(after->kernel_flop[1], 17179869184.0);
  EXPECT_EQ(after->sensor.delay_ns, 1234);
  EXPECT_EQ(after->sensor.mode, SensorMode::kBoxcar);
  EXPECT_EQ(after->seed, before.seed);
  ASSERT_EQ(after->samples.size(), before.samples.size());
  EXPECT_EQ(after->samples[0].xcd_w, 0.1 + 0.2);
  EXPECT_TRUE(std::isnan(after->samples[1].xcd_w));
  for (size_t i = 0; i < before.samples.size(); ++i) {
    EXPECT_EQ(after->samples[i].power_w, before.samples[i].power_w);
    EXPECT_EQ(after->samples[i].t_ns, before.samples[i].t_ns);
  }
  ASSERT_EQ(after->executions.size(), before.executions.size());
  EXPECT_EQ(after->executions[2].kernel, 1u);
  EXPECT_EQ(after->probes.back().gpu_ticks, before.probes.back().gpu_ticks);
}

TEST_F(RecordingFolder, ColumnsMayBeInAnyOrder) {
  good();
  write("samples.csv", "hbm_w, power_w ,ignored,T_NS\n7,100,x,10\n,101,y,20\n");
  const auto recording = read_power_recording(folder_);
  ASSERT_TRUE(recording) << recording.error().describe();
  EXPECT_EQ(recording->samples[0].t_ns, 10);
  EXPECT_EQ(recording->samples[0].hbm_w, 7);
  EXPECT_TRUE(std::isnan(recording->samples[1].hbm_w));
  EXPECT_TRUE(std::isnan(recording->samples[1].xcd_w));
}

TEST_F(RecordingFolder, InterruptedWriteLosesOnlyItsLastLine) {
  good();
  write("samples.csv", "t_ns,power_w\n10,100\n20,1");  // was to be 101.5
  EXPECT_EQ(read_power_recording(folder_)->samples.size(), 1u);
  auto writer = PowerRecordingWriter::resume(folder_);
  ASSERT_TRUE(writer) << writer.error().describe();
  ASSERT_TRUE(writer->append(std::vector<PowerSample>{{20, 101.5}, {30, 103}}));
  const auto resumed = read_power_recording(folder_);
  ASSERT_TRUE(resumed);
  ASSERT_EQ(resumed->samples.size(), 3u);
  EXPECT_EQ(resumed->samples[1].power_w, 101.5);
}

TEST_F(RecordingFolder, NothingIsOverwritten) {
  good();
  const auto writer = PowerRecordingWriter::create(folder_, {});
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().describe(), HasSubstr("is in this folder already"));
}

TEST_F(RecordingFolder, ErrorsNameFileAndLine) {
  EXPECT_THAT(error(), HasSubstr("is not a folder"));
  good();
  std::filesystem::remove(folder_ + "/execs.csv");
  EXPECT_THAT(error(), HasSubstr("execs.csv"));
  good();
  write("samples.csv", "t_ns,watts\n10,100\n");
  EXPECT_THAT(error(), HasSubstr("samples.csv: the header has no column power_w"));
  good();
  write("samples.csv", "t_ns,power_w\n10,100\n20,350000\n");
  EXPECT_THAT(error(), HasSubstr("line 3: power_w of 350000 cannot be watts"));
  good();
  write("samples.csv", "t_ns,power_w\n10,-3\n");
  EXPECT_THAT(error(), HasSubstr("cannot be watts"));
  good();
  write("samples.csv", "t_ns,power_w\nten,100\n");
  EXPECT_THAT(error(), HasSubstr("line 2: 'ten' is not a whole number for t_ns"));
  good();
  write("samples.csv", "t_ns,power_w\n10.5,100\n");
  EXPECT_THAT(error(), HasSubstr("line 2: '10.5' is not a whole number for t_ns"));
  good();
  write("samples.csv", "t_ns,power_w\n10,nan\n");
  EXPECT_THAT(error(), HasSubstr("line 2: 'nan' is not a number"));
  good();
  write("execs.csv", "run,exec,start_ns,end_ns,kernel\n0,0,9,5,gemm\n");
  EXPECT_THAT(error(), HasSubstr("execs.csv: line 2: the execution ends before it starts"));
  good();
  write("execs.csv", "run,exec,start_ns,end_ns,kernel\n-1,0,1,5,gemm\n");
  EXPECT_THAT(error(), HasSubstr("run must be a count"));
  good();
  write("sync.csv", "");
  EXPECT_THAT(error(), HasSubstr("sync.csv: the table is empty"));
  good();
  write("meta.json", "{");
  EXPECT_THAT(error(), HasSubstr("meta.json: is not a JSON object"));
  good();
  write("meta.json", R"({"w_us":-5})");
  EXPECT_THAT(error(), HasSubstr("w_us must lie between"));
  good();
  write("meta.json", R"({"tick_hz":0})");
  EXPECT_THAT(error(), HasSubstr("tick_hz"));
  good();
  write("meta.json", R"({"mode":"magic"})");
  EXPECT_THAT(error(), HasSubstr("mode 'magic'"));
}

TEST_F(RecordingFolder, SamplesOnTheCpuClockNeedNoProbes) {
  good();
  std::filesystem::remove(folder_ + "/sync.csv");
  EXPECT_THAT(error(), HasSubstr("sync.csv"));
  write("meta.json", R"({"samples_clock":"cpu","w_us":1000})");
  EXPECT_EQ(error(), "accepted");
}

TEST_F(RecordingFolder, ACalibrationIsReadAsItWasWritten) {
  SensorCalibration calibration;
  calibration.sensor.window_ns = 25'000'000;
  calibration.sensor.period_ns = 100'000'000;
  calibration.sensor.ramp_ns = 12'400'000;
  calibration.response = {.kind = ResponseKind::kExponential,
                          .window = {12'400'000, 10'600'000, 13'900'000},
                          .ramp = {800'000, 0, 4'200'000},
                          .delay = {9'300'000, 7'400'000, 11'600'000},
                          .residual_w = 7.5,
                          .misfit = true};
  const std::string path = folder_ + "/sensor.json";
  ASSERT_TRUE(write_sensor_calibration(calibration, path));
  const auto read = read_sensor_calibration(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sensor.ramp_ns, 12'400'000);
  EXPECT_EQ(read->response.kind, ResponseKind::kExponential);
  EXPECT_EQ(read->response.window.low_ns, 10'600'000);
  EXPECT_EQ(read->response.ramp.high_ns, 4'200'000);
  EXPECT_EQ(read->response.delay.ns, 9'300'000);
  EXPECT_EQ(read->response.residual_w, 7.5);
  EXPECT_TRUE(read->response.misfit);
  // Kept before there was a response: read, with none.
  write("old.json", R"({"window_ns":25,"period_ns":100,"delay_ns":5,"updates":1,"steps":2})");
  const auto old = read_sensor_calibration(folder_ + "/old.json");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->response.kind, ResponseKind::kNotTold);
  write("bad.json", R"({"window_ns":25,"period_ns":100,"delay_ns":5,"response":{"window_ns":3}})");
  const auto bad = read_sensor_calibration(folder_ + "/bad.json");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("\"value\", \"low\" and \"high\""));
}

}  // namespace
}  // namespace assay
