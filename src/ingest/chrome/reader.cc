// A plain file is split into chunks that several threads parse in parallel. In the middle of a
// file, the start of an event can only be guessed (`}` `,` `{` `"`), so every guess is verified. A
// chunk counts only if the previous one, which started at a verified position, ends exactly at its
// start. A guess inside a string or an argument list fails that test and is parsed again. The rows
// are the same as from one thread, byte for byte, because merging keeps the order of the input.

#include "ingest/chrome/reader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/latest_time.h"
#include "base/try_thread.h"
#include "ingest/chrome/ascend_lanes.h"
#include "ingest/chrome/kineto_rows.h"
#include "ingest/chrome/piece.h"
#include "ingest/chrome/plain_lanes.h"
#include "ingest/chrome/processes.h"
#include "ingest/chrome/rocm_lanes.h"
#include "ingest/chrome/unread_form.h"
#include "ingest/chrome/xprof_lanes.h"

namespace assay {
namespace {

constexpr size_t kGuessBytes = 64 << 10;

// First position at or after `from` that looks like the start of an event; `end` if there is none
// in the next kGuessBytes.
Result<uint64_t> guess_event_start(const ByteSource& source, uint64_t from, uint64_t end) {
  std::vector<char> text(kGuessBytes);
  const ReadFn read = source.range(from, end);
  size_t filled = 0;
  while (filled < text.size()) {
    ASSAY_TRY_ASSIGN(const size_t got, read(text.data() + filled, text.size() - filled));
    if (got == 0) break;
    filled += got;
  }
  const auto skip_space = [&text, filled](size_t at) {
    while (at < filled && is_json_space(text[at])) ++at;
    return at;
  };
  const auto is = [&text, filled](size_t at, char c) { return at < filled && text[at] == c; };
  for (size_t i = 0; i < filled; ++i) {
    if (text[i] != '}') continue;
    const size_t comma = skip_space(i + 1);
    if (!is(comma, ',')) continue;
    const size_t brace = skip_space(comma + 1);
    if (is(brace, '{') && is(skip_space(brace + 1), '"')) return from + brace;
  }
  return end;
}

struct Stretch {
  uint64_t begin = 0;
  uint64_t end = 0;  // begin of the next stretch
};

Result<std::vector<Stretch>> plan_stretches(const ByteSource& source, uint64_t first, uint64_t end,
                                            uint64_t stretch_bytes) {
  std::vector<uint64_t> starts = {first};
  for (uint64_t at = first + stretch_bytes; at < end; at += stretch_bytes) {
    ASSAY_TRY_ASSIGN(const uint64_t start, guess_event_start(source, at, end));
    if (start < end && start > starts.back()) starts.push_back(start);
  }
  std::vector<Stretch> stretches;
  stretches.reserve(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    stretches.push_back({starts[i], i + 1 < starts.size() ? starts[i + 1] : UINT64_MAX});
  }
  return stretches;
}

struct Parsed {
  std::unique_ptr<ChromePiece> piece;
  Status status = Ok{};
};

// Header properties that are needed to parse events in the middle of the document.
struct EventForm {
  int time_scale = 3;
  bool root_is_array = false;
  bool keep_op_inputs = false;
  const ExecutionTrace* inputs = nullptr;
};

Parsed parse_stretch(const ByteSource& source, Stretch stretch, EventForm form) {
  Parsed parsed;
  parsed.piece = std::make_unique<ChromePiece>(source.range(stretch.begin, source.stored_bytes()),
                                               stretch.begin, Stage::kEvents);
  parsed.piece->set_time_scale(form.time_scale);
  parsed.piece->set_root_is_array(form.root_is_array);
  parsed.piece->set_op_inputs(form.keep_op_inputs, form.inputs);
  parsed.status = parsed.piece->run(stretch.end);
  return parsed;
}

// Parses stretches in parallel. Threads take stretches in order, and take() returns results in
// order. At most a few are ahead, which bounds memory to that of the rows. If no thread can be
// started, the consumer parses.
class StretchPool {
 public:
  StretchPool(const ByteSource& source, const std::vector<Stretch>& stretches, EventForm form,
              unsigned threads)
      : source_(source),
        stretches_(stretches),
        form_(form),
        ahead_(size_t{2} * threads),
        results_(stretches.size()) {
    for (unsigned i = 0; i < threads; ++i) {
      std::optional<std::thread> worker = try_thread([this] { work(); });
      if (!worker) break;
      workers_.push_back(std::move(*worker));
    }
  }

  ~StretchPool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  Parsed take(size_t i) {
    if (workers_.empty()) return parse_stretch(source_, stretches_[i], form_);
    std::unique_lock lock(mutex_);
    taken_ = i;
    changed_.notify_all();
    changed_.wait(lock, [this, i] { return results_[i].piece != nullptr; });
    return std::move(results_[i]);
  }

 private:
  void work() {
    for (;;) {
      size_t i = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || next_ < taken_ + ahead_; });
        if (stop_ || next_ >= stretches_.size()) return;
        i = next_++;
      }
      Parsed parsed = parse_stretch(source_, stretches_[i], form_);
      std::lock_guard lock(mutex_);
      results_[i] = std::move(parsed);
      changed_.notify_all();
    }
  }

  const ByteSource& source_;
  const std::vector<Stretch>& stretches_;
  const EventForm form_;
  const size_t ahead_;
  std::vector<Parsed> results_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;
  size_t taken_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

// Merges all stretches into `document`, which has read the header. Afterwards, `document` is the
// piece that reached the end.
Status merge_stretches(const ByteSource& source, std::unique_ptr<ChromePiece>& document,
                       const std::vector<Stretch>& stretches, const ReadOptions& options,
                       unsigned threads) {
  const EventForm form{document->time_scale(), document->root_is_array(), options.keep_op_inputs,
                       options.inputs};
  StretchPool pool(source, stretches, form, threads);
  TraceBuilder builder = std::move(document->builder);
  ChromeHeader header = std::move(document->header);
  uint64_t at = stretches.front().begin;
  std::unique_ptr<ChromePiece> last;
  size_t next = 0;
  for (bool ended = false; !ended;) {
    while (next < stretches.size() && stretches[next].begin < at) ++next;  // skip wrong guesses
    const uint64_t gap_end = next < stretches.size() ? stretches[next].begin : UINT64_MAX;
    const bool met = gap_end == at;
    const uint64_t stop = met ? stretches[next].end : gap_end;
    const uint64_t before = at;
    Parsed parsed = met ? pool.take(next++) : parse_stretch(source, {at, stop}, form);
    if (!parsed.status) return parsed.status.take_error();
    at = parsed.piece->offset();
    const bool first = builder.counts.events == 0;
    builder.merge(std::move(parsed.piece->builder));
    if (first) {
      const double bytes = static_cast<double>(std::max<uint64_t>(at - stretches.front().begin, 1));
      builder.reserve_times(static_cast<double>(source.stored_bytes()) / bytes * 1.05);
    }
    header.merge(std::move(parsed.piece->header));
    last = std::move(parsed.piece);
    ended = last->stage() != Stage::kEvents || stop == UINT64_MAX;
    if (!ended && !met && at == before) {
      return Error{ErrorCode::kInternal, "the reader does not get on", "",
                   static_cast<int64_t>(at)};
    }
  }
  last->builder = std::move(builder);
  last->header = std::move(header);
  document = std::move(last);
  return Ok{};
}

Error not_a_trace(const char* message) { return Error{ErrorCode::kFormat, message, "", -1}; }

// Checks how the input ended: accepts complete documents and unclosed event arrays, and truncated
// ones only with allow_truncated.
Status judge_end(ChromePiece& document, const ReadOptions& options) {
  const uint64_t offset = document.offset();
  const bool complete = document.stage() == Stage::kEnd && document.at_end_of_input();
  if (complete && !document.source_truncated()) return Ok{};
  if (document.stage() == Stage::kStart && document.at_end_of_input() &&
      !document.source_truncated()) {
    return not_a_trace("the input is empty");
  }
  const bool open_array = document.root_is_array() && document.stage() == Stage::kEvents &&
                          document.at_end_of_input() && !document.source_truncated();
  if (open_array) {
    document.builder.log.add(ImportCode::kUnterminatedArray, static_cast<int64_t>(offset));
    return Ok{};
  }
  if (options.allow_truncated && document.builder.counts.events > 0) {
    document.builder.log.add(ImportCode::kTruncated, static_cast<int64_t>(offset));
    return Ok{};
  }
  std::string message = "truncated: ";
  const std::optional<Error>& cut = document.source_truncated();
  message += cut ? cut->message : "the JSON ends in the middle of the document";
  message += "; events are complete up to byte " + std::to_string(offset) +
             ". --allow-truncated reads what lies before the cut";
  return Error{ErrorCode::kTruncated, std::move(message), "",
               static_cast<int64_t>(document.input_end())};
}

// Baseline to add to the times; 0 if the timestamps are already absolute (spec/formats 1.2).
int64_t base_time_ns(ChromePiece& document) {
  if (!document.header.base_time_ns) return 0;
  const int64_t base = *document.header.base_time_ns;
  const int64_t typical = document.builder.typical_start_ns();
  const bool sane = base >= 0 && base <= kLatestNs;
  if (sane && typical < base) return base;
  document.builder.log.add(ImportCode::kBadBaseTime);
  return 0;
}

void note_time_shape(TraceBuilder& builder) {
  const TimeShape& shape = builder.time_shape;
  if (shape.times == 0) return;
  if (shape.whole_microseconds()) {
    builder.log.add(ImportCode::kWholeMicroseconds);
    return;
  }
  const uint32_t short_lengths = shape.fraction_lengths & 0b0110;
  const bool only_up_to_three = (shape.fraction_lengths & ~0b1111u) == 0;
  if (short_lengths != 0 && only_up_to_three && !shape.fraction_leading_zero) {
    builder.log.add(ImportCode::kAmbiguousFraction);
  }
}

Result<Trace> finish_document(ChromePiece& document) {
  document.builder.order_lanes();
  pair_marks(document.builder);
  document.builder.order_other_events();
  file_rocm_lanes(document.builder);
  file_ascend_lanes(document.builder);
  file_xprof_lanes(document.builder);
  file_plain_lanes(document.builder);
  const size_t processes = launching_processes(document.builder);
  if (processes > 1) {
    return Error{ErrorCode::kSeveralTraces,
                 std::to_string(processes) +
                     " processes in one file, and only a file by its name can be split here; give "
                     "the file of each process",
                 "", -1};
  }
  note_time_shape(document.builder);
  const ChromeHeader& header = document.header;
  if (header.has_distributed && !header.distributed.rank) {
    document.builder.log.add(ImportCode::kBadDistributedInfo);
  }
  const int64_t base = base_time_ns(document);
  Trace trace = std::move(document.builder).finish(base);
  trace.devices = std::move(document.header.devices);
  trace.distributed = std::move(document.header.distributed);
  trace.metadata.insert(trace.metadata.begin(), document.header.metadata.begin(),
                        document.header.metadata.end());
  trace.content_bytes = document.offset();
  if (document.header.timeline) trace.tracer = document.header.timeline->tracer;
  return trace;
}

constexpr const char* kRecordTorch =
    "; of PyTorch record with torch.profiler and write with export_chrome_trace";

// Other JSON tables are arrays, too: a trace has at least one element with a phase. A recording
// without events is an empty array under its key.
bool holds_no_event(const ChromePiece& document) {
  const uint64_t elements = document.builder.counts.events;
  if (elements == 0) return document.root_is_array();
  return document.builder.log.entry(ImportCode::kNotAnObject).count == elements;
}

Result<Trace> finish_if_whole(ChromePiece& document, const ReadOptions& options) {
  ASSAY_TRY(document.run(UINT64_MAX));
  const bool has_events = document.saw_events_key() || document.root_is_array();
  const bool is_whole = document.stage() == Stage::kEnd && document.at_end_of_input();
  if (is_whole && !has_events) {
    return Error{
        ErrorCode::kNotATrace,
        std::string("JSON, but no trace: there is no \"traceEvents\" array") + kRecordTorch, "",
        -1};
  }
  ASSAY_TRY(judge_end(document, options));
  if (holds_no_event(document)) {
    return Error{ErrorCode::kNotATrace,
                 std::string("JSON, but no trace: nothing in its array is an event (has a phase, "
                             "\"ph\")") +
                     kRecordTorch,
                 "", -1};
  }
  if (document.header.timeline && document.header.timeline->traces > 1) {
    return Error{ErrorCode::kUnsupported,
                 "a timeline of " + std::to_string(document.header.timeline->traces) +
                     " traces, written for a viewer: their ids say nothing to each other. Give the "
                     "traces themselves",
                 "", -1};
  }
  if (document.builder.longest_table() >= UINT32_MAX) {
    return Error{ErrorCode::kUnsupported, "more than 2^32 rows in one table", "", -1};
  }
  ASSAY_TRY_ASSIGN(Trace trace, finish_document(document));
  ASSAY_TRY(check_form(trace));
  return trace;
}

}  // namespace

unsigned threads_of(const ReadOptions& options) {
  return options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

Result<Trace> read_chrome_stream(ReadFn read, const ReadOptions& options) {
  ChromePiece document(std::move(read), 0, Stage::kStart);
  document.set_op_inputs(options.keep_op_inputs, options.inputs);
  ASSAY_TRY(document.read_header());
  return finish_if_whole(document, options);
}

Result<Trace> read_chrome_trace(ByteSource& source, const ReadOptions& options) {
  const unsigned threads = threads_of(options);
  const uint64_t bytes = source.stored_bytes();
  if (options.progress != nullptr) {
    options.progress->stored_bytes = bytes;
    source.count_reads(&options.progress->stored_bytes_read);
  }
  auto document = std::make_unique<ChromePiece>(
      threads == 1 ? source.summed() : source.range(0, bytes), 0, Stage::kStart);
  document->set_op_inputs(options.keep_op_inputs, options.inputs);
  ASSAY_TRY(document->read_header());
  const bool parallel = document->stage() == Stage::kEvents && threads > 1 &&
                        bytes > document->offset() + 2 * options.stretch_bytes;
  if (parallel) {
    const bool events_key = document->saw_events_key();
    ASSAY_TRY_ASSIGN(const auto stretches,
                     plan_stretches(source, document->offset(), bytes, options.stretch_bytes));
    ASSAY_TRY(merge_stretches(source, document, stretches, options, threads));
    document->set_saw_events_key(events_key);
  }
  return finish_if_whole(*document, options);
}

}  // namespace assay
