// Preloaded into a program, fails one of its calls: ASSAY_FAULT=KIND:N:ERRNO fails the N-th call of
// the kind, KIND:N+:ERRNO that one and all after it. The file that ASSAY_FAULT_MARK names is made
// when it does, so that who counts N up knows where to end.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Fault {
  char kind[24] = {};
  long nth = 0;
  bool lasting = false;
  int code = EIO;
  const char* mark = nullptr;
};

const Fault& fault() {
  static const Fault asked = [] {
    Fault found;
    const char* text = std::getenv("ASSAY_FAULT");
    if (text == nullptr) return found;
    const char* colon = std::strchr(text, ':');
    if (colon == nullptr || colon - text >= static_cast<long>(sizeof(found.kind))) return found;
    std::memcpy(found.kind, text, static_cast<size_t>(colon - text));
    char* end = nullptr;
    found.nth = std::strtol(colon + 1, &end, 10);
    found.lasting = *end == '+';
    if (found.lasting) ++end;
    if (*end == ':') found.code = std::atoi(end + 1);
    found.mark = std::getenv("ASSAY_FAULT_MARK");
    return found;
  }();
  return asked;
}

std::atomic<long> calls{0};

bool fails(const char* kind) {
  const Fault& asked = fault();
  if (std::strcmp(asked.kind, kind) != 0) return false;
  const long number = calls.fetch_add(1) + 1;
  if (number < asked.nth || (number > asked.nth && !asked.lasting)) return false;
  if (asked.mark != nullptr) {
    const long made = ::syscall(SYS_openat, AT_FDCWD, asked.mark, O_WRONLY | O_CREAT, 0666);
    if (made >= 0) ::syscall(SYS_close, made);
  }
  errno = asked.code;
  return true;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define ASSAY_REAL(name) static auto* const next = real<decltype(name)>(#name)

extern "C" {

int open(const char* path, int flags, ...) {
  ASSAY_REAL(open);
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return fails(flags & O_CREAT ? "create" : "open") ? -1 : next(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  ASSAY_REAL(open64);
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return fails(flags & O_CREAT ? "create" : "open") ? -1 : next(path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  ASSAY_REAL(fopen);
  return fails("fopen") ? nullptr : next(path, mode);
}
FILE* fdopen(int file, const char* mode) noexcept {
  ASSAY_REAL(fdopen);
  return fails("fdopen") ? nullptr : next(file, mode);
}
DIR* opendir(const char* path) {
  ASSAY_REAL(opendir);
  return fails("opendir") ? nullptr : next(path);
}
ssize_t read(int file, void* to, size_t bytes) {
  ASSAY_REAL(read);
  return fails("read") ? -1 : next(file, to, bytes);
}
ssize_t pread(int file, void* to, size_t bytes, off_t at) {
  ASSAY_REAL(pread);
  return fails("pread") ? -1 : next(file, to, bytes, at);
}
ssize_t pread64(int file, void* to, size_t bytes, off64_t at) {
  ASSAY_REAL(pread64);
  return fails("pread") ? -1 : next(file, to, bytes, at);
}
size_t fread(void* to, size_t size, size_t count, FILE* file) {
  ASSAY_REAL(fread);
  return next(to, size, count, file);
}
ssize_t write(int file, const void* from, size_t bytes) {
  ASSAY_REAL(write);
  return file != STDERR_FILENO && fails("write") ? -1 : next(file, from, bytes);
}
size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  ASSAY_REAL(fwrite);
  return file != stderr && fails("fwrite") ? 0 : next(from, size, count, file);
}
int fflush(FILE* file) {
  ASSAY_REAL(fflush);
  return file != stderr && fails("fflush") ? EOF : next(file);
}
int fclose(FILE* file) {
  ASSAY_REAL(fclose);
  const bool failed = fails("fclose");
  const int code = errno;
  const int closed = next(file);
  if (failed) errno = code;
  return failed ? EOF : closed;
}
int rename(const char* from, const char* to) noexcept {
  ASSAY_REAL(rename);
  return fails("rename") ? -1 : next(from, to);
}
int fsync(int file) {
  ASSAY_REAL(fsync);
  return fails("fsync") ? -1 : next(file);
}
int mkdir(const char* path, mode_t mode) noexcept {
  ASSAY_REAL(mkdir);
  return fails("mkdir") ? -1 : next(path, mode);
}
int stat(const char* path, struct stat* info) noexcept {
  ASSAY_REAL(stat);
  return fails("stat") ? -1 : next(path, info);
}
int fstat(int file, struct stat* info) noexcept {
  ASSAY_REAL(fstat);
  return fails("fstat") ? -1 : next(file, info);
}
void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  ASSAY_REAL(mmap);
  return fails("mmap") ? MAP_FAILED : next(at, bytes, access, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) noexcept {
  ASSAY_REAL(pthread_create);
  return fails("pthread_create") ? EAGAIN : next(thread, attributes, begin, argument);
}

}  // extern "C"
