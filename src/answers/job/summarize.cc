#include "answers/job/summarize.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "answers/job/rank_record.h"
#include "base/checksum.h"
#include "base/decimal.h"
#include "base/files.h"
#include "ingest/columnar/layout.h"
#include "ingest/stand_ins.h"
#include "job/record.h"

namespace assay {
namespace {

// Lines are "size<TAB>path" or just a path.
Result<std::vector<PlannedFile>> read_list(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, file_text(path, size_t{1} << 30));
  std::vector<PlannedFile> files;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    uint64_t bytes = 0;
    if (tab != std::string::npos && parse_uint64(line.substr(0, tab), bytes)) {
      files.push_back({bytes, line.substr(tab + 1)});
      continue;
    }
    const auto facts = file_facts(line);
    files.push_back({facts ? facts->bytes : 0, line});
  }
  return files;
}

// Everything that a record depends on: the trace, this program's version and the options of
// reading.
Result<std::string> made_by(const TraceRequest& request) {
  std::string kernels = "-";
  if (!request.kernels.empty()) {
    ASSAY_TRY_ASSIGN(const uint64_t sum, file_checksum(request.kernels));
    kernels = checksum_text(sum);
  }
  return fmt::format("assay {} reader {:016x} window '{}' kernels {} truncated {}", ASSAY_VERSION,
                     columnar::reader_stamp(), request.window, kernels,
                     request.allow_truncated ? 1 : 0);
}

RecordStamp stamp_of(const std::string& path, const std::string& by) {
  RecordStamp stamp{.path = shown_path(path), .made_by = by};
  if (const auto facts = file_facts(container_path(path))) {
    stamp.bytes = facts->bytes;
    stamp.mtime_ns = facts->mtime_ns;
  }
  return stamp;
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "host";
  for (char* c = name; *c != '\0'; ++c) {
    if (*c == '/') *c = '_';
  }
  return name;
}

Result<std::set<RecordStamp>> stamps_in(const std::string& folder) {
  std::set<RecordStamp> stamps;
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, record_files_in(folder));
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(const std::string bytes, file_text(file, SIZE_MAX));
    for (FoundRecord& found : scan_records(bytes).records) stamps.insert(std::move(found.stamp));
  }
  return stamps;
}

// A file of records, opened for append.
class RecordFile {
 public:
  explicit RecordFile(std::string path) : path_(std::move(path)) {}

  // Writes the record with a single write and flushes it to disk before the next trace is read.
  // Removes an incomplete record after a failure.
  Status append(const std::string& record) {
    if (!file_) {
      ASSAY_TRY_ASSIGN(file_, open_file(path_, "ab"));
      std::setvbuf(file_.get(), nullptr, _IONBF, 0);
      if (const auto facts = file_facts(path_)) bytes_ = facts->bytes;
    }
    const bool written = std::fwrite(record.data(), 1, record.size(), file_.get()) == record.size();
    if (written && ::fsync(::fileno(file_.get())) == 0) {
      bytes_ += record.size();
      return Ok{};
    }
    const Error error{ErrorCode::kIo, std::string("cannot write: ") + std::strerror(errno), path_,
                      -1};
    // If this fails too, readers skip the incomplete record.
    [[maybe_unused]] const Status cut = cut_file(path_, bytes_);
    return error;
  }
  const std::string& path() const { return path_; }
  bool used() const { return file_ != nullptr; }

 private:
  std::string path_;
  FileHandle file_;
  uint64_t bytes_ = 0;
};

// stamp: receives that of files[at] before reading.
Result<std::string> record_of(std::vector<std::string>& files, size_t at,
                              const TraceRequest& request, RecordStamp& stamp, bool& data_lost) {
  ASSAY_TRY_ASSIGN(const LoadedTrace loaded, load_or_split(files, at, request));
  stamp.path = shown_path(files[at]);
  ASSAY_TRY_ASSIGN(RankRecord record, make_rank_record(loaded));
  record.stamp = stamp;
  data_lost |= record.data_lost;
  return record_bytes(record);
}

}  // namespace

std::vector<std::string> unread_words(const std::vector<FleetUnused>& unread) {
  constexpr size_t kMostTold = 20;
  std::vector<std::string> words;
  for (size_t k = 0; k < std::min(unread.size(), kMostTold); ++k) {
    words.push_back("not read: " + unread[k].what + ": " + unread[k].why);
  }
  if (unread.size() > kMostTold) {
    words.push_back(fmt::format("and {} more", unread.size() - kMostTold));
  }
  return words;
}

Result<std::vector<std::string>> record_files_in(const std::string& folder) {
  ASSAY_TRY_ASSIGN(std::vector<std::string> files, files_in(folder));
  std::erase_if(files, [](const std::string& file) { return extension_of(file) != ".ranks"; });
  return files;
}

Result<std::vector<PlannedFile>> planned_files(const TraceRequest& request) {
  std::vector<PlannedFile> files;
  std::vector<std::string> others;
  for (const std::string& input : request.inputs) {
    if (!input.starts_with('@')) {
      others.push_back(input);
      continue;
    }
    ASSAY_TRY_ASSIGN(std::vector<PlannedFile> listed, read_list(input.substr(1)));
    files.insert(files.end(), std::make_move_iterator(listed.begin()),
                 std::make_move_iterator(listed.end()));
  }
  if (!others.empty()) {
    ASSAY_TRY_ASSIGN(const std::vector<std::string> paths, input_files(others, request.listener));
    for (const std::string& path : paths) {
      const auto facts = file_facts(path);
      files.push_back({facts ? facts->bytes : 0, path});
    }
  }
  if (!files.empty()) return files;
  return Error{ErrorCode::kInvalidArgument, "no traces: give files, a folder, or @LIST", "", -1};
}

Result<std::vector<PlannedFile>> files_to_read(std::vector<PlannedFile> files,
                                               const SummarizeRequest& request, uint64_t& kept) {
  kept = 0;
  if (!request.resume) return files;
  ASSAY_TRY_ASSIGN(const std::string by, made_by(request.traces));
  ASSAY_TRY_ASSIGN(const std::set<RecordStamp> known, stamps_in(request.out));
  // A file with several processes has a record for each.
  std::set<RecordStamp> whole;
  for (RecordStamp stamp : known) {
    const size_t part = stamp.path.rfind(':');
    whole.insert(stamp);
    if (part == std::string::npos) continue;
    stamp.path.resize(part);
    whole.insert(std::move(stamp));
  }
  kept = std::erase_if(
      files, [&](const PlannedFile& file) { return whole.contains(stamp_of(file.path, by)); });
  return files;
}

Result<Summarized> summarize_files(const std::vector<PlannedFile>& files,
                                   const SummarizeRequest& request) {
  ASSAY_TRY_ASSIGN(const std::string by, made_by(request.traces));
  RecordFile out(joined(request.out, fmt::format("{}-{}-{}.ranks", host_name(), ::getpid(),
                                                 request.shard.value_or(Shard{}).number)));
  Summarized done;
  std::vector<std::string> paths;
  for (const PlannedFile& file : files) paths.push_back(file.path);
  for (size_t i = 0; i < paths.size(); ++i) {
    RecordStamp stamp = stamp_of(paths[i], by);
    auto record = record_of(paths, i, request.traces, stamp, done.data_lost);
    const std::string shown = shown_path(paths[i]);
    if (!record) {
      Error error = record.take_error();
      if (error.file == shown) error.file.clear();
      done.unread.push_back({shown, error.describe()});
      continue;
    }
    if (stamp_of(paths[i], by) != stamp) {
      done.unread.push_back({shown, "changed while it was read: is the job still writing it?"});
      continue;
    }
    ASSAY_TRY(out.append(*record));
    ++done.written;
    done.bytes += record->size();
    if (record->size() > done.largest) {
      done.largest = record->size();
      done.largest_file = shown;
    }
  }
  done.files = paths.size();
  if (out.used()) done.records = out.path();
  return done;
}

Result<Summarized> summarize_traces(const SummarizeRequest& request) {
  ASSAY_TRY_ASSIGN(std::vector<PlannedFile> files, planned_files(request.traces));
  files = files_of_shard(std::move(files), request.shard.value_or(Shard{}));
  ASSAY_TRY(make_folders(request.out));
  uint64_t kept = 0;
  ASSAY_TRY_ASSIGN(const std::vector<PlannedFile> left,
                   files_to_read(std::move(files), request, kept));
  ASSAY_TRY_ASSIGN(Summarized done, summarize_files(left, request));
  done.kept = kept;
  done.files += kept;
  return done;
}

}  // namespace assay
