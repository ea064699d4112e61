#include "ingest/cached_load.h"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/checksum.h"
#include "ingest/columnar/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A file that changes twice within one tick of the file system's clock keeps its time; what is
// younger than this when it is cached is told by its bytes.
constexpr int64_t kRacyNs = 2'000'000'000;

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  return fs::absolute(path, failed).lexically_normal().string();
}

std::string cache_file(const std::string& path, const std::string& folder) {
  const std::string full = absolute_path(path);
  char key[17];
  std::snprintf(key, sizeof(key), "%016" PRIx64, checksum(full.data(), full.size()));
  std::string stem = fs::path(path).filename().string();
  if (stem.size() > 100) stem.resize(100);
  return (fs::path(folder) / (stem + "-" + key + ".assay")).string();
}

bool cacheable(const std::string& path) {
  struct stat info{};
  if (path == "-" || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  return !fs::exists(path + "-wal") && !is_columnar(path);
}

bool fresh(const SourceStamp& stamp, const std::string& path) {
  struct stat info{};
  if (stamp.path != absolute_path(path) || ::stat(path.c_str(), &info) != 0) return false;
  if (static_cast<uint64_t>(info.st_size) != stamp.bytes) return false;
  const int64_t mtime_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (mtime_ns == stamp.mtime_ns && stamp.mtime_ns + kRacyNs < stamp.made_ns) return true;
  const auto hash = file_checksum(path);
  return hash && *hash == stamp.hash;
}

// The cached trace, when it may stand for the source; else why not, in `note`.
std::optional<Trace> from_cache(const std::string& path, const std::string& cached,
                                std::string& note) {
  if (!fs::exists(cached)) return std::nullopt;
  const auto stamp = read_columnar_stamp(cached);
  if (stamp && !fresh(*stamp, path)) {
    note = "the cached form was stale and was made anew";
    return std::nullopt;
  }
  auto trace = stamp ? read_columnar(cached) : Result<Trace>(stamp.error());
  if (trace) return *std::move(trace);
  note = "the cached form could not be used and was made anew (" + trace.error().message + ")";
  return std::nullopt;
}

Status store(const Trace& trace, const SourceStamp& stamp, const std::string& cached,
             const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Error{ErrorCode::kIo, "cannot create: " + failed.message(), folder, -1};
  return write_columnar(trace, stamp, cached);
}

}  // namespace

Result<std::string> default_cache_folder() {
  for (const auto& [name, below] :
       {std::pair{"XDG_CACHE_HOME", "assay"}, {"HOME", ".cache/assay"}}) {
    const char* folder = std::getenv(name);
    if (folder != nullptr && *folder == '/') return (fs::path(folder) / below).string();
  }
  return Error{ErrorCode::kInvalidArgument,
               "--cache: neither XDG_CACHE_HOME nor HOME is set; name a folder: --cache=DIR", "",
               -1};
}

Result<Trace> load_cached(const std::string& path, const ReadOptions& options,
                          const std::string& folder, std::string& note) {
  note.clear();
  if (!cacheable(path)) return load_trace(path, options);
  const std::string cached = cache_file(path, folder);
  auto stored = from_cache(path, cached, note);
  if (stored) {
    stored->source = path;
    if (!options.keep_op_inputs) stored->op_inputs.release();
    return *std::move(stored);
  }
  // Stamped before it is read: a change in between makes the cached form stale, not wrong.
  ASSAY_TRY_ASSIGN(const SourceStamp stamp, stamp_source(path));
  ReadOptions everything = options;
  everything.keep_op_inputs = true;
  ASSAY_TRY_ASSIGN(Trace trace, load_trace(path, everything));
  if (trace.log.entry(ImportCode::kTruncated).count == 0) {
    if (Status status = store(trace, stamp, cached, folder); !status) {
      note = "not cached: " + status.error().describe();
    }
  }
  if (!options.keep_op_inputs) trace.op_inputs.release();
  return trace;
}

}  // namespace assay
