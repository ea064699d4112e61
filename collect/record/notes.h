#pragma once

// What went wrong, or what a reader must know: kept for the file by any thread until the recorder's
// own writes it, and the first trouble said on stderr.

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
  // The file is full or broken.
  void add_end_of(const TraceFile& file, const Settings& settings);
  // problem: of their observer.
  void add_no_operators(const std::string& problem);
  void add_no_torch();
  // Nothing where count is 0.
  void add_texts_forgotten(uint64_t count);

  void write(TraceFile& file);

 private:
  std::mutex mutex_;
  std::vector<std::pair<wire::Note, std::string>> waiting_;
  bool told_trouble_ = false;
};

}  // namespace assay::record
