#pragma once

// Events of the Chrome trace format as text: members, times, ids.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace assay {

// Appends microseconds with three decimals: exact, and so is what a reader of doubles makes of them
// up to 2^42 us, 50 days, from zero.
void append_microseconds(int64_t ns, std::string& out);

void append_integer(int64_t value, std::string& out);

// Appends `,"key":value`, or without the comma after an opening brace.
void append_member(std::string_view key, int64_t value, std::string& out);
void append_member(std::string_view key, std::string_view text, std::string& out);

// Object of the wait of a synchronization row, in Kineto's words.
void append_wait(const WaitTable& waits, size_t row, std::string& out);

// The category that the PyTorch profiler gives such work; empty for kinds that it has none for.
std::string_view chrome_category(ActivityKind kind);

// Process and thread ids of a file, each assigned once. Perfetto's ids have 32 bits, 0 is the idle
// process, and a thread is identified by its id alone.
class LaneIds {
 public:
  // The number that `text` is, when it is one and free; else a fresh one.
  uint32_t take(std::string_view text);
  uint32_t fresh();

 private:
  std::set<uint32_t> taken_;
  uint32_t next_ = 10'000'001;  // above any process id of Linux
};

}  // namespace assay
