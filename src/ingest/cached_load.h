#pragma once

// A cache of `.assay` files in a folder of its own. A trace is parsed once and then loaded from
// there while its source is unchanged.

#include <string>

#include "base/result.h"
#include "ingest/load.h"

namespace assay {

// Like load_trace, with a cache. A file in `folder` that is stale, damaged or of another build is
// rewritten. Inputs that cannot be cached (pipes, `.assay` files, truncated traces, SQLite with a
// journal) are read normally. note: one sentence for anything but a plain hit or a first write;
// else empty.
Result<Trace> load_cached(const std::string& path, const ReadOptions& options,
                          const std::string& folder, std::string& note);

// Folder of `--cache` without a value: $XDG_CACHE_HOME/assay, else ~/.cache/assay.
Result<std::string> default_cache_folder();

struct PrunedCache {
  uint64_t kept = 0;
  uint64_t kept_bytes = 0;
  uint64_t removed = 0;
  uint64_t removed_bytes = 0;
};
// Removes obsolete files from a cache folder: entries of missing or changed traces, entries not
// opened for `days`, and unfinished files older than a day. Files that are not from a cache stay.
// now_ns: since 1970.
Result<PrunedCache> prune_cache(const std::string& folder, uint64_t days, int64_t now_ns);

}  // namespace assay
