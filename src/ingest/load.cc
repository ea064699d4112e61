#include "ingest/load.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/decimal.h"

namespace assay {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool has_trace_extension(const std::string& name) {
  for (const char* extension : {".json", ".json.gz", ".json.zst"}) {
    const size_t length = std::strlen(extension);
    if (name.size() > length && name.compare(name.size() - length, length, extension) == 0) {
      return true;
    }
  }
  return false;
}

bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Error no_traces(const std::string& argument, const char* message) {
  return Error{ErrorCode::kInvalidArgument, message, argument, -1};
}

Status append_folder(const std::string& folder, std::vector<std::string>& files) {
  std::error_code failed;
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.is_regular_file(failed) && has_trace_extension(entry.path().filename().string())) {
      found.push_back(entry.path().string());
    }
  }
  if (failed) return Error{ErrorCode::kIo, failed.message(), folder, -1};
  if (found.empty()) {
    return no_traces(folder, "no *.json, *.json.gz or *.json.zst in this folder");
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

// Formats told by their first bytes that are no JSON, with what to do about them.
struct ForeignFormat {
  std::string_view magic;
  const char* message;
};
constexpr ForeignFormat kForeignFormats[] = {
    {"SQLite format 3",
     "unsupported: a SQLite file (Nsight Systems or rocpd export); "
     "give the PyTorch profiler's JSON"},
    {"NVIDIA",
     "unsupported: a raw Nsight Systems report; no open tool reads it: run "
     "'nsys export --type sqlite FILE'"},
    {"PK", "unsupported: a zip archive; unpack it first"},
    {"\xFD"
     "7zXZ",
     "unsupported: xz-compressed; decompress it first (xz -d)"},
    {"BZh", "unsupported: bzip2-compressed; decompress it first (bunzip2)"},
};

// What the first decoded bytes are, when they are no JSON.
Status refuse_foreign(ByteSource& source) {
  if (!source.seekable()) return Ok{};
  char head[64] = {};
  ASSAY_TRY_ASSIGN(const size_t got, source.range(0, source.stored_bytes())(head, sizeof(head)));
  const std::string_view text(head, got);
  for (const ForeignFormat& format : kForeignFormats) {
    if (text.substr(0, format.magic.size()) == format.magic) {
      return Error{ErrorCode::kUnsupported, format.message, "", -1};
    }
  }
  const bool binary = text.find('\0') != std::string_view::npos;
  if (binary) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: a binary file of no format Assay knows; it reads Chrome-trace JSON "
                 "(.json, .json.gz, .json.zst)",
                 "", -1};
  }
  const size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool json = first == std::string_view::npos || text[first] == '{' || text[first] == '[';
  if (!json) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: not JSON (a table or a text?); Assay reads Chrome-trace JSON "
                 "(.json, .json.gz, "
                 ".json.zst)",
                 "", static_cast<int64_t>(first)};
  }
  return Ok{};
}

Result<Trace> load_unnamed(const std::string& path, const ReadOptions& options) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  ASSAY_TRY(refuse_foreign(source));
  ASSAY_TRY_ASSIGN(Trace trace, read_chrome_trace(source, options));
  trace.source = path;
  trace.source_bytes = source.stored_bytes() != 0 ? source.stored_bytes() : trace.content_bytes;
  if (!trace.distributed.rank) {
    const int64_t rank = rank_from_name(path);
    if (rank >= 0) trace.distributed.rank = rank;
  }
  return trace;
}

}  // namespace

Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    const bool pattern = argument.find_first_of("*?[") != std::string::npos;
    if (argument == "-") {
      files.push_back(argument);
    } else if (is_directory(argument)) {
      ASSAY_TRY(append_folder(argument, files));
    } else if (pattern && !std::filesystem::exists(argument)) {
      ASSAY_TRY(append_matches(argument, files));
    } else {
      files.push_back(argument);
    }
  }
  return files;
}

Result<Trace> load_trace(const std::string& path, const ReadOptions& options) {
  Result<Trace> trace = load_unnamed(path, options);
  if (trace) return trace;
  Error error = trace.take_error();
  error.file = path == "-" ? "standard input" : path;
  return error;
}

int64_t rank_from_name(const std::string& path) {
  std::string name = lower_case(std::filesystem::path(path).filename().string());
  for (const char* extension : {".zst", ".gz", ".json", ".trace", ".pt"}) {
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
