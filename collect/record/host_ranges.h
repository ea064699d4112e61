#pragma once

// What the program says of itself through NVTX: ranges, marks and thread names, gathered by any
// thread until the recorder's own thread fetches them.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collect/record/trace_file.h"
#include "collect/wire.h"

namespace assay::record {

// Ids of these texts have the highest bit set: the file's own ids are below.
constexpr uint32_t kHostTextBit = 0x80000000u;

class HostRanges {
 public:
  explicit HostRanges(size_t most_waiting) : most_waiting_(most_waiting) {}

  uint32_t text(std::string_view value);

  // depth: of the ranges that are open in this domain on this thread, before (push) or after (pop);
  // negative when there is none to pop.
  int push(uint32_t domain, uint32_t name, uint32_t category);
  // name: of the range that ended. keep: write it down.
  int pop(uint32_t domain, bool keep, uint32_t& name);
  uint64_t start(uint32_t domain, uint32_t name, uint32_t category);
  bool end(uint64_t id, bool keep, uint32_t& name);
  void mark(uint32_t domain, uint32_t name);
  void name_thread(uint32_t thread, uint32_t name);

  // Moves everything gathered to the file. True: something was there.
  bool fetch(TraceFile& file);
  // The ranges that nobody has ended yet, as ending now.
  void end_all(TraceFile& file);
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  struct Open {
    uint32_t thread;
    uint32_t domain;
    uint32_t name;
    uint32_t category;
    uint64_t start;
  };
  struct Text {
    uint32_t id;
    std::string value;
  };

  std::vector<Open>& stack(uint32_t thread) { return stacks_[thread]; }
  void keep_range(const Open& open, uint32_t flags);
  bool room();

  const size_t most_waiting_;
  std::mutex mutex_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Text> new_texts_;
  std::unordered_map<uint32_t, std::vector<Open>> stacks_;  // by thread
  std::unordered_map<uint64_t, Open> started_;
  uint64_t next_start_ = 1;
  std::vector<wire::Range> ranges_;
  std::vector<wire::Mark> marks_;
  std::vector<wire::ThreadName> threads_;
  std::atomic<size_t> waiting_ = 0;
  uint64_t lost_ = 0;
};

// The system's id of the calling thread, asked once per thread.
uint32_t this_thread();
// In a forked child, where the thread has another id.
void forget_threads();

}  // namespace assay::record
