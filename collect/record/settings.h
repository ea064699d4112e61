#pragma once

// The settings of `assay record` for the recorder. They are in the environment because the driver
// loads the recorder into programs that do not know of it.

#include <cstdint>
#include <string>

namespace assay::record {

struct Settings {
  std::string path;                    // ASSAY_RECORD_OUT; the process id precedes the extension
  std::string cupti;                   // ASSAY_CUPTI: the libcupti to use; empty = search
  std::string torch;                   // ASSAY_RECORD_TORCH: the observer of PyTorch's operators
  std::string capture_range;           // ASSAY_RECORD_RANGE: record only inside this range
  std::string control;                 // ASSAY_RECORD_CONTROL: a file with a wire::Control
  std::string shared;                  // ASSAY_RECORD_SHARED: memory that outlives this process;
                                       // "none" = unavailable; empty = unused
  std::string version;                 // ASSAY_RECORD_VERSION
  uint64_t session = 0;                // ASSAY_RECORD_SESSION, hexadecimal
  uint64_t max_bytes = 4ull << 30;     // ASSAY_RECORD_MAX_BYTES, of one process's file
  uint64_t max_memory = 256ull << 20;  // ASSAY_RECORD_MAX_MEMORY, of buffers
  uint32_t flush_ms = 1000;            // ASSAY_RECORD_FLUSH_MS
  bool tracer_clock = false;           // ASSAY_RECORD_CLOCK=tracer: keep CUPTI's clock
  bool all_calls = false;              // ASSAY_RECORD_CALLS=all: include those of quiet_calls.h
  bool torch_modules = false;          // ASSAY_RECORD_TORCH_MODULES=hooks: record module calls
  bool whole_graphs = false;           // ASSAY_RECORD_GRAPHS=whole: one record per graph launch

  // True if a range or a signal starts the recording.
  bool starts_paused() const { return !capture_range.empty() || !control.empty(); }
};

// ASSAY_RECORD_SHARED if shared memory was requested but is unavailable.
constexpr const char* kNoSharedMemory = "none";

Settings settings_from_environment();

}  // namespace assay::record
