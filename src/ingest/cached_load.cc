#include "ingest/cached_load.h"

#include <cinttypes>
#include <cstdio>
#include <optional>

#include "base/checksum.h"
#include "base/files.h"
#include "ingest/columnar/file.h"

namespace assay {
namespace {

// A file that changes twice within one tick of the file system's clock keeps its modification time,
// so files that were younger than this when cached are compared by checksum.
constexpr int64_t kRacyNs = 2'000'000'000;

std::string cache_file(const std::string& path, const std::string& folder) {
  const std::string full = absolute_path(path);
  char key[17];
  std::snprintf(key, sizeof(key), "%016" PRIx64, checksum(full.data(), full.size()));
  std::string stem = file_name(path);
  if (stem.size() > 100) stem.resize(100);
  return joined(folder, stem + "-" + key + ".assay");
}

bool cacheable(const std::string& path) {
  if (path == "-" || !is_regular_file(path)) return false;
  return !file_exists(path + "-wal") && !is_columnar(path);
}

bool fresh(const SourceStamp& stamp, const std::string& path) {
  const auto facts = file_facts(path);
  if (stamp.path != absolute_path(path) || !facts || facts->bytes != stamp.bytes) return false;
  if (facts->mtime_ns == stamp.mtime_ns && stamp.mtime_ns + kRacyNs < stamp.made_ns) return true;
  const auto hash = file_checksum(path);
  return hash && *hash == stamp.hash;
}

// The cached trace if it is valid for the source; else sets `note` to the reason, if a file exists.
std::optional<Trace> from_cache(const std::string& path, const std::string& cached,
                                std::string& note) {
  if (!file_exists(cached)) return std::nullopt;
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
  constexpr uint32_t kPrivate = 0700;  // files by other users would be trusted
  ASSAY_TRY(make_folders(folder, kPrivate));
  return write_columnar(trace, stamp, cached);
}

}  // namespace

Result<std::string> default_cache_folder() {
  auto folder = user_cache_folder("assay");
  if (folder) return folder;
  Error error = folder.take_error();
  error.message = "--cache: " + error.message + "; name a folder: --cache=DIR";
  return error;
}

Result<PrunedCache> prune_cache(const std::string& folder, uint64_t days, int64_t now_ns) {
  constexpr int64_t kDay = int64_t{86'400} * 1'000'000'000;
  PrunedCache pruned;
  if (!file_exists(folder)) return pruned;
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, files_in(folder));
  for (const std::string& path : files) {
    const auto facts = file_facts(path);
    const size_t unfinished = path.rfind(".assay.tmp-");
    const bool is_form = path.ends_with(".assay");
    if (!facts || (!is_form && unfinished == std::string::npos)) continue;
    const int64_t unused_ns = now_ns - facts->used_ns;
    bool stale = unused_ns > kDay;
    if (is_form) {
      const auto stamp = read_columnar_stamp(path);
      stale =
          !stamp || !fresh(*stamp, stamp->path) || unused_ns / kDay >= static_cast<int64_t>(days);
    }
    if (stale) ASSAY_TRY(remove_file(path));
    (stale ? pruned.removed : pruned.kept) += 1;
    (stale ? pruned.removed_bytes : pruned.kept_bytes) += facts->bytes;
  }
  return pruned;
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
  // Stamp before reading: a change in between then makes the cached file stale, not wrong.
  ASSAY_TRY_ASSIGN(SourceStamp stamp, stamp_source(path));
  ReadOptions everything = options;
  everything.keep_op_inputs = true;
  ASSAY_TRY_ASSIGN(Trace trace, load_trace(path, everything));
  if (trace.log.entry(ImportCode::kTruncated).count == 0 && trace.source_checksum) {
    stamp.hash = *trace.source_checksum;
    if (Status status = store(trace, stamp, cached, folder); !status) {
      note = "not cached: " + status.error().describe();
    }
  }
  if (!options.keep_op_inputs) trace.op_inputs.release();
  return trace;
}

}  // namespace assay
