#include "trace/wait_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/ascii.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kNames = {
    "Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};

constexpr std::array<std::string_view, 6> kWaitWords = {"wait",  "waiting",   "waits",
                                                        "fence", "semaphore", "barrier"};
// Words for the object or the manner of a wait.
constexpr std::array<std::string_view, 21> kWaitObjects = {
    "event", "events", "stream", "notify", "packet",  "value",   "for",
    "on",    "signal", "queue",  "host",   "device",  "command", "and",
    "or",    "sync",   "mem",    "memory", "acquire", "hsa",     "sqe"};

template <size_t kSize>
bool is_one_of(const std::array<std::string_view, kSize>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool is_device_wait(std::string_view name) {
  constexpr size_t kLongest = 40;  // kernel names are longer, and most rows are kernels
  constexpr std::string_view kBetweenWords = "_- ():=#";
  if (name.empty() || name.size() > kLongest) return false;
  bool waits = false;
  std::string word;
  const auto ends_known = [&] {
    if (word.empty()) return true;
    const bool wait = is_one_of(kWaitWords, word);
    const bool known = wait || is_one_of(kWaitObjects, word);
    waits |= wait;
    word.clear();
    return known;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = is_letter(c);
    // "StreamWaitEvent" is three words, "EVENT" one.
    const bool begins = letter && i > 0 && c != lower(c) && name[i - 1] == lower(name[i - 1]);
    if ((begins || !letter) && !ends_known()) return false;
    if (letter) {
      word += lower(c);
    } else if (!is_digit(c) && kBetweenWords.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return ends_known() && waits;
}

std::string_view wait_name(WaitKind kind) { return kNames[static_cast<size_t>(kind)]; }

WaitKind wait_kind_of(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<WaitKind>(i);
  }
  return WaitKind::kUnknown;
}

WaitKind wait_kind_of(int64_t cupti_type) {
  const bool known = cupti_type >= 0 && cupti_type < static_cast<int64_t>(kNames.size());
  return known ? static_cast<WaitKind>(cupti_type) : WaitKind::kUnknown;
}

}  // namespace assay
