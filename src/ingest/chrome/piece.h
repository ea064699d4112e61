#pragma once

// Parses one piece of a Chrome trace, from an event boundary (or the start of the document) to
// another one (or the end). A document is one piece, or several without gaps or overlaps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/chrome/event.h"
#include "ingest/chrome/header.h"
#include "ingest/chrome/kineto_rows.h"
#include "ingest/text/json_index.h"
#include "trace/builder.h"

namespace assay {

enum class Stage : uint8_t {
  kStart,     // nothing read yet
  kTopLevel,  // between the members of the root object
  kEvents,    // between the elements of the event array
  kEnd,       // the root is closed
};

// Receives the elements of a document as written; no rows are made.
class ElementSink {
 public:
  virtual ~ElementSink() = default;
  // A member of the root other than the event array. `text` is its key and value; the cursor can
  // walk into the value.
  virtual void member(std::string_view key, const JsonValue& value, JsonCursor cursor,
                      std::string_view text) = 0;
  virtual Status event(const RawEvent& event, std::string_view text) = 0;
};

class ChromePiece {
 public:
  // read: returns the bytes starting at `offset`. stage: kStart, or kEvents if an element begins at
  // `offset`.
  ChromePiece(ReadFn read, uint64_t offset, Stage stage);

  // Reads up to the first event and detects the file's time unit from the first events. Afterwards,
  // either run() continues this piece, or the caller drops it and starts others at offset().
  Status read_header();
  // Reads until an element begins at or after `stop_at`, or the document ends.
  Status run(uint64_t stop_at);

  uint64_t offset() const { return window_offset_ + begin_; }   // first byte not yet consumed
  uint64_t input_end() const { return window_offset_ + end_; }  // first byte not yet read
  Stage stage() const { return stage_; }
  bool root_is_array() const { return root_is_array_; }
  void set_root_is_array(bool value) { root_is_array_ = value; }
  int time_scale() const { return time_scale_; }
  void set_time_scale(int scale);
  void set_op_inputs(bool keep, const ExecutionTrace* missing) {
    rows_.set_op_inputs(keep, missing);
  }
  // Sends all elements to the sink instead of making rows. The sink must outlive the piece.
  void set_sink(ElementSink* sink) { sink_ = sink; }
  bool saw_events_key() const { return saw_events_key_; }
  void set_saw_events_key(bool value) { saw_events_key_ = value; }
  bool at_end_of_input() const { return input_ended_ && begin_ == end_; }
  // The decoder's error if the input ended early.
  const std::optional<Error>& source_truncated() const { return source_truncated_; }

  TraceBuilder builder;
  ChromeHeader header;

 private:
  enum class Progress : uint8_t { kMore, kStopped, kMalformed };

  Status fill();
  Result<bool> index_window();
  size_t find_cut() const;
  size_t last_outside_string(size_t limit) const;
  void blank_control_characters();
  Status step(bool header_only, uint64_t stop_at, bool& stopped);
  Progress consume(bool header_only, uint64_t stop_at);
  Progress consume_top_level(JsonCursor& cursor);
  Progress consume_events(JsonCursor& cursor, bool header_only, uint64_t stop_at);
  bool repair_quotes();
  void commit(const JsonCursor& cursor);
  bool detect_time_scale(JsonCursor cursor);
  Error error_at(ErrorCode code, std::string message, uint64_t offset) const;

  ReadFn read_;
  ElementSink* sink_ = nullptr;
  Status sunk_ = Ok{};
  Stage stage_;
  bool root_is_array_ = false;
  bool saw_events_key_ = false;
  bool expect_value_ = true;  // in an array or object: next is a value, not a comma
  int time_scale_ = 3;

  std::vector<char> window_;
  uint64_t window_offset_ = 0;  // input offset of window_[0]
  size_t begin_ = 0;            // first byte not consumed
  size_t end_ = 0;              // end of the filled part
  size_t cut_ = 0;              // [begin_, cut_) is indexed
  size_t target_ = 0;           // bytes wanted in the window
  bool input_ended_ = false;
  std::optional<Error> source_truncated_;
  size_t index_begin_ = 0;     // start of the indexed text in the window
  size_t committed_ = 0;       // end of the consumed text in the window
  uint64_t malformed_at_ = 0;  // input offset of the first byte that is not JSON
  bool check_utf8_ = false;
  JsonIndex index_;
  RawEvent event_;
  KinetoRows rows_;
};

}  // namespace assay
