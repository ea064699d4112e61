#include "collect/record/live_names.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace assay::record {
namespace {

constexpr uint32_t kMostFunctions = 1 << 16;

int callback_domain(wire::Domain domain) {
  return domain == wire::Domain::kDriver ? cupti::kCallbackDriverApi : cupti::kCallbackRuntimeApi;
}

// Reads a text of this process at an address that may be invalid; empty if it is unreadable. can:
// set to false if the system forbids such reads.
std::string read_safely(const char* address, bool& can) {
  std::string text;
  std::array<char, 512> piece;
  while (text.size() < wire::kMaxText) {
    // Never across a page boundary: the next page may be unmapped.
    const size_t in_page = 4096 - reinterpret_cast<uintptr_t>(address + text.size()) % 4096;
    const size_t asked = std::min(piece.size(), in_page);
    const iovec to = {piece.data(), asked};
    const iovec from = {const_cast<char*>(address) + text.size(), asked};
    const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) can = false;
    if (got <= 0) return "";
    const auto* end =
        static_cast<const char*>(std::memchr(piece.data(), 0, static_cast<size_t>(got)));
    text.append(piece.data(), end != nullptr ? static_cast<size_t>(end - piece.data())
                                             : static_cast<size_t>(got));
    if (end != nullptr) break;
  }
  return text;
}

}  // namespace

void share_call_names(const cupti::Functions& functions, SharedPlace& place) {
  for (const wire::Domain domain : {wire::Domain::kRuntime, wire::Domain::kDriver}) {
    auto& texts = place.call_texts[static_cast<size_t>(domain)];
    for (uint32_t number = 1; number < texts.size(); ++number) {
      const char* name = nullptr;
      if (functions.callback_name(callback_domain(domain), number, &name) != cupti::kSuccess ||
          name == nullptr) {
        continue;
      }
      const size_t bytes = std::strlen(name) + 1;
      if (place.call_text_used + bytes > place.call_text.size()) return;
      std::memcpy(place.call_text.data() + place.call_text_used, name, bytes);
      texts[number] = place.call_text_used + 1;
      place.call_text_used += static_cast<uint32_t>(bytes);
    }
  }
}

uint32_t LiveNames::of_call(wire::Domain domain, uint32_t function) {
  if (function >= kMostFunctions) return wire::kNoString;
  std::vector<uint32_t>& names = call_names_[static_cast<size_t>(domain)];
  if (function >= names.size()) names.resize(function + 1);
  if (names[function] != wire::kNoString) return names[function];
  const char* name = nullptr;
  const bool named = functions_.callback_name(callback_domain(domain), function, &name) == 0;
  names[function] = file_.text(named && name != nullptr ? name : kUnknownCall);
  return names[function];
}

LiveNames::Name& LiveNames::settle(const char* address, std::string_view text) {
  Name& known = kernel_names_[address];
  const uint64_t stretch = stretch_.load(std::memory_order_acquire);
  if (known.id != wire::kNoString && known.text == text && known.published == stretch) return known;
  known.text = text;
  known.id = file_.text(text);
  known.published = stretch;
  if (!area_.is_shared()) return known;
  if (fresh_stretch_ != stretch) fresh_.clear();
  fresh_stretch_ = stretch;
  fresh_.emplace_back(address, known.id);
  return known;
}

uint32_t LiveNames::of_kernel(const char* name) {
  return name == nullptr ? wire::kNoString : settle(name, name).id;
}

bool LiveNames::read_ahead(const char* address) {
  const auto known = kernel_names_.find(address);
  if (known != kernel_names_.end() &&
      known->second.published == stretch_.load(std::memory_order_acquire)) {
    return false;
  }
  const std::string text = read_safely(address, can_read_ahead_);
  if (text.empty()) return false;
  settle(address, text);
  return true;
}

bool LiveNames::look_ahead(const uint8_t* buffer, size_t& looked) {
  if (!can_read_ahead_) return false;
  RecordWalk walk(area_.place().record_bytes, buffer, kBufferBytes, looked);
  bool found = false;
  bool done = true;  // everything up to here
  while (const uint8_t* record = walk.next()) {
    const KernelName name = name_in(record);
    if (name.address != nullptr) found |= read_ahead(name.address);
    done &= name.is_told;
    if (done) looked = walk.at();
  }
  return found;
}

void LiveNames::publish() {
  if (fresh_.empty() || file_.full() || file_.broken()) return;
  const std::lock_guard lock(mutex_);
  SharedPlace& place = area_.place();
  uint64_t used = place.names_used.load(std::memory_order_relaxed);
  for (const auto& [address, id] : fresh_) {
    if (fresh_stretch_ != stretch_.load(std::memory_order_relaxed)) break;
    if (used >= place.names.size()) break;
    place.names[used] = {reinterpret_cast<uint64_t>(address), id, 0};
    place.names_used.store(++used, std::memory_order_release);
  }
  fresh_.clear();
}

void LiveNames::forget_addresses() {
  const std::lock_guard lock(mutex_);
  stretch_.fetch_add(1, std::memory_order_release);
  if (!area_.is_shared()) return;
  // The earlier addresses are invalid: the table starts empty.
  area_.place().names_used.store(0, std::memory_order_release);
}

}  // namespace assay::record
