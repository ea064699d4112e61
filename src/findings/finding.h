#pragma once

// A finding: one statement about a run, as data. Rules derive it from facts (findings/rules), and
// text/ renders it. JSON, Python and diff get the code, the subjects and the numbers in addition to
// the sentence.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "base/value.h"
#include "findings/codes.h"

namespace assay::findings {

// A value of a finding, by the key that its message uses.
struct Quantity {
  std::string_view key;  // "compute"
  Unit unit = Unit::kNone;
  Value value;
};

enum class SubjectKind : uint8_t {
  kCause,
  kKernel,
  kKernelKind,
  kOperator,
  kFunction,
  kCall,
  kRange,
  kCollective,
  kCopy,
  kRank,
};
std::string_view subject_kind_name(SubjectKind kind);
std::string_view role_name(Role role);

// The subject of a finding. The name is as recorded, never shortened.
struct Subject {
  SubjectKind kind = SubjectKind::kCause;
  std::string name;
};

// The window of a finding. Its shares are of total_ns.
struct FindingWindow {
  Interval span;            // of the trace
  int64_t window_ns = 0;    // without unrecorded time
  int64_t total_ns = 0;     // sum of the devices' own windows
  int64_t devices = 0;
  bool operator==(const FindingWindow&) const = default;
};

// The JSON key of a value, including its unit if it has one ("gain_ns", "host_share").
std::string value_key(const Quantity& quantity);

struct Finding {
  Code code{};
  FindingWindow window = {};
  std::vector<Subject> subjects = {};      // in the order of the message
  std::vector<Quantity> quantities = {};   // the known values of the message
  // Shares of the statement that rest on recorded, inferred and missing events; all 0 if it is not
  // a share of time.
  std::array<double, 3> evidence{};
  std::vector<Interval> spans = {};        // where to look, relative to the start of the window; at
                                           // most 8
  std::vector<Finding> parts = {};         // the causes that a statement joins

  Role role() const { return info(code).role; }
  const Quantity* find(std::string_view key) const;

  // Each adds one value under the key that the message uses. An empty text, name or list counts as
  // unknown and is not added.
  Finding& share(std::string_view key, int64_t ns);  // of window.total_ns
  Finding& fraction(std::string_view key, double of_one);
  Finding& ns(std::string_view key, int64_t ns);
  Finding& count(std::string_view key, uint64_t count);
  Finding& ratio(std::string_view key, double ratio);
  Finding& byte_rate(std::string_view key, double bytes_per_s);
  Finding& text(std::string_view key, std::string text);
  Finding& list(std::string_view key, std::vector<std::string> texts);
  Finding& named(std::string_view key, SubjectKind kind, std::string name);  // adds a text and a
                                                                             // subject
  Finding& ranks(std::string_view key, std::vector<std::string> labels);     // a list, and a
                                                                             // subject for each
  Finding& about(SubjectKind kind, std::string name);                        // not in the message
};

}  // namespace assay::findings
