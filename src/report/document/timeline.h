#pragma once

// Assay's results over the time of a trace: slices and counters to show with the events. Plain data
// without knowledge of analyses and file formats: report/run/timeline.cc fills it,
// report/perfetto/writer.h writes it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/string_pool.h"

namespace assay {

// Marks a value that a slice does not have.
constexpr int64_t kNoTimelineValue = INT64_MIN;

struct TimelineKey {
  std::string key;    // includes the unit: "tklqt_ns"
  bool text = false;  // the value is an id into Timeline::texts
};

struct TimelineSlice {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  StringId name;  // into Timeline::texts
};

// Slices in any order; they may overlap.
struct TimelineTrack {
  std::string name;
  std::vector<TimelineKey> keys = {};
  std::vector<TimelineSlice> slices = {};
  std::vector<int64_t> values = {};  // one per slice and key, in slice order

  template <typename... Values>
  void add(int64_t start_ns, int64_t end_ns, StringId slice_name, Values... row) {
    slices.push_back({start_ns, end_ns - start_ns, slice_name});
    (values.push_back(static_cast<int64_t>(row)), ...);
  }
};

// A value that holds from each time to the next; times ascend.
struct TimelineCounter {
  std::string name;
  std::string unit;
  std::vector<int64_t> time_ns = {};
  std::vector<double> value = {};
};

struct Timeline {
  StringPool texts;
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineCounter> counters;
};

}  // namespace assay
