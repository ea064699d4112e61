#include "ingest/load.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/beside.h"
#include "base/decimal.h"
#include "base/files.h"
#include "base/temporaries.h"
#include "ingest/columnar/file.h"
#include "ingest/formats.h"
#include "ingest/stand_ins.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

bool has_sqlite_name(const std::string& path) {
  const std::string extension = lower(extension_of(path));
  return extension == ".sqlite" || extension == ".sqlite3" || extension == ".db";
}

// Error for a file that matches no format.
Error unknown_format(const FileHead& head, const std::string& path) {
  const std::string what_is_read = "; Assay reads " + trace_inputs_words();
  if (!head.binary) {
    return Error{ErrorCode::kNotATrace, "unsupported: not JSON (a table or a text?)" + what_is_read,
                 "", static_cast<int64_t>(first_text_byte(head.bytes))};
  }
  std::string message = "unsupported: a binary file of no format Assay knows";
  if (has_sqlite_name(path)) message += " (named like SQLite, but encrypted or damaged)";
  return Error{ErrorCode::kUnsupported, message + what_is_read, "", -1};
}

// Fails if the input is a pipe or compressed and the format's reader cannot read that.
Status check_storage(const FileFormat& format, const FileHead& head, const TraceInput& input) {
  if (format.storage == Storage::kStream) return Ok{};
  const bool in_place = format.storage == Storage::kInPlace;
  // The kind of SQLite file is unknown: detecting it needs a file, too.
  const std::string name(head.sqlite ? "SQLite" : in_place ? format.endings : format.plural);
  if (in_place && input.source.compression() != Compression::kNone) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: a compressed " + name +
                     " file, which cannot be read in place; decompress it first (gunzip or "
                     "unzstd)",
                 "", -1};
  }
  // A pipe reopened by name lacks its head, or has no writer.
  if (input.path == "-" || is_special_file(input.path) || (in_place && !input.source.seekable())) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: " + name + " through a pipe; save it to a file and give its name",
                 "", -1};
  }
  return Ok{};
}

constexpr uint64_t kWorthAThread = uint64_t{4} << 20;

Result<Trace> load_by_content(TraceInput& input, const ReadOptions& options);

Error cannot_unpack(const std::string& copy) {
  return {ErrorCode::kIo,
          "cannot be decompressed to " + copy + ", where SQLite is to read it: " +
              std::strerror(errno) + "; TMPDIR names another folder",
          "", -1};
}

// Copies all bytes of a stream, including the head already read, to a file.
Status write_copy(const TraceInput& input, const std::string& copy) {
  const auto file = open_file(copy, "wb");
  if (!file) return cannot_unpack(copy);
  std::string piece = input.head;
  for (size_t got = piece.size(); got > 0;) {
    if (std::fwrite(piece.data(), 1, got, file->get()) != got) return cannot_unpack(copy);
    piece.resize(size_t{1} << 20);
    ASSAY_TRY_ASSIGN(got, input.rest(piece.data(), piece.size()));
  }
  return std::fflush(file->get()) == 0 ? Status(Ok{}) : cannot_unpack(copy);
}

// SQLite needs random access, so a compressed file is read from a temporary decompressed copy.
Result<Trace> load_unpacked(TraceInput& packed, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(const Temporary folder, temporary_folder("assay-unpacked-"));
  const std::string copy = joined(folder.path(), "trace.sqlite");
  ASSAY_TRY(write_copy(packed, copy));
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(copy));
  TraceInput input{copy, source, {}, {}};
  input.head = read_head(source.range(0, source.stored_bytes()), kFormatHeadBytes);
  return load_by_content(input, options);
}

// Any JSON object may be a trace, because a program's own keys may precede those of the trace
// beyond the head. Only the reader can decide.
Result<Trace> load_undecided(TraceInput& input, const FileFormat& is, const ReadOptions& options) {
  const FileFormat& chrome = file_formats().front();
  const Error named = not_a(FileFamily::kTrace, is);
  auto trace = chrome.read(input, options);
  if (trace) return trace;
  const ErrorCode code = trace.error().code;
  if (code == ErrorCode::kNotATrace || code == ErrorCode::kFormat) return named;
  return trace;
}

// Checks the pages of a database while it is read: a damaged one may return only some of its rows
// without an error.
Result<Trace> load_database(const FileFormat& format, TraceInput& input,
                            const ReadOptions& options) {
  Beside<Status> pages(
      [&input](const std::atomic<bool>& stop) { return check_sqlite_pages(input.path, stop); },
      threads_of(options) > 1 && input.source.stored_bytes() >= kWorthAThread);
  auto trace = format.read(input, options);
  if (trace) ASSAY_TRY(pages.take());
  return trace;
}

Result<Trace> load_by_content(TraceInput& input, const ReadOptions& options) {
  const FileHead head = file_head(input.head, input.path);
  const bool packed = input.source.compression() != Compression::kNone;
  if (head.sqlite && packed && input.path != "-") return load_unpacked(input, options);
  const FileFormat* format = format_of(head);
  if (format == nullptr) return unknown_format(head, input.path);
  if (format->read == nullptr) {
    const bool object = head.json && input.head[first_text_byte(input.head)] == '{';
    if (object) return load_undecided(input, *format, options);
    return not_a(FileFamily::kTrace, *format);
  }
  ASSAY_TRY(check_storage(*format, head, input));
  if (head.sqlite) return load_database(*format, input, options);
  return format->read(input, options);
}

// True if the checksum is computed in parallel. Not for cached files, which contain that of their
// source, small files, which are faster than starting a thread, and streams, which are summed while
// being read.
bool sums_beside(const TraceInput& input, const ReadOptions& options) {
  return input.source.seekable() && !input.head.starts_with(kColumnarMagic) &&
         input.source.stored_bytes() >= kWorthAThread && threads_of(options) > 1;
}

Result<Trace> load_unnamed(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  TraceInput input{path, source, {}, {}};
  if (source.seekable()) {
    input.head = read_head(source.range(0, source.stored_bytes()), kFormatHeadBytes);
  } else {
    if (options.progress != nullptr) {
      options.progress->stored_bytes = source.stored_bytes();
      source.count_reads(&options.progress->stored_bytes_read);
    }
    input.rest = source.stream(threads_of(options) > 1);
    input.head = read_head(input.rest, kFormatHeadBytes);
  }
  Beside<Result<std::optional<uint64_t>>> sum(
      [&source](const std::atomic<bool>& stop) { return source.stored_checksum(&stop); },
      sums_beside(input, options));
  auto loaded = load_by_content(input, options);
  input.rest = nullptr;  // stops the decoding thread
  // A concurrent write causes no parse error, but the data may mix two states.
  ASSAY_TRY(source.check_unchanged());
  if (!loaded) return loaded.take_error();
  Trace& trace = *loaded;
  trace.source = path;
  if (trace.source_bytes != 0) return loaded;  // a cached file contains the checksum of its source
  ASSAY_TRY_ASSIGN(trace.source_checksum, sum.take());
  trace.source_bytes = source.stored_bytes() != 0 ? source.stored_bytes() : trace.content_bytes;
  if (!trace.distributed.rank) {
    const int64_t rank = rank_from_name(path);
    if (rank >= 0) trace.distributed.rank = rank;
  }
  return loaded;
}

}  // namespace

bool is_columnar(const std::string& path) {
  if (!is_regular_file(path)) return false;  // opening a pipe would block
  const auto source = ByteSource::open(path);
  return source && source->seekable() &&
         std::string_view(
             read_head(source->range(0, source->stored_bytes()), kColumnarMagic.size()))
             .starts_with(kColumnarMagic);
}

Result<Trace> load_trace(const std::string& path, const ReadOptions& options) {
  Result<Trace> trace = load_unnamed(path, options);
  if (trace) {
    trace->source = shown_path(path);
    return trace;
  }
  Error error = trace.take_error();
  error.file = path == "-" ? "standard input" : shown_path(path);
  return error;
}

int64_t rank_from_name(const std::string& path) {
  std::string name = lower(file_name(path));
  // The rank may directly precede the file name extensions.
  for (const char* ending : {".zst", ".gz", ".json", ".trace", ".pt", ".sqlite", ".assaytrace"}) {
    if (name.size() > std::strlen(ending) && name.ends_with(ending))
      name.resize(name.size() - std::strlen(ending));
  }
  size_t begin = name.find("rank");
  if (begin != std::string::npos) {
    begin += 4;
    while (begin < name.size() && (name[begin] == '-' || name[begin] == '_')) ++begin;
  }
  if (begin == std::string::npos || begin >= name.size() || !is_digit(name[begin])) return -1;
  size_t end = begin;
  while (end < name.size() && is_digit(name[end])) ++end;
  int64_t rank = -1;
  return parse_int64(std::string_view(name).substr(begin, end - begin), rank) ? rank : -1;
}

}  // namespace assay
