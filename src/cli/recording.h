#pragma once

// Runs a command with Assay's recorder loaded into it and into what it starts: the environment that
// does it, the signals passed on, the files that come out.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/record/rescue.h"

namespace assay {

struct RecordRequest {
  std::vector<std::string> command;
  std::string output;         // out.assaytrace; each process's id goes before the extension
  std::string library;        // of the recorder; empty = found beside this binary
  std::string gpu = "auto";   // nvidia, amd; auto: NVIDIA's, and AMD's where it is
  std::string operators;      // libassay_torch.so; empty = PyTorch's operators are not recorded
  bool modules = false;       // and the calls of its modules
  std::string cupti;          // empty = the recorder looks for it
  std::string capture_range;  // record only inside NVTX ranges of this name
  int start_signal = 0;       // sent to us: recording starts; 0 = it starts with the program
  int stop_signal = 0;        // the same one as start_signal: each turns it over
  uint64_t max_bytes = 0;     // of each file; 0 = the recorder's default
  uint32_t flush_ms = 0;      // 0 = the recorder's default
  bool tracer_clock = false;
  bool all_calls = false;
  bool whole_graphs = false;
};

struct RecordRun {
  int exit_code = 0;               // the command's; 128 + signal when one ended it, as shells say
  std::vector<std::string> files;  // of this run, by name
  bool for_nvidia = false;         // whose GPUs were to be recorded
  bool for_amd = false;
  // Processes that left their recording open, whose files were finished for them.
  std::vector<record::SharedMemory::Rescued> rescued;
};

// A file that belongs to Assay, `name`: named by the environment variable, beside this binary, or
// in
// ../lib/assay of it.
Result<std::string> find_collector(const std::string& name, const char* variable);

// Errors: no recorder (of AMD's GPUs: where they were asked for by name), another injector in the
// environment, output that cannot be written. The command that cannot be started is no error: its
// exit code is 127 or 126, as shells say.
Result<RecordRun> run_recorded(const RecordRequest& request);

// "USR1", "SIGUSR1" or a number; 0 = no signal of that name.
int signal_from_name(const std::string& name);

}  // namespace assay
