#include "devices/gpu_device.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "base/files.h"
#include "base/try_thread.h"
#include "devices/gpu_collectives.h"
#include "devices/gpu_memory.h"

extern char** environ;

namespace assay {
namespace {

constexpr int64_t kPoll = 250'000;  // between samples when logging
constexpr int64_t kStampWait = 1'000'000'000;
constexpr unsigned kMapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP, hipHostMallocMapped
constexpr int kAnchors = 8;      // event reads; the fastest one relates the clocks
constexpr size_t kMostEvents = 200'000;
// The first executions of a run always have an event each, because they show how it settles.
constexpr size_t kAlone = 20'000;

Error failed(std::string message) { return Error{ErrorCode::kIo, std::move(message), "", -1}; }

int64_t read_clock(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// One process per execution.
Status run_command(const std::string& command) {
  const char* arguments[] = {"/bin/sh", "-c", command.c_str(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(arguments),
                    environ) != 0) {
    return failed("the command cannot be started: " + command);
  }
  int state = 0;
  while (::waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) return failed("the command was lost: " + command);
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return Ok{};
  return failed("the command did not end with 0: " + command);
}

// Samples until stopped.
class Poller {
 public:
  Poller(GpuSensor& sensor, clockid_t clock, const LogRequest& request)
      : sensor_(sensor), clock_(clock), request_(request) {
    thread_ = try_thread([this] { poll(); });
    if (!thread_) error_ = failed("no thread to read the sensor with: a limit on processes?");
  }
  ~Poller() { stop(); }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  Result<std::vector<PowerSample>> finish() {
    stop();
    if (error_) return *error_;
    return std::move(samples_);
  }

 private:
  void stop() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_ && thread_->joinable()) thread_->join();
  }

  void poll() {
    const int64_t interval = request_.poll_interval_ns > 0 ? request_.poll_interval_ns : kPoll;
    int64_t next = read_clock(clock_);
    while (true) {
      // Read once more after the stop: samples that the driver buffered until then belong to the
      // log, and even a thread that was scheduled late takes one sample.
      const bool last = stop_.load(std::memory_order_relaxed);
      const int64_t before = read_clock(clock_);
      auto readings = sensor_.read();
      const int64_t after = read_clock(clock_);
      if (!readings) {
        error_ = readings.take_error();
        return;
      }
      for (const SensorReading& reading : *readings) keep(reading, before + (after - before) / 2);
      if (last) return;
      next = std::max(next + interval, after);
      std::this_thread::sleep_for(std::chrono::nanoseconds(next - after));
    }
  }

  void keep(const SensorReading& reading, int64_t polled_at) {
    const bool every = request_.poll_interval_ns > 0;
    if (reading.buffered) return keep_buffered(reading, every);
    const bool repeated =
        !reading.fresh || (!samples_.empty() && samples_.back().power_w == reading.power_w);
    if (repeated && !every) return;
    if (!reading.fresh && samples_.empty()) return;
    PowerSample sample;
    sample.t_ns = every || reading.t_ns == 0 ? polled_at : reading.t_ns;
    sample.power_w = reading.fresh ? reading.power_w : samples_.back().power_w;
    sample.xcd_w = reading.parts_w[0];
    sample.iod_w = reading.parts_w[1];
    sample.hbm_w = reading.parts_w[2];
    samples_.push_back(sample);
  }

  // A buffered reading has its own time. as_polled: adds the previous reading just before it, as a
  // poll would have seen it; calibration looks for such steps.
  void keep_buffered(const SensorReading& reading, bool as_polled) {
    constexpr int64_t kJustBefore = 1000;
    PowerSample sample;
    if (as_polled && !samples_.empty()) {
      sample.power_w = samples_.back().power_w;
      sample.t_ns = reading.t_ns - kJustBefore;
      samples_.push_back(sample);
    }
    sample.t_ns = reading.t_ns;
    sample.power_w = reading.power_w;
    samples_.push_back(sample);
  }

  GpuSensor& sensor_;
  clockid_t clock_;
  LogRequest request_;
  std::vector<PowerSample> samples_;
  std::optional<Error> error_;
  std::atomic<bool> stop_ = false;
  std::optional<std::thread> thread_;
};

struct GpuKernel {
  Workload work;
  std::array<void*, 3> buffers = {};
  void* function = nullptr;         // compiled at run time
  void (*symbol)(void*) = nullptr;  // from a shared object
  size_t collective = 0;            // as GpuCollectives numbers it
};

class GpuDevice final : public PowerDevice {
 public:
  GpuDevice(GpuRuntime runtime, GpuParts parts)
      : runtime_(std::move(runtime)), parts_(std::move(parts)) {
    facts_.name = runtime_.name();
    facts_.samples_on_cpu_clock = true;
    parts_.sensor->describe(facts_);
  }
  ~GpuDevice() override {
    poller_.reset();
    collectives_.reset();
    for (void* event : events_) api().event_destroy(event);
    for (const GpuKernel& kernel : kernels_) {
      for (void* buffer : kernel.buffers) {
        if (buffer != nullptr) api().release(buffer);
      }
    }
    if (stamp_host_ != nullptr) api().host_release(stamp_host_);
  }

  Status start() {
    ASSAY_TRY_ASSIGN(helpers_, load_helpers(runtime_, parts_.helpers));
    ASSAY_TRY(check(api().host_allocate(&stamp_host_, sizeof(uint64_t), kMapped),
                    "allocating memory that the GPU can see"));
    return check(api().host_device_pointer(&stamp_device_, stamp_host_, 0),
                 "mapping memory into the GPU");
  }

  const DeviceFacts& facts() const override { return facts_; }
  int64_t now_ns() override { return read_clock(parts_.cpu_clock); }
  Status wait_ns(int64_t duration) override {
    if (duration > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(duration));
    return Ok{};
  }

  Result<PreparedKernel> prepare(const std::string& workload) override {
    ASSAY_TRY_ASSIGN(Workload work, parse_workload(workload));
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (kernels_[i].work.text == work.text) return prepared(i);
    }
    GpuKernel kernel;
    kernel.work = std::move(work);
    // Listed before it is complete, so that its buffers are released even if preparing fails.
    kernels_.push_back(std::move(kernel));
    if (Status status = make_ready(kernels_.back()); !status) {
      Error error = status.take_error();
      if (error.file.empty()) error.message = "workload '" + workload + "': " + error.message;
      return error;
    }
    return prepared(kernels_.size() - 1);
  }

  Result<ClockProbe> probe() override {
    // Host memory that the GPU writes to.
    static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) && std::atomic<uint64_t>::is_always_lock_free);
    auto& seen = *static_cast<std::atomic<uint64_t>*>(stamp_host_);
    seen.store(0);
    ClockProbe probe;
    probe.c0_ns = now_ns();
    void* arguments[] = {&stamp_device_};
    ASSAY_TRY(launch(helpers_.stamp, 1, 1, arguments));
    while (seen.load() == 0) {
      if (now_ns() - probe.c0_ns > kStampWait) {
        return failed("the GPU did not answer a clock read within a second");
      }
    }
    probe.c1_ns = now_ns();
    probe.gpu_ticks = static_cast<int64_t>(seen.load());
    return probe;
  }

  Status start_logging(const LogRequest& request) override {
    poller_ = std::make_unique<Poller>(*parts_.sensor, parts_.cpu_clock, request);
    return Ok{};
  }
  Result<std::vector<PowerSample>> stop_logging() override {
    if (!poller_) return Error{ErrorCode::kInternal, "the logger does not run", "", -1};
    auto samples = poller_->finish();
    poller_.reset();
    return samples;
  }
  Result<std::optional<double>> energy_j() override { return parts_.sensor->energy_j(); }

  Result<std::vector<PowerExecution>> execute(uint32_t run,
                                              const std::vector<uint32_t>& kernels) override {
    for (const uint32_t id : kernels) {
      if (id >= kernels_.size()) {
        return Error{ErrorCode::kInvalidArgument, "no kernel of that number is prepared", "", -1};
      }
      if (kernels_[id].work.kind == WorkloadKind::kCommand) return execute_commands(run, kernels);
    }
    const std::vector<size_t> ends = block_ends(kernels);
    if (ends.size() > kMostEvents) {
      return Error{ErrorCode::kUnsupported,
                   std::to_string(ends.size()) +
                       " changes from one kernel to another in one run are more than can be "
                       "timed: take fewer",
                   "", -1};
    }
    return execute_kernels(run, kernels, ends);
  }
  uint32_t timed_together(const std::vector<uint32_t>& kernels) const override {
    size_t most = 0;
    size_t begin = 0;
    for (const size_t end : block_ends(kernels)) {
      most = std::max(most, end - begin);
      begin = end;
    }
    return static_cast<uint32_t>(most);
  }

 private:
  // Time of an event on the CPU's clock.
  struct Anchor {
    int64_t cpu_ns = 0;
    int64_t round_trip_ns = INT64_MAX;
    void* event = nullptr;
  };

  const GpuApi& api() const { return runtime_.api(); }
  Status check(int code, const std::string& doing) const { return runtime_.check(code, doing); }

  Status launch(void* function, unsigned blocks, unsigned threads, void** arguments) const {
    return runtime_.launch(function, blocks, threads, arguments);
  }
  Status synchronize() const {
    ASSAY_TRY(runtime_.synchronize());
    return collectives_ ? collectives_->synchronize() : Status(Ok{});
  }

  PreparedKernel prepared(size_t id) const {
    const GpuKernel& kernel = kernels_[id];
    const Workload& work = kernel.work;
    if (!is_collective(work.kind)) {
      return {static_cast<uint32_t>(id), work.text, work.flop, work.bytes};
    }
    // The power depends on the number of GPUs, so it is part of the name.
    return {static_cast<uint32_t>(id),
            work.text + " over " + std::to_string(collectives_->ranks()) + " GPUs", work.flop,
            collectives_->bytes(kernel.collective)};
  }

  Status make_ready(GpuKernel& kernel) {
    const Workload& work = kernel.work;
    switch (work.kind) {
      case WorkloadKind::kGemm:
      case WorkloadKind::kGemv:
        return make_matrices(kernel);
      case WorkloadKind::kCopy:
        return make_arrays(kernel, 2);
      case WorkloadKind::kTriad:
        return make_arrays(kernel, 3);
      case WorkloadKind::kAllReduce:
      case WorkloadKind::kAllGather:
        return make_collective(kernel);
      case WorkloadKind::kSharedObject:
        return open_symbol(kernel);
      case WorkloadKind::kCudaSource:
      case WorkloadKind::kHipSource:
        return compile(kernel);
      case WorkloadKind::kCommand:
        break;
    }
    return Ok{};
  }

  Status make_buffer(void*& buffer, int64_t bytes, DataType type) {
    return make_filled(runtime_, helpers_, bytes, type, buffer);
  }

  Status make_matrices(GpuKernel& kernel) {
    if (!blas_) {
      ASSAY_TRY_ASSIGN(blas_, parts_.open_blas(parts_.blas_libraries, runtime_.stream()));
    }
    const Workload& work = kernel.work;
    const int64_t size = data_type_bytes(work.type);
    ASSAY_TRY(make_buffer(kernel.buffers[0], work.m * work.k * size, work.type));
    ASSAY_TRY(make_buffer(kernel.buffers[1], work.k * work.n * size, work.type));
    return make_buffer(kernel.buffers[2], work.m * work.n * size, work.type);
  }

  Status make_arrays(GpuKernel& kernel, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      ASSAY_TRY(make_buffer(kernel.buffers[i], kernel.work.array_bytes, kernel.work.type));
    }
    return Ok{};
  }

  Status make_collective(GpuKernel& kernel) {
    if (!collectives_) {
      const bool nvidia = parts_.vendor == GpuVendor::kNvidia;
      ASSAY_TRY_ASSIGN(
          collectives_,
          GpuCollectives::open(parts_.vendor, runtime_,
                               {parts_.collective_libraries, parts_.driver_libraries,
                                std::string("collectives need ") + (nvidia ? "NCCL" : "RCCL") +
                                    ", which is not installed here",
                                parts_.helpers}));
    }
    ASSAY_TRY_ASSIGN(kernel.collective, collectives_->prepare(kernel.work));
    return Ok{};
  }

  Status open_symbol(GpuKernel& kernel) {
    ASSAY_TRY_ASSIGN(
        const DynamicLibrary library,
        DynamicLibrary::open({kernel.work.file}, "the shared object cannot be opened"));
    return library.bind(kernel.work.symbol.c_str(), kernel.symbol);
  }

  Status compile(GpuKernel& kernel) {
    const bool cuda = kernel.work.kind == WorkloadKind::kCudaSource;
    if (cuda != (parts_.vendor == GpuVendor::kNvidia)) {
      return Error{ErrorCode::kInvalidArgument,
                   "cu: sources run on nvidia devices, hip: sources on amd devices", "", -1};
    }
    ASSAY_TRY_ASSIGN(const std::string source, file_text(kernel.work.file));
    ASSAY_TRY_ASSIGN(
        const std::string image,
        compile_gpu_source(parts_.vendor, parts_.compiler_libraries, source, kernel.work.file));
    void* module = nullptr;
    ASSAY_TRY(check(api().module_load(&module, image.c_str()), "loading " + kernel.work.file));
    if (api().module_function(&kernel.function, module, kernel.work.symbol.c_str()) == 0) {
      return Ok{};
    }
    return Error{ErrorCode::kInvalidArgument,
                 "has no kernel " + kernel.work.symbol +
                     " (declare it extern \"C\" __global__, without arguments)",
                 kernel.work.file, -1};
  }

  Status enqueue(const GpuKernel& kernel) {
    const Workload& work = kernel.work;
    void* a = kernel.buffers[0];
    void* b = kernel.buffers[1];
    void* c = kernel.buffers[2];
    if (is_collective(work.kind)) return collectives_->enqueue(kernel.collective);
    if (kernel.symbol != nullptr) return kernel.symbol(runtime_.stream()), Ok{};
    if (kernel.function != nullptr) {
      constexpr unsigned kUserBlocks = 1024;
      return launch(kernel.function, kUserBlocks, kGpuThreads, nullptr);
    }
    if (work.kind == WorkloadKind::kCopy) {
      return check(api().copy(a, b, static_cast<size_t>(work.array_bytes), runtime_.stream()),
                   "copying on the GPU");
    }
    if (work.kind == WorkloadKind::kTriad) {
      uint64_t words = static_cast<uint64_t>(work.array_bytes) / 4;
      void* arguments[] = {&a, &b, &c, &words};
      return launch(helpers_.triad, blocks_for(words), kGpuThreads, arguments);
    }
    return blas_->gemm(work, a, b, c);
  }

  Status make_events(size_t count) {
    while (events_.size() < count) {
      void* event = nullptr;
      ASSAY_TRY(check(api().event_create(&event, 0), "making an event"));
      events_.push_back(event);
    }
    return Ok{};
  }

  // Records events on the idle stream, each between two reads of the CPU's clock. Returns the one
  // with the shortest round trip; its time is known to half of that.
  Result<Anchor> anchor(size_t first_event) {
    Anchor best;
    for (int i = 0; i < kAnchors; ++i) {
      void* event = events_[first_event + static_cast<size_t>(i)];
      const int64_t before = now_ns();
      ASSAY_TRY(check(api().event_record(event, runtime_.stream()), "recording an event"));
      ASSAY_TRY(check(api().event_synchronize(event), "waiting for an event"));
      const int64_t after = now_ns();
      if (after - before >= best.round_trip_ns) continue;
      best = {before + (after - before) / 2, after - before, event};
    }
    return best;
  }

  Result<double> elapsed_ns(void* from, void* to) const {
    float ms = 0;
    ASSAY_TRY(check(api().event_elapsed(&ms, from, to), "reading an event's time"));
    return static_cast<double>(ms) * 1e6;
  }

  // Indices after which an event is recorded: after every execution, or after blocks of one kernel
  // if that would be too many.
  static std::vector<size_t> block_ends(const std::vector<uint32_t>& kernels) {
    const size_t count = kernels.size();
    const size_t block = count <= kMostEvents
                             ? 1
                             : (count - kAlone + kMostEvents - kAlone - 1) / (kMostEvents - kAlone);
    std::vector<size_t> ends;
    ends.reserve(std::min(count, kMostEvents));
    size_t begin = 0;
    for (size_t end = 1; end <= count; ++end) {
      const bool changes = end == count || kernels[end] != kernels[end - 1];
      if (!changes && end > kAlone && end - begin < block) continue;
      ends.push_back(end);
      begin = end;
    }
    return ends;
  }

  Result<std::vector<PowerExecution>> execute_kernels(uint32_t run,
                                                      const std::vector<uint32_t>& kernels,
                                                      const std::vector<size_t>& ends) {
    const size_t anchors = 2 * static_cast<size_t>(kAnchors);
    ASSAY_TRY(make_events(anchors + ends.size() + 1));
    ASSAY_TRY(synchronize());
    ASSAY_TRY_ASSIGN(const Anchor before, anchor(0));
    ASSAY_TRY(check(api().event_record(events_[anchors], runtime_.stream()), "recording an event"));
    size_t blocks = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      ASSAY_TRY(enqueue(kernels_[kernels[i]]));
      if (i + 1 < ends[blocks]) continue;
      ASSAY_TRY(check(api().event_record(events_[anchors + ++blocks], runtime_.stream()),
                      "recording an event"));
    }
    ASSAY_TRY(synchronize());
    ASSAY_TRY_ASSIGN(const Anchor after, anchor(static_cast<size_t>(kAnchors)));
    ASSAY_TRY_ASSIGN(const double between, elapsed_ns(before.event, after.event));
    // Rate of the event clock against the CPU's; 1 if the measured rate is off by 0.1 % or more, as
    // in short runs.
    const auto cpu = static_cast<double>(after.cpu_ns - before.cpu_ns);
    const double rate = between > 0 && std::fabs(cpu / between - 1) < 1e-3 ? cpu / between : 1;
    std::vector<PowerExecution> done;
    done.reserve(kernels.size());
    int64_t start = 0;
    for (size_t i = 0; i <= ends.size(); ++i) {
      ASSAY_TRY_ASSIGN(const double since, elapsed_ns(before.event, events_[anchors + i]));
      const int64_t at = std::max<int64_t>(start, before.cpu_ns + std::llround(since * rate));
      if (i > 0) add_block(run, kernels, ends[i - 1], {start, at}, done);
      start = at;
    }
    return done;
  }

  // Appends the executions from done.size() to `end`, each with an equal part of `span`.
  static void add_block(uint32_t run, const std::vector<uint32_t>& kernels, size_t end,
                        std::pair<int64_t, int64_t> span, std::vector<PowerExecution>& done) {
    const size_t begin = done.size();
    const auto count = static_cast<int64_t>(end - begin);
    const int64_t length = span.second - span.first;
    int64_t start = span.first;
    for (size_t i = begin; i < end; ++i) {
      const int64_t at = span.first + length * static_cast<int64_t>(i - begin + 1) / count;
      done.push_back({run, static_cast<uint32_t>(i), start, at, kernels[i]});
      start = at;
    }
  }

  Result<std::vector<PowerExecution>> execute_commands(uint32_t run,
                                                       const std::vector<uint32_t>& kernels) {
    std::vector<PowerExecution> done;
    for (const uint32_t id : kernels) {
      const GpuKernel& kernel = kernels_[id];
      const int64_t start = now_ns();
      if (kernel.work.kind == WorkloadKind::kCommand) {
        ASSAY_TRY(run_command(kernel.work.command));
      } else {
        ASSAY_TRY(enqueue(kernel));
        ASSAY_TRY(synchronize());
      }
      done.push_back({run, static_cast<uint32_t>(done.size()), start, now_ns(), id});
    }
    return done;
  }

  GpuRuntime runtime_;
  GpuParts parts_;
  DeviceFacts facts_;
  std::unique_ptr<GpuBlas> blas_;
  std::unique_ptr<GpuCollectives> collectives_;
  std::vector<GpuKernel> kernels_;
  std::vector<void*> events_;
  GpuHelpers helpers_;
  void* stamp_host_ = nullptr;
  void* stamp_device_ = nullptr;
  std::unique_ptr<Poller> poller_;
};

}  // namespace

Result<std::unique_ptr<PowerDevice>> make_gpu_device(GpuRuntime runtime, GpuParts parts) {
  auto device = std::make_unique<GpuDevice>(std::move(runtime), std::move(parts));
  ASSAY_TRY(device->start());
  return std::unique_ptr<PowerDevice>(std::move(device));
}

}  // namespace assay
