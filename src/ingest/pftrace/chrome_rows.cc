#include "ingest/pftrace/chrome_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/numbers.h"

namespace assay {
namespace {

// Category of a GPU stage by the words that CUDA's and HIP's tracers use for copies and fills.
std::string_view stage_category(std::string_view name) {
  const std::string small = lower(name);
  if (small.starts_with("memcpy")) return "gpu_memcpy";
  if (small.starts_with("memset")) return "gpu_memset";
  return "kernel";
}

}  // namespace

bool PerfettoChromeText::write_next() {
  if (track_ < rows_.tracks.size()) {
    write_track(static_cast<uint32_t>(track_++));
  } else if (slice_ < rows_.slices.size()) {
    write_slice(rows_.slices[slice_++]);
  } else if (stage_ < rows_.stages.size()) {
    write_stage(rows_.stages[stage_++]);
  } else if (instant_ < rows_.instants.size()) {
    write_instant(rows_.instants[instant_++]);
  } else if (counter_ < rows_.counters.size()) {
    write_counter(rows_.counters[counter_++]);
  } else {
    return false;
  }
  return true;
}

int64_t PerfettoChromeText::process(uint32_t track) const {
  return std::max<int64_t>(rows_.process_of(track), 0);
}

// The thread's number. Other tracks have names of their own, which no thread has.
std::string PerfettoChromeText::thread(uint32_t track) const {
  const PerfettoTrack& row = rows_.tracks[track];
  if (row.tid >= 0) return std::to_string(row.tid);
  return "\"track " + std::to_string(track) + '"';
}

void PerfettoChromeText::name_and_category(StringId name, StringId category) {
  text_ += ",\"name\":";
  append_json_string(rows_.view(name), text_);
  if (rows_.view(category).empty()) return;
  text_ += ",\"cat\":";
  append_json_string(rows_.view(category), text_);
}

void PerfettoChromeText::write_track(uint32_t track) {
  const PerfettoTrack& row = rows_.tracks[track];
  const auto named = [&](std::string_view what, StringId name) {
    if (rows_.view(name).empty()) return;
    write_name(what, rows_.view(name), process(track), thread(track));
  };
  named("process_name", row.process_name);
  named("thread_name", rows_.view(row.thread_name).empty() ? row.name : row.thread_name);
}

void PerfettoChromeText::write_value(const PerfettoAnnotation& row) {
  switch (row.type) {
    case AnnotationType::kUnsigned:
      text_ += std::to_string(row.bits);
      break;
    case AnnotationType::kSigned:
      text_ += std::to_string(static_cast<int64_t>(row.bits));
      break;
    case AnnotationType::kBool:
      text_ += row.bits != 0 ? "true" : "false";
      break;
    case AnnotationType::kText:
      append_json_string(rows_.view(StringId(static_cast<size_t>(row.bits))), text_);
      break;
    case AnnotationType::kDouble: {
      const double value = double_of_bits(row.bits);
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%.17g", value);
      text_ += std::isfinite(value) ? digits : "null";
      break;
    }
  }
}

void PerfettoChromeText::write_annotations(const AnnotationSpan& span, uint64_t correlation) {
  text_ += ",\"args\":{";
  bool first = true;
  const auto comma = [&] {
    if (!first) text_ += ',';
    first = false;
  };
  for (uint32_t i = 0; i < span.count; ++i) {
    const PerfettoAnnotation& row = rows_.annotations[span.first + i];
    const std::string_view name = rows_.view(row.name);
    if (name == "correlation" || name == "correlation_id") correlation = 0;
    comma();
    append_json_string(name, text_);
    text_ += ':';
    write_value(row);
  }
  if (correlation != 0) {
    comma();
    text_ += "\"correlation\":" + std::to_string(correlation);
  }
  text_ += "}}";
}

void PerfettoChromeText::write_slice(const PerfettoSlice& slice) {
  if (slice.end_ns == kNoPerfettoTime) return;  // counted as a begin without an end
  begin_row("X", process(slice.track), thread(slice.track));
  write_us(",\"ts\":", slice.begin_ns);
  write_us(",\"dur\":", static_cast<int64_t>(static_cast<uint64_t>(slice.end_ns) -
                                             static_cast<uint64_t>(slice.begin_ns)));
  name_and_category(slice.name, slice.category);
  uint64_t correlation = 0;
  if (slice.flow != 0) {
    // Flow ids have 64 bits, correlation ids 32.
    correlation = correlations_.try_emplace(slice.flow, correlations_.size() + 1).first->second;
  }
  write_annotations(slice.annotations, correlation);
}

void PerfettoChromeText::write_instant(const PerfettoInstant& instant) {
  begin_row("i", process(instant.track), thread(instant.track));
  write_us(",\"ts\":", instant.at_ns);
  name_and_category(instant.name, instant.category);
  write_annotations(instant.annotations, 0);
}

void PerfettoChromeText::write_counter(const PerfettoCounter& counter) {
  if (!std::isfinite(counter.value)) return;
  begin_row("C", process(counter.track), thread(counter.track));
  write_us(",\"ts\":", counter.at_ns);
  name_and_category(rows_.tracks[counter.track].name, StringId(0));
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.17g", counter.value);
  text_ += ",\"args\":{\"value\":";
  text_ += digits;
  text_ += "}}";
}

void PerfettoChromeText::write_stage(const PerfettoStage& stage) {
  begin_row("X", stage.gpu, std::to_string(stage.queue));
  write_us(",\"ts\":", stage.begin_ns);
  write_us(",\"dur\":", stage.end_ns - stage.begin_ns);
  text_ += ",\"name\":";
  append_json_string(rows_.view(stage.name), text_);
  text_ += ",\"cat\":\"";
  text_ += stage_category(rows_.view(stage.name));
  text_ += "\",\"args\":{\"device\":" + std::to_string(stage.gpu) +
           ",\"stream\":" + std::to_string(stage.queue);
  const auto sizes = [this](std::string_view key, const uint32_t(&values)[3]) {
    if (values[0] == 0) return;
    text_ += key;
    text_ += '[' + std::to_string(values[0]) + ',' + std::to_string(std::max(values[1], 1u)) + ',' +
             std::to_string(std::max(values[2], 1u)) + ']';
  };
  sizes(",\"grid\":", stage.grid);
  sizes(",\"block\":", stage.group);
  text_ += "}}";
}

}  // namespace assay
