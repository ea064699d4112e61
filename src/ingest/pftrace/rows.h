#pragma once

// Content of a Perfetto trace as plain rows, from which rocprof_rows.h or chrome_rows.h makes a
// trace. Times are nanoseconds of the trace's clock.

#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"
#include "trace/import_log.h"

namespace assay {

constexpr int64_t kNoPerfettoTime = std::numeric_limits<int64_t>::min();

// Annotations that have a meaning here; all others are kPlain.
enum class AnnotationKey : uint8_t {
  kPlain,
  kBegin,
  kEnd,
  kCorrelation,
  kAgent,
  kSourceAgent,
  kTargetAgent,
  kQueue,
  kStream,
  kThread,
  kDispatch,
  kSharedBytes,
  kGroup,
  kGrid,
  kBytes,
};

enum class AnnotationType : uint8_t { kUnsigned, kSigned, kDouble, kBool, kText };

// A debug annotation. `bits`: the number, the bits of a double, or the id of a text.
struct PerfettoAnnotation {
  uint64_t bits = 0;
  StringId name;
  AnnotationKey key = AnnotationKey::kPlain;
  AnnotationType type = AnnotationType::kUnsigned;
};

// Annotations [first, first + count) of PerfettoRows::annotations.
struct AnnotationSpan {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct PerfettoSlice {
  int64_t begin_ns = 0;
  int64_t end_ns = kNoPerfettoTime;  // kNoPerfettoTime = not ended
  uint64_t flow = 0;                 // the first flow id; 0 = none
  StringId name;
  StringId category;
  uint32_t track = 0;
  AnnotationSpan annotations;
};

struct PerfettoInstant {
  int64_t at_ns = 0;
  StringId name;
  StringId category;
  uint32_t track = 0;
  AnnotationSpan annotations;
};

struct PerfettoCounter {
  int64_t at_ns = 0;
  double value = 0;
  uint32_t track = 0;
};

// A GpuRenderStageEvent.
struct PerfettoStage {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t gpu = 0;
  uint64_t queue = 0;
  StringId name;
  uint32_t grid[3] = {};   // workgroups; 0 = unknown
  uint32_t group[3] = {};  // threads per workgroup
};

struct PerfettoTrack {
  uint64_t uuid = 0;
  uint64_t parent = 0;  // uuid; 0 = none
  StringId name;
  int64_t pid = -1;  // of its own process or thread descriptor
  int64_t tid = -1;
  StringId process_name;
  StringId thread_name;
  double unit = 1;           // factor of a counter's values
  bool incremental = false;  // a counter's values are differences
  double sum = 0;            // of an incremental counter so far
};

struct PerfettoRows {
  StringPool strings;
  std::vector<PerfettoTrack> tracks;
  std::unordered_map<uint64_t, uint32_t> track_of;  // by uuid
  std::vector<PerfettoSlice> slices;
  std::vector<PerfettoInstant> instants;
  std::vector<PerfettoCounter> counters;
  std::vector<PerfettoStage> stages;
  std::vector<PerfettoAnnotation> annotations;
  ImportLog log;
  uint64_t events = 0;

  uint32_t track(uint64_t uuid);
  std::string_view view(StringId id) const { return strings.view(id); }
  // Process number of a track or of its nearest parent that has one; -1 = unknown.
  int64_t process_of(uint32_t track) const;
};

}  // namespace assay
