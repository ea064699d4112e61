#pragma once

// Track events of any tool as the text of a Chrome trace, so that the rules for that format
// (docs/formats/kineto.md) are in one place.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "ingest/pftrace/rows.h"

namespace assay {

// Writes the text a chunk at a time. `rows` must outlive it.
class PerfettoChromeText {
 public:
  explicit PerfettoChromeText(const PerfettoRows& rows) : rows_(rows) {}

  // The next bytes of the text, at most n; 0 at its end.
  Result<size_t> read(char* dst, size_t n);

 private:
  void step();
  void begin_row(std::string_view phase, int64_t pid, std::string_view tid);
  void name_and_category(StringId name, StringId category);
  void write_track(uint32_t track);
  void write_slice(const PerfettoSlice& slice);
  void write_instant(const PerfettoInstant& instant);
  void write_counter(const PerfettoCounter& counter);
  void write_stage(const PerfettoStage& stage);
  void write_us(std::string_view key, int64_t ns);
  // "args" of an event. correlation: 0 = none.
  void write_annotations(const AnnotationSpan& span, uint64_t correlation);
  void write_value(const PerfettoAnnotation& row);
  int64_t process(uint32_t track) const;
  std::string thread(uint32_t track) const;

  const PerfettoRows& rows_;
  size_t track_ = 0;
  size_t slice_ = 0;
  size_t instant_ = 0;
  size_t counter_ = 0;
  size_t stage_ = 0;
  std::unordered_map<uint64_t, uint64_t> correlations_;  // by flow id
  std::string text_;
  size_t taken_ = 0;
  bool begun_ = false;
  bool done_ = false;
};

}  // namespace assay
