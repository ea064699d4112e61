#include "cli/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/files.h"

extern char** environ;

namespace assay {
namespace {

constexpr size_t kMostOutput = size_t{1} << 20;

Error cannot_run(const std::string& program, int code) {
  return {ErrorCode::kIo, fmt::format("cannot be run: {}", std::strerror(code)), program, -1};
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

enum class Keep : uint8_t { kNothing, kOutput, kEverything };

Result<ChildResult> run(const std::vector<std::string>& argv, Keep keep) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int pipe[2] = {-1, -1};
  if (keep != Keep::kNothing && ::pipe2(pipe, O_CLOEXEC) != 0) return cannot_run(argv[0], errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (keep == Keep::kEverything) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
  }
  posix_spawn_file_actions_adddup2(&actions, keep == Keep::kNothing ? STDERR_FILENO : pipe[1],
                                   STDOUT_FILENO);
  pid_t child = 0;
  const int code =
      ::posix_spawnp(&child, argv[0].c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ChildResult result;
  if (keep != Keep::kNothing) {
    ::close(pipe[1]);
    if (code == 0) result.output = read_all(pipe[0]);
    ::close(pipe[0]);
  }
  if (code != 0) return cannot_run(argv[0], code);
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<ChildResult> run_child(const std::vector<std::string>& argv, bool keep_output) {
  return run(argv, keep_output ? Keep::kOutput : Keep::kNothing);
}

Result<ChildResult> ask_child(const std::vector<std::string>& argv) {
  return run(argv, Keep::kEverything);
}

Result<std::string> ask_copy(const std::function<std::string()>& ask, unsigned seconds) {
  const std::string self = "a copy of this process";
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) return cannot_run(self, errno);
  const pid_t child = ::fork();
  const int code = errno;
  if (child == 0) {
    ::alarm(seconds);
    ::close(STDERR_FILENO);  // what it says on its way is not the answer
    const std::string answer = ask();
    const bool told = ::write(pipe[1], answer.data(), answer.size()) >= 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string answer = child > 0 ? read_all(pipe[0]) : "";
  ::close(pipe[0]);
  if (child < 0) return cannot_run(self, code);
  if (const int ended = wait_for(child); ended != 0)
    return Error{ErrorCode::kIo, fmt::format("it ended with {}", ended), self, -1};
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
