#include "cli/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/files.h"
#include "cli/amd_recording.h"
#include "base/child_process.h"
#include "cli/version.h"
#include "collect/sample/sampler.h"
#include "ingest/assaytrace/reader.h"

namespace assay {
namespace {

volatile std::sig_atomic_t child_pid = 0;
wire::Control* control = nullptr;
int start_signal = 0;
int stop_signal = 0;

// Starts or stops recording, or forwards the signal. A terminal sends its signals to the command as
// well, which is in its process group; signals sent only to this process are forwarded.
void on_signal(int number, siginfo_t* info, void*) {
  if (control != nullptr && (number == start_signal || number == stop_signal)) {
    const bool both = start_signal == stop_signal;
    const uint32_t now = __atomic_load_n(&control->recording, __ATOMIC_RELAXED);
    const uint32_t next = both ? 1 - now : (number == start_signal ? 1u : 0u);
    __atomic_store_n(&control->recording, next, __ATOMIC_RELEASE);
    return;
  }
  const bool sent_to_us = info != nullptr && info->si_code <= 0;
  if (sent_to_us && child_pid > 0) ::kill(child_pid, number);
}

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Handles the signals during its lifetime.
class Signals {
 public:
  explicit Signals(const RecordRequest& request) {
    start_signal = request.start_signal;
    stop_signal = request.stop_signal;
    for (const int number : kForwarded) catch_signal(number);
    for (const int number : {start_signal, stop_signal}) {
      if (number != 0) catch_signal(number);
    }
  }
  ~Signals() {
    for (auto& [number, before] : before_) ::sigaction(number, &before, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Call in the child before exec.
  void restore() const {
    for (const auto& [number, before] : before_) ::sigaction(number, &before, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
  }

 private:
  void catch_signal(int number) {
    const bool caught = std::any_of(before_.begin(), before_.end(),
                                    [number](const auto& pair) { return pair.first == number; });
    if (caught) return;
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (::sigaction(number, &action, &before) == 0) before_.emplace_back(number, before);
  }

  std::vector<std::pair<int, struct sigaction>> before_;
};

// Blocks all signals during its lifetime or until released.
class HeldBack {
 public:
  HeldBack() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~HeldBack() { let_go(); }
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;

  void let_go() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_ = {};
};

// A flag in a file that all recorded processes map.
class ControlFile {
 public:
  static Result<ControlFile> make() {
    for (const char* folder : {"/dev/shm", "/tmp"}) {
      std::string path = std::string(folder) + "/assay-record-XXXXXX";
      const int fd = ::mkostemp(path.data(), O_CLOEXEC);
      if (fd < 0) continue;
      ControlFile file;
      file.path_ = path;
      const wire::Control start = {wire::kControlMagic, 0};
      if (::write(fd, &start, sizeof(start)) == static_cast<ssize_t>(sizeof(start))) {
        file.map_ = ::mmap(nullptr, sizeof(start), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      }
      ::close(fd);
      if (file.map_ == MAP_FAILED || file.map_ == nullptr) continue;
      control = static_cast<wire::Control*>(file.map_);
      return file;
    }
    return Error{ErrorCode::kIo, "no place for a shared file in /dev/shm and /tmp", "", -1};
  }
  ControlFile() = default;
  ControlFile(ControlFile&& other) noexcept
      : path_(std::exchange(other.path_, "")), map_(std::exchange(other.map_, nullptr)) {}
  ControlFile& operator=(ControlFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(map_, other.map_);
    return *this;
  }
  ~ControlFile() {
    if (path_.empty()) return;
    control = nullptr;
    if (map_ != nullptr) ::munmap(map_, sizeof(wire::Control));
    (void)remove_file(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  void* map_ = nullptr;
};

std::string hexadecimal(uint64_t value) {
  std::array<char, 17> text = {};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

using Environment = std::vector<std::pair<std::string, std::string>>;

// Paths of the recorders; empty = none for GPUs of this vendor.
struct Recorders {
  std::string nvidia;
  std::string amd;
  std::string rocprofiler;  // rocprofiler-sdk, which loads AMD's recorder; empty = not found
};

Environment environment_for(const RecordRequest& request, const Recorders& recorders,
                            const std::string& control_path, const std::string& shared_path,
                            uint64_t session) {
  Environment variables = {{"ASSAY_RECORD_OUT", absolute_path(request.output)},
                           {"ASSAY_RECORD_SESSION", hexadecimal(session)},
                           {"ASSAY_RECORD_SHARED", shared_path},
                           {"ASSAY_RECORD_VERSION", kVersion}};
  const auto add = [&variables](const char* name, const std::string& value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  add("CUDA_INJECTION64_PATH", recorders.nvidia);
  add("NVTX_INJECTION64_PATH", recorders.nvidia);
  if (!recorders.amd.empty() && !recorders.rocprofiler.empty()) {
    for (auto& variable : amd_environment(recorders.amd, recorders.rocprofiler)) {
      variables.push_back(std::move(variable));
    }
  }
  add("ASSAY_CUPTI", request.cupti.empty() ? "" : absolute_path(request.cupti));
  add("ASSAY_RECORD_TORCH", request.operators.empty() ? "" : absolute_path(request.operators));
  if (request.modules) add("ASSAY_RECORD_TORCH_MODULES", "hooks");
  add("ASSAY_RECORD_RANGE", request.capture_range);
  add("ASSAY_RECORD_CONTROL", control_path);
  if (request.max_bytes != 0) add("ASSAY_RECORD_MAX_BYTES", std::to_string(request.max_bytes));
  if (request.flush_ms != 0) add("ASSAY_RECORD_FLUSH_MS", std::to_string(request.flush_ms));
  if (request.tracer_clock) add("ASSAY_RECORD_CLOCK", "tracer");
  if (request.all_calls) add("ASSAY_RECORD_CALLS", "all");
  if (request.whole_graphs) add("ASSAY_RECORD_GRAPHS", "whole");
  return variables;
}

Status check_environment(const std::string& library) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0' || library == value) continue;
    return Error{ErrorCode::kInvalidArgument,
                 std::string(name) + " is set to " + value +
                     ": another profiler is to be loaded into the program, and only one can be; "
                     "unset it, or leave out assay record",
                 "", -1};
  }
  return Ok{};
}

Status check_folder(const std::string& output) {
  return check_writable_folder(folder_of(absolute_path(output)));
}

[[noreturn]] void become(const std::vector<std::string>& command, const Environment& variables) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int reason = errno;
  const bool missing = sample::unstartable_code(command) == 127;
  // EACCES comes from an inaccessible folder in PATH, not from the command.
  const bool of_folder = missing && reason == EACCES;
  const std::string line = "assay record: cannot start " + command[0] + ": " +
                           std::strerror(of_folder ? ENOENT : reason) + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(126);
  ::_exit(missing ? 127 : 126);
}

bool has_session(const std::string& path, uint64_t session) {
  wire::FileHeader header = {};
  const auto head = file_head(path, sizeof(header));
  if (!head || head->size() != sizeof(header)) return false;
  std::memcpy(&header, head->data(), sizeof(header));
  return std::memcmp(header.magic, wire::kMagic, sizeof(header.magic)) == 0 &&
         header.session == session;
}

// The files of this run: OUT.PID[-n].EXTENSION with the session in the header.
std::vector<std::string> files_of(const std::string& output, uint64_t session) {
  const std::string extension = extension_of(output);
  const std::string stem = file_name(with_extension(output, "")) + ".";
  const std::string folder = folder_of(output);
  const auto beside = files_in(folder.empty() ? "." : folder);
  std::vector<std::string> files;
  for (const std::string& path : beside ? *beside : std::vector<std::string>()) {
    const std::string name = file_name(path);
    const bool named = name.starts_with(stem) && name.ends_with(extension);
    if (named && has_session(path, session)) files.push_back(folder.empty() ? name : path);
  }
  return files;
}

}  // namespace

Result<std::string> find_collector(const std::string& name, const char* variable) {
  const char* told = std::getenv(variable);
  if (told != nullptr && *told != '\0') return absolute_path(told);
  const std::string folder = program_folder();
  for (const char* beside : {"", "../lib/assay", "lib/assay", "../libexec/assay"}) {
    std::string place = normal_path(joined(joined(folder, beside), name));
    if (!file_exists(place)) continue;
    ASSAY_TRY(check_trusted(place));
    return place;
  }
  return Error{
      ErrorCode::kIo,
      name +
          " is neither next to this binary nor in ../lib/assay of it; build it, or name it with "
          "the environment variable " +
          variable,
      folder, -1};
}

int signal_from_name(const std::string& name) {
  const std::string bare = name.starts_with("SIG") ? name.substr(3) : name;
  constexpr std::pair<const char*, int> kNames[] = {
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"ALRM", SIGALRM}, {"URG", SIGURG}};
  for (const auto& [known, number] : kNames) {
    if (bare == known) return number;
  }
  const bool digits =
      !bare.empty() && bare.size() < 4 &&
      std::all_of(bare.begin(), bare.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int number = digits ? std::stoi(bare) : 0;
  const bool usable = number > 0 && number < NSIG && number != SIGKILL && number != SIGSTOP;
  return usable ? number : 0;
}

namespace {

Result<std::string> find_nvidia_recorder(const RecordRequest& request) {
  std::string library = request.library;
  if (library.empty()) {
    ASSAY_TRY_ASSIGN(library, find_collector("libassay_record.so", "ASSAY_RECORD_LIBRARY"));
  }
  library = absolute_path(library);
  if (::access(library.c_str(), R_OK) != 0) {
    return Error{ErrorCode::kIo, "cannot read the recorder", library, -1};
  }
  ASSAY_TRY(check_environment(library));
  return library;
}

Result<std::string> find_amd_recorder() {
  ASSAY_TRY_ASSIGN(std::string library,
                   find_collector("libassay_record_amd.so", "ASSAY_RECORD_AMD_LIBRARY"));
  if (::access(library.c_str(), R_OK) != 0) {
    return Error{ErrorCode::kIo, "cannot read the recorder", library, -1};
  }
  return library;
}

Result<Recorders> find_recorders(const RecordRequest& request) {
  Recorders recorders;
  if (request.gpu != "amd") {
    ASSAY_TRY_ASSIGN(recorders.nvidia, find_nvidia_recorder(request));
  }
  if (request.gpu == "nvidia" || (request.gpu == "auto" && !amd_is_here())) return recorders;
  auto amd = find_amd_recorder();
  if (amd) {
    recorders.amd = *std::move(amd);
    recorders.rocprofiler = find_rocprofiler();
  } else if (request.gpu == "amd") {
    return amd.error();
  } else {
    fmt::print(stderr, "assay record: AMD's GPUs are not recorded: {}\n", amd.error().describe());
  }
  if (const std::string others = other_amd_tools();
      !recorders.rocprofiler.empty() && !others.empty()) {
    fmt::print(stderr,
               "assay record: ROCP_TOOL_LIBRARIES names {} already: the recorder goes before it\n",
               others);
  }
  return recorders;
}

}  // namespace

Result<RecordRun> run_recorded(const RecordRequest& request) {
  ASSAY_TRY_ASSIGN(const Recorders recorders, find_recorders(request));
  ASSAY_TRY(check_folder(request.output));
  ControlFile shared;
  if (request.start_signal != 0) {
    ASSAY_TRY_ASSIGN(shared, ControlFile::make());
  }
  std::random_device random;
  const uint64_t session = uint64_t{random()} << 32 | random();
  record::SharedMemory memory = record::SharedMemory::make(session);
  const Environment variables =
      environment_for(request, recorders, shared.path(), memory.path(), session);
  RecordRun run;
  run.for_nvidia = !recorders.nvidia.empty();
  run.for_amd = !recorders.amd.empty();
  {
    // Delay signals until the child exists.
    const HeldBack held;
    const Signals signals(request);
    const pid_t child = ::fork();
    if (child < 0) {
      return Error{ErrorCode::kIo, std::string("cannot start a process: ") + std::strerror(errno),
                   "", -1};
    }
    if (child == 0) {
      signals.restore();
      held.let_go();
      become(request.command, variables);
    }
    child_pid = child;
    held.let_go();
    run.exit_code = wait_for(child);
    child_pid = 0;
  }
  run.rescued = memory.rescue();
  run.files = files_of(request.output, session);
  return run;
}

}  // namespace assay
