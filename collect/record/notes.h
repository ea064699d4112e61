#pragma once

// Notes for the reader of the file. Any thread adds them; the writing thread writes them. The first
// problem is also printed on stderr.

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collect/record/settings.h"
#include "collect/record/trace_file.h"
#include "collect/wire.h"

namespace assay::record {

class Notes {
 public:
  void add(wire::NoteCode code, int64_t value, const std::string& text);
  // The file is full or a write failed.
  void add_end_of(const TraceFile& file, const Settings& settings);
  // problem: of the operator observer.
  void add_no_operators(const std::string& problem);
  void add_no_torch();
  // Adds nothing if count is 0.
  void add_texts_forgotten(uint64_t count);

  void write(TraceFile& file);

 private:
  std::mutex mutex_;
  std::vector<std::pair<wire::Note, std::string>> waiting_;
  bool told_trouble_ = false;
};

}  // namespace assay::record
