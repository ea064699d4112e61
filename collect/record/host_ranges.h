#pragma once

// Events that the program reports: ranges, marks and thread names through NVTX or roctx, operators
// through an observer in PyTorch. Any thread adds them; the writing thread fetches them.

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/operators/sink.h"
#include "collect/record/host_log.h"
#include "collect/record/texts.h"
#include "collect/record/trace_file.h"
#include "collect/wire.h"

namespace assay::record {

class HostRanges {
 public:
  // most_waiting: ranges, marks and names between fetches. most_text_bytes: of all distinct texts.
  // capture: name of the ranges to capture; empty = none.
  HostRanges(size_t most_waiting, size_t most_text_bytes, std::string capture)
      : most_waiting_(most_waiting), capture_(std::move(capture)), texts_(most_text_bytes) {}

  // An empty domain is the default one. keep: write the range if the process dies inside it.
  // Returns the depth of open ranges in this domain on this thread, before (push) or after (pop);
  // negative if there is none to pop.
  int push(std::string_view domain, std::string_view name, uint32_t category, bool keep);
  // captures: true if the ended range has the name `capture`. keep: write the range.
  int pop(std::string_view domain, bool keep, bool& captures);
  uint64_t start(std::string_view domain, std::string_view name, uint32_t category, bool keep);
  bool end(uint64_t id, bool keep, bool& captures);
  void mark(std::string_view domain, std::string_view name);
  void name_thread(uint32_t thread, std::string_view name);
  void add(const OperatorSeen& seen);
  void add(wire::Window window);
  bool is_capture(std::string_view name) const { return !capture_.empty() && name == capture_; }

  // Uses the area from then on, which must outlive this.
  void use(Area& area);
  // Moves all records to the file and writes their block. Returns true if there were any. progress:
  // of the file.
  bool fetch(TraceFile& file, SourceProgress& progress);
  // Ends the open ranges now.
  void end_all(TraceFile& file, SourceProgress& progress);
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  // Number of evicted texts so far.
  uint64_t texts_forgotten();

 private:
  // Holds its texts.
  struct Open {
    uint32_t thread;
    uint32_t domain;
    uint32_t name;
    uint32_t category;
    uint64_t start;
    bool captures;
    uint32_t shared;  // index + 1 in the shared area; 0 = none
  };

  std::vector<Open>& stack(uint32_t thread) { return stacks_[thread]; }
  Open opened(std::string_view domain, std::string_view name, uint32_t category);
  void share(Open& open, uint32_t flags);
  void keep_range(const Open& open, uint32_t flags);
  void forget(const Open& open);
  bool room_for(std::initializer_list<uint32_t> texts) const;
  void define(std::initializer_list<uint32_t> texts);
  template <typename Record>
  void keep(wire::Kind kind, Record record, std::initializer_list<uint32_t> texts);

  const size_t most_waiting_;
  const std::string capture_;
  std::mutex mutex_;
  Texts texts_;
  std::unordered_map<uint32_t, std::vector<Open>> stacks_;  // by thread
  std::unordered_map<uint64_t, Open> started_;
  uint64_t next_start_ = 1;
  HostLog log_;
  Area* area_ = nullptr;
  std::vector<uint32_t> free_open_;  // free indices of open ranges in the area
  std::atomic<size_t> waiting_ = 0;
  uint64_t lost_ = 0;
};

// The OS id of the calling thread, cached per thread.
uint32_t this_thread();
// Clears the cache in a forked child, which has another thread id.
void forget_threads();

}  // namespace assay::record
