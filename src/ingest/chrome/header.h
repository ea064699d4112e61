#pragma once

// The top-level keys of a Chrome trace other than its events.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/text/json_walk.h"
#include "trace/builder.h"
#include "trace/trace.h"

namespace assay {

// A file that Assay wrote for a viewer (docs/formats/perfetto.md).
struct TimelineHead {
  int64_t traces = 1;  // number of traces in the file
  Tracer tracer = Tracer::kPyTorchProfiler;
};

struct ChromeHeader {
  std::optional<int64_t> base_time_ns;
  std::vector<DeviceProperties> devices;
  bool has_distributed = false;
  DistributedInfo distributed;
  std::vector<MetadataEntry> metadata;
  std::optional<TimelineHead> timeline;

  // Reads one key. Drops free-form keys, which may hold a user's environment, and other unused
  // values.
  void take(std::string_view key, const JsonValue& value, JsonCursor cursor, ImportLog& log);
  // Keys seen later in the input win.
  void merge(ChromeHeader&& later);
};

}  // namespace assay
