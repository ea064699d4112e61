#pragma once

// `assay sample`: processors and GPUs at a steady rate beside a job, into one CSV file
// (docs/formats/samples.md).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/gpu_telemetry.h"

namespace assay::sample {

constexpr double kLeastHz = 0.01;
constexpr double kMostHz = 1000;

struct SampleOptions {
  std::string output;  // "-" = standard output
  double hz = 10;
  int pid = 0;                       // end with this process; 0 = none
  std::vector<std::string> command;  // run this and end with it; empty = none
  std::string tool;                  // name and version, for the file
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::vector<std::string> nvml;     // libraries to try instead of the usual ones; for tests
  std::vector<std::string> amd_smi;  // these two stand and fall together
  std::vector<std::string> rocm_smi;
};

struct SampleSummary {
  uint64_t ticks = 0;        // sampled
  uint64_t missed = 0;       // ticks whose time was over before they could be sampled
  uint64_t clock_steps = 0;  // CLOCK_REALTIME was set
  uint64_t empty_reads = 0;  // of GPUs: not one value came back
  double elapsed_s = 0;      // first to last tick
  double cpu_s = 0;          // of this process, user and system, while it sampled
  size_t logical_cpus = 0;
  size_t physical_cores = 0;  // 0 = the topology is not told
  std::vector<SampledGpu> gpus;
  std::vector<std::string> notes;   // what is missing on this machine
  std::optional<int> command_exit;  // of the command
  bool interrupted = false;
  bool reader_gone = false;      // broken pipe: the reader had enough
  std::optional<Error> failure;  // why the sampling ended before the job did
};

// Fails before a command is started, or not at all: what goes wrong later is in the summary, and
// the command runs to its end.
Result<SampleSummary> run_sampler(const SampleOptions& options);

// The exit code that shells have for a command that cannot be started: 127 when there is none of
// that name, 126 when it cannot be run; 0 for any other command, and for none.
int unstartable_code(const std::vector<std::string>& command);

}  // namespace assay::sample
