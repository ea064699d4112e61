#include "ingest/load.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/ascii.h"
#include "base/decimal.h"
#include "ingest/assaytrace/reader.h"
#include "ingest/columnar/file.h"
#include "ingest/counters/files.h"
#include "ingest/nsys/reader.h"
#include "ingest/rocprof/run.h"
#include "ingest/sqlite_file.h"
#include "ingest/text/csv_records.h"

namespace assay {
namespace {

// In any letter case, as is every other ending that is looked at.
bool has_trace_extension(const std::string& file) {
  const std::string name = lower(file);
  for (const char* extension : {".json", ".json.gz", ".json.zst", ".sqlite", ".assaytrace",
                                ".assaytrace.gz", ".assaytrace.zst"}) {
    const size_t length = std::strlen(extension);
    if (name.size() > length && name.compare(name.size() - length, length, extension) == 0) {
      return true;
    }
  }
  return false;
}

// A run of rocprofv3 goes by its kernel trace; a results file of the same run tells the same.
constexpr const char* kKernelTrace = "kernel_trace.csv";

bool is_rocpd_name(const std::string& name) { return name.ends_with("_results.db"); }

bool is_kernel_trace(const std::string& name) {
  return name.ends_with(kKernelTrace) || name.ends_with(std::string(kKernelTrace) + ".gz");
}

bool has_results(const std::filesystem::path& kernel_trace) {
  std::string name = kernel_trace.filename().string();
  name.resize(name.find(kKernelTrace));
  for (const char* ending : {"results.db", "results.json", "results.json.gz"}) {
    if (std::filesystem::exists(kernel_trace.parent_path() / (name + ending))) return true;
  }
  return false;
}

bool is_rocprof_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return is_rocpd_name(name) || (is_kernel_trace(name) && !has_results(path));
}

// rocprofv3 -d DIR writes DIR/host/pid_kernel_trace.csv, with passes of counters below pass_n.
std::vector<std::string> rocprof_below(const std::string& folder) {
  constexpr int kDepth = 3;
  std::vector<std::string> found;
  std::error_code failed;
  auto entry = std::filesystem::recursive_directory_iterator(folder, failed);
  for (; !failed && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(failed)) {
    if (entry.depth() >= kDepth) entry.disable_recursion_pending();
    std::error_code unknown;
    if (entry->is_regular_file(unknown) && is_rocprof_file(entry->path()))
      found.push_back(entry->path().string());
  }
  return found;
}

bool is_columnar_name(const std::string& name) { return lower(name).ends_with(".assay"); }

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Error no_traces(const std::string& argument, const char* message) {
  return Error{ErrorCode::kInvalidArgument, message, argument, -1};
}

// Enough to tell a binary file, and enough for the header line of any table.
constexpr size_t kMagicBytes = 64;
constexpr size_t kHeadBytes = 8192;

// Up to `bytes` from the start of what `read` delivers. An input that ends in damage gives what
// comes before it: the reader will meet the damage again.
std::string read_head(const ReadFn& read, size_t bytes) {
  std::string head(bytes, '\0');
  size_t filled = 0;
  while (filled < bytes) {
    const auto got = read(head.data() + filled, bytes - filled);
    if (!got || *got == 0) break;
    filled += *got;
  }
  head.resize(filled);
  return head;
}

// A timeline that Assay wrote, by the mark that precedes everything of the trace's.
bool is_own_timeline(const std::string& path) {
  const std::string name = lower(path);
  if (!name.ends_with(".json") && !name.ends_with(".json.gz") && !name.ends_with(".json.zst"))
    return false;
  auto source = ByteSource::open(path);
  if (!source) return false;
  const std::string head = read_head(source->stream(false), kHeadBytes);
  const size_t mark = head.find("\"writtenBy\":\"assay report --perfetto\"");
  return mark != std::string::npos && mark < head.find("\"traceEvents\"");
}

Status append_folder(const std::string& folder, std::vector<std::string>& files,
                     std::vector<std::string>& timelines) {
  std::error_code failed;
  std::vector<std::string> found;
  std::vector<std::string> columnar;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (!entry.is_regular_file(failed)) continue;
    const std::string name = entry.path().filename().string();
    if (has_trace_extension(name) || is_rocprof_file(entry.path())) {
      found.push_back(entry.path().string());
    }
    if (is_columnar_name(name)) columnar.push_back(entry.path().string());
  }
  if (failed) return Error{ErrorCode::kIo, failed.message(), folder, -1};
  const auto own = std::stable_partition(found.begin(), found.end(),
                                         [](const auto& path) { return !is_own_timeline(path); });
  const bool has_timelines = own != found.end();
  std::sort(own, found.end());
  timelines.insert(timelines.end(), own, found.end());
  found.erase(own, found.end());
  // Beside the traces that they were made from they would count twice.
  if (found.empty()) found = std::move(columnar);
  if (found.empty()) found = rocprof_below(folder);
  if (found.empty() && has_timelines) {
    return no_traces(
        folder,
        "this folder has only timelines that Assay wrote: give the name of one to read "
        "it");
  }
  if (found.empty()) {
    return no_traces(
        folder,
        "no *.json, *.json.gz, *.json.zst, *.sqlite, *.assaytrace, *.assay, *kernel_trace.csv or "
        "*_results.db in this folder");
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return Ok{};
}

Status append_matches(const std::string& pattern, std::vector<std::string>& files) {
  glob_t matches{};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &matches);
  for (size_t i = 0; code == 0 && i < matches.gl_pathc; ++i) files.push_back(matches.gl_pathv[i]);
  ::globfree(&matches);
  if (code != 0) return no_traces(pattern, "no file matches this pattern");
  return Ok{};
}

// Formats told by their first bytes that no reader takes, with what to do about them.
struct ForeignFormat {
  std::string_view magic;
  const char* message;
};
constexpr ForeignFormat kForeignFormats[] = {
    {"NVIDIA",
     "unsupported: a raw Nsight Systems report; no open tool reads it: run "
     "'nsys export --type sqlite FILE'"},
    {"PK", "unsupported: a zip archive; unpack it first"},
    {"\xFD"
     "7zXZ",
     "unsupported: xz-compressed; decompress it first (xz -d)"},
    {"BZh", "unsupported: bzip2-compressed; decompress it first (bunzip2)"},
};
constexpr const char* kWhatIsRead =
    "Assay reads Chrome-trace JSON (.json, .json.gz, .json.zst), Nsight Systems exports (.sqlite), "
    "rocprofv3 (kernel_trace.csv, results.json, rocpd results.db), its own recordings "
    "(.assaytrace) and its own cached form (.assay)";

bool has_columnar_magic(std::string_view head) { return head.starts_with(kColumnarMagic); }

bool is_sqlite(std::string_view head) {
  return head.substr(0, kSqliteMagic.size()) == kSqliteMagic;
}

// What the first decoded bytes are, when they are no JSON.
Status refuse_foreign(std::string_view head, bool named_sqlite) {
  for (const ForeignFormat& format : kForeignFormats) {
    if (head.substr(0, format.magic.size()) == format.magic) {
      return Error{ErrorCode::kUnsupported, format.message, "", -1};
    }
  }
  if (head.substr(0, kMagicBytes).find('\0') != std::string_view::npos) {
    std::string message = "unsupported: a binary file of no format Assay knows";
    if (named_sqlite) message += " (named like SQLite, but encrypted or damaged)";
    return Error{ErrorCode::kUnsupported, message + "; " + kWhatIsRead, "", -1};
  }
  const size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first == std::string_view::npos || head[first] == '{' || head[first] == '[';
  if (!json) {
    return Error{ErrorCode::kNotATrace,
                 std::string("unsupported: not JSON (a table or a text?); ") + kWhatIsRead, "",
                 static_cast<int64_t>(first)};
  }
  return Ok{};
}

// A stream again from its beginning, after read_head() took that away.
ReadFn put_back(std::string head, ReadFn rest) {
  return [head = std::move(head), rest = std::move(rest), given = size_t{0}](
             char* dst, size_t n) mutable -> Result<size_t> {
    if (given == head.size()) return rest(dst, n);
    const size_t take = std::min(n, head.size() - given);
    std::memcpy(dst, head.data() + given, take);
    given += take;
    return take;
  };
}

// SQLite and `.assay` are read in place.
Error needs_a_file(const char* what, const ByteSource& source) {
  const std::string name(what);
  return Error{ErrorCode::kUnsupported,
               source.compression() == Compression::kNone
                   ? "unsupported: " + name + " through a pipe; save it to a file and give its name"
                   : "unsupported: a compressed " + name +
                         " file, which cannot be read in place; decompress it first (gunzip or "
                         "unzstd)",
               "", -1};
}

// ---- rocprofv3 ----------------------------------------------------------------------------------

bool looks_like_json(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string_view::npos || head[first] == '{' || head[first] == '[';
}

// A table by its header line; kNone for everything else.
RocprofTable table_of(std::string_view head) {
  if (looks_like_json(head) || head.find('\0') != std::string_view::npos)
    return RocprofTable::kNone;
  const size_t first = head.find_first_not_of("\r\n");
  head.remove_prefix(std::min(first, head.size()));
  const auto records = parse_csv_records(std::string(head.substr(0, head.find('\n'))), "");
  if (!records || records->empty()) return RocprofTable::kNone;
  return rocprof_table(records->front().cells);
}

// Tables that are no trace by themselves, with the command that reads them.
Status refuse_counters(std::string_view head) {
  if (looks_like_json(head) || head.substr(0, kMagicBytes).find('\0') != std::string_view::npos)
    return Ok{};
  const std::string_view words = counter_format(head);
  if (words.empty()) return Ok{};
  return Error{
      ErrorCode::kNotATrace,
      "this is " + std::string(words) +
          ": kernels ran one after another in that run, so its times are no trace; give it "
          "beside the trace: assay levels TRACE --counters FILE",
      "", -1};
}

Result<Trace> load_rocprof_csv(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocprof_csv(path, options.allow_truncated));
  if (run.kernels.empty()) {
    return Error{
        ErrorCode::kNotATrace,
        "a table of rocprofv3 without its kernels: kernel_trace.csv of the same run has to "
        "lie beside it, with the same beginning of its name",
        "", -1};
  }
  return rocprof_trace(std::move(run));
}

Result<Trace> load_rocprof_json(const std::string& path) {
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocprof_json(path));
  return rocprof_trace(std::move(run));
}

Error rocprof_needs_a_file() {
  return Error{ErrorCode::kUnsupported,
               "unsupported: rocprofv3 through a pipe; save it to a file and give its name", "",
               -1};
}

// Whether this is rocprofv3's, and then what it holds.
bool is_rocprof(std::string_view head) {
  return is_rocprof_json(head) || table_of(head) != RocprofTable::kNone;
}
Result<Trace> load_rocprof(const std::string& path, std::string_view head,
                           const ReadOptions& options) {
  if (path == "-") return rocprof_needs_a_file();
  if (is_rocprof_json(head)) return load_rocprof_json(path);
  return load_rocprof_csv(path, options);
}

Result<Trace> load_sqlite(const std::string& path, const ReadOptions& options) {
  if (!is_rocpd(path)) return read_nsys_sqlite(path, options);
  ASSAY_TRY_ASSIGN(RocprofRun run, read_rocpd(path));
  return rocprof_trace(std::move(run));
}

bool has_sqlite_name(const std::string& path) {
  const std::string extension = lower(std::filesystem::path(path).extension().string());
  return extension == ".sqlite" || extension == ".sqlite3" || extension == ".db";
}

// Compressed files and pipes: bytes that come by once.
Result<Trace> load_stream(const std::string& path, ByteSource& source, const ReadOptions& options) {
  const unsigned threads =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  if (options.progress != nullptr) {
    options.progress->stored_bytes = source.stored_bytes();
    source.count_reads(&options.progress->stored_bytes_read);
  }
  ReadFn read = source.stream(threads > 1);
  std::string head = read_head(read, kHeadBytes);
  if (is_sqlite(head)) return needs_a_file("SQLite", source);
  if (has_columnar_magic(head)) return needs_a_file(".assay", source);
  if (is_assaytrace(head)) {
    return read_assaytrace(put_back(std::move(head), std::move(read)), options);
  }
  ASSAY_TRY(refuse_counters(head));
  if (is_rocprof(head)) return load_rocprof(path, head, options);
  ASSAY_TRY(refuse_foreign(head, has_sqlite_name(path)));
  return read_chrome_stream(put_back(std::move(head), std::move(read)), options);
}

Result<Trace> load_by_content(const std::string& path, ByteSource& source,
                              const ReadOptions& options) {
  if (!source.seekable()) return load_stream(path, source, options);
  const std::string head = read_head(source.range(0, source.stored_bytes()), kHeadBytes);
  if (is_sqlite(head)) {
    if (path == "-") return needs_a_file("SQLite", source);
    return load_sqlite(path, options);
  }
  if (is_assaytrace(head)) {
    if (options.progress != nullptr) {
      options.progress->stored_bytes = source.stored_bytes();
      source.count_reads(&options.progress->stored_bytes_read);
    }
    return read_assaytrace(source.range(0, source.stored_bytes()), options);
  }
  ASSAY_TRY(refuse_counters(head));
  if (is_rocprof(head)) return load_rocprof(path, head, options);
  ASSAY_TRY(refuse_foreign(head, has_sqlite_name(path)));
  return read_chrome_trace(source, options);
}

// As the source would be read with these options.
Result<Trace> load_columnar(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(Trace trace, read_columnar(path));
  if (trace.log.entry(ImportCode::kTruncated).count > 0 && !options.allow_truncated) {
    return Error{ErrorCode::kTruncated,
                 "made from a truncated trace; use --allow-truncated to work with what lies before "
                 "the cut",
                 "", -1};
  }
  if (!options.keep_op_inputs) trace.op_inputs.release();
  trace.source = path;
  return trace;
}

Result<Trace> load_unnamed(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  if (source.seekable() && has_columnar_magic(read_head(source.range(0, source.stored_bytes()),
                                                        kColumnarMagic.size()))) {
    if (path == "-") return needs_a_file(".assay", source);
    return load_columnar(path, options);
  }
  ASSAY_TRY_ASSIGN(Trace trace, load_by_content(path, source, options));
  trace.source = path;
  trace.source_bytes = source.stored_bytes() != 0 ? source.stored_bytes() : trace.content_bytes;
  if (!trace.distributed.rank) {
    const int64_t rank = rank_from_name(path);
    if (rank >= 0) trace.distributed.rank = rank;
  }
  return trace;
}

}  // namespace

Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments,
                                               std::vector<std::string>* timelines) {
  std::vector<std::string> files;
  std::vector<std::string> left_out;
  for (const std::string& argument : arguments) {
    const bool pattern = argument.find_first_of("*?[") != std::string::npos;
    if (argument == "-") {
      files.push_back(argument);
    } else if (is_directory(argument)) {
      ASSAY_TRY(append_folder(argument, files, left_out));
    } else if (pattern && !std::filesystem::exists(argument)) {
      ASSAY_TRY(append_matches(argument, files));
    } else {
      files.push_back(argument);
    }
  }
  if (timelines != nullptr) *timelines = std::move(left_out);
  return files;
}

bool is_columnar(const std::string& path) {
  const auto source = ByteSource::open(path);
  return source && source->seekable() &&
         has_columnar_magic(
             read_head(source->range(0, source->stored_bytes()), kColumnarMagic.size()));
}

Result<Trace> load_trace(const std::string& path, const ReadOptions& options) {
  Result<Trace> trace = load_unnamed(path, options);
  if (trace) return trace;
  Error error = trace.take_error();
  error.file = path == "-" ? "standard input" : path;
  return error;
}

int64_t rank_from_name(const std::string& path) {
  std::string name = lower(std::filesystem::path(path).filename().string());
  for (const char* extension :
       {".zst", ".gz", ".json", ".trace", ".pt", ".sqlite", ".assaytrace"}) {
    const size_t length = std::strlen(extension);
    if (name.size() > length && name.compare(name.size() - length, length, extension) == 0) {
      name.resize(name.size() - length);
    }
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
