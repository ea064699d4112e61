#include "base/temporaries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/platform/platform.h"

namespace assay {
namespace {

// Fixed memory for the signal handler. A process has few temporaries at a time; those without a
// slot are removed only by their owner.
constexpr int kSlots = 64;
enum SlotState : int { kFree, kBeingSet, kSet };
struct Slot {
  std::atomic<int> state{kFree};
  char path[PATH_MAX] = {};
};
std::array<Slot, kSlots> slots;
std::atomic<pid_t> owner{0};

int take_slot(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  owner.store(::getpid());
  for (int i = 0; i < kSlots; ++i) {
    int expected = kFree;
    Slot& slot = slots[static_cast<size_t>(i)];
    if (!slot.state.compare_exchange_strong(expected, kBeingSet)) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.state.store(kSet);
    return i;
  }
  return -1;
}

void free_slot(int slot) {
  if (slot >= 0) slots[static_cast<size_t>(slot)].state.store(kFree);
}

// ---- Signal handler: only system calls ----

constexpr int kDeepest = 8;

void remove_at(int folder, const char* name, int depth);

void remove_entry(int folder, const char* name, int depth) {
  if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) remove_at(folder, name, depth + 1);
}

void remove_at(int folder, const char* name, int depth) {
  if (::unlinkat(folder, name, 0) == 0 || errno == ENOENT || depth > kDeepest) return;
  const int opened = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (opened >= 0) {
    platform::visit_entries(opened, depth, remove_entry);
    ::close(opened);
  }
  ::unlinkat(folder, name, AT_REMOVEDIR);
}

void remove_all_and_end(int number) {
  const int before = errno;
  // A forked child that has not called exec does not own the files.
  if (owner.load() == ::getpid()) {
    for (Slot& slot : slots) {
      if (slot.state.load() == kSet) remove_at(AT_FDCWD, slot.path, 0);
    }
  }
  errno = before;
  ::signal(number, SIG_DFL);
  ::raise(number);
}

// ---- Names ----

Error cannot_write(const std::string& target, int code) {
  return {ErrorCode::kIo, std::string("cannot write: ") + std::strerror(code), target, -1};
}

// "NAME.tmp-PID", or "NAME.tmp-PID-2" if that exists. Long names are truncated so that every valid
// target name works.
std::string temporary_name(const std::string& target, int attempt) {
  constexpr size_t kLongest = 220;
  std::string name = file_name(target);
  if (name.size() > kLongest && name.size() <= NAME_MAX) name.resize(kLongest);
  name += ".tmp-" + std::to_string(::getpid());
  if (attempt > 1) name += "-" + std::to_string(attempt);
  const std::string folder = folder_of(target);
  return folder.empty() ? name : joined(folder, name);
}

constexpr int kAttempts = 100;

}  // namespace

Temporary::Temporary(std::string path) : path_(std::move(path)), slot_(take_slot(path_)) {}

Temporary::Temporary(Temporary&& other) noexcept
    : path_(std::exchange(other.path_, {})), slot_(std::exchange(other.slot_, -1)) {}

Temporary& Temporary::operator=(Temporary&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(slot_, other.slot_);
  return *this;
}

void Temporary::keep() {
  free_slot(std::exchange(slot_, -1));
  path_.clear();
}

void Temporary::remove() {
  if (path_.empty()) return;
  remove_tree(path_);
  keep();
}

Result<Temporary> temporary_beside(const std::string& target, int& descriptor) {
  constexpr mode_t kAsUmaskSays = 0666;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    Temporary temporary(temporary_name(target, attempt));
    descriptor = ::open(temporary.path().c_str(),
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kAsUmaskSays);
    if (descriptor >= 0) return temporary;
    const int code = errno;
    temporary.keep();  // it belongs to another process, or was not created
    if (code != EEXIST) return cannot_write(target, code);
  }
  return cannot_write(target, EEXIST);
}

Result<Temporary> temporary_folder_beside(const std::string& target) {
  const std::string above = folder_of(target);
  if (!above.empty()) ASSAY_TRY(make_folders(above));
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    Temporary temporary(temporary_name(target, attempt));
    if (::mkdir(temporary.path().c_str(), 0777) == 0) return temporary;
    const int code = errno;
    temporary.keep();
    if (code != EEXIST) return cannot_write(target, code);
  }
  return cannot_write(target, EEXIST);
}

Result<Temporary> temporary_folder(const std::string& prefix) {
  const char* told = std::getenv("TMPDIR");
  const std::string base = told != nullptr && *told == '/' ? told : "/tmp";
  std::string path = joined(base, prefix + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo,
                 "cannot make a temporary folder in " + base + ": " + std::strerror(errno) +
                     "; TMPDIR names another",
                 "", -1};
  }
  return Temporary(path);
}

void remove_temporaries_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = remove_all_and_end;
    ::sigfillset(&action.sa_mask);
    ::sigdelset(&action.sa_mask, number);
    action.sa_flags = SA_NODEFER;
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace assay
