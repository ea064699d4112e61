#pragma once

// Text of Chrome-trace events: members, times, ids.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace assay {

// Appends microseconds with three decimals. Exact, and exact when read as a double up to 2^42 us
// (50 days).
void append_microseconds(int64_t ns, std::string& out);

void append_integer(int64_t value, std::string& out);

// Appends `,"key":value`, without the comma after an opening brace.
void append_member(std::string_view key, int64_t value, std::string& out);
void append_member(std::string_view key, std::string_view text, std::string& out);

// Appends the wait of a synchronization event as an object with Kineto's names.
void append_wait(const WaitTable& waits, size_t row, std::string& out);

// The category that the PyTorch profiler uses for such activities; empty if it has none.
std::string_view chrome_category(ActivityKind kind);

// Process and thread ids of a file, each assigned once. Perfetto's ids have 32 bits, 0 is the idle
// process, and a thread is identified by its id alone.
class LaneIds {
 public:
  // The number in `text` if it is a free number, else a fresh one.
  uint32_t take(std::string_view text);
  uint32_t fresh();

 private:
  std::set<uint32_t> taken_;
  uint32_t next_ = 10'000'001;  // above any process id of Linux
};

}  // namespace assay
