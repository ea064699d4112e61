#include "base/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/descriptors.h"
#include "base/files.h"

extern char** environ;

namespace assay {
namespace {

constexpr size_t kMostOutput = size_t{1} << 20;
// Limit of a child's answer; a document with every kernel of a large trace has a few MiB.
constexpr size_t kMostAnswer = size_t{64} << 20;

Error cannot_run(const std::string& program, int code) {
  return {ErrorCode::kIo, std::string("cannot be run: ") + std::strerror(code), program, -1};
}

std::string read_all(int file) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = ::read(file, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < kMostOutput) text.append(block, static_cast<size_t>(got));
  }
}

std::vector<char*> words_of(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  return words;
}

// Runs in the forked child of process `parent`; replaces it with the command.
[[noreturn]] void become_asked(char* const* words, int output, pid_t parent,
                               uint64_t memory_bytes) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent ended before PR_SET_PDEATHSIG was set
  const rlimit memory = {memory_bytes, memory_bytes};
  if (memory_bytes > 0) ::setrlimit(RLIMIT_DATA, &memory);
  // Empty standard input: hold_descriptor() takes the lowest free descriptor, which is this one.
  ::close(STDIN_FILENO);
  hold_descriptor(false);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(words[0], words);
  ::_exit(127);
}

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& argv, bool keep_output) {
  const std::vector<char*> words = words_of(argv);
  int pipe[2] = {-1, -1};
  if (keep_output && ::pipe2(pipe, O_CLOEXEC) != 0) return cannot_run(argv[0], errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, keep_output ? pipe[1] : STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawnp(&child, argv[0].c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ChildResult result;
  if (keep_output) {
    ::close(pipe[1]);
    if (code == 0) result.output = read_all(pipe[0]);
    ::close(pipe[0]);
  }
  if (code != 0) return cannot_run(argv[0], code);
  result.exit_code = wait_for(child);
  return result;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<AskedChild> AskedChild::start(const std::vector<std::string>& argv, uint64_t memory_bytes) {
  const std::vector<char*> words = words_of(argv);
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) return cannot_run(argv[0], errno);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  const int code = errno;
  if (child == 0) become_asked(words.data(), pipe[1], self, memory_bytes);
  ::close(pipe[1]);
  if (child < 0) {
    ::close(pipe[0]);
    return cannot_run(argv[0], code);
  }
  ::setpgid(child, child);  // also in the parent: the child may not have done it yet
  return AskedChild(child, pipe[0]);
}

AskedChild::AskedChild(AskedChild&& other) noexcept
    : child_(std::exchange(other.child_, 0)),
      output_(std::exchange(other.output_, -1)),
      text_(std::move(other.text_)) {}

AskedChild::~AskedChild() {
  if (output_ >= 0) ::close(output_);
  if (child_ <= 0) return;
  ::kill(-child_, SIGKILL);
  wait_for(child_);
}

bool AskedChild::read_some() {
  char block[65536];
  const ssize_t got = ::read(output_, block, sizeof block);
  if (got < 0 && errno == EINTR) return true;
  if (got > 0 && text_.size() < kMostAnswer) text_.append(block, static_cast<size_t>(got));
  return got > 0;
}

ChildResult AskedChild::finish() { return {wait_for(std::exchange(child_, 0)), std::move(text_)}; }

Result<std::string> ask_copy(const std::function<std::string()>& ask, unsigned seconds) {
  const std::string self = "a copy of this process";
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) return cannot_run(self, errno);
  const pid_t child = ::fork();
  const int code = errno;
  if (child == 0) {
    ::alarm(seconds);
    ::close(STDERR_FILENO);  // its error messages are not part of the answer
    const std::string answer = ask();
    const bool told = ::write(pipe[1], answer.data(), answer.size()) >= 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string answer = child > 0 ? read_all(pipe[0]) : "";
  ::close(pipe[0]);
  if (child < 0) return cannot_run(self, code);
  if (const int ended = wait_for(child); ended != 0)
    return Error{ErrorCode::kIo, "it ended with " + std::to_string(ended), self, -1};
  return answer;
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return "";
}

}  // namespace assay
