// Emscripten provides POSIX files and the standard library, but cannot load libraries at run time,
// and its pread and isatty are wrong. Its threads need HTTP headers that static hosts do not send.
#include <emscripten.h>

#include <unistd.h>

#include <cerrno>

#include "base/platform/platform.h"
#include "base/platform/wasm_numbers.h"

// Emscripten 3.1.6 truncates the offset of pread() to 32 bits. A double holds every file offset.
EM_JS(int, assay_read_at, (int descriptor, char* dst, int n, double offset), {
  try {
    return FS.read(FS.getStream(descriptor), HEAP8, dst, n, offset);
  } catch (failed) {
    return -1;
  }
});

// Emscripten reports every descriptor as a terminal under Node.js.
EM_JS(int, assay_is_terminal, (int descriptor), {
  return typeof process === "object" && typeof require === "function" && require("tty").isatty(descriptor) ? 1 : 0;
});

namespace assay::platform {

int64_t read_at(int descriptor, char* dst, size_t n, uint64_t offset) {
  const int got = ::assay_read_at(descriptor, dst, static_cast<int>(n), static_cast<double>(offset));
  if (got < 0) errno = EIO;
  return got;
}

// fstat() fails for the standard streams of Node.js, because Emscripten has no path for them.
// Report them as pipes.
int status_of(int descriptor, struct stat& status) {
  const int done = ::fstat(descriptor, &status);
  if (done == 0 || descriptor > STDERR_FILENO) return done;
  status = {};
  status.st_mode = S_IFIFO;
  return 0;
}

// Only used by a signal handler, and there are no signals here.
void visit_entries(int, int, void (*)(int, const char*, int)) {}

bool is_terminal(int descriptor) { return ::assay_is_terminal(descriptor) != 0; }

std::optional<std::thread> start_thread(std::function<void()>) { return std::nullopt; }

void give_back_memory() {}

void* open_library(const char*) { return nullptr; }

std::string library_error() { return "WebAssembly opens no libraries: install Assay for Linux"; }

void* library_symbol(void*, const char*) { return nullptr; }

std::string library_path(void*) { return ""; }

bool read_double(std::string_view text, double& value) { return wasm::read_double(text, value); }

std::string double_text(double value) { return wasm::double_text(value); }

std::string double_text(double value, int digits) { return wasm::double_text(value, digits); }

}  // namespace assay::platform
