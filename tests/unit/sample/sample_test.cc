// The parts of `assay sample` that need no clock to wait for, over texts as Linux writes them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "collect/sample/clocks.h"
#include "collect/sample/cpu.h"
#include "collect/sample/output.h"
#include "collect/sample/sampler.h"
#include "support/scratch.h"

namespace assay::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr const char* kStat =
    "cpu  30 0 30 540 0 0 0 0 0 0\n"
    "cpu0 10 1 9 170 5 2 3 0 0 0\n"
    "cpu2 0 0 10 190 0 0 0 0 0 0\n"
    "intr 12345 0 0\n"
    "ctxt 99\n";

TEST(ProcStatText, BusyIsAllButIdleAndWaitingAndTheSumLineIsLeftOut) {
  const auto cpus = parse_proc_stat(kStat);
  ASSERT_EQ(cpus.size(), 2U);
  EXPECT_EQ(cpus[0].cpu, 0);
  EXPECT_EQ(cpus[0].busy, 25U);  // 10 + 1 + 9 + 2 + 3
  EXPECT_EQ(cpus[0].all, 200U);
  EXPECT_EQ(cpus[1].cpu, 2);
  EXPECT_EQ(cpus[1].busy, 10U);
}

TEST(ProcStatText, TimeOfGuestsIsNotCountedTwice) {
  // A guest's time is in user already: 50 user of which 50 guest.
  const auto cpus = parse_proc_stat("cpu0 50 0 0 50 0 0 0 0 50 0\n");
  ASSERT_EQ(cpus.size(), 1U);
  EXPECT_EQ(cpus[0].busy, 50U);
  EXPECT_EQ(cpus[0].all, 100U);
}

TEST(Utilization, IsTheBusyShareOfTheTicksThatPassed) {
  const std::vector<CpuTicks> before = {{0, 100, 1000}, {1, 50, 1000}, {2, 7, 1000}};
  const std::vector<CpuTicks> after = {{0, 110, 1010}, {1, 53, 1010}, {2, 7, 1010}};
  EXPECT_THAT(utilization_percent(before, after, {0, 1, 2}),
              ElementsAre(Optional(100.0), Optional(30.0), Optional(0.0)));
}

TEST(Utilization, OfflineCoresAndIntervalsWithoutATickHaveNone) {
  const std::vector<CpuTicks> before = {{0, 100, 1000}, {1, 50, 1000}};
  const std::vector<CpuTicks> after = {{0, 100, 1000}, {2, 1, 10}};
  for (const auto& one : utilization_percent(before, after, {0, 1, 2, 3})) {
    EXPECT_FALSE(one.has_value());
  }
}

TEST(Utilization, CountersThatGoBackNeverGiveNegativeShares) {
  EXPECT_THAT(utilization_percent({{0, 100, 1000}}, {{0, 90, 1010}}, {0}),
              ElementsAre(Optional(0.0)));
}

TEST(ProcessStat, ANameWithBracketsAndBlanksDoesNotShiftTheFields) {
  const auto process = parse_process_stat(
      "42 (python) R 1 (x) S 1 42 42 0 -1 4194304 9 9 0 0 11 22 3 4 20 0 1 0 777 0 0");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->state, 'S');
  EXPECT_EQ(process->ticks, 40U);
  EXPECT_EQ(process->start, 777U);
  EXPECT_FALSE(parse_process_stat("42 (cut) R 1 2"));
  EXPECT_FALSE(parse_process_stat(""));
}

TEST(Ticker, KeepsThePeriodAndCountsWhatItCouldNotReach) {
  Ticker ticker(1000, 100);
  EXPECT_EQ(ticker.next_ns(1000), 1100);
  EXPECT_EQ(ticker.next_ns(1101), 1200);
  EXPECT_EQ(ticker.missed(), 0U);
  EXPECT_EQ(ticker.next_ns(1530), 1600);  // 1300, 1400 and 1500 went by
  EXPECT_EQ(ticker.missed(), 3U);
}

TEST(Ticker, TicksDueBeforeTheLastSampleWereMissed) {
  Ticker in_time(1000, 100);
  in_time.next_ns(1000);
  in_time.end(1050);  // 1100 is not due yet
  EXPECT_EQ(in_time.missed(), 0U);
  Ticker late(1000, 100);
  late.next_ns(1000);
  late.end(1450);  // 1100, 1200 and 1300 went by; the last sample stands for 1400
  EXPECT_EQ(late.missed(), 3U);
}

TEST(StepWatch, DistinguishesASetClockFromAnAdjustedOne) {
  StepWatch watch;
  EXPECT_FALSE(watch.step_ns({1'000'000'000, 0}));
  // 100 ms with the rate adjusted by 500 ppm.
  EXPECT_FALSE(watch.step_ns({1'100'050'000, 100'000'000}));
  // Ten seconds at that rate move it by 5 ms.
  EXPECT_FALSE(watch.step_ns({11'105'050'000, 10'100'000'000}));
  EXPECT_EQ(watch.step_ns({11'205'050'000 + 3'600'000'000'000, 10'200'000'000}), 3'600'000'000'000);
  EXPECT_FALSE(watch.step_ns({11'305'050'000 + 3'600'000'000'000, 10'300'000'000}));
  EXPECT_EQ(watch.step_ns({11'405'050'000, 10'400'000'000}), -3'600'000'000'000);
}

TEST(SampleOutput, AFullDiskIsAnErrorThatSaysSo) {
  auto output = Output::open("/dev/full");
  ASSERT_TRUE(output);
  const auto written = output->write("a line\n");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().describe(), HasSubstr("No space left"));
}

class Sampling : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(scratch_.path);
    options_.output = folder_ + ".csv";
    options_.tool = "assay test";
    options_.nvml = {"no-such-library.so"};
    options_.rocm_smi = {"no-such-library.so"};
  }
  std::vector<std::string> lines() const {
    std::ifstream file(options_.output);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  const testing::Scratch scratch_{""};
  const std::string folder_ = scratch_.path + "/run";
  SampleOptions options_;
};

TEST_F(Sampling, PassesTheCommandsExitCodeOnAndWritesWholeRows) {
  options_.hz = 50;
  options_.command = {"sh", "-c", "sleep 0.2; exit 7"};
  const auto summary = run_sampler(options_);
  ASSERT_TRUE(summary) << summary.error().describe();
  EXPECT_EQ(summary->command_exit, 7);
  EXPECT_FALSE(summary->failure);
  EXPECT_TRUE(summary->gpus.empty());
  EXPECT_EQ(summary->notes.front(), "no GPU to sample");
  size_t rows = 0;
  for (const std::string& line : lines()) {
    if (line.empty() || line.front() == '#' || line.front() == 't') continue;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 13) << line;
    ++rows;
  }
  EXPECT_EQ(rows, summary->ticks);
  EXPECT_EQ(lines().front(), "# assay samples 1");
  EXPECT_THAT(lines().back(), HasSubstr("# end: ticks=" + std::to_string(summary->ticks)));
}

TEST_F(Sampling, ACommandThatIsKilledCountsAsOneTwentyEightAndItsSignal) {
  options_.command = {"sh", "-c", "kill -KILL $$"};
  const auto summary = run_sampler(options_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->command_exit, 137);
}

TEST_F(Sampling, AnInterruptSentToTheSamplerReachesTheCommand) {
  // The command answers SIGINT with code 9, and would end with 1 without it.
  options_.command = {"sh", "-c",
                      "trap 'exit 9' INT; kill -INT $PPID; "
                      "i=0; while [ $i -lt 3000 ]; do sleep 0.1; i=$((i + 1)); done; exit 1"};
  const auto summary = run_sampler(options_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->command_exit, 9);
  EXPECT_TRUE(summary->interrupted);
}

TEST_F(Sampling, TheCommandRunsToItsEndWhenTheSamplesCannotBeWritten) {
  // A pipe whose reader leaves after the first bytes, for whose end the command waits.
  const std::string pipe = folder_ + ".pipe";
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  options_.output = pipe;
  options_.hz = 100;
  const std::string left = folder_ + ".left";
  ::unlink(left.c_str());
  options_.command = {"sh", "-c", "while [ ! -e '" + left + "' ]; do sleep 0.01; done; exit 5"};
  std::thread reader([&pipe, &left] {
    std::ifstream file(pipe);
    char first = 0;
    file.get(first);
    file.close();
    std::ofstream done(left);
  });
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  const auto summary = run_sampler(options_);
  std::signal(SIGPIPE, before);
  reader.join();
  ASSERT_TRUE(summary) << summary.error().describe();
  EXPECT_EQ(summary->command_exit, 5);
  EXPECT_TRUE(summary->reader_gone);
}

TEST_F(Sampling, CommandsThatCannotStartAreRefusedFirst) {
  const std::string mark = folder_ + ".ran";
  ::unlink(mark.c_str());
  options_.output = "/no/such/folder/samples.csv";
  options_.command = {"touch", mark};
  EXPECT_FALSE(run_sampler(options_));
  EXPECT_FALSE(std::ifstream(mark));
  options_.output = folder_ + ".csv";
  options_.command = {"/no/such/program"};
  const auto refused = run_sampler(options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().describe(), HasSubstr("/no/such/program"));
  options_.command.clear();
  options_.pid = 1'999'999'999;
  EXPECT_FALSE(run_sampler(options_));
}

TEST_F(Sampling, CostsLittleOfACoreAtTenHertz) {
  // The claim is 1 %, one millisecond per tick; three times that for sanitizers. What else runs on
  // the machine makes a tick dearer and never cheaper, so that the best of some runs counts.
  constexpr double kMostPerTick = 0.003;
  constexpr int kRuns = 8;
  options_.command = {"sleep", "1"};
  double best = 1;
  for (int i = 0; i < kRuns && best >= kMostPerTick; ++i) {
    const auto summary = run_sampler(options_);
    ASSERT_TRUE(summary);
    // Ticks at the start and the end, and one every tenth of a second unless it was missed.
    EXPECT_GE(static_cast<double>(summary->ticks + summary->missed), 10 * summary->elapsed_s);
    best = std::min(best, summary->cpu_s / static_cast<double>(summary->ticks));
  }
  EXPECT_LT(best, kMostPerTick);
}

TEST_F(Sampling, ReadsEveryGpuThatTheLibraryShows) {
  options_.nvml = {ASSAY_FAKE_NVIDIA};
  options_.rocm_smi = {ASSAY_FAKE_AMD};
  options_.command = {"sleep", "0.15"};
  const auto summary = run_sampler(options_);
  ASSERT_TRUE(summary) << summary.error().describe();
  ASSERT_EQ(summary->gpus.size(), 3U);
  EXPECT_EQ(summary->gpus[0].name, "Fake H200");
  EXPECT_EQ(summary->gpus[0].power_reading, "instant");
  EXPECT_EQ(summary->gpus[2].bus_id, "0000:c1:00.0");
  std::string nvidia;
  std::string amd;
  for (const std::string& line : lines()) {
    if (line.find(",gpu0,") != std::string::npos) nvidia = line;
    if (line.find(",gpu2,") != std::string::npos) amd = line;
  }
  // 1980 and 3201 MHz, 90 % and 40 %, 12 GiB, 61 C, power cap: what the fake says.
  EXPECT_THAT(nvidia, HasSubstr(",gpu0,100.000,"));
  EXPECT_THAT(nvidia, HasSubstr(",1980,3201,90,40,12884901888,61,0x4,,"));
  // The second of three levels of each clock, in the layout of ROCm 6.
  EXPECT_THAT(amd, HasSubstr(",1700,1300,"));
}

}  // namespace
}  // namespace assay::sample
