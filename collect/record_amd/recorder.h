#pragma once

// The recorder inside a program that uses an AMD GPU. rocprofiler-sdk delivers its buffers on its
// own thread, where they are copied; the writing thread converts them to the file. As in
// collect/record/recorder.h, no function throws or affects the program, and failures are one line
// on stderr and a note in the file. Records beyond Settings::max_memory are dropped and counted:
// the program never waits for the disk.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/record/control.h"
#include "collect/record/host_ranges.h"
#include "collect/record/notes.h"
#include "collect/record/settings.h"
#include "collect/record/trace_file.h"
#include "collect/record_amd/decoder.h"
#include "collect/record_amd/library.h"

namespace assay::record_amd {

using record::HostRanges;
using record::Settings;

class Recorder {
 public:
  // The recorder of this process. Never destroyed.
  static Recorder& get();

  // Called when the library loads. False: this version is unsupported, which the file notes.
  bool attach(uint32_t version) noexcept;
  // Called at the only moment at which services can be requested.
  void configure() noexcept;
  // Called at program exit. Writes the remaining data and closes the file.
  void finish() noexcept;

  // Called by PyTorch's operators, on the program's threads.
  bool wants_operators() const noexcept;
  void add(const OperatorSeen& seen) noexcept;

  // Called by the library.
  void take(rocprofiler::RecordHeader** records, size_t count, uint64_t dropped) noexcept;
  void symbol_seen(const rocprofiler::KernelSymbol& symbol) noexcept;
  void marker_seen(int kind, int32_t operation, uint32_t phase,
                   const rocprofiler::Marker& marker) noexcept;
  void stream_seen(int32_t operation, uint32_t phase, uint64_t thread,
                   const rocprofiler::HipStream& stream) noexcept;

 private:
  explicit Recorder(bool forked);

  enum class State : uint8_t { kIdle, kRunning, kFinished };
  enum class MarkerCall : uint8_t { kMark, kPush, kPop, kStart, kStop, kNameThread };

  static void in_forked_child();

  bool ensure_running();
  bool succeeded(int status, const char* doing);
  bool create_contexts();
  void ask_for_records();
  void ask_for_calls(const char* kind, RecordKind meaning, bool with_quiet);
  bool ask_for_kind(const char* kind, RecordKind meaning);
  void ask_for_callbacks();
  bool ask_for_callback(const char* kind, rocprofiler::TracingCallback callback, bool needed);
  void learn_markers(const char* kind);
  void find_gpus();

  void switch_tracing(bool on);
  void switch_window(bool on, wire::WindowReason reason);
  void capture_changed(bool opened);
  void act_on(MarkerCall call, const rocprofiler::Marker& marker);
  void push(const char* name);
  void pop();
  void start_range(const char* name, uint64_t id);
  void stop_range(uint64_t id);

  void observe_operators();
  void write_until_finished();
  void wait_for_work();
  void write_process();
  void write_clock();
  void write_devices();
  void write_notes();
  void drain();
  void periodic_flush();
  void check_file();
  void write_last();

  const Settings settings_;
  const bool forked_;
  std::atomic<State> state_ = State::kIdle;
  std::mutex start_mutex_;
  record::TraceFile file_;  // of the writing thread, once it runs
  record::Notes notes_;
  record::Area area_;  // for ranges: private memory, lost with the process
  std::unique_ptr<HostRanges> ranges_;
  record::SourceProgress ranges_written_;  // required by fetch(), not used
  Library library_;
  Symbols symbols_;
  Decoder decoder_;
  std::vector<std::pair<wire::Device, std::string>> devices_;
  Numbers buffer_kinds_;
  Numbers callback_kinds_;
  std::unordered_map<int, std::unordered_map<int32_t, MarkerCall>> markers_;
  int32_t stream_set_ = -1;
  rocprofiler::Handle naming_ = {};   // always on: code objects and markers
  rocprofiler::Handle tracing_ = {};  // on while recording
  rocprofiler::Handle buffer_ = {};
  std::atomic<bool> attached_ = false;  // services were granted; publishes the members above
  std::atomic<uint32_t> version_ = 0;

  std::mutex window_mutex_;
  std::atomic<bool> recording_ = false;
  bool tracing_on_ = false;
  int captures_open_ = 0;
  std::vector<wire::Window> windows_;  // not yet written

  std::mutex started_mutex_;
  std::unordered_map<uint64_t, uint64_t> started_;  // ranges, from roctx's id to the recorder's

  std::mutex queue_mutex_;
  std::condition_variable work_;
  std::vector<uint8_t> waiting_;
  uint64_t refused_ = 0;          // records dropped because the memory was full
  uint64_t library_dropped_ = 0;  // as last reported by the library
  bool stop_asked_ = false;
  bool writer_done_ = false;
  std::condition_variable done_;

  // Of the writing thread.
  record::Control control_;
  uint64_t next_flush_ns_ = 0;
  bool devices_written_ = false;
  bool file_ended_ = false;
  bool observing_ = false;  // PyTorch's operators, or they are known to be unavailable
};

}  // namespace assay::record_amd
