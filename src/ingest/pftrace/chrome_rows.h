#pragma once

// Track events of any tool as the text of a Chrome trace.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ingest/chrome/generated_text.h"
#include "ingest/pftrace/rows.h"

namespace assay {

// `rows` must outlive it.
class PerfettoChromeText : public GeneratedChromeText {
 public:
  explicit PerfettoChromeText(const PerfettoRows& rows) : rows_(rows) {}

 private:
  bool write_next() override;
  void name_and_category(StringId name, StringId category);
  void write_track(uint32_t track);
  void write_slice(const PerfettoSlice& slice);
  void write_instant(const PerfettoInstant& instant);
  void write_counter(const PerfettoCounter& counter);
  void write_stage(const PerfettoStage& stage);
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
};

}  // namespace assay
