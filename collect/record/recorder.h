#pragma once

// The recorder inside the program. CUPTI completes buffers on any thread; the writing thread
// converts them to the file. A failure must not affect the program: no function throws or waits for
// the program. Failures are one line on stderr and a note in the file.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collect/record/buffers.h"
#include "collect/record/control.h"
#include "collect/record/cupti_library.h"
#include "collect/record/decoder.h"
#include "collect/record/host_ranges.h"
#include "collect/record/live_names.h"
#include "collect/record/notes.h"
#include "collect/record/settings.h"
#include "collect/record/shared_area.h"
#include "collect/record/trace_file.h"

namespace assay::record {

class Recorder {
 public:
  // The recorder of this process. Never destroyed, because threads may outlive exit handlers.
  static Recorder& get();

  // Called when the driver starts: finds and enables CUPTI.
  void attach_cuda() noexcept;
  // Called at program exit. Writes the remaining data and closes the file.
  void finish() noexcept;

  // Called by NVTX functions, on the program's threads. The first call creates the file. An empty
  // domain is the default one.
  int push(std::string_view domain, std::string_view name, uint32_t category) noexcept;
  int pop(std::string_view domain) noexcept;
  uint64_t start_range(std::string_view domain, std::string_view name, uint32_t category) noexcept;
  void end_range(uint64_t id) noexcept;
  void mark(std::string_view domain, std::string_view name) noexcept;
  void name_thread(uint32_t thread, std::string_view name) noexcept;

  // Called by PyTorch's operators, on the program's threads.
  bool wants_operators() const noexcept;
  void add(const OperatorSeen& seen) noexcept;

 private:
  explicit Recorder(bool forked);

  enum class State : uint8_t { kIdle, kRunning, kFinished };

  static void in_forked_child();
  static void on_callback(void* user, int domain, uint32_t callback, const void* info);
  static void on_buffer_requested(uint8_t** buffer, size_t* size, size_t* most_records);
  uint64_t dropped_by_tracer(void* context, uint32_t stream);
  void count_dropped(uint64_t count);
  static void on_buffer_completed(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                  size_t valid);

  // recorder.cc
  bool ensure_running();
  bool share();

  // tracing.cc
  void share_tracer();
  void choose_cupti();
  int try_cupti();
  std::string with_kineto(const std::string& text) const;
  void observe_operators();
  void switch_clock();
  void start_tracing();
  void explain(int result, const char* doing);
  void open_window(wire::WindowReason reason);
  void close_window(wire::WindowReason reason);
  bool enable(uint32_t kind);
  void enable_host_kinds();
  void find_quiet_calls();
  void enable_device_kinds();
  void disable_host_kinds();
  void disable_device_kinds();
  void capture_opened();
  void capture_closed();

  // writing.cc
  void write_until_finished();
  void write_process();
  void wait_for_work();
  void drain();
  void look_ahead();
  void publish_lost();
  void periodic_flush(bool forced);
  wire::Clock read_clocks(bool traced);
  void write_clock();
  void write_devices();
  void poll_control();
  void check_file();
  void end_grace();
  bool taken_over();
  void write_last();

  const Settings settings_;
  const bool forked_;
  std::atomic<State> state_ = State::kIdle;
  std::mutex start_mutex_;  // one attach at a time
  Area area_;
  TraceFile file_;  // of the writing thread, once it runs
  Notes notes_;
  ProgressLog progress_;
  std::unique_ptr<LiveNames> names_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<HostRanges> ranges_;
  CuptiLibrary cupti_;
  void* subscriber_ = nullptr;
  std::atomic<bool> tracing_ = false;   // the recorder holds the CUPTI subscription
  std::atomic<uint32_t> attached_ = 0;  // number of driver starts; publishes the members above
  wire::ClockKind clock_ = wire::ClockKind::kNone;

  std::mutex window_mutex_;
  std::atomic<bool> recording_ = false;
  int captures_open_ = 0;
  uint64_t device_off_at_ns_ = 0;  // when to disable device kinds after a window; 0 = not pending
  bool device_on_ = false;
  std::vector<uint32_t> quiet_runtime_;  // CUPTI's numbers of the calls of quiet_calls.h
  std::vector<uint32_t> quiet_driver_;

  std::mutex queue_mutex_;
  std::condition_variable work_;
  Buffers buffers_;
  uint64_t dropped_ = 0;
  bool stop_asked_ = false;
  bool writer_done_ = false;
  std::condition_variable done_;

  // Of the writing thread.
  uint64_t next_flush_ns_ = 0;
  Control control_;
  uint32_t attached_told_ = 0;
  std::chrono::milliseconds look_again_{1};  // for new names, in buffers that CUPTI is filling
  bool devices_written_ = false;
  bool file_ended_ = false;
  std::atomic<bool> observing_ = false;  // PyTorch's operators, or they are known to be unavailable
};

}  // namespace assay::record
