#pragma once

// All differences between the supported systems. posix.cc is for Linux, wasm.cc for WebAssembly in
// a browser or Node.js; src/base/CMakeLists.txt compiles one of them. All other code uses POSIX and
// the standard library, which both provide; tools/check_layers.py rejects platform checks
// elsewhere. Functions throw only if memory is exhausted.

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace assay::platform {

// ---- files ----

// Reads up to n bytes at `offset`, as pread(2). Returns their number, or -1 with errno.
int64_t read_at(int descriptor, char* dst, size_t n, uint64_t offset);
// Status of an open file, as fstat(2). Returns 0, or -1 with errno.
int status_of(int descriptor, struct stat& status);
// Visits every entry of an open folder, including "." and "..". Uses only system calls, so that a
// signal handler may call it.
void visit_entries(int folder, int depth, void (*visit)(int folder, const char* name, int depth));
// True if the descriptor is a terminal that shows colours.
bool is_terminal(int descriptor);

// ---- threads and memory ----

// Starts a thread that runs `work`; nullopt if the system grants no more threads.
std::optional<std::thread> start_thread(std::function<void()> work);
// Returns free heap memory to the system, where supported.
void give_back_memory();

// ---- libraries opened at run time ----

// Null if the library cannot be opened; library_error() then gives the reason, once.
void* open_library(const char* name);
std::string library_error();
void* library_symbol(void* library, const char* name);
// Path of the library file; empty if the system does not report it.
std::string library_path(void* library);

// ---- numbers ----

// Parses all of `text` as std::from_chars does. False for anything else, including non-finite
// values.
bool read_double(std::string_view text, double& value);
// Formats as std::to_chars does: the fewest digits that parse back to `value`, or `digits`
// significant digits, at most 17.
std::string double_text(double value);
std::string double_text(double value, int digits);

}  // namespace assay::platform
