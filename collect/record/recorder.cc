#include "collect/record/recorder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "collect/record/clocks.h"
#include "collect/record/drop_buffers.h"
#include "collect/record/quiet_calls.h"

namespace assay::record {
namespace {

constexpr size_t kMostRangesWaiting = 1 << 20;
constexpr size_t kMostTextBytes = 16 << 20;
constexpr size_t kRangesWorthWaking = 1 << 13;
// Device records still arrive this long after a window closed: of work launched inside it.
constexpr uint64_t kGraceNs = 500'000'000;
constexpr auto kControlPeriod = std::chrono::milliseconds(5);
// What the program said of itself is in the file this soon, whatever becomes of the program.
constexpr std::chrono::milliseconds kKeepPeriod(50);
constexpr auto kLongestFinish = std::chrono::seconds(20);

constexpr uint32_t kHostKinds[] = {cupti::kRuntime, cupti::kDriver};
constexpr uint32_t kDeviceKinds[] = {cupti::kConcurrentKernel,
                                     cupti::kMemcpy,
                                     cupti::kMemcpy2,
                                     cupti::kMemset,
                                     cupti::kSynchronization,
                                     cupti::kOverhead,
                                     cupti::kExternalCorrelation,
                                     cupti::kContext};

std::atomic<Recorder*> the_recorder = nullptr;

void say(const std::string& text) {
  const std::string line = "assay record: " + text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

std::string program_name() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "unknown";
  const std::string text(path, static_cast<size_t>(length));
  return text.substr(text.rfind('/') + 1);
}

// "cudaGetDevice" of "cudaGetDevice_v3020" and "cudaEventCreate_v3020_ptsz".
std::string_view unversioned(std::string_view name) {
  const size_t mark = name.find("_v");
  const bool versioned = mark != std::string_view::npos && mark + 2 < name.size() &&
                         name[mark + 2] >= '0' && name[mark + 2] <= '9';
  return versioned ? name.substr(0, mark) : name;
}

// CUPTI numbers the calls of a domain from 1 on, with few gaps.
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

void finish_at_exit() { Recorder::get().finish(); }

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

// CUDA cannot be used in a child of a process that has it running, so only ranges are left to
// record. What the parent had in memory is the parent's to write: the old recorder stays where it
// is, untouched but for its file, whose descriptor the child does not need.
void Recorder::in_forked_child() {
  Recorder* parents = the_recorder.load(std::memory_order_relaxed);
  if (parents == nullptr) return;
  parents->file_.abandon();
  parents->area_.leave_to_parent();
  forget_threads();
  try {
    the_recorder.store(new Recorder(true), std::memory_order_relaxed);
  } catch (...) {
    parents->state_ = State::kFinished;
  }
}

Recorder::Recorder(bool forked)
    : settings_(settings_from_environment()),
      forked_(forked),
      ranges_(std::make_unique<HostRanges>(kMostRangesWaiting, kMostTextBytes,
                                           settings_.capture_range)) {
  recording_ = !settings_.starts_paused();
}

// ---- starting -----------------------------------------------------------------------------------

bool Recorder::ensure_running() {
  if (state_.load(std::memory_order_acquire) == State::kRunning) return true;
  const std::lock_guard lock(start_mutex_);
  if (state_ != State::kIdle) return state_ == State::kRunning;
  if (!file_.open(settings_)) {
    say("cannot write " + file_.path() + ": " + std::strerror(file_.error()) +
        "; this process is not recorded");
    state_ = State::kFinished;
    return false;
  }
  if (!share()) {
    say("no memory to record with; this process is not recorded");
    file_.abandon();
    state_ = State::kFinished;
    return false;
  }
  // Here and not on the thread below: a process that ends at once leaves a file that can be told.
  file_.begin();
  pthread_t thread;
  // All signals are the program's: blocked here, inherited by the thread, then as before.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_.store(State::kRunning, std::memory_order_release);
  const int failed = ::pthread_create(
      &thread, nullptr,
      [](void* recorder) -> void* {
        static_cast<Recorder*>(recorder)->write_until_finished();
        return nullptr;
      },
      this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    say(std::string("no thread to write with: ") + std::strerror(failed));
    state_ = State::kFinished;
    return false;
  }
  ::pthread_detach(thread);
  ::pthread_setname_np(thread, "assay-record");
  if (!forked_) std::atexit(finish_at_exit);
  return true;
}

// Memory to record with, which `assay record` keeps where it can: what is in it when the process
// dies is written down then. False: there is none at all.
bool Recorder::share() {
  const bool wanted = !settings_.shared.empty();
  const bool shared = wanted && settings_.shared != kNoSharedMemory &&
                      area_.take(settings_.shared, settings_.session);
  if (!shared && !area_.make_own()) return false;
  SharedPlace& place = area_.place();
  const auto copy = [](const std::string& text, auto& to) {
    std::memcpy(to.data(), text.c_str(), std::min(text.size() + 1, to.size() - 1));
  };
  copy(file_.path(), place.path);
  copy(program_name(), place.program);
  copy(settings_.version, place.version);
  place.pid = static_cast<uint32_t>(::getpid());
  place.max_bytes = settings_.max_bytes;
  place.process.pid = place.pid;
  place.process.parent_pid = static_cast<uint32_t>(::getppid());
  place.process.clock = wire::ClockKind::kNone;
  place.process.flags = forked_ ? 1 : 0;
  if (area_.is_shared()) {
    progress_.places = place.progress.data();
    file_.keep_progress(&progress_);
  }
  buffers_.use(area_, settings_.max_memory);
  names_ = std::make_unique<LiveNames>(cupti_.functions, file_, area_);
  ranges_->use(area_);
  place.use.store(PlaceUse::kRecording, std::memory_order_release);
  if (wanted && !shared) {
    note(wire::NoteCode::kNotShared, 0,
         "should this program be killed or crash, up to a second of the recording is lost: no "
         "shared memory" +
             (area_.problem().empty() ? "" : " (" + area_.problem() + ")"));
  }
  return true;
}

// What is known of CUPTI, for who has its buffers without it.
void Recorder::share_tracer() {
  if (!area_.is_shared()) return;
  SharedPlace& place = area_.place();
  place.clock = read_clocks();
  place.process.driver_version = driver_version();
  place.process.tracer_version = cupti_.version;
  place.process.clock = clock_;
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

void Recorder::attach_cuda() noexcept {
  try {
    if (tracing_) return;
    choose_cupti();
    if (!ensure_running()) {
      if (subscriber_ != nullptr) cupti_.functions.unsubscribe(subscriber_);
    } else if (subscriber_ != nullptr) {
      share_tracer();
      start_tracing();
      // Ranges may have started the recorder before the driver was loaded: what ends the program
      // goes backwards, and the recording is to be over before the driver and CUPTI are.
      std::atexit(finish_at_exit);
    }
    observe_operators();
    attached_.fetch_add(1, std::memory_order_release);
    work_.notify_one();
  } catch (...) {
    say("out of memory while starting; this process is not recorded");
  }
}

// The first that takes this driver; where none does, what the first one said is told.
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
    note(wire::NoteCode::kOldTracer, too_old, "this CUPTI is older than CUDA 11.6");
  } else {
    note(wire::NoteCode::kNoTracer, 0, "no CUPTI: " + problem);
  }
}

// Holding the one subscription keeps other profilers from taking CUPTI's buffers while we record,
// and tells us when one was here before. Whether the driver is taken shows when a kind is switched
// on, which takes time and is asked only where recording begins at once.
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
  // Any other refusal is told when tracing begins.
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

// Once PyTorch is there, which may be after the recorder has begun.
void Recorder::observe_operators() {
  if (settings_.torch.empty() || forked_ || state_ != State::kRunning || !torch_is_loaded()) return;
  if (observing_.exchange(true)) return;
  static OperatorSink sink = {kOperatorSinkVersion, 0, operators_wanted, operator_seen};
  sink.modules = settings_.torch_modules ? 1 : 0;
  // Never closed: PyTorch calls it until the process is gone.
  void* library = ::dlopen(settings_.torch.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto observe =
      library == nullptr ? nullptr
                         : reinterpret_cast<ObserveOperators>(::dlsym(library, kObserveOperators));
  if (observe != nullptr && observe(&sink) == 0) return;
  const char* problem = library == nullptr ? ::dlerror() : nullptr;
  note(wire::NoteCode::kNoOperators, 1,
       std::string("PyTorch's operators are not recorded: ") +
           (problem != nullptr ? problem : settings_.torch + " is of another version of assay"));
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
    note(wire::NoteCode::kClockCallback, result, "CUPTI keeps its own clock");
  }
}

void Recorder::note(wire::NoteCode code, int64_t value, const std::string& text) {
  wire::Note record = {};
  record.code = code;
  record.monotonic = monotonic_ns();
  record.value = value;
  const bool trouble = code != wire::NoteCode::kClockCallback &&
                       code != wire::NoteCode::kKindRefused &&
                       code != wire::NoteCode::kTextsForgotten;
  {
    const std::lock_guard lock(window_mutex_);
    notes_.emplace_back(record, text);
    if (told_trouble_ || !trouble) return;
    told_trouble_ = true;
  }
  say(text);
}

void Recorder::explain(int result, const char* doing) {
  const char* words = nullptr;
  if (cupti_.functions.get_result_string(result, &words) != 0 || words == nullptr) words = "error";
  const std::string text = std::string(doing) + ": CUPTI says " + words;
  switch (result) {
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualDevicePrivileges:
      return note(wire::NoteCode::kNoPermission, result, text);
    case cupti::kMultipleSubscribers:
    case cupti::kMaxLimitReached:
      return note(wire::NoteCode::kOtherSubscriber, result, with_kineto(text));
    case cupti::kNotCompatible:
      return note(wire::NoteCode::kOldDriver, driver_version(), text);
    case cupti::kVirtualDeviceNotSupported:
    case cupti::kConfidentialComputing:
    case cupti::kCmpDevice:
    case cupti::kMigDevice:
    case cupti::kSliDevice:
    case cupti::kWslDevice:
      return note(wire::NoteCode::kUnsupportedGpu, result, text);
    default:
      return note(wire::NoteCode::kTracerRefused, result, text);
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
    note(wire::NoteCode::kKindRefused, kind,
         "CUPTI refuses records of kind " + std::to_string(kind));
  }
  return false;
}

// Device kinds first: the first switch takes CUPTI long, and no call shall be seen without its
// work.
void Recorder::enable_device_kinds() {
  if (device_on_) return;
  for (const uint32_t kind : kDeviceKinds) {
    if (!enable(kind) && kind == cupti::kConcurrentKernel) return;
  }
  if (settings_.whole_graphs) enable(cupti::kGraphTrace);
  device_on_ = true;
}

// Switching a kind on switches on all of its calls, also those that were off before.
void Recorder::enable_host_kinds() {
  for (const uint32_t kind : kHostKinds) enable(kind);
  for (const uint32_t call : quiet_runtime_) cupti_.functions.enable_runtime_call(call, 0);
  for (const uint32_t call : quiet_driver_) cupti_.functions.enable_driver_call(call, 0);
}

// Where CUPTI cannot leave out single calls, all are recorded.
void Recorder::find_quiet_calls() {
  if (settings_.all_calls) return;
  if (cupti_.functions.enable_runtime_call != nullptr) {
    quiet_runtime_ = numbers_of(cupti_.functions, cupti::kCallbackRuntimeApi, kQuietRuntimeCalls);
  }
  if (cupti_.functions.enable_driver_call != nullptr) {
    quiet_driver_ = numbers_of(cupti_.functions, cupti::kCallbackDriverApi, kQuietDriverCalls);
  }
}

void Recorder::disable_kinds(const uint32_t* kinds, size_t count) {
  for (size_t i = 0; i < count; ++i) cupti_.functions.disable(kinds[i]);
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
  if (tracing_) disable_kinds(kHostKinds, std::size(kHostKinds));
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

// ---- NVTX ---------------------------------------------------------------------------------------

int Recorder::push(std::string_view domain, std::string_view name, uint32_t category) noexcept {
  try {
    if (!ensure_running()) return 0;
    if (ranges_->is_capture(name)) capture_opened();
    return ranges_->push(domain, name, category, recording_);
  } catch (...) {
    return 0;
  }
}

int Recorder::pop(std::string_view domain) noexcept {
  try {
    bool captures = false;
    const int depth = ranges_->pop(domain, recording_, captures);
    if (captures) capture_closed();
    if (ranges_->waiting() == kRangesWorthWaking) work_.notify_one();
    return depth;
  } catch (...) {
    return 0;
  }
}

uint64_t Recorder::start_range(std::string_view domain, std::string_view name,
                               uint32_t category) noexcept {
  try {
    if (!ensure_running()) return 0;
    if (ranges_->is_capture(name)) capture_opened();
    return ranges_->start(domain, name, category, recording_);
  } catch (...) {
    return 0;
  }
}

void Recorder::end_range(uint64_t id) noexcept {
  try {
    bool captures = false;
    if (ranges_->end(id, recording_, captures) && captures) capture_closed();
  } catch (...) {
    return;
  }
}

void Recorder::mark(std::string_view domain, std::string_view name) noexcept {
  try {
    if (recording_ && ensure_running()) ranges_->mark(domain, name);
  } catch (...) {
    return;
  }
}

void Recorder::name_thread(uint32_t thread, std::string_view name) noexcept {
  try {
    ranges_->name_thread(thread, name);
  } catch (...) {
    return;
  }
}

// ---- PyTorch's operators ------------------------------------------------------------------------

// A forked worker's operators are no work of a GPU: they begin no file.
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
  }  // else CUPTI drops records and counts them
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
  if (!recorder.tracing_) return;  // of the process that this one was forked from
  recorder.count_dropped(dropped);
  recorder.buffers_.give(buffer, valid);
  recorder.work_.notify_one();
}

// ---- the writing thread -------------------------------------------------------------------------

void Recorder::wait_for_work() {
  std::unique_lock lock(queue_mutex_);
  const uint64_t now = monotonic_ns();
  const uint64_t until_flush = next_flush_ns_ > now ? next_flush_ns_ - now : 0;
  auto wait =
      std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(until_flush), kKeepPeriod);
  if (tracing_ && area_.is_shared()) {
    wait = std::min<std::chrono::nanoseconds>(wait, look_again_);
  }
  if (control_ != nullptr) wait = std::min<std::chrono::nanoseconds>(wait, kControlPeriod);
  work_.wait_for(lock, wait, [this] {
    return stop_asked_ || buffers_.full() > 0 || attached_ != attached_told_ ||
           ranges_->waiting() >= kRangesWorthWaking;
  });
}

void Recorder::write_until_finished() {
  try {
    decoder_ = std::make_unique<Decoder>(file_, *names_, this_thread());
    area_.place().own_thread = this_thread();
    if (!settings_.control.empty()) {
      const int fd = ::open(settings_.control.c_str(), O_RDONLY | O_CLOEXEC);
      void* map = fd < 0 ? MAP_FAILED
                         : ::mmap(nullptr, sizeof(wire::Control), PROT_READ, MAP_SHARED, fd, 0);
      if (fd >= 0) ::close(fd);
      if (map != MAP_FAILED) control_ = static_cast<const wire::Control*>(map);
    }
    write_process();
    bool stop = false;
    while (!stop) {
      wait_for_work();
      {
        const std::lock_guard lock(queue_mutex_);
        stop = stop_asked_;
      }
      if (attached_.load(std::memory_order_acquire) != attached_told_) write_process();
      poll_control();
      drain();
      look_ahead();
      end_grace();
      if (monotonic_ns() >= next_flush_ns_) periodic_flush(false);
    }
    write_last();
  } catch (...) {
    say("out of memory while writing; recording ends here");
  }
  const std::lock_guard lock(queue_mutex_);
  writer_done_ = true;
  done_.notify_all();
}

// Once when the file begins and again when a driver has started.
void Recorder::write_process() {
  attached_told_ = attached_.load(std::memory_order_acquire);
  wire::Process process = {};
  process.pid = static_cast<uint32_t>(::getpid());
  process.parent_pid = static_cast<uint32_t>(::getppid());
  process.name = file_.text(program_name());
  if (attached_told_ > 0) {
    process.clock = clock_;
    process.driver_version = driver_version();
    process.tracer_version = cupti_.version;
  } else {
    process.clock = wire::ClockKind::kNone;
  }
  process.assay_version = file_.text(settings_.version);
  process.flags = forked_ ? 1 : 0;
  file_.add(wire::Kind::kProcess, process);
  write_clock();
  file_.flush();
  if (process.clock == area_.place().process.clock) area_.place().is_told = 1;
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

// The tightest of a few readings.
wire::Clock Recorder::read_clocks() {
  wire::Clock best = {};
  best.uncertainty_ns = UINT32_MAX;
  for (int i = 0; i < 5; ++i) {
    wire::Clock clock = {};
    const uint64_t before = monotonic_ns();
    if (subscriber_ != nullptr) cupti_.functions.timestamp(&clock.tracer);
    clock.realtime = realtime_ns();
    const uint64_t after = monotonic_ns();
    clock.monotonic = before + (after - before) / 2;
    clock.uncertainty_ns = static_cast<uint32_t>(std::min<uint64_t>(after - before, UINT32_MAX));
    if (clock.uncertainty_ns < best.uncertainty_ns) best = clock;
  }
  return best;
}

void Recorder::write_clock() { file_.add(wire::Kind::kClock, read_clocks()); }

// A buffer is given back, and a bank of ranges, once the file has all of it: until then they are
// what somebody else would write down.
void Recorder::drain() {
  bool arrived = false;
  for (;;) {
    const std::vector<FullBuffer> full = buffers_.take();
    {
      const std::lock_guard lock(queue_mutex_);
      file_.count_lost(wire::LostReason::kTracer, dropped_);
      dropped_ = 0;
    }
    if (full.empty()) break;
    arrived = true;
    for (const FullBuffer& buffer : full) {
      progress_.current.buffer_records = 0;
      progress_.current.buffer = buffer.number;
      decoder_->decode(cupti_.functions, buffer.data, buffer.valid,
                       progress_.current.buffer_records);
      file_.flush();
      publish_lost();
      buffers_.recycle(buffer);
      buffers_.prepare();
    }
    names_->publish();
    check_file();
  }
  arrived |= ranges_->fetch(file_, progress_.current);
  if (!file_.full()) write_notes();
  // What is in the file is what stays.
  if (arrived) file_.flush();
  publish_lost();
}

// Names of kernels, while somebody can be asked for them: often, while new ones come.
void Recorder::look_ahead() {
  if (!tracing_ || !area_.is_shared()) return;
  buffers_.prepare();
  bool found = false;
  buffers_.look_at_filling(
      [&](const uint8_t* buffer, size_t& looked) { found |= names_->look_ahead(buffer, looked); });
  look_again_ = found ? std::chrono::milliseconds(1) : std::min(look_again_ * 2, kKeepPeriod);
  if (!found) return;
  file_.flush();
  names_->publish();
}

void Recorder::publish_lost() {
  if (!area_.is_shared()) return;
  auto& lost = area_.place().lost;
  for (size_t reason = 0; reason < lost.size(); ++reason) {
    lost[reason].store(file_.lost(static_cast<wire::LostReason>(reason)),
                       std::memory_order_relaxed);
  }
}

void Recorder::periodic_flush(bool forced) {
  // A harmless call of ours: its record tells later that CUPTI's buffers were ours until here.
  if (tracing_ && recording_ && decoder_->saw_anything()) driver_version();
  if (tracing_) cupti_.functions.flush_all(forced ? cupti::kFlushForced : 0);
  observe_operators();
  // Of requests that no buffer came back for.
  count_dropped(dropped_by_tracer(nullptr, 0));
  drain();
  write_devices();
  write_clock();
  file_.flush();
  check_file();
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

void Recorder::write_notes() {
  std::vector<std::pair<wire::Note, std::string>> notes;
  {
    const std::lock_guard lock(window_mutex_);
    notes.swap(notes_);
  }
  for (auto& [record, words] : notes) {
    record.text = file_.text(words);
    file_.add(wire::Kind::kNote, record);
  }
}

// The file is full or broken: nothing more is asked of CUPTI.
void Recorder::check_file() {
  if (file_ended_ || (!file_.full() && !file_.broken())) return;
  file_ended_ = true;
  recording_ = false;
  if (tracing_) {
    disable_kinds(kHostKinds, std::size(kHostKinds));
    disable_kinds(kDeviceKinds, std::size(kDeviceKinds));
    if (settings_.whole_graphs) cupti_.functions.disable(cupti::kGraphTrace);
  }
  if (file_.broken()) {
    note(wire::NoteCode::kWriteFailed, file_.error(),
         "cannot write " + file_.path() + ": " + std::strerror(file_.error()) +
             "; recording ends here");
  } else {
    note(wire::NoteCode::kByteLimit, static_cast<int64_t>(settings_.max_bytes),
         file_.path() + " has reached its limit of " + std::to_string(settings_.max_bytes) +
             " bytes; recording ends here");
  }
}

void Recorder::write_devices() {
  if (devices_written_ || !decoder_->saw_device_work()) return;
  devices_written_ = true;
  auto* count_devices = reinterpret_cast<int (*)(int*)>(driver_function("cuDeviceGetCount"));
  auto* get = reinterpret_cast<int (*)(int*, int)>(driver_function("cuDeviceGet"));
  auto* name = reinterpret_cast<int (*)(char*, int, int)>(driver_function("cuDeviceGetName"));
  auto* memory = reinterpret_cast<int (*)(size_t*, int)>(driver_function("cuDeviceTotalMem_v2"));
  auto* attribute =
      reinterpret_cast<int (*)(int*, int, int)>(driver_function("cuDeviceGetAttribute"));
  auto* uuid = reinterpret_cast<int (*)(void*, int)>(driver_function("cuDeviceGetUuid"));
  int count = 0;
  if (count_devices == nullptr || get == nullptr || name == nullptr || attribute == nullptr ||
      count_devices(&count) != 0) {
    return;
  }
  for (int i = 0; i < count; ++i) {
    int device = 0;
    char text[256] = {};
    if (get(&device, i) != 0 || name(text, sizeof(text) - 1, device) != 0) continue;
    // CU_DEVICE_ATTRIBUTE_WARP_SIZE, _CLOCK_RATE, _MULTIPROCESSOR_COUNT, _COMPUTE_CAPABILITY_...
    const auto ask = [&](int which) {
      int value = 0;
      return attribute(&value, which, device) == 0 && value > 0 ? static_cast<uint32_t>(value) : 0u;
    };
    wire::Device record = {};
    record.id = static_cast<uint32_t>(i);
    record.name = file_.text(text);
    size_t bytes = 0;
    if (memory != nullptr && memory(&bytes, device) == 0) record.memory_bytes = bytes;
    record.warp_size = ask(10);
    record.clock_khz = ask(13);
    record.multiprocessors = ask(16);
    record.compute_major = ask(75);
    record.compute_minor = ask(76);
    if (uuid != nullptr) uuid(record.uuid, device);
    file_.add(wire::Kind::kDevice, record);
  }
}

void Recorder::poll_control() {
  if (control_ == nullptr) return;
  const wire::Control now = {__atomic_load_n(&control_->magic, __ATOMIC_RELAXED),
                             __atomic_load_n(&control_->recording, __ATOMIC_ACQUIRE)};
  if (now.magic != wire::kControlMagic || now.recording == control_seen_) return;
  control_seen_ = now.recording;
  const std::lock_guard lock(start_mutex_);
  if (now.recording != 0) {
    open_window(wire::WindowReason::kSignal);
  } else {
    close_window(wire::WindowReason::kSignal);
  }
}

void Recorder::end_grace() {
  {
    const std::lock_guard lock(window_mutex_);
    if (device_off_at_ns_ == 0 || monotonic_ns() < device_off_at_ns_) return;
    device_off_at_ns_ = 0;
  }
  const std::lock_guard lock(start_mutex_);
  if (recording_ || !device_on_) return;
  if (tracing_) {
    disable_kinds(kDeviceKinds, std::size(kDeviceKinds));
    if (settings_.whole_graphs) cupti_.functions.disable(cupti::kGraphTrace);
  }
  device_on_ = false;
}

// Records of our own calls came back before; that of a call made now does not, although everything
// is flushed. CUPTI may hand a buffer over from a thread of its own, so it gets a moment to do so.
bool Recorder::taken_over() {
  constexpr int kTries = 10;
  if (!tracing_ || !recording_ || decoder_->last_own_call() == 0) return false;
  uint64_t now = monotonic_ns();
  if (clock_ != wire::ClockKind::kMonotonic &&
      cupti_.functions.timestamp(&now) != cupti::kSuccess) {
    return false;
  }
  driver_version();
  for (int i = 0; i < kTries; ++i) {
    cupti_.functions.flush_all(cupti::kFlushForced);
    drain();
    if (decoder_->last_own_call() >= now) return false;
    std::this_thread::sleep_for(kControlPeriod);
  }
  return true;
}

void Recorder::write_last() {
  periodic_flush(true);
  if (taken_over()) {
    note(wire::NoteCode::kTakenOver, 0,
         with_kineto("another profiler took CUPTI over while recording; what came after is "
                     "missing"));
  }
  if (!settings_.torch.empty() && !observing_ && !forked_ && decoder_->saw_device_work()) {
    note(wire::NoteCode::kNoOperators, 0,
         "PyTorch's operators are not recorded: PyTorch was not loaded in this process");
  }
  ranges_->end_all(file_, progress_.current);
  if (const uint64_t forgotten = ranges_->texts_forgotten(); forgotten > 0) {
    note(wire::NoteCode::kTextsForgotten, static_cast<int64_t>(forgotten),
         std::to_string(forgotten) +
             " distinct names of ranges were forgotten to keep memory small; ranges that were "
             "recorded have theirs");
  }
  file_.take_last();
  write_notes();
  file_.close(monotonic_ns());
  area_.place().use.store(PlaceUse::kClosed, std::memory_order_release);
}

void Recorder::finish() noexcept {
  try {
    if (state_.load() != State::kRunning) return;
    state_ = State::kFinished;
    // On this thread: the writing one may not live much longer.
    if (tracing_) cupti_.functions.flush_all(cupti::kFlushForced);
    std::unique_lock lock(queue_mutex_);
    stop_asked_ = true;
    work_.notify_all();
    done_.wait_for(lock, kLongestFinish, [this] { return writer_done_; });
  } catch (...) {
    return;
  }
}

}  // namespace assay::record
