#pragma once

// Runs a command with Assay's recorder loaded into it and its child processes: sets the
// environment, forwards signals, collects the resulting files.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/record/rescue.h"

namespace assay {

struct RecordRequest {
  std::vector<std::string> command;
  std::string output;         // out.assaytrace; each process inserts its id before the extension
  std::string library;        // recorder library; empty = search relative to this program
  std::string gpu = "auto";   // nvidia, amd, or auto: NVIDIA, and AMD if available
  std::string operators;      // libassay_torch.so; empty = do not record PyTorch's operators
  bool modules = false;       // also record calls of PyTorch's modules
  std::string cupti;          // library; empty = the recorder searches for it
  std::string capture_range;  // record only inside NVTX ranges of this name
  int start_signal = 0;       // signal to this process that starts recording; 0 = record from the
                              // program's start
  int stop_signal = 0;        // stops recording; if equal to start_signal, each signal toggles it
  uint64_t max_bytes = 0;     // per file; 0 = the recorder's default
  uint32_t flush_ms = 0;      // 0 = the recorder's default
  bool tracer_clock = false;
  bool all_calls = false;
  bool whole_graphs = false;
};

struct RecordRun {
  int exit_code = 0;               // the command's; 128 + signal if a signal ended it, as in shells
  std::vector<std::string> files;  // of this run, sorted by name
  bool for_nvidia = false;         // vendors of the recorded GPUs
  bool for_amd = false;
  // Processes that ended without closing their recording; their files were completed from shared
  // memory.
  std::vector<record::SharedMemory::Rescued> rescued;
};

// Path of a file that ships with Assay: from the environment variable, in this program's folder, or
// in ../lib/assay, lib/assay or ../libexec/assay relative to it.
Result<std::string> find_collector(const std::string& name, const char* variable);

// Errors: no recorder (for AMD only if requested by name), another injector in the environment,
// output not writable. A command that cannot be started is not an error: its exit code is 127 or
// 126, as in shells.
Result<RecordRun> run_recorded(const RecordRequest& request);

// Signal number for "USR1", "SIGUSR1" or a number; 0 if there is no such signal.
int signal_from_name(const std::string& name);

}  // namespace assay
