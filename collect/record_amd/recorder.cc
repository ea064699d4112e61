#include "collect/record_amd/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "collect/record/clocks.h"
#include "collect/record/limits.h"
#include "collect/record/loaded.h"
#include "collect/record/observer.h"
#include "collect/record/process.h"
#include "collect/record_amd/quiet_calls.h"

namespace assay::record_amd {
namespace {

using record::kControlPeriod;
using record::kKeepPeriod;
using record::kLongestFinish;
using record::kMostRangesWaiting;
using record::kMostTextBytes;
using record::kRangesWorthWaking;
using record::monotonic_ns;
using record::running_program;
using record::say_line;
using record::start_own_thread;
using rocprofiler::kPhaseEnter;
using rocprofiler::kPhaseExit;
using rocprofiler::kSuccess;

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kBufferWatermark = kBufferBytes / 2;
constexpr uint64_t kLongestRecord = 64 << 10;

std::atomic<Recorder*> the_recorder = nullptr;

// A callback record in either layout. At the offset of the newer kind the older layout has the
// phase, 0 to 2. No requested kind has so small a number.
struct CallbackView {
  uint64_t thread;
  int32_t operation;
  uint32_t phase;
  void* payload;
};

CallbackView view_of(const rocprofiler::CallbackRecord& record) {
  if (record.kind > kPhaseExit) {
    return {record.thread, record.operation, record.phase, record.payload};
  }
  rocprofiler::CallbackRecordBefore1 before = {};
  std::memcpy(&before, &record, sizeof(before));
  return {before.thread, before.operation, before.phase, before.payload};
}

void on_buffer(rocprofiler::Handle, rocprofiler::Handle, rocprofiler::RecordHeader** records,
               size_t count, void*, uint64_t dropped) {
  Recorder::get().take(records, count, dropped);
}

// Operation 2 is a kernel symbol of the device in every version.
void on_code_object(rocprofiler::CallbackRecord record, void*, void*) {
  constexpr int32_t kDeviceKernelSymbol = 2;
  const CallbackView view = view_of(record);
  if (view.operation != kDeviceKernelSymbol || view.phase != kPhaseEnter) return;
  if (view.payload == nullptr) return;
  rocprofiler::KernelSymbol symbol = {};
  uint64_t size = 0;
  std::memcpy(&size, view.payload, sizeof(size));
  std::memcpy(&symbol, view.payload, std::min<size_t>(size, sizeof(symbol)));
  Recorder::get().symbol_seen(symbol);
}

void on_marker(rocprofiler::CallbackRecord record, void*, void* tool) {
  const CallbackView view = view_of(record);
  if (view.payload == nullptr) return;
  rocprofiler::Marker marker = {};
  uint64_t size = 0;
  std::memcpy(&size, view.payload, sizeof(size));
  std::memcpy(&marker, view.payload, std::min<size_t>(size, sizeof(marker)));
  Recorder::get().marker_seen(*static_cast<const int*>(tool), view.operation, view.phase, marker);
}

void on_stream(rocprofiler::CallbackRecord record, void*, void*) {
  const CallbackView view = view_of(record);
  if (view.payload == nullptr) return;
  rocprofiler::HipStream stream = {};
  std::memcpy(&stream, view.payload, sizeof(stream));
  Recorder::get().stream_seen(view.operation, view.phase, view.thread, stream);
}

uint64_t memory_of(const rocprofiler::Agent& agent) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; agent.banks != nullptr && i < agent.banks_count; ++i) {
    const uint32_t heap = agent.banks[i].heap;
    const bool own =
        heap == rocprofiler::kHeapFrameBufferPublic || heap == rocprofiler::kHeapFrameBufferPrivate;
    if (own) bytes += agent.banks[i].bytes;
  }
  return bytes;
}

std::string name_of(const rocprofiler::Agent& agent) {
  const char* product = agent.product;
  if (product != nullptr && *product != '\0') return product;
  return agent.name != nullptr ? agent.name : "";
}

int collect_agents(int, const void** agents, size_t count, void* data) {
  auto& gpus = *static_cast<std::vector<rocprofiler::Agent>*>(data);
  for (size_t i = 0; i < count; ++i) {
    const auto* agent = static_cast<const rocprofiler::Agent*>(agents[i]);
    if (agent->size < sizeof(*agent) || agent->type != rocprofiler::kAgentGpu) continue;
    gpus.push_back(*agent);
  }
  return kSuccess;
}

int operators_wanted() { return Recorder::get().wants_operators() ? 1 : 0; }
void operator_seen(const OperatorSeen* seen) { Recorder::get().add(*seen); }

}  // namespace

Recorder& Recorder::get() {
  Recorder* recorder = the_recorder.load(std::memory_order_acquire);
  if (recorder != nullptr) return *recorder;
  static std::once_flag once;
  std::call_once(once, [] {
    the_recorder.store(new Recorder(false), std::memory_order_release);
    ::pthread_atfork(nullptr, nullptr, &Recorder::in_forked_child);
  });
  return *the_recorder.load(std::memory_order_acquire);
}

// HIP is unusable in a forked child of a process that has it running, so only ranges are recorded.
// From the parent only the marker table is copied.
void Recorder::in_forked_child() {
  Recorder* parents = the_recorder.load(std::memory_order_relaxed);
  if (parents == nullptr) return;
  parents->file_.abandon();
  record::forget_threads();
  try {
    auto* childs = new Recorder(true);
    childs->markers_ = parents->markers_;
    the_recorder.store(childs, std::memory_order_relaxed);
  } catch (...) {
    parents->state_ = State::kFinished;
  }
}

Recorder::Recorder(bool forked)
    : settings_(record::settings_from_environment()),
      forked_(forked),
      ranges_(std::make_unique<HostRanges>(kMostRangesWaiting, kMostTextBytes,
                                           settings_.capture_range)),
      decoder_(file_, symbols_) {
  recording_ = !settings_.starts_paused();
}

// ---- starting -----------------------------------------------------------------------------------

bool Recorder::ensure_running() {
  if (state_.load(std::memory_order_acquire) == State::kRunning) return true;
  const std::lock_guard lock(start_mutex_);
  if (state_ != State::kIdle) return state_ == State::kRunning;
  if (!file_.open(settings_)) {
    say_line("cannot write " + file_.path() + ": " + std::strerror(file_.error()) +
             "; this process is not recorded");
    state_ = State::kFinished;
    return false;
  }
  if (!area_.make_own()) {
    say_line("no memory to record with; this process is not recorded");
    file_.abandon();
    state_ = State::kFinished;
    return false;
  }
  ranges_->use(area_);
  // In this thread: even a process that ends at once then leaves a recognizable file.
  file_.begin();
  state_.store(State::kRunning, std::memory_order_release);
  const int failed = start_own_thread(
      [](void* recorder) -> void* {
        static_cast<Recorder*>(recorder)->write_until_finished();
        return nullptr;
      },
      this);
  if (failed != 0) {
    say_line(std::string("no thread to write with: ") + std::strerror(failed));
    state_ = State::kFinished;
    return false;
  }
  return true;
}

bool Recorder::attach(uint32_t version) noexcept {
  try {
    version_ = version;
    library_ = bind_rocprofiler(version);
    if (version < rocprofiler::kOldestVersion) {
      notes_.add(wire::NoteCode::kOldRocprofiler, version,
                 "rocprofiler-sdk " + version_text(version) + " is older than 0.5.0");
    } else if (!library_.problem.empty()) {
      notes_.add(wire::NoteCode::kRocprofilerRefused, 0,
                 "rocprofiler-sdk " + version_text(version) + " has no " + library_.problem);
    } else {
      return true;
    }
    // Creates a file that states why it is empty. rocprofiler-sdk will not signal the program's
    // end.
    if (ensure_running()) std::atexit([] { get().finish(); });
    return false;
  } catch (...) {
    say_line("out of memory while starting; this process is not recorded");
    return false;
  }
}

void Recorder::configure() noexcept {
  try {
    if (create_contexts()) {
      find_gpus();
      ask_for_records();
      ask_for_callbacks();
      library_.functions.start_context(naming_);
      attached_.store(true, std::memory_order_release);
      if (recording_) switch_tracing(true);
    }
    if (!ensure_running() && attached_) switch_tracing(false);
  } catch (...) {
    say_line("out of memory while starting; this process is not recorded");
  }
}

bool Recorder::succeeded(int status, const char* doing) {
  if (status == kSuccess) return true;
  notes_.add(
      wire::NoteCode::kRocprofilerRefused, status,
      std::string(doing) + ": rocprofiler-sdk says " + status_text(library_.functions, status));
  return false;
}

bool Recorder::create_contexts() {
  const rocprofiler::Functions& call = library_.functions;
  return succeeded(call.create_context(&naming_), "making a context") &&
         succeeded(call.create_context(&tracing_), "making a context") &&
         succeeded(call.create_buffer(tracing_, kBufferBytes, kBufferWatermark,
                                      rocprofiler::kPolicyLossless, on_buffer, nullptr, &buffer_),
                   "making a buffer");
}

void Recorder::ask_for_records() {
  const rocprofiler::Functions& call = library_.functions;
  buffer_kinds_ = kinds_by_name(call.buffer_kinds, call.buffer_kind_name);
  // Device kinds first, so that no call lacks its activity.
  if (!ask_for_kind("KERNEL_DISPATCH", RecordKind::kDispatch)) return;
  ask_for_kind("MEMORY_COPY", RecordKind::kCopy);
  ask_for_kind("SCRATCH_MEMORY", RecordKind::kScratch);
  ask_for_calls("HIP_RUNTIME_API", RecordKind::kHipCall, settings_.all_calls);
  if (!settings_.all_calls) return;
  ask_for_calls("HIP_COMPILER_API", RecordKind::kHipCall, true);
  ask_for_calls("HSA_CORE_API", RecordKind::kHsaCall, true);
  ask_for_calls("HSA_AMD_EXT_API", RecordKind::kHsaCall, true);
}

bool Recorder::ask_for_kind(const char* kind, RecordKind meaning) {
  const auto number = buffer_kinds_.find(kind);
  const bool needed = meaning == RecordKind::kDispatch;
  const bool listed = number != buffer_kinds_.end();
  const rocprofiler::Functions& call = library_.functions;
  const int status =
      listed ? call.buffer_service(tracing_, number->second, nullptr, 0, buffer_) : -1;
  if (status == kSuccess) {
    decoder_.learn(
        number->second, meaning,
        operations_of(number->second, call.buffer_operations, call.buffer_operation_name));
    return true;
  }
  notes_.add(needed ? wire::NoteCode::kRocprofilerRefused : wire::NoteCode::kKindRefused, status,
             "rocprofiler-sdk " + version_text(library_.version) +
                 (listed ? " refuses records of kind " : " has no records of kind ") + kind);
  return false;
}

// Single calls can only be excluded here.
void Recorder::ask_for_calls(const char* kind, RecordKind meaning, bool with_quiet) {
  const auto number = buffer_kinds_.find(kind);
  if (number == buffer_kinds_.end()) {
    notes_.add(wire::NoteCode::kKindRefused, 0,
               std::string("rocprofiler-sdk has no records of kind ") + kind);
    return;
  }
  const rocprofiler::Functions& call = library_.functions;
  const std::vector<Operation> operations =
      operations_of(number->second, call.buffer_operations, call.buffer_operation_name);
  std::vector<int32_t> wanted;
  for (const Operation& operation : operations) {
    if (with_quiet || !is_quiet(operation.name)) wanted.push_back(operation.number);
  }
  if (!succeeded(
          call.buffer_service(tracing_, number->second, wanted.data(), wanted.size(), buffer_),
          kind)) {
    return;
  }
  decoder_.learn(number->second, meaning, operations);
}

void Recorder::ask_for_callbacks() {
  const rocprofiler::Functions& call = library_.functions;
  callback_kinds_ = kinds_by_name(call.callback_kinds, call.callback_kind_name);
  ask_for_callback("CODE_OBJECT", on_code_object, true);
  if (ask_for_callback("MARKER_CORE_API", on_marker, false)) learn_markers("MARKER_CORE_API");
  if (ask_for_callback("MARKER_NAME_API", on_marker, false)) learn_markers("MARKER_NAME_API");
  // Since 1.0. Before, lanes are queues.
  const auto streams = callback_kinds_.find("HIP_STREAM");
  if (streams == callback_kinds_.end()) return;
  for (const Operation& operation :
       operations_of(streams->second, call.callback_operations, call.callback_operation_name)) {
    const bool is_set = operation.name.size() >= 3 &&
                        operation.name.compare(operation.name.size() - 3, 3, "SET") == 0;
    if (is_set) stream_set_ = operation.number;
  }
  if (stream_set_ >= 0 && ask_for_callback("HIP_STREAM", on_stream, false)) {
    decoder_.expect_streams();
  }
}

bool Recorder::ask_for_callback(const char* kind, rocprofiler::TracingCallback callback,
                                bool needed) {
  const auto number = callback_kinds_.find(kind);
  const bool listed = number != callback_kinds_.end();
  // The callback receives a pointer to its kind, so the table must not move.
  const int status = listed ? library_.functions.callback_service(naming_, number->second, nullptr,
                                                                  0, callback, &number->second)
                            : -1;
  if (status == kSuccess) return true;
  notes_.add(
      needed ? wire::NoteCode::kRocprofilerRefused : wire::NoteCode::kKindRefused, status,
      "rocprofiler-sdk " + version_text(library_.version) + " gives no callbacks of kind " + kind);
  return false;
}

void Recorder::learn_markers(const char* kind) {
  constexpr std::pair<std::string_view, MarkerCall> kCalls[] = {
      {"roctxMarkA", MarkerCall::kMark},     {"roctxRangePushA", MarkerCall::kPush},
      {"roctxRangePop", MarkerCall::kPop},   {"roctxRangeStartA", MarkerCall::kStart},
      {"roctxRangeStop", MarkerCall::kStop}, {"roctxNameOsThread", MarkerCall::kNameThread}};
  const rocprofiler::Functions& call = library_.functions;
  const int number = callback_kinds_[kind];
  for (const Operation& operation :
       operations_of(number, call.callback_operations, call.callback_operation_name)) {
    for (const auto& [name, meaning] : kCalls) {
      if (operation.name == name) markers_[number][operation.number] = meaning;
    }
  }
}

void Recorder::find_gpus() {
  std::vector<rocprofiler::Agent> gpus;
  const int status = library_.functions.agents(rocprofiler::kAgentInfoVersion, collect_agents,
                                               sizeof(rocprofiler::Agent), &gpus);
  if (!succeeded(status, "listing the GPUs")) return;
  Gpus numbers;
  for (const rocprofiler::Agent& gpu : gpus) {
    wire::Device device = {};
    device.id = static_cast<uint32_t>(numbers.size());
    device.memory_bytes = memory_of(gpu);
    device.multiprocessors = gpu.compute_units;
    device.warp_size = gpu.wave_size;
    device.compute_major = gpu.gfx_version / 10000 % 100;
    device.compute_minor = gpu.gfx_version / 100 % 100;
    device.clock_khz = gpu.gpu_clock_mhz * 1000;
    numbers[gpu.id.handle] = device.id;
    devices_.emplace_back(device, name_of(gpu));
  }
  decoder_.learn(std::move(numbers));
}

// ---- when to record -----------------------------------------------------------------------------

// Activities dispatched while it was on are still reported later.
void Recorder::switch_tracing(bool on) {
  if (!attached_ || tracing_on_ == on) return;
  tracing_on_ = on;
  const rocprofiler::Functions& call = library_.functions;
  succeeded(on ? call.start_context(tracing_) : call.stop_context(tracing_),
            on ? "switching recording on" : "switching recording off");
}

// Under start_mutex_.
void Recorder::switch_window(bool on, wire::WindowReason reason) {
  wire::Window window = {};
  window.reason = reason;
  if (on) switch_tracing(true);
  window.monotonic = monotonic_ns();
  window.is_open = on ? 1 : 0;
  recording_ = on;
  if (!on) switch_tracing(false);
  const std::lock_guard lock(window_mutex_);
  windows_.push_back(window);
}

void Recorder::capture_changed(bool opened) {
  const std::lock_guard lock(start_mutex_);
  if (opened && captures_open_++ == 0) switch_window(true, wire::WindowReason::kRange);
  if (!opened && captures_open_ > 0 && --captures_open_ == 0) {
    switch_window(false, wire::WindowReason::kRange);
  }
}

// ---- what the library calls ---------------------------------------------------------------------

void Recorder::symbol_seen(const rocprofiler::KernelSymbol& symbol) noexcept {
  try {
    symbols_.add(symbol);
  } catch (...) {
    return;
  }
}

void Recorder::push(const char* name) {
  if (!ensure_running()) return;
  if (ranges_->is_capture(name)) capture_changed(true);
  ranges_->push({}, name, 0, false);
}

void Recorder::pop() {
  bool captures = false;
  ranges_->pop({}, recording_, captures);
  if (captures) capture_changed(false);
}

void Recorder::start_range(const char* name, uint64_t id) {
  if (!ensure_running()) return;
  if (ranges_->is_capture(name)) capture_changed(true);
  const std::lock_guard lock(started_mutex_);
  started_[id] = ranges_->start({}, name, 0, false);
}

void Recorder::stop_range(uint64_t id) {
  bool captures = false;
  {
    const std::lock_guard lock(started_mutex_);
    const auto ours = started_.find(id);
    if (ours == started_.end()) return;
    ranges_->end(ours->second, recording_, captures);
    started_.erase(ours);
  }
  if (captures) capture_changed(false);
}

void Recorder::act_on(MarkerCall call, const rocprofiler::Marker& marker) {
  if (call == MarkerCall::kPop) return pop();
  if (call == MarkerCall::kStop) return stop_range(marker.argument.id);
  const char* text = marker.argument.message != nullptr ? marker.argument.message : "";
  if (call == MarkerCall::kPush) return push(text);
  if (call == MarkerCall::kStart) return start_range(text, marker.returned);
  if (call == MarkerCall::kNameThread) return ranges_->name_thread(record::this_thread(), text);
  if (recording_ && ensure_running()) ranges_->mark({}, text);
}

void Recorder::marker_seen(int kind, int32_t operation, uint32_t phase,
                           const rocprofiler::Marker& marker) noexcept {
  try {
    const auto calls = markers_.find(kind);
    if (calls == markers_.end()) return;
    const auto found = calls->second.find(operation);
    if (found == calls->second.end()) return;
    // Start and push are handled at the end of their call, when the id is known; the others at the
    // start.
    const bool begins = found->second == MarkerCall::kStart || found->second == MarkerCall::kPush;
    if (phase != (begins ? kPhaseExit : kPhaseEnter)) return;
    act_on(found->second, marker);
    if (ranges_->waiting() == kRangesWorthWaking) work_.notify_one();
  } catch (...) {
    return;
  }
}

void Recorder::stream_seen(int32_t operation, uint32_t phase, uint64_t thread,
                           const rocprofiler::HipStream& stream) noexcept {
  if (operation != stream_set_ || forked_) return;
  if (phase == kPhaseEnter) {
    library_.functions.push_external(tracing_, thread, stream.stream.handle + 1);
  } else if (phase == kPhaseExit) {
    uint64_t before = 0;
    library_.functions.pop_external(tracing_, thread, &before);
  }
}

// Runs on the library's thread, which fills the next buffer only after this returns.
void Recorder::take(rocprofiler::RecordHeader** records, size_t count, uint64_t dropped) noexcept {
  const std::lock_guard lock(queue_mutex_);
  if (dropped > library_dropped_) {
    refused_ += dropped - library_dropped_;
    library_dropped_ = dropped;
  }
  for (size_t i = 0; i < count; ++i) {
    if (records[i] == nullptr || records[i]->category != rocprofiler::kCategoryTracing) continue;
    const auto* payload = static_cast<const uint8_t*>(records[i]->payload);
    uint64_t size = 0;
    if (payload != nullptr) std::memcpy(&size, payload, sizeof(size));
    const size_t padded = (size + 7) & ~uint64_t{7};
    const bool sane = size >= sizeof(rocprofiler::RecordStart) && size <= kLongestRecord;
    if (!sane || waiting_.size() + padded > settings_.max_memory) {
      ++refused_;
      continue;
    }
    try {
      waiting_.insert(waiting_.end(), payload, payload + size);
      waiting_.resize(waiting_.size() + padded - size);
    } catch (...) {
      ++refused_;
    }
  }
  work_.notify_one();
}

// ---- PyTorch's operators ------------------------------------------------------------------------

// A forked worker's operators run no GPU work, so they create no file.
bool Recorder::wants_operators() const noexcept {
  return recording_.load(std::memory_order_relaxed) &&
         state_.load(std::memory_order_acquire) == State::kRunning;
}

void Recorder::add(const OperatorSeen& seen) noexcept {
  try {
    if (!wants_operators()) return;
    ranges_->add(seen);
    if (ranges_->waiting() == kRangesWorthWaking) work_.notify_one();
  } catch (...) {
    return;
  }
}

// Runs on the writing thread, because loading waits until PyTorch itself is loaded.
void Recorder::observe_operators() {
  if (observing_ || settings_.torch.empty() || forked_ || !record::torch_is_loaded()) return;
  observing_ = true;
  static OperatorSink sink = {kOperatorSinkVersion, 0, operators_wanted, operator_seen};
  sink.modules = settings_.torch_modules ? 1 : 0;
  const std::string problem = record::start_observer(settings_.torch, sink);
  if (!problem.empty()) notes_.add_no_operators(problem);
}

// ---- the writing thread -------------------------------------------------------------------------

void Recorder::wait_for_work() {
  std::unique_lock lock(queue_mutex_);
  const uint64_t now = monotonic_ns();
  const uint64_t until_flush = next_flush_ns_ > now ? next_flush_ns_ - now : 0;
  auto wait =
      std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(until_flush), kKeepPeriod);
  if (control_.is_open()) wait = std::min<std::chrono::nanoseconds>(wait, kControlPeriod);
  work_.wait_for(lock, wait, [this] {
    return stop_asked_ || !waiting_.empty() || ranges_->waiting() >= kRangesWorthWaking;
  });
}

void Recorder::write_until_finished() {
  try {
    control_.open(settings_.control);
    write_process();
    observe_operators();
    bool stop = false;
    while (!stop) {
      wait_for_work();
      {
        const std::lock_guard lock(queue_mutex_);
        stop = stop_asked_;
      }
      if (bool on = false; control_.changed(on)) {
        const std::lock_guard lock(start_mutex_);
        switch_window(on, wire::WindowReason::kSignal);
      }
      drain();
      if (!stop) observe_operators();
      if (!stop && monotonic_ns() >= next_flush_ns_) periodic_flush();
    }
    write_last();
  } catch (...) {
    say_line("out of memory while writing; recording ends here");
  }
  const std::lock_guard lock(queue_mutex_);
  writer_done_ = true;
  done_.notify_all();
}

void Recorder::write_process() {
  wire::Process process = {};
  process.pid = static_cast<uint32_t>(::getpid());
  process.parent_pid = static_cast<uint32_t>(::getppid());
  process.name = file_.text(running_program());
  process.clock = attached_ ? wire::ClockKind::kTracerOwn : wire::ClockKind::kNone;
  process.tracer_version = version_;
  process.assay_version = file_.text(settings_.version);
  process.flags = forked_ ? 1 : 0;
  process.tracer = wire::TracerKind::kRocprofiler;
  file_.add(wire::Kind::kProcess, process);
  write_clock();
  write_notes();
  file_.flush();
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

void Recorder::write_clock() {
  file_.add(wire::Kind::kClock, record::three_clocks([this] {
              uint64_t now = 0;
              if (attached_) library_.functions.timestamp(&now);
              return now;
            }));
}

void Recorder::write_devices() {
  if (devices_written_ || !decoder_.saw_device_work()) return;
  devices_written_ = true;
  for (auto& [device, name] : devices_) {
    device.name = file_.text(name);
    file_.add(wire::Kind::kDevice, device);
  }
}

void Recorder::write_notes() {
  std::vector<wire::Window> windows;
  {
    const std::lock_guard lock(window_mutex_);
    windows.swap(windows_);
  }
  for (const wire::Window& window : windows) file_.add(wire::Kind::kWindow, window);
  notes_.write(file_);
}

void Recorder::drain() {
  std::vector<uint8_t> records;
  uint64_t refused = 0;
  {
    const std::lock_guard lock(queue_mutex_);
    records.swap(waiting_);
    std::swap(refused, refused_);
  }
  file_.count_lost(wire::LostReason::kTracer, refused);
  decoder_.decode(records.data(), records.size());
  write_devices();
  check_file();
  const bool ranges = ranges_->fetch(file_, ranges_written_);
  // Only data in the file survives a kill.
  if (ranges || !records.empty()) file_.flush();
}

void Recorder::periodic_flush() {
  if (attached_ && state_ == State::kRunning) library_.functions.flush_buffer(buffer_);
  drain();
  if (!file_.full()) write_notes();
  write_clock();
  file_.flush();
  check_file();
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

// Stops tracing if the file is full or a write failed.
void Recorder::check_file() {
  if (file_ended_ || (!file_.full() && !file_.broken())) return;
  file_ended_ = true;
  notes_.add_end_of(file_, settings_);
  const std::lock_guard lock(start_mutex_);
  recording_ = false;
  switch_tracing(false);
}

void Recorder::write_last() {
  drain();
  write_clock();
  if (!settings_.torch.empty() && !observing_ && !forked_ && decoder_.saw_device_work()) {
    notes_.add_no_torch();
  }
  ranges_->end_all(file_, ranges_written_);
  notes_.add_texts_forgotten(ranges_->texts_forgotten());
  file_.take_last();
  write_notes();
  file_.close(monotonic_ns());
}

// Called while the library can still be used.
void Recorder::finish() noexcept {
  try {
    {
      const std::lock_guard lock(start_mutex_);
      if (state_ != State::kRunning) return;
      state_ = State::kFinished;
      recording_ = false;
      switch_tracing(false);
    }
    if (attached_) library_.functions.flush_buffer(buffer_);
    std::unique_lock lock(queue_mutex_);
    stop_asked_ = true;
    work_.notify_all();
    done_.wait_for(lock, kLongestFinish, [this] { return writer_done_; });
  } catch (...) {
    return;
  }
}

}  // namespace assay::record_amd
