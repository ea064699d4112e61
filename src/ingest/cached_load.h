#pragma once

// A folder of `.assay` files beside nobody's data: what was read once is opened the next time, as
// long as the source is still the same.

#include <string>

#include "base/result.h"
#include "ingest/load.h"

namespace assay {

// As load_trace. A file in `folder` that is stale, damaged or of another build is made anew. What
// cannot be cached (pipes, `.assay` files, truncated traces, SQLite with a journal beside it) is
// read as ever. note: one sentence about anything but a plain hit or a first write; else empty.
Result<Trace> load_cached(const std::string& path, const ReadOptions& options,
                          const std::string& folder, std::string& note);

// Where `--cache` without a folder keeps its files: $XDG_CACHE_HOME/assay, else ~/.cache/assay.
Result<std::string> default_cache_folder();

struct PrunedCache {
  uint64_t kept = 0;
  uint64_t kept_bytes = 0;
  uint64_t removed = 0;
  uint64_t removed_bytes = 0;
};
// Removes from a cache folder what stands for no file any more: forms whose trace is gone or has
// changed, those that nobody opened for `days`, and unfinished ones of a day ago. Files that no
// cache makes stay. now_ns: since 1970.
Result<PrunedCache> prune_cache(const std::string& folder, uint64_t days, int64_t now_ns);

}  // namespace assay
