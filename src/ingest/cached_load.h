#pragma once

// A cache of `.assay` files in one folder: a trace is parsed once and then loaded from the cache
// until its source changes.

#include <string>

#include "base/result.h"
#include "ingest/load.h"

namespace assay {

// Like load_trace, through the cache in `folder`. Rewrites a cached file that is stale, damaged or
// from another build. Inputs that cannot be cached (pipes, `.assay` files, truncated traces, SQLite
// with a write-ahead log) are read normally. note: a sentence if a cached file was replaced or
// could not be written; else empty.
Result<Trace> load_cached(const std::string& path, const ReadOptions& options,
                          const std::string& folder, std::string& note);

// Default folder of `--cache`: $XDG_CACHE_HOME/assay, else ~/.cache/assay.
Result<std::string> default_cache_folder();

struct PrunedCache {
  uint64_t kept = 0;
  uint64_t kept_bytes = 0;
  uint64_t removed = 0;
  uint64_t removed_bytes = 0;
};
// Removes obsolete files from a cache folder: entries of missing or changed traces, entries not
// opened for `days`, and unfinished files older than a day. Other files stay. now_ns: since 1970.
Result<PrunedCache> prune_cache(const std::string& folder, uint64_t days, int64_t now_ns);

}  // namespace assay
