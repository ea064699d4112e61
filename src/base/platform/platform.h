#pragma once

// The one place for differences between the systems that Assay is built for. posix.cc is for Linux, wasm.cc for WebAssembly
// in a browser or under node, and one of them is compiled (src/base/CMakeLists.txt). Everything else asks the system by
// POSIX and the standard library, which both have. tools/check_layers.py allows a test for the system nowhere else. No
// function throws, except for lack of memory.

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

// Up to n bytes of an open file from `offset`, as pread(2): their number, or -1 and errno.
int64_t read_at(int descriptor, char* dst, size_t n, uint64_t offset);
// Of an open file, as fstat(2): 0, or -1 and errno.
int status_of(int descriptor, struct stat& status);
// Visits the name of every entry of an open folder, also "." and "..", by system calls alone: a signal handler may do it.
void visit_entries(int folder, int depth, void (*visit)(int folder, const char* name, int depth));
// True if a descriptor is a terminal, which shows colours.
bool is_terminal(int descriptor);

// ---- threads and memory ----

// A thread that does `work`; none where the system grants no more of them.
std::optional<std::thread> start_thread(std::function<void()> work);
// Returns free memory of the heap to the system where it can be returned.
void give_back_memory();

// ---- libraries opened at run time ----

// Null where it cannot be opened; library_error() then says why, once.
void* open_library(const char* name);
std::string library_error();
void* library_symbol(void* library, const char* name);
// The path of its file; empty if the system does not report it.
std::string library_path(void* library);

// ---- numbers ----

// All of `text` as std::from_chars reads it. False for anything else, also for what is not finite.
bool read_double(std::string_view text, double& value);
// As std::to_chars writes it: the fewest digits that read back as `value`. With `digits`: so many significant ones, at most
// 17.
std::string double_text(double value);
std::string double_text(double value, int digits);

}  // namespace assay::platform
