#include "collect/sample/sampler.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "collect/sample/clocks.h"
#include "collect/sample/cpu.h"
#include "collect/sample/job.h"
#include "collect/sample/output.h"

namespace assay::sample {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr const char* kHeader =
    "t_ns,monotonic_ns,device,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,gpu_util_percent,"
    "memory_util_percent,memory_used_bytes,temperature_c,throttle_reasons,cpu_util_percent,"
    "process_cpu_s\n";

// CPU time of this process, or of the children that it waited for.
double cpu_s(int who) {
  rusage usage = {};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// An external name as one line of a comment.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return text;
}

void append_number(std::string& line, double value, int digits) {
  if (!std::isfinite(value)) return;
  std::array<char, 64> text = {};
  const int n = std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  line.append(text.data(), static_cast<size_t>(n));
}

void append_moment(std::string& line, const Moment& moment) {
  line += std::to_string(moment.realtime_ns) + "," + std::to_string(moment.monotonic_ns);
}

// Discards standard error: the vendors' libraries report GPUs that the machine does not have.
class QuietErrors {
 public:
  QuietErrors() : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const int nowhere = kept_ < 0 ? -1 : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    std::fflush(stderr);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~QuietErrors() {
    if (kept_ < 0) return;
    std::fflush(stderr);
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  int kept_;  // -1: standard error is closed
};

// The GPUs of all vendors, numbered consecutively as "gpu0", "gpu1", ...
struct Gpu {
  GpuTelemetry* telemetry = nullptr;
  size_t place = 0;
};

class Sampler {
 public:
  Sampler(const SampleOptions& options, Output output, ProcStat proc_stat)
      : options_(options),
        output_(std::move(output)),
        proc_stat_(std::move(proc_stat)),
        period_ns_(std::llround(static_cast<double>(kSecond) / options.hz)) {}

  void open_gpus() {
    const QuietErrors quiet;  // the notes report missing libraries
    add_gpus(options_.nvml.empty() ? open_nvidia_telemetry()
                                   : open_nvidia_telemetry(options_.nvml));
    const bool usual = options_.amd_smi.empty() && options_.rocm_smi.empty();
    add_gpus(usual ? open_amd_telemetry()
                   : open_amd_telemetry({options_.amd_smi, options_.rocm_smi}));
    if (summary_.gpus.empty()) summary_.notes.insert(summary_.notes.begin(), "no GPU to sample");
  }

  Status write_head() {
    before_ = proc_stat_.read();
    const std::vector<CpuPlace> places = read_topology(options_.sys_root, before_);
    std::set<std::pair<int, int>> cores;
    std::string cpus;
    std::string siblings;
    bool told = !places.empty();
    for (const CpuPlace& place : places) {
      cpus_.push_back(place.cpu);
      cpus += " " + std::to_string(place.cpu);
      siblings += " " + std::to_string(place.package) + ":" + std::to_string(place.core);
      cores.emplace(place.package, place.core);
      told = told && place.core >= 0;
    }
    summary_.logical_cpus = places.size();
    summary_.physical_cores = told ? cores.size() : 0;
    const Moment start = now();
    std::string head = "# assay samples 1\n# tool: " + one_line(options_.tool) + "\n";
    head += "# clocks: t_ns is CLOCK_REALTIME since 1970, monotonic_ns is CLOCK_MONOTONIC\n";
    head += "# period_ns: " + std::to_string(period_ns_) + "\n# start: ";
    append_moment(head, start);
    head += "\n# host: " + host_words() + "\n# cpus:" + cpus + "\n";
    head += told ? "# cores:" + siblings + "\n" : std::string();
    for (size_t i = 0; i < gpus_.size(); ++i) head += device_line(i);
    for (const std::string& note : summary_.notes) head += "# note: " + one_line(note) + "\n";
    if (!options_.command.empty()) {
      std::string words;
      for (const std::string& word : options_.command) words += " " + word;
      head += "# command:" + one_line(words) + "\n";
    }
    if (options_.pid != 0) head += "# pid: " + std::to_string(options_.pid) + "\n";
    return output_.write(head + kHeader);
  }

  SampleSummary run(const HeldSignals& signals, std::optional<Job> job) {
    const int watched = job ? job->pid() : options_.pid;
    if (watched != 0) tree_.emplace(options_.proc_root, watched);
    cpu_at_start_s_ = cpu_s(RUSAGE_SELF);
    last_ = now();
    bool done = !tick();
    first_ = last_;
    Ticker ticker(first_.monotonic_ns, period_ns_);
    int64_t next_ns = ticker.next_ns(now().monotonic_ns);
    while (!done) {
      if (const auto signal = signals.wait_until(next_ns)) {
        done = ends(*signal, job);
      } else {
        done = !tick();
        next_ns = ticker.next_ns(now().monotonic_ns);
      }
      if (job && job->ended()) done = true;
    }
    if (!summary_.failure && !summary_.reader_gone) tick(job && job->ended());
    ticker.end(last_.monotonic_ns);
    summary_.missed = ticker.missed();
    finish();
    wait_for(signals, job);
    return std::move(summary_);
  }

 private:
  void add_gpus(Result<std::unique_ptr<GpuTelemetry>> opened) {
    if (!opened) {
      summary_.notes.push_back(opened.error().message);
      return;
    }
    telemetry_.push_back(std::move(*opened));
    GpuTelemetry* const telemetry = telemetry_.back().get();
    for (size_t i = 0; i < telemetry->gpus().size(); ++i) {
      gpus_.push_back({telemetry, i});
      summary_.gpus.push_back(telemetry->gpus()[i]);
    }
  }

  static std::string host_words() {
    utsname names = {};
    if (::uname(&names) != 0) return "unknown";
    return one_line(std::string(names.nodename) + ", " + names.sysname + " " + names.release);
  }

  std::string device_line(size_t place) const {
    const SampledGpu& gpu = summary_.gpus[place];
    return one_line("# device gpu" + std::to_string(place) + ": vendor=" + gpu.vendor + " index=" +
                    std::to_string(gpu.index) + " uuid=" + gpu.uuid + " bus=" + gpu.bus_id +
                    " power=" + gpu.power_reading + " source=" + gpu.source + " name=" + gpu.name) +
           "\n";
  }

  // Samples everything. False after the end of sampling. A job that has ended is no longer in
  // /proc; its time is in RUSAGE_CHILDREN.
  bool tick(bool job_ended = false) {
    lines_.clear();
    const Moment moment = now();
    if (const auto step = steps_.step_ns(moment)) {
      ++summary_.clock_steps;
      lines_ += "# clock step: CLOCK_REALTIME was set by " + std::to_string(*step) +
                " ns before the next row\n";
    }
    std::optional<double> process_s;
    if (tree_) {
      process_s = tree_->cpu_seconds(summary_.ticks % refresh_ticks() == 0);
      if (!process_s && options_.pid != 0) return false;
      if (job_ended) process_s = cpu_s(RUSAGE_CHILDREN);
    }
    append_cpu_row(moment, process_s);
    for (size_t i = 0; i < gpus_.size(); ++i) append_gpu_row(i);
    last_ = moment;
    ++summary_.ticks;
    return write(lines_);
  }

  // Search for children once a second.
  uint64_t refresh_ticks() const {
    return static_cast<uint64_t>(std::max<int64_t>(1, kSecond / period_ns_));
  }

  void append_cpu_row(const Moment& moment, std::optional<double> process_s) {
    std::vector<CpuTicks> after = proc_stat_.read();
    const auto percent = utilization_percent(before_, after, cpus_);
    const bool first = summary_.ticks == 0;
    append_moment(lines_, moment);
    lines_ += ",cpu,,,,,,,,,,";
    for (size_t i = 0; !first && i < percent.size(); ++i) {
      if (i > 0) lines_ += ' ';
      if (percent[i]) {
        append_number(lines_, *percent[i], 1);
      } else {
        lines_ += '-';
      }
    }
    lines_ += ',';
    if (process_s) append_number(lines_, *process_s, 2);
    lines_ += '\n';
    before_ = std::move(after);
  }

  void append_gpu_row(size_t place) {
    const GpuReading reading = gpus_[place].telemetry->read(gpus_[place].place);
    append_moment(lines_, now());
    lines_ += ",gpu" + std::to_string(place);
    bool any = false;
    for (const auto& [value, digits] :
         {std::pair{reading.power_w, 3}, std::pair{reading.energy_j, 3},
          std::pair{reading.sm_clock_mhz, 0}, std::pair{reading.memory_clock_mhz, 0},
          std::pair{reading.gpu_util_percent, 0}, std::pair{reading.memory_util_percent, 0},
          std::pair{reading.memory_used_bytes, 0}, std::pair{reading.temperature_c, 0}}) {
      lines_ += ',';
      append_number(lines_, value, digits);
      any = any || std::isfinite(value);
    }
    if (!any) ++summary_.empty_reads;
    lines_ += ',';
    if (reading.throttle_reasons) {
      std::array<char, 32> text = {};
      const int n =
          std::snprintf(text.data(), text.size(), "0x%" PRIx64, *reading.throttle_reasons);
      lines_.append(text.data(), static_cast<size_t>(n));
    }
    lines_ += ",,\n";
  }

  bool write(const std::string& lines) {
    if (Status status = output_.write(lines); !status) {
      summary_.reader_gone = output_.reader_gone();
      if (!summary_.reader_gone) summary_.failure = status.take_error();
      return false;
    }
    return true;
  }

  // Handles a signal; true ends the sampling. Ctrl-C in a terminal also reaches the command, so its
  // end is awaited. A signal to the sampler alone is forwarded.
  bool ends(const siginfo_t& signal, std::optional<Job>& job) {
    if (signal.si_signo == SIGCHLD) return job && job->ended();
    summary_.interrupted = true;
    if (!job) return true;
    const bool from_terminal = signal.si_code == SI_KERNEL;
    if (!from_terminal) job->send(signal.si_signo);
    return false;
  }

  void finish() {
    summary_.cpu_s = cpu_s(RUSAGE_SELF) - cpu_at_start_s_;
    summary_.elapsed_s = static_cast<double>(last_.monotonic_ns - first_.monotonic_ns) * 1e-9;
    if (summary_.failure || summary_.reader_gone) return;
    std::string end = "# end: ticks=" + std::to_string(summary_.ticks) +
                      " missed=" + std::to_string(summary_.missed) +
                      " clock_steps=" + std::to_string(summary_.clock_steps) + " cpu_s=";
    append_number(end, summary_.cpu_s, 6);
    end += " elapsed_s=";
    append_number(end, summary_.elapsed_s, 6);
    if (!write(end + "\n")) return;
    if (Status status = output_.close(); !status) summary_.failure = status.take_error();
  }

  // The command continues after a sampling failure.
  void wait_for(const HeldSignals& signals, std::optional<Job>& job) {
    if (!job) return;
    while (!job->ended()) {
      const auto signal = signals.wait_until(now().monotonic_ns + kSecond);
      if (signal) ends(*signal, job);
    }
    summary_.command_exit = job->ended();
  }

  const SampleOptions& options_;
  Output output_;
  ProcStat proc_stat_;
  const int64_t period_ns_;
  std::vector<std::unique_ptr<GpuTelemetry>> telemetry_;
  std::vector<Gpu> gpus_;
  std::vector<int> cpus_;
  std::vector<CpuTicks> before_;
  std::optional<ProcessTree> tree_;  // the processes of the job
  StepWatch steps_;
  Moment first_;
  Moment last_;
  double cpu_at_start_s_ = 0;
  std::string lines_;
  SampleSummary summary_;
};

Status check_options(const SampleOptions& options) {
  if (options.hz < kLeastHz || options.hz > kMostHz) {
    return Error{ErrorCode::kInvalidArgument, "the rate must lie between 0.01 and 1000 per second",
                 "", -1};
  }
  if (options.pid != 0 && !options.command.empty()) {
    return Error{ErrorCode::kInvalidArgument, "a process id and a command exclude each other", "",
                 -1};
  }
  if (options.pid == 0) return Ok{};
  if (ProcessTree(options.proc_root, options.pid).cpu_seconds(false)) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "there is no process " + std::to_string(options.pid) + " to sample with", "", -1};
}

}  // namespace

int unstartable_code(const std::vector<std::string>& command) {
  const int problem = command.empty() ? 0 : Job::problem(command);
  if (problem == 0) return 0;
  return problem == ENOENT || problem == ENOTDIR ? 127 : 126;
}

Result<SampleSummary> run_sampler(const SampleOptions& options) {
  ASSAY_TRY(check_options(options));
  if (!options.command.empty()) ASSAY_TRY(Job::check(options.command));
  ASSAY_TRY_ASSIGN(ProcStat proc_stat, ProcStat::open(options.proc_root));
  ASSAY_TRY_ASSIGN(Output output, Output::open(options.output));
  const HeldSignals signals;  // before any library starts threads
  Sampler sampler(options, std::move(output), std::move(proc_stat));
  sampler.open_gpus();
  ASSAY_TRY(sampler.write_head());
  std::optional<Job> job;
  if (!options.command.empty()) {
    ASSAY_TRY_ASSIGN(job, Job::start(options.command, signals));
  }
  return sampler.run(signals, job);
}

}  // namespace assay::sample
