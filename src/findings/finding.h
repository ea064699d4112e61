#pragma once

// A finding: one statement about a run as data. Rules make it from facts (findings/rules), text/ renders it. JSON,
// Python and diff get the code, the subjects and the numbers, never the sentence alone.

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
};
std::string_view subject_kind_name(SubjectKind kind);
std::string_view role_name(Role role);

// What a finding is about, named as recorded and never shortened.
struct Subject {
  SubjectKind kind = SubjectKind::kCause;
  std::string name;
};

// Every share of a finding is of total_ns.
struct FindingWindow {
  Interval span;            // of the trace
  int64_t window_ns = 0;    // without what was not recorded
  int64_t total_ns = 0;     // the devices' own windows, summed
  int64_t devices = 0;
  bool operator==(const FindingWindow&) const = default;
};

// The key of a value in JSON: with the unit where it has one ("gain_ns", "host_share").
std::string value_key(const Quantity& quantity);

struct Finding {
  Code code{};
  FindingWindow window;
  std::vector<Subject> subjects = {};      // in the order of the message
  std::vector<Quantity> quantities = {};   // those of the message that are known
  // Shares of the statement that rest on recorded, inferred and missing rows; all 0 where it is no share of time.
  std::array<double, 3> evidence{};
  std::vector<Interval> spans = {};        // where to look, from the start of the window, at most 8

  Role role() const { return info(code).role; }
  const Quantity* find(std::string_view key) const;

  // Each adds one value under the key of the message. A text, name or list that is empty is not known: it is not added.
  Finding& share(std::string_view key, int64_t ns);  // of window.total_ns
  Finding& fraction(std::string_view key, double of_one);
  Finding& ns(std::string_view key, int64_t ns);
  Finding& count(std::string_view key, uint64_t count);
  Finding& ratio(std::string_view key, double ratio);
  Finding& byte_rate(std::string_view key, double bytes_per_s);
  Finding& text(std::string_view key, std::string text);
  Finding& list(std::string_view key, std::vector<std::string> texts);
  Finding& named(std::string_view key, SubjectKind kind, std::string name);  // a text and a subject
  Finding& about(SubjectKind kind, std::string name);                        // a subject that the message does not name
};

}  // namespace assay::findings
