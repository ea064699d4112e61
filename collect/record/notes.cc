#include "collect/record/notes.h"

#include <cstring>

#include "collect/record/clocks.h"
#include "collect/record/process.h"

namespace assay::record {
namespace {

bool is_trouble(wire::NoteCode code) {
  return code != wire::NoteCode::kNotShared && code != wire::NoteCode::kClockCallback &&
         code != wire::NoteCode::kKindRefused && code != wire::NoteCode::kTextsForgotten;
}

}  // namespace

void Notes::add(wire::NoteCode code, int64_t value, const std::string& text) {
  wire::Note record = {};
  record.code = code;
  record.monotonic = monotonic_ns();
  record.value = value;
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(record, text);
    if (told_trouble_ || !is_trouble(code)) return;
    told_trouble_ = true;
  }
  say_line(text);
}

void Notes::add_end_of(const TraceFile& file, const Settings& settings) {
  if (file.broken()) {
    return add(wire::NoteCode::kWriteFailed, file.error(),
               "cannot write " + file.path() + ": " + std::strerror(file.error()) +
                   "; recording ends here");
  }
  add(wire::NoteCode::kByteLimit, static_cast<int64_t>(settings.max_bytes),
      file.path() + " has reached its limit of " + std::to_string(settings.max_bytes) +
          " bytes; recording ends here");
}

void Notes::add_no_operators(const std::string& problem) {
  add(wire::NoteCode::kNoOperators, 1, "PyTorch's operators are not recorded: " + problem);
}

void Notes::add_no_torch() {
  add(wire::NoteCode::kNoOperators, 0,
      "PyTorch's operators are not recorded: PyTorch was not loaded in this process");
}

void Notes::add_texts_forgotten(uint64_t count) {
  if (count == 0) return;
  add(wire::NoteCode::kTextsForgotten, static_cast<int64_t>(count),
      std::to_string(count) +
          " distinct names of ranges were forgotten to keep memory small; ranges that were "
          "recorded have theirs");
}

void Notes::write(TraceFile& file) {
  std::vector<std::pair<wire::Note, std::string>> notes;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(waiting_);
  }
  for (auto& [record, words] : notes) {
    record.text = file.text(words);
    file.add(wire::Kind::kNote, record);
  }
}

}  // namespace assay::record
