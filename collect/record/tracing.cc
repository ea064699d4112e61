// The CUPTI part of the recorder: choice of library, enabled kinds and callbacks.

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "collect/record/clocks.h"
#include "collect/record/drop_buffers.h"
#include "collect/record/loaded.h"
#include "collect/record/observer.h"
#include "collect/record/process.h"
#include "collect/record/quiet_calls.h"
#include "collect/record/recorder.h"

namespace assay::record {
namespace {

// Device records arrive this long after a window closed, for activities launched inside it.
constexpr uint64_t kGraceNs = 500'000'000;

constexpr uint32_t kHostKinds[] = {cupti::kRuntime, cupti::kDriver};
constexpr uint32_t kDeviceKinds[] = {cupti::kConcurrentKernel,
                                     cupti::kMemcpy,
                                     cupti::kMemcpy2,
                                     cupti::kMemset,
                                     cupti::kSynchronization,
                                     cupti::kOverhead,
                                     cupti::kExternalCorrelation,
                                     cupti::kContext};

// "cudaGetDevice" of "cudaGetDevice_v3020" and "cudaEventCreate_v3020_ptsz".
std::string_view unversioned(std::string_view name) {
  const size_t mark = name.find("_v");
  const bool versioned = mark != std::string_view::npos && mark + 2 < name.size() &&
                         name[mark + 2] >= '0' && name[mark + 2] <= '9';
  return versioned ? name.substr(0, mark) : name;
}

// CUPTI numbers the calls of a domain from 1, with few gaps.
template <typename Names>
std::vector<uint32_t> numbers_of(const cupti::Functions& functions, int domain,
                                 const Names& names) {
  constexpr uint32_t kMostCalls = 4096;
  constexpr uint32_t kLongestGap = 64;
  std::vector<uint32_t> numbers;
  uint32_t gap = 0;
  for (uint32_t number = 1; number < kMostCalls && gap < kLongestGap; ++number, ++gap) {
    const char* name = nullptr;
    if (functions.callback_name(domain, number, &name) != cupti::kSuccess || name == nullptr) {
      continue;
    }
    gap = 0;
    if (std::find(names.begin(), names.end(), unversioned(name)) != names.end()) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

int operators_wanted() { return Recorder::get().wants_operators() ? 1 : 0; }
void operator_seen(const OperatorSeen* seen) { Recorder::get().add(*seen); }

}  // namespace

// ---- starting -----------------------------------------------------------------------------------

void Recorder::attach_cuda() noexcept {
  try {
    if (tracing_) return;
    choose_cupti();
    if (!ensure_running()) {
      if (subscriber_ != nullptr) cupti_.functions.unsubscribe(subscriber_);
    } else if (subscriber_ != nullptr) {
      share_tracer();
      start_tracing();
      // Ranges may have started the recorder before the driver was loaded. Exit handlers run in
      // reverse order, and the recording must end before the driver and CUPTI do.
      std::atexit([] { get().finish(); });
    }
    observe_operators();
    attached_.fetch_add(1, std::memory_order_release);
    work_.notify_one();
  } catch (...) {
    say_line("out of memory while starting; this process is not recorded");
  }
}

// Chooses the first CUPTI that accepts this driver. If none does, reports the first refusal.
void Recorder::choose_cupti() {
  std::vector<std::string> paths = {settings_.cupti};
  if (settings_.cupti.empty()) paths = cupti_candidates(driver_version());
  CuptiLibrary refused;
  int refusal = cupti::kSuccess;
  uint32_t too_old = 0;
  std::string problem;
  for (const std::string& path : paths) {
    cupti_ = open_cupti(path);
    if (!cupti_.found()) {
      if (problem.empty()) problem = cupti_.problem;
      continue;
    }
    if (cupti_.version < cupti::kOldestVersion) {
      too_old = cupti_.version;
      continue;
    }
    const int result = try_cupti();
    if (result == cupti::kSuccess) return;
    if (refusal == cupti::kSuccess) {
      refused = cupti_;
      refusal = result;
    }
    if (result != cupti::kNotCompatible) break;
  }
  cupti_ = refused;
  if (refusal != cupti::kSuccess) {
    explain(refusal, "subscribing");
  } else if (too_old != 0) {
    cupti_.version = too_old;
    notes_.add(wire::NoteCode::kOldTracer, too_old, "this CUPTI is older than CUDA 11.6");
  } else {
    notes_.add(wire::NoteCode::kNoTracer, 0, "no CUPTI: " + problem);
  }
}

// Holding the only subscription keeps other profilers from taking CUPTI's buffers, and shows if one
// is already active. Enabling a kind shows whether CUPTI accepts the driver. It is slow, so it runs
// only if recording starts at once.
int Recorder::try_cupti() {
  int result = cupti_.functions.subscribe(&subscriber_, on_callback, nullptr);
  if (result != cupti::kSuccess || subscriber_ == nullptr) {
    subscriber_ = nullptr;
    return result != cupti::kSuccess ? result : static_cast<int>(cupti::kNotInitialized);
  }
  switch_clock();
  if (!recording_) return cupti::kSuccess;
  result = cupti_.functions.register_callbacks(on_buffer_requested, on_buffer_completed);
  if (result == cupti::kSuccess) result = cupti_.functions.enable(cupti::kConcurrentKernel);
  // Tracing start reports any other refusal.
  if (result != cupti::kNotCompatible) return cupti::kSuccess;
  cupti_.functions.unsubscribe(subscriber_);
  subscriber_ = nullptr;
  return result;
}

std::string Recorder::with_kineto(const std::string& text) const {
  if (!kineto_is_loaded()) return text;
  return text + " (PyTorch's profiler (libkineto) is loaded in this program)";
}

void Recorder::start_tracing() {
  const int registered =
      cupti_.functions.register_callbacks(on_buffer_requested, on_buffer_completed);
  if (registered != cupti::kSuccess) return explain(registered, "registering buffers");
  const std::lock_guard lock(start_mutex_);
  find_quiet_calls();
  tracing_ = true;
  if (!recording_) return;
  enable_device_kinds();
  enable_host_kinds();
}

// Runs again later, because PyTorch may be loaded after the recorder started.
void Recorder::observe_operators() {
  if (settings_.torch.empty() || forked_ || state_ != State::kRunning || !torch_is_loaded()) return;
  if (observing_.exchange(true)) return;
  static OperatorSink sink = {kOperatorSinkVersion, 0, operators_wanted, operator_seen};
  sink.modules = settings_.torch_modules ? 1 : 0;
  const std::string problem = start_observer(settings_.torch, sink);
  if (!problem.empty()) notes_.add_no_operators(problem);
}

void Recorder::switch_clock() {
  cupti_.functions.set_thread_id_type(cupti::kThreadIdSystem);
  if (cupti_.functions.set_attribute != nullptr) {
    uint8_t zeroed = 1;
    size_t size = sizeof(zeroed);
    cupti_.functions.set_attribute(cupti::kAttributeZeroedBuffers, &size, &zeroed);
  }
  clock_ = wire::ClockKind::kTracerOwn;
  if (settings_.tracer_clock) return;
  const int result = cupti_.functions.register_timestamp != nullptr
                         ? cupti_.functions.register_timestamp(monotonic_ns)
                         : static_cast<int>(cupti::kNotSupported);
  if (result == cupti::kSuccess) {
    clock_ = wire::ClockKind::kMonotonic;
  } else {
    notes_.add(wire::NoteCode::kClockCallback, result, "CUPTI keeps its own clock");
  }
}

// Shares the CUPTI data that decoding buffers without CUPTI needs.
void Recorder::share_tracer() {
  if (!area_.is_shared()) return;
  SharedPlace& place = area_.place();
  place.clock = read_clocks(true);
  place.process.driver_version = driver_version();
  place.process.tracer_version = cupti_.version;
  place.process.clock = clock_;
  place.is_traced.store(1, std::memory_order_release);
  learn_record_bytes(cupti_.functions, place.record_bytes);
  share_call_names(cupti_.functions, place);
  if (cupti_.functions.enable_callback != nullptr) {
    cupti_.functions.enable_callback(1, subscriber_, cupti::kCallbackResource,
                                     cupti::kModuleUnload);
  }
}

void Recorder::on_callback(void*, int domain, uint32_t callback, const void*) {
  if (domain == cupti::kCallbackResource && callback == cupti::kModuleUnload) {
    Recorder& recorder = get();
    if (recorder.tracing_) recorder.names_->forget_addresses();
  }
}

void Recorder::explain(int result, const char* doing) {
  const char* words = nullptr;
  if (cupti_.functions.get_result_string(result, &words) != 0 || words == nullptr) words = "error";
  const std::string text = std::string(doing) + ": CUPTI says " + words;
  switch (result) {
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualDevicePrivileges:
      return notes_.add(wire::NoteCode::kNoPermission, result, text);
    case cupti::kMultipleSubscribers:
    case cupti::kMaxLimitReached:
      return notes_.add(wire::NoteCode::kOtherSubscriber, result, with_kineto(text));
    case cupti::kNotCompatible:
      return notes_.add(wire::NoteCode::kOldDriver, driver_version(), text);
    case cupti::kVirtualDeviceNotSupported:
    case cupti::kConfidentialComputing:
    case cupti::kCmpDevice:
    case cupti::kMigDevice:
    case cupti::kSliDevice:
    case cupti::kWslDevice:
      return notes_.add(wire::NoteCode::kUnsupportedGpu, result, text);
    default:
      return notes_.add(wire::NoteCode::kTracerRefused, result, text);
  }
}

// ---- when to record -----------------------------------------------------------------------------

bool Recorder::enable(uint32_t kind) {
  const int result = cupti_.functions.enable(kind);
  if (result == cupti::kSuccess) return true;
  const bool needed = kind == cupti::kRuntime || kind == cupti::kConcurrentKernel;
  if (needed) {
    explain(result, "switching on");
  } else {
    notes_.add(wire::NoteCode::kKindRefused, kind,
               "CUPTI refuses records of kind " + std::to_string(kind));
  }
  return false;
}

// Enabling is slow. Enable device kinds first so that no call lacks its activity.
void Recorder::enable_device_kinds() {
  if (device_on_) return;
  for (const uint32_t kind : kDeviceKinds) {
    if (!enable(kind) && kind == cupti::kConcurrentKernel) return;
  }
  if (settings_.whole_graphs) enable(cupti::kGraphTrace);
  device_on_ = true;
}

// Enabling a kind enables all of its calls, including those disabled before.
void Recorder::enable_host_kinds() {
  for (const uint32_t kind : kHostKinds) enable(kind);
  for (const uint32_t call : quiet_runtime_) cupti_.functions.enable_runtime_call(call, 0);
  for (const uint32_t call : quiet_driver_) cupti_.functions.enable_driver_call(call, 0);
}

// If CUPTI cannot disable single calls, all are recorded.
void Recorder::find_quiet_calls() {
  if (settings_.all_calls) return;
  if (cupti_.functions.enable_runtime_call != nullptr) {
    quiet_runtime_ = numbers_of(cupti_.functions, cupti::kCallbackRuntimeApi, kQuietRuntimeCalls);
  }
  if (cupti_.functions.enable_driver_call != nullptr) {
    quiet_driver_ = numbers_of(cupti_.functions, cupti::kCallbackDriverApi, kQuietDriverCalls);
  }
}

void Recorder::disable_host_kinds() {
  for (const uint32_t kind : kHostKinds) cupti_.functions.disable(kind);
}

void Recorder::disable_device_kinds() {
  for (const uint32_t kind : kDeviceKinds) cupti_.functions.disable(kind);
  if (settings_.whole_graphs) cupti_.functions.disable(cupti::kGraphTrace);
}

void Recorder::open_window(wire::WindowReason reason) {
  if (tracing_) {
    enable_device_kinds();
    enable_host_kinds();
  }
  wire::Window window = {};
  window.reason = reason;
  window.monotonic = monotonic_ns();
  window.is_open = 1;
  ranges_->add(window);
  const std::lock_guard lock(window_mutex_);
  device_off_at_ns_ = 0;
  recording_ = true;
}

void Recorder::close_window(wire::WindowReason reason) {
  recording_ = false;
  wire::Window window = {};
  window.reason = reason;
  window.monotonic = monotonic_ns();
  if (tracing_) disable_host_kinds();
  ranges_->add(window);
  const std::lock_guard lock(window_mutex_);
  device_off_at_ns_ = window.monotonic + kGraceNs;
}

void Recorder::capture_opened() {
  const std::lock_guard lock(start_mutex_);
  if (captures_open_++ == 0) open_window(wire::WindowReason::kRange);
}

void Recorder::capture_closed() {
  const std::lock_guard lock(start_mutex_);
  if (captures_open_ > 0 && --captures_open_ == 0) close_window(wire::WindowReason::kRange);
}

// ---- buffers ------------------------------------------------------------------------------------

void Recorder::on_buffer_requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  *size = 0;
  *most_records = 0;
  Recorder& recorder = get();
  *buffer = recorder.tracing_ ? recorder.buffers_.request() : nullptr;
  if (*buffer != nullptr) {
    *size = kBufferBytes;
  } else if (recorder.cupti_.version < cupti::kTakesNoBuffer) {
    *buffer = drop_buffers().take();
    *size = DropBuffers::kBytes;
  }  // otherwise CUPTI drops and counts the records
}

uint64_t Recorder::dropped_by_tracer(void* context, uint32_t stream) {
  size_t dropped = 0;
  if (!tracing_) return 0;
  const int result = cupti_.functions.dropped(context, stream, &dropped);
  return result == cupti::kSuccess ? dropped : 0;
}

void Recorder::count_dropped(uint64_t count) {
  const std::lock_guard lock(queue_mutex_);
  dropped_ += count;
}

void Recorder::on_buffer_completed(void* context, uint32_t stream, uint8_t* buffer, size_t,
                                   size_t valid) {
  if (buffer == nullptr) return;
  Recorder& recorder = get();
  uint64_t dropped = recorder.dropped_by_tracer(context, stream);
  if (drop_buffers().owns(buffer)) {
    dropped += drop_buffers().give_back(buffer, valid, recorder.cupti_.functions);
    return recorder.count_dropped(dropped);
  }
  if (!recorder.tracing_) return;  // of the parent process
  recorder.count_dropped(dropped);
  recorder.buffers_.give(buffer, valid);
  recorder.work_.notify_one();
}

}  // namespace assay::record
