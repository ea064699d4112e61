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
  std::string library;        // of the recorder; empty = found in the folder of this binary
  std::string gpu = "auto";   // nvidia, amd, or auto: NVIDIA's, and AMD's if available
  std::string operators;      // libassay_torch.so; empty = PyTorch's operators are not recorded
  bool modules = false;       // and the calls of its modules
  std::string cupti;          // empty = the recorder looks for it
  std::string capture_range;  // record only inside NVTX ranges of this name
  int start_signal = 0;       // signal to this process that starts recording; 0 = it starts with
                              // the program
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
  bool for_nvidia = false;         // vendors of the GPUs to record
  bool for_amd = false;
  // Processes that ended without closing their recording; their files were completed for them.
  std::vector<record::SharedMemory::Rescued> rescued;
};

// A file `name` that belongs to Assay: named by the environment variable, in the folder of this
// binary, or in ../lib/assay of it.
Result<std::string> find_collector(const std::string& name, const char* variable);

// Errors: no recorder (for AMD's GPUs only if requested by name), another injector in the
// environment, output that cannot be written. A command that cannot be started is not an error: its
// exit code is 127 or 126, as in shells.
Result<RecordRun> run_recorded(const RecordRequest& request);

// "USR1", "SIGUSR1" or a number; 0 = no signal of that name.
int signal_from_name(const std::string& name);

}  // namespace assay
