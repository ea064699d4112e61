// The writing thread: moves the data of CUPTI and the program to the file.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "collect/record/clocks.h"
#include "collect/record/limits.h"
#include "collect/record/process.h"
#include "collect/record/recorder.h"

namespace assay::record {

void Recorder::wait_for_work() {
  std::unique_lock lock(queue_mutex_);
  const uint64_t now = monotonic_ns();
  const uint64_t until_flush = next_flush_ns_ > now ? next_flush_ns_ - now : 0;
  auto wait =
      std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(until_flush), kKeepPeriod);
  if (tracing_ && area_.is_shared()) {
    wait = std::min<std::chrono::nanoseconds>(wait, look_again_);
  }
  if (control_.is_open()) wait = std::min<std::chrono::nanoseconds>(wait, kControlPeriod);
  work_.wait_for(lock, wait, [this] {
    return stop_asked_ || buffers_.full() > 0 || attached_ != attached_told_ ||
           ranges_->waiting() >= kRangesWorthWaking;
  });
}

void Recorder::write_until_finished() {
  try {
    decoder_ = std::make_unique<Decoder>(file_, *names_, this_thread());
    area_.place().own_thread = this_thread();
    area_.place().alive_ns = monotonic_ns();
    control_.open(settings_.control);
    write_process();
    bool stop = false;
    while (!stop) {
      wait_for_work();
      area_.place().alive_ns.store(monotonic_ns(), std::memory_order_release);
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
    say_line("out of memory while writing; recording ends here");
  }
  const std::lock_guard lock(queue_mutex_);
  writer_done_ = true;
  done_.notify_all();
}

// Written when the file begins, and again after a driver has started.
void Recorder::write_process() {
  attached_told_ = attached_.load(std::memory_order_acquire);
  wire::Process process = {};
  process.pid = static_cast<uint32_t>(::getpid());
  process.parent_pid = static_cast<uint32_t>(::getppid());
  process.name = file_.text(running_program());
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
  area_.place().told.store(attached_told_ > 0 ? Told::kTraced : Told::kProcess,
                           std::memory_order_release);
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

wire::Clock Recorder::read_clocks(bool traced) {
  return three_clocks([&] {
    uint64_t now = 0;
    if (traced) cupti_.functions.timestamp(&now);
    return now;
  });
}

void Recorder::write_clock() { file_.add(wire::Kind::kClock, read_clocks(tracing_)); }

// A buffer or bank is released once the file has all of it: until then a rescue would write it.
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
  if (!file_.full()) notes_.write(file_);
  // Only data in the file survives a crash.
  if (arrived) file_.flush();
  publish_lost();
}

// Resolves kernel names while CUPTI and the process are available, more often while new ones
// appear.
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
  // A harmless call. Its record later proves that CUPTI's buffers belonged to the recorder until
  // here.
  if (tracing_ && recording_ && decoder_->saw_anything()) driver_version();
  if (tracing_) cupti_.functions.flush_all(forced ? cupti::kFlushForced : 0);
  observe_operators();
  // Drops without a buffer.
  count_dropped(dropped_by_tracer(nullptr, 0));
  drain();
  write_devices();
  write_clock();
  file_.flush();
  check_file();
  next_flush_ns_ = monotonic_ns() + uint64_t{settings_.flush_ms} * 1'000'000;
}

// Stops tracing if the file is full or a write failed.
void Recorder::check_file() {
  if (file_ended_ || (!file_.full() && !file_.broken())) return;
  file_ended_ = true;
  recording_ = false;
  if (tracing_) {
    disable_host_kinds();
    disable_device_kinds();
  }
  notes_.add_end_of(file_, settings_);
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
  bool recording = false;
  if (!control_.changed(recording)) return;
  const std::lock_guard lock(start_mutex_);
  if (recording) {
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
  if (tracing_) disable_device_kinds();
  device_on_ = false;
}

// Records of the recorder's own calls arrived earlier. If that of a call made now does not arrive
// after a forced flush, another profiler has the buffers. CUPTI may deliver a buffer on its own
// thread, hence the retries.
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
    notes_.add(wire::NoteCode::kTakenOver, 0,
               with_kineto("another profiler took CUPTI over while recording; what came after is "
                           "missing"));
  }
  if (!settings_.torch.empty() && !observing_ && !forked_ && decoder_->saw_device_work()) {
    notes_.add_no_torch();
  }
  ranges_->end_all(file_, progress_.current);
  notes_.add_texts_forgotten(ranges_->texts_forgotten());
  file_.take_last();
  notes_.write(file_);
  file_.close(monotonic_ns());
  area_.place().use.store(PlaceUse::kClosed, std::memory_order_release);
}

}  // namespace assay::record
