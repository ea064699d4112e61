#include "collect/sample/job.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>

#include "base/files.h"
#include "collect/sample/clocks.h"

extern char** environ;

namespace assay::sample {

HeldSignals::HeldSignals() {
  ::sigemptyset(&held_);
  ::sigaddset(&held_, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) ::sigaddset(&held_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
  // Signals that arrived meanwhile were for the sampling, which is over.
  const timespec none = {};
  while (::sigtimedwait(&held_, nullptr, &none) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<siginfo_t> HeldSignals::wait_until(int64_t monotonic_ns) const {
  constexpr int64_t kSecond = 1'000'000'000;
  while (true) {
    const int64_t left = std::max<int64_t>(0, monotonic_ns - now().monotonic_ns);
    const timespec wait = {static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
    siginfo_t info = {};
    if (::sigtimedwait(&held_, &info, &wait) > 0) return info;
    if (errno != EINTR && (errno == EAGAIN || left == 0)) return std::nullopt;
  }
}

int Job::problem(const std::vector<std::string>& command) {
  const std::string& name = command.front();
  if (name.find('/') != std::string::npos) {
    struct stat info = {};
    if (::stat(name.c_str(), &info) != 0) return errno;
    return is_program(name) ? 0 : EACCES;  // a folder is executable but is not a program
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  int found = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return 0;
    // Shells, too, treat a folder that the user may not enter as having no such program.
    if (file_exists(candidate)) found = EACCES;
  }
  return found;
}

Status Job::check(const std::vector<std::string>& command) {
  const int code = problem(command);
  if (code == 0) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               std::string("cannot be started: ") + std::strerror(code), command.front(), -1};
}

Result<Job> Job::start(const std::vector<std::string>& command, const HeldSignals& signals) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);  // ignored by the tool, for its own output
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setsigmask(&attributes, &signals.before());
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("cannot be started: ") + std::strerror(failed), command[0], -1};
  }
  return Job(pid);
}

std::optional<int> Job::ended() {
  if (exit_code_) return exit_code_;
  int status = 0;
  const pid_t done = ::waitpid(pid_, &status, WNOHANG);
  if (done != pid_) return std::nullopt;
  constexpr int kSignalled = 128;
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit_code_ = kSignalled + WTERMSIG(status);
  return exit_code_;
}

void Job::send(int signal) const { ::kill(pid_, signal); }

}  // namespace assay::sample
