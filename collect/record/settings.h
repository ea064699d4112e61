#pragma once

// What `assay record` asks of the recorder. It travels in the environment, since the recorder is
// loaded by the driver inside programs that know nothing of it.

#include <cstdint>
#include <string>

namespace assay::record {

struct Settings {
  std::string path;                    // ASSAY_RECORD_OUT; the process id goes before the extension
  std::string cupti;                   // ASSAY_CUPTI: the libcupti to take; empty = look for it
  std::string torch;                   // ASSAY_RECORD_TORCH: the observer of PyTorch's operators
  std::string capture_range;           // ASSAY_RECORD_RANGE: record only while it is open
  std::string control;                 // ASSAY_RECORD_CONTROL: a file holding a wire::Control
  std::string shared;                  // ASSAY_RECORD_SHARED: memory that outlives this process;
                                       // "none" = it was refused; empty = nobody asks for it
  std::string version;                 // ASSAY_RECORD_VERSION
  uint64_t session = 0;                // ASSAY_RECORD_SESSION, hexadecimal
  uint64_t max_bytes = 4ull << 30;     // ASSAY_RECORD_MAX_BYTES, of one process's file
  uint64_t max_memory = 256ull << 20;  // ASSAY_RECORD_MAX_MEMORY, of buffers
  uint32_t flush_ms = 1000;            // ASSAY_RECORD_FLUSH_MS
  bool tracer_clock = false;           // ASSAY_RECORD_CLOCK=tracer: leave CUPTI its own clock
  bool all_calls = false;              // ASSAY_RECORD_CALLS=all: also those of quiet_calls.h
  bool torch_modules = false;          // ASSAY_RECORD_TORCH_MODULES=hooks: calls of modules, too
  bool whole_graphs = false;           // ASSAY_RECORD_GRAPHS=whole: graphs as one record each

  // Nothing is recorded until a range or a signal says so.
  bool starts_paused() const { return !capture_range.empty() || !control.empty(); }
};

// ASSAY_RECORD_SHARED where there is none although one was wanted.
constexpr const char* kNoSharedMemory = "none";

Settings settings_from_environment();

}  // namespace assay::record
