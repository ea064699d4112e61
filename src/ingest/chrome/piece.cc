#include "ingest/chrome/piece.h"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

// Window size: large enough that its bookkeeping costs nothing, small enough to stay in the cache
// between the copy, simdjson's pass and the walk.
constexpr size_t kWindowBytes = 1 << 20;
// Initial size, so that a small file costs little.
constexpr size_t kFirstWindowBytes = 32 << 10;
// No known producer writes events near this size; a longer string is an attack or an accident.
constexpr size_t kLargestItem = 64 << 20;
// Bytes searched for the first event that shows the time unit, because metadata may precede it.
constexpr size_t kTimeUnitSearch = 16 << 20;
// SIMD loads may read this far beyond the window's end.
constexpr size_t kSlack = 128;

bool starts_with_bom(const char* text, size_t size) {
  return size >= 3 && std::memcmp(text, "\xEF\xBB\xBF", 3) == 0;
}

size_t skip_space(const char* text, size_t at, size_t end) {
  while (at < end && is_json_space(text[at])) ++at;
  return at;
}

}  // namespace

ChromePiece::ChromePiece(ReadFn read, uint64_t offset, Stage stage)
    : read_(std::move(read)),
      stage_(stage),
      window_(kFirstWindowBytes + kSlack),
      window_offset_(offset),
      target_(kFirstWindowBytes),
      rows_(builder, 3) {}

void ChromePiece::set_time_scale(int scale) {
  time_scale_ = scale;
  rows_.set_time_scale(scale);
}

Error ChromePiece::error_at(ErrorCode code, std::string message, uint64_t offset) const {
  return Error{code, std::move(message), "", static_cast<int64_t>(offset)};
}

Status ChromePiece::read_header() {
  bool stopped = false;
  while (!stopped) ASSAY_TRY(step(true, UINT64_MAX, stopped));
  return Ok{};
}

Status ChromePiece::run(uint64_t stop_at) {
  bool stopped = false;
  while (!stopped) ASSAY_TRY(step(false, stop_at, stopped));
  return Ok{};
}

// Moves the unconsumed bytes to the front and reads until the window has target_ bytes.
Status ChromePiece::fill() {
  if (begin_ > 0) {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    window_offset_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (window_.size() < target_ + kSlack) window_.resize(target_ + kSlack);
  while (end_ < target_ && !input_ended_) {
    auto got = read_(window_.data() + end_, target_ - end_);
    if (!got) {
      if (got.error().code != ErrorCode::kTruncated) return got.take_error();
      source_truncated_ = got.take_error();
      input_ended_ = true;
      break;
    }
    input_ended_ = *got == 0;
    end_ += *got;
  }
  std::memset(window_.data() + end_, 0, kSlack);
  return Ok{};
}

// The start of the last event in the window, by the text between events: `}` `,` `{`. A string may
// contain that text; then the piece ends inside it, which the index detects.
size_t ChromePiece::find_cut() const {
  const char* const text = window_.data();
  size_t search_end = end_;
  for (int tries = 0; tries < 64; ++tries) {
    const void* found = ::memrchr(text + begin_, '}', search_end - begin_);
    if (found == nullptr) return begin_;
    const size_t brace = static_cast<size_t>(static_cast<const char*>(found) - text);
    const size_t comma = skip_space(text, brace + 1, end_);
    if (comma < end_ && text[comma] == ',') {
      const size_t next = skip_space(text, comma + 1, end_);
      if (next < end_ && text[next] == '{') return next;
    }
    search_end = brace;
  }
  return begin_;
}

// The last position before `limit` that is outside a string, found by reading every byte.
size_t ChromePiece::last_outside_string(size_t limit) const {
  size_t outside = begin_;
  bool in_string = false;
  for (size_t i = begin_; i < limit; ++i) {
    const char c = window_[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == ',' || c == ':' || c == '{' || c == '[' || c == '}' || c == ']') {
      outside = i + 1;
    }
  }
  return outside;
}

void ChromePiece::blank_control_characters() {
  bool in_string = false;
  uint64_t blanked = 0;
  for (size_t i = begin_; i < cut_; ++i) {
    const char c = window_[i];
    if (!in_string) {
      in_string = c == '"';
    } else if (c == '"') {
      in_string = false;
    } else if (c == '\\') {
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      window_[i] = ' ';
      ++blanked;
    }
  }
  builder.log.add(ImportCode::kControlCharacter, static_cast<int64_t>(offset()), blanked);
}

// Indexes the part of the window that ends outside a string. False if it is only white space.
Result<bool> ChromePiece::index_window() {
  cut_ = input_ended_ ? end_ : find_cut();
  if (cut_ == begin_) cut_ = last_outside_string(end_);
  bool recut = false;
  bool blanked = false;
  for (;;) {
    if (cut_ == begin_) return false;
    const std::string_view piece(window_.data() + begin_, cut_ - begin_);
    switch (index_.index(piece)) {
      case IndexOutcome::kOk:
        check_utf8_ = false;
        return true;
      case IndexOutcome::kInvalidUtf8:
        check_utf8_ = true;
        return true;
      case IndexOutcome::kEmpty:
        begin_ = cut_;
        return false;
      case IndexOutcome::kUnclosedString:
        if (recut) return false;
        recut = true;
        cut_ = last_outside_string(cut_);
        break;
      case IndexOutcome::kControlCharacters:
        if (blanked) {
          return error_at(ErrorCode::kFormat, "control characters that cannot be repaired",
                          offset());
        }
        blanked = true;
        blank_control_characters();
        break;
      case IndexOutcome::kFailed:
        return error_at(ErrorCode::kUnsupported, "out of memory for one stretch of JSON", offset());
    }
  }
}

// One round: fill, index, consume. Sets `stopped` at stop_at, at the first event if only the header
// is needed, and at the end of the input.
Status ChromePiece::step(bool header_only, uint64_t stop_at, bool& stopped) {
  ASSAY_TRY(fill());
  if (stage_ == Stage::kStart && window_offset_ == 0 && starts_with_bom(window_.data(), end_)) {
    builder.log.add(ImportCode::kByteOrderMark, 0);
    begin_ = 3;
  }
  const uint64_t before = offset();
  ASSAY_TRY_ASSIGN(const bool indexed, index_window());
  if (indexed) {
    Progress progress = consume(header_only, stop_at);
    if (progress == Progress::kMalformed && repair_quotes()) return Ok{};
    if (progress == Progress::kMalformed) {
      const bool after_end = stage_ == Stage::kEnd;
      return error_at(ErrorCode::kFormat,
                      stage_ == Stage::kStart ? "neither a JSON object nor an array"
                      : after_end ? "more text after the end of the JSON document; a trace is one "
                                    "document: is this JSON lines, or two files in one?"
                                  : "not valid JSON",
                      malformed_at_);
    }
    stopped = progress == Progress::kStopped;
    if (!sunk_) return sunk_.take_error();
    if (stopped) return Ok{};
  }
  if (offset() > before) {
    target_ = std::min(target_ * 2, kWindowBytes);
  } else if (input_ended_) {
    // An odd number of unescaped quotes turns the rest of the input into one open string.
    stopped = !repair_quotes();
  } else if (target_ >= kLargestItem) {
    return error_at(ErrorCode::kUnsupported,
                    "one event or value is longer than 64 MiB: not a trace Assay can read", before);
  } else {
    target_ *= 2;
  }
  if (input_ended_ && skip_space(window_.data(), begin_, end_) == end_) {
    begin_ = end_;
    stopped = true;
  }
  return Ok{};
}

void ChromePiece::commit(const JsonCursor& cursor) {
  committed_ = cursor.ended() ? cut_ : index_begin_ + cursor.offset();
}

ChromePiece::Progress ChromePiece::consume(bool header_only, uint64_t stop_at) {
  const auto positions = index_.positions();
  JsonCursor cursor;
  cursor.text = window_.data() + begin_;
  cursor.positions = positions.data();
  cursor.count = static_cast<uint32_t>(positions.size());
  index_begin_ = begin_;
  committed_ = begin_;
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore && !cursor.ended()) {
    const uint32_t at = cursor.at;
    const Stage stage = stage_;
    switch (stage_) {
      case Stage::kStart:
        if (cursor.peek() == '{') {
          stage_ = Stage::kTopLevel;
        } else if (cursor.peek() == '[') {
          stage_ = Stage::kEvents;
          root_is_array_ = true;
        } else {
          progress = Progress::kMalformed;
          break;
        }
        ++cursor.at;
        commit(cursor);
        break;
      case Stage::kTopLevel:
        progress = consume_top_level(cursor);
        break;
      case Stage::kEvents:
        progress = consume_events(cursor, header_only, stop_at);
        break;
      case Stage::kEnd:
        progress = Progress::kMalformed;
        break;
    }
    // No progress and no error: the piece ends inside an item.
    if (progress == Progress::kMore && cursor.at == at && stage_ == stage) break;
  }
  if (progress == Progress::kMalformed) {
    malformed_at_ = window_offset_ + (cursor.ended() ? cut_ : index_begin_ + cursor.offset());
  }
  begin_ = committed_;
  return progress;
}

ChromePiece::Progress ChromePiece::consume_top_level(JsonCursor& cursor) {
  const JsonCursor start = cursor;
  switch (cursor.peek()) {
    case ',':
      if (expect_value_) return Progress::kMalformed;
      expect_value_ = true;
      ++cursor.at;
      commit(cursor);
      return Progress::kMore;
    case '}':
      ++cursor.at;
      stage_ = Stage::kEnd;
      commit(cursor);
      return Progress::kMore;
    default:
      break;
  }
  if (!expect_value_) return Progress::kMalformed;
  std::string_view key;
  Walk walk = read_key(cursor, key);
  if (walk == Walk::kOk && key == "traceEvents" && cursor.peek() == '[') {
    saw_events_key_ = true;
    stage_ = Stage::kEvents;
    expect_value_ = true;
    ++cursor.at;
    commit(cursor);
    return Progress::kMore;
  }
  JsonValue value;
  if (walk == Walk::kOk) walk = read_value(cursor, value);
  if (walk == Walk::kMalformed) return Progress::kMalformed;
  if (walk == Walk::kIncomplete) {
    cursor.at = start.at;
    return Progress::kMore;
  }
  if (sink_ != nullptr) {
    const char* past = value.text.data() + value.text.size() + (value.kind == JsonKind::kString);
    const char* from = start.text + start.offset();
    sink_->member(key, value, start, {from, static_cast<size_t>(past - from)});
  }
  header.take(key, value, start, builder.log);
  expect_value_ = false;
  commit(cursor);
  return Progress::kMore;
}

ChromePiece::Progress ChromePiece::consume_events(JsonCursor& cursor, bool header_only,
                                                  uint64_t stop_at) {
  if (header_only) {
    commit(cursor);
    const bool search_on = !input_ended_ && target_ < kTimeUnitSearch;
    return detect_time_scale(cursor) || !search_on ? Progress::kStopped : Progress::kMore;
  }
  const uint64_t base = window_offset_ + index_begin_;
  while (!cursor.ended()) {
    const char c = cursor.peek();
    if (c == '{') {
      if (!expect_value_) return Progress::kMalformed;
      const uint64_t at = base + cursor.offset();
      if (at >= stop_at) {
        commit(cursor);
        return Progress::kStopped;
      }
      const uint32_t start = cursor.at;
      const Walk walk = read_event(cursor, event_);
      if (walk == Walk::kMalformed) return Progress::kMalformed;
      if (walk == Walk::kIncomplete) {
        cursor.at = start;
        return Progress::kMore;
      }
      if (sink_ != nullptr) {
        const uint32_t from = cursor.positions[start];
        const uint32_t past = cursor.positions[cursor.at - 1] + 1;
        sunk_ = sink_->event(event_, {cursor.text + from, past - from});
        if (!sunk_) return Progress::kStopped;
      } else {
        rows_.add(event_, cursor, static_cast<int64_t>(at), check_utf8_);
      }
      expect_value_ = false;
    } else if (c == ',') {
      if (expect_value_)
        builder.log.add(ImportCode::kTrailingComma, static_cast<int64_t>(base + cursor.offset()));
      expect_value_ = true;
      ++cursor.at;
    } else if (c == ']') {
      if (expect_value_ && builder.counts.events > 0) {
        builder.log.add(ImportCode::kTrailingComma, static_cast<int64_t>(base + cursor.offset()));
      }
      stage_ = root_is_array_ ? Stage::kEnd : Stage::kTopLevel;
      expect_value_ = false;
      ++cursor.at;
      commit(cursor);
      return Progress::kMore;
    } else {
      if (!expect_value_) return Progress::kMalformed;
      const uint32_t start = cursor.at;
      JsonValue skipped;
      const Walk walk = read_value(cursor, skipped);
      if (walk == Walk::kMalformed) return Progress::kMalformed;
      if (walk == Walk::kIncomplete) {
        cursor.at = start;
        return Progress::kMore;
      }
      ++builder.counts.events;
      builder.log.add(ImportCode::kNotAnObject, static_cast<int64_t>(base));
      expect_value_ = false;
    }
    commit(cursor);
  }
  return Progress::kMore;
}

// Epoch microseconds have 16 digits until the year 2286; 18 or more are nanoseconds, as in
// hand-made exports. The first event that is not at time zero decides for the whole file.
bool ChromePiece::detect_time_scale(JsonCursor cursor) {
  while (!cursor.ended() && cursor.peek() == '{') {
    if (read_event(cursor, event_) != Walk::kOk) break;
    const std::string_view time = event_.has(Field::kTime) ? event_[Field::kTime].text : "";
    const bool informative = !time.empty() && time[0] >= '1' && time[0] <= '9';
    if (informative) {
      const bool nanoseconds =
          time.size() >= 18 && time.find_first_not_of("0123456789") == std::string_view::npos;
      set_time_scale(nanoseconds ? 0 : 3);
      if (nanoseconds) builder.log.add(ImportCode::kTimeUnitNanoseconds);
      return true;
    }
    if (!cursor.ended() && cursor.peek() == ',') ++cursor.at;
  }
  set_time_scale(3);
  return false;
}

// Kineto before July 2026 did not escape quotes inside names. In its layout, `", "pid":` follows a
// name, or the name ends its line with `",`; quotes before that belong to the name. Replaces them
// by apostrophes, which keeps offsets. False: nothing to repair here.
bool ChromePiece::repair_quotes() {
  if (stage_ != Stage::kEvents) return false;
  static constexpr std::string_view kName = "\"name\": \"";
  const std::string_view text(window_.data(), end_);
  const size_t name = text.find(kName, begin_);
  if (name == std::string_view::npos || name > begin_ + 4096) return false;
  const size_t value = name + kName.size();
  const size_t line_end = std::min(text.find('\n', value), end_);
  const std::string_view line = text.substr(0, line_end);
  size_t close = line.find("\", \"pid\":", value);
  if (close == std::string_view::npos) close = line.rfind("\",");
  if (close == std::string_view::npos || close <= value) return false;
  uint64_t repaired = 0;
  for (size_t i = value; i < close; ++i) {
    if (window_[i] == '\\') {
      ++i;
    } else if (window_[i] == '"') {
      window_[i] = '\'';
      ++repaired;
    }
  }
  if (repaired == 0) return false;
  builder.log.add(ImportCode::kUnescapedQuote, static_cast<int64_t>(offset()));
  return true;
}

}  // namespace assay
