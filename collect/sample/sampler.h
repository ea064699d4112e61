#pragma once

// `assay sample`: samples processors and GPUs at a steady rate during a job, into one CSV file
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
  int pid = 0;                       // stop when this process ends; 0 = none
  std::vector<std::string> command;  // run this and stop when it ends; empty = none
  std::string tool;                  // name and version, for the file
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::vector<std::string> nvml;     // tests replace the default libraries
  std::vector<std::string> amd_smi;  // if one of these two is set, both are used
  std::vector<std::string> rocm_smi;
};

struct SampleSummary {
  uint64_t ticks = 0;        // sampled
  uint64_t missed = 0;       // ticks that passed before they could be sampled
  uint64_t clock_steps = 0;  // steps of CLOCK_REALTIME
  uint64_t empty_reads = 0;  // GPU samples without any value
  double elapsed_s = 0;      // first to last tick
  double cpu_s = 0;          // user and system time of this process while it sampled
  size_t logical_cpus = 0;
  size_t physical_cores = 0;  // 0 = the topology is unknown
  std::vector<SampledGpu> gpus;
  std::vector<std::string> notes;   // sources missing on this machine
  std::optional<int> command_exit;  // of the command
  bool interrupted = false;
  bool reader_gone = false;      // broken pipe: the reader closed its end
  std::optional<Error> failure;  // why the sampling ended before the job
};

// Fails only before a command is started. The summary reports later failures, and the command runs
// to its end.
Result<SampleSummary> run_sampler(const SampleOptions& options);

// The exit code of shells for a command that cannot be started: 127 if it does not exist, 126 if it
// is not executable. 0 for any other command or none.
int unstartable_code(const std::vector<std::string>& command);

}  // namespace assay::sample
