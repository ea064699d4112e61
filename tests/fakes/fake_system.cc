// Calls of the system as they go wrong, in front of the C library's: FAKE_NO_MEMFD refuses
// memfd_create, as filters of system calls do; FAKE_DIE_AT_BLOCK=N,M ends a recorded process by
// SIGKILL in its N-th write of a block of a recording (from 1 on), when M bytes of it are written.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int memfd_create(const char* name, unsigned flags) {
  if (std::getenv("FAKE_NO_MEMFD") == nullptr) {
    return next<int(const char*, unsigned)>("memfd_create")(name, flags);
  }
  errno = EPERM;
  return -1;
}

ssize_t write(int fd, const void* data, size_t bytes) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  static const char* const set = std::getenv("FAKE_DIE_AT_BLOCK");
  static std::atomic<int> blocks = 0;
  // `assay record` itself, which has no session in its environment, lives.
  if (set == nullptr || std::getenv("ASSAY_RECORD_SESSION") == nullptr || bytes < 32 ||
      std::memcmp(data, "ABLK", 4) != 0) {
    return real(fd, data, bytes);
  }
  int last = 0;
  size_t most = 0;
  std::sscanf(set, "%d,%zu", &last, &most);
  if (++blocks < last) return real(fd, data, bytes);
  real(fd, data, most < bytes ? most : bytes);
  ::raise(SIGKILL);
  return -1;
}

}  // extern "C"
