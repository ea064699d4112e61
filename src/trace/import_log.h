#pragma once

// Counts the irregularities of an input. Loading continues, and every report lists each
// irregularity with its count and its effect on the numbers. The list of codes is closed and in one
// place, so that its texts are reviewed together.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay {

enum class Severity : uint8_t { kInfo, kRepaired, kDataLoss };
std::string_view severity_name(Severity severity);

// clang-format off: tables read best as tables
// CODE(enumerator, key, severity, meaning)
#define ASSAY_IMPORT_CODES(CODE)                                                                   \
  CODE(kMissingDuration, "missing_duration", kRepaired,                                            \
       "complete events without a duration; taken as 0 ns long, so busy time may be too small")    \
  CODE(kNegativeDuration, "negative_duration", kRepaired,                                          \
       "events with a negative duration; taken as 0 ns long, so busy time may be too small")       \
  CODE(kMissingTimestamp, "missing_timestamp", kDataLoss,                                          \
       "events without a usable timestamp; left out of every number")                              \
  CODE(kNegativeTimestamp, "negative_timestamp", kInfo,                                            \
       "events that start before the trace's time origin; kept as they are")                       \
  CODE(kTimestampOverflow, "timestamp_overflow", kDataLoss,                                        \
       "events with a time that does not fit 64-bit nanoseconds or lies more than three days from all others; left out of every number")              \
  CODE(kWrongType, "wrong_type", kRepaired,                                                        \
       "fields of a type the format does not allow; the field was treated as absent")              \
  CODE(kNumberAsString, "number_as_string", kRepaired,                                             \
       "numbers written as JSON strings; read as numbers, no effect")                              \
  CODE(kNanLiteral, "nan_literal", kRepaired,                                                      \
       "NaN, Infinity or another bare word where a number belongs; the field was treated as absent") \
  CODE(kInvalidUtf8, "invalid_utf8", kRepaired,                                                    \
       "bytes that are not UTF-8 inside text; each replaced by U+FFFD, times unaffected")          \
  CODE(kControlCharacter, "control_character", kRepaired,                                          \
       "raw control characters inside text; each replaced by a space, times unaffected")           \
  CODE(kInvalidEscape, "invalid_escape", kRepaired,                                                \
       "backslashes that start no JSON escape (Windows paths); kept as backslashes")               \
  CODE(kUnescapedQuote, "unescaped_quote", kRepaired,                                              \
       "events with an unescaped quote inside a string; repaired where the line layout allows it") \
  CODE(kDuplicateKey, "duplicate_key", kRepaired,                                                  \
       "events that give a field twice; the last one counts")                                      \
  CODE(kTrailingComma, "trailing_comma", kRepaired,                                                \
       "commas before a closing bracket; ignored, no effect")                                      \
  CODE(kUnterminatedArray, "unterminated_array", kRepaired,                                        \
       "the event array is not closed (legal for chrome://tracing); all complete events were read") \
  CODE(kTruncated, "truncated", kDataLoss,                                                         \
       "the input ends in the middle; only what lies before the cut was read, so every total is a lower bound") \
  CODE(kByteOrderMark, "byte_order_mark", kRepaired, "a UTF-8 byte order mark; skipped, no effect") \
  CODE(kTimeUnitNanoseconds, "time_unit_nanoseconds", kRepaired,                                   \
       "timestamps are integer nanoseconds instead of the format's microseconds; read as nanoseconds") \
  CODE(kAmbiguousFraction, "ambiguous_fraction", kInfo,                                            \
       "fractions of varying length, none with a leading zero, as in a Kineto build of 2024 without zero padding (12.5 for 12.005); read as written") \
  CODE(kWholeMicroseconds, "whole_microseconds", kInfo,                                            \
       "all times are whole microseconds: each start and each end may be off by up to 1 us")        \
  CODE(kBeginEndPair, "begin_end_pair", kInfo, "begin/end pairs joined into complete events")      \
  CODE(kUnmatchedBegin, "unmatched_begin", kDataLoss,                                              \
       "begin events without an end; left out of every number")                                    \
  CODE(kUnmatchedEnd, "unmatched_end", kDataLoss, "end events without a begin; left out")          \
  CODE(kUnknownPhase, "unknown_phase", kInfo, "events of a phase that carries no duration here; ignored") \
  CODE(kUnknownCategory, "unknown_category", kInfo,                                                \
       "events of a category that Assay has no table for; kept, in no number")                    \
  CODE(kNotAnObject, "not_an_object", kRepaired, "array elements that are empty or not event objects; skipped") \
  CODE(kDuplicateEvent, "duplicate_event", kRepaired,                                              \
       "events that repeat another one exactly (same lane, time, name and id); counted once")      \
  CODE(kIdOutOfRange, "id_out_of_range", kDataLoss,                                                \
       "correlation or external ids beyond 32 bits; the event was kept unlinked")                  \
  CODE(kBadDistributedInfo, "bad_distributed_info", kInfo,                                         \
       "distributedInfo without a usable rank; the rank comes from the file name, if anywhere")    \
  CODE(kBadBaseTime, "bad_base_time", kInfo,                                                       \
       "baseTimeNanoseconds is present but the timestamps are already absolute, or it is out of range; it was not added") \
  CODE(kMissingProcess, "missing_process", kInfo,                                                  \
       "events without pid or tid; filed under process or thread 0")                               \
  CODE(kUnknownSchema, "unknown_schema", kInfo,                                                    \
       "the export's schema version is not 3 or unknown; tables and columns were found by name, and renamed ones are missing") \
  CODE(kOpenRange, "open_range", kRepaired,                                                        \
       "rows without an end, still open when recording stopped; ended with the session, so their duration is an upper bound") \
  CODE(kSeveralProcesses, "several_processes", kInfo,                                              \
       "processes in this file use the same correlation ids; they were renumbered, so that each belongs to one process") \
  CODE(kMissingCorrelation, "missing_correlation", kRepaired,                                      \
       "device rows without a correlation id or process; kept unlinked, so launch and queue times lack them") \
  CODE(kMissingName, "missing_name", kRepaired,                                                    \
       "rows with a name that the file's table of strings lacks; kept without a name")               \
  CODE(kGraphWithoutKernels, "graph_without_kernels", kDataLoss,                                   \
       "CUDA graph launches recorded as a whole: counts lack their kernels, and times are those of the graphs. Use nsys --cuda-graph-trace=node, or omit --whole-graphs") \
  CODE(kRepeatedHeader, "repeated_header", kRepaired,                                              \
       "header lines in the middle of a table (files put one after another); skipped, no effect")  \
  CODE(kShortRow, "short_row", kDataLoss,                                                          \
       "rows of a table with fewer cells than its header; left out of every number")               \
  CODE(kProfilerError, "profiler_error", kInfo,                                                    \
       "errors that the profiler reported while recording (table DIAGNOSTIC_EVENT); what they name may be missing from the file") \
  CODE(kDamagedBlock, "damaged_block", kDataLoss,                                                  \
       "blocks of the recording that are missing or have a wrong checksum; their rows are in no number") \
  CODE(kNotClosed, "not_closed", kDataLoss,                                                        \
       "the recording was not closed (the program was killed, crashed or still runs); the time since the last flush, up to a second, is missing") \
  CODE(kRescued, "rescued", kDataLoss,                                                              \
       "the program was killed, crashed, called _exit or exec; its last rows come from shared memory. Unreturned calls and unreported device work are missing") \
  CODE(kLostRecords, "lost_records", kDataLoss,                                                    \
       "rows that the tracer could not keep (its buffers or the file were full); counts and sums are too small") \
  CODE(kCutShort, "cut_short", kDataLoss,                                                          \
       "recording ended before the program did (limit of the file, disk full, another profiler took over): what came after is missing") \
  CODE(kClockStep, "clock_step", kInfo,                                                            \
       "the system's clock was set while recording; all times use the clock of the start") \
  CODE(kTracerClockStep, "tracer_clock_step", kDataLoss,                                           \
       "the tracer's own clock jumped while recording: durations and gaps across the jump are wrong by it") \
  CODE(kOutsideCapture, "outside_capture", kInfo,                                                  \
       "device rows launched after the capture ended; left out of every number")                   \
  CODE(kPausedRecording, "paused_recording", kInfo,                                                \
       "stretches between windows of the profiler in which nothing was recorded; left out of every total") \
  CODE(kOddDevice, "odd_device", kInfo,                                                            \
       "rows of devices numbered 1024 or more, which no machine has; kept as a GPU each, so GPUs may be too many") \
  CODE(kNamedRows, "named_rows", kInfo,                                                             \
       "rows without a category, filed by their names: API calls, copies, and as kernels what shares a lane with copies") \
  CODE(kUnknownRecord, "unknown_record", kInfo, "records that a newer recorder writes; skipped")
// clang-format on

enum class ImportCode : uint8_t {
#define ASSAY_ENUMERATOR(name, key, severity, meaning) name,
  ASSAY_IMPORT_CODES(ASSAY_ENUMERATOR)
#undef ASSAY_ENUMERATOR
      kCount
};
constexpr size_t kImportCodes = static_cast<size_t>(ImportCode::kCount);

struct ImportCodeInfo {
  std::string_view key;
  Severity severity;
  std::string_view meaning;
};
const ImportCodeInfo& import_code_info(ImportCode code);

class ImportLog {
 public:
  struct Entry {
    uint64_t count = 0;
    int64_t first_offset = -1;  // byte in the uncompressed input; -1 = no position
  };

  // offset: position of the irregularity; the smallest one is kept.
  void add(ImportCode code, int64_t offset = -1, uint64_t count = 1);
  // Subtracts irregularities that turned out to be regular; with none left, also removes the
  // position.
  void take_back(ImportCode code, uint64_t count);
  const Entry& entry(ImportCode code) const { return entries_[static_cast<size_t>(code)]; }
  void merge(const ImportLog& other);
  // True if any code of severity kDataLoss was counted (exit code 3 under --strict).
  bool data_lost() const;

 private:
  std::array<Entry, kImportCodes> entries_{};
};

}  // namespace assay
