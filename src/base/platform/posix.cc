#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/platform/platform.h"

namespace assay::platform {

int64_t read_at(int descriptor, char* dst, size_t n, uint64_t offset) {
  return ::pread(descriptor, dst, n, static_cast<off_t>(offset));
}

int status_of(int descriptor, struct stat& status) { return ::fstat(descriptor, &status); }

void visit_entries(int folder, int depth, void (*visit)(int folder, const char* name, int depth)) {
  // Layout of an entry that getdents64 returns.
  struct Entry {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  constexpr size_t kBlock = 2048;
  alignas(Entry) char block[kBlock];
  for (;;) {
    const long got = ::syscall(SYS_getdents64, folder, block, sizeof(block));
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(block + at);
      at += entry->length;
      visit(folder, entry->name, depth);
    }
  }
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

std::optional<std::thread> start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

void give_back_memory() { ::malloc_trim(0); }

void* open_library(const char* name) { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }

std::string library_error() {
  const char* reason = ::dlerror();
  return reason == nullptr ? "" : reason;
}

void* library_symbol(void* library, const char* name) { return ::dlsym(library, name); }

std::string library_path(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return "";
  return map->l_name;
}

bool read_double(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty() && std::isfinite(value);
}

std::string double_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

std::string double_text(double value, int digits) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  return {text.data(), end.ptr};
}

}  // namespace assay::platform
