#include "collect/record/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "collect/record/clocks.h"
#include "collect/record/limits.h"
#include "collect/record/process.h"

namespace assay::record {
namespace {

std::atomic<Recorder*> the_recorder = nullptr;

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

// CUDA is unusable in a forked child of a process that has it running, so only ranges are recorded.
// The parent writes its own data. The child keeps the parent's recorder untouched, except for the
// file descriptor, which it does not need.
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
    say_line("cannot write " + file_.path() + ": " + std::strerror(file_.error()) +
             "; this process is not recorded");
    state_ = State::kFinished;
    return false;
  }
  if (!share()) {
    say_line("no memory to record with; this process is not recorded");
    file_.abandon();
    state_ = State::kFinished;
    return false;
  }
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
    area_.place().use.store(PlaceUse::kClosed, std::memory_order_release);
    state_ = State::kFinished;
    return false;
  }
  if (!forked_) std::atexit([] { get().finish(); });
  return true;
}

// Takes recording memory, shared with `assay record` if possible: its data survives the process.
// False: out of memory.
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
  copy(running_program(), place.program);
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
    notes_.add(wire::NoteCode::kNotShared, 0,
               "should this program be killed or crash, what was recorded since the last flush "
               "(--flush-ms) is lost: no shared memory" +
                   (area_.problem().empty() ? "" : " (" + area_.problem() + ")"));
  }
  return true;
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

void Recorder::finish() noexcept {
  try {
    if (state_.load() != State::kRunning) return;
    state_ = State::kFinished;
    // On this thread: the writing thread may be killed at exit.
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
