#include "findings/finding.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace assay::findings {

std::string_view subject_kind_name(SubjectKind kind) {
  constexpr std::string_view kNames[] = {"cause", "kernel", "kernel_kind", "operator", "function",
                                         "call",  "range",  "collective",  "copy",     "rank"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view role_name(Role role) {
  constexpr std::string_view kNames[] = {"headline", "detail", "action",
                                         "how",      "note",   "confidence"};
  return kNames[static_cast<size_t>(role)];
}

std::string value_key(const Quantity& quantity) {
  const std::string key(quantity.key);
  switch (quantity.unit) {
    case Unit::kNanoseconds:
      return key + "_ns";
    case Unit::kShare:
      return key + "_share";
    case Unit::kBytesPerSecond:
      return key + "_bytes_per_s";
    default:
      return key;
  }
}

const Quantity* Finding::find(std::string_view key) const {
  const auto at = std::find_if(quantities.begin(), quantities.end(),
                               [key](const Quantity& one) { return one.key == key; });
  return at == quantities.end() ? nullptr : &*at;
}

Finding& Finding::share(std::string_view key, int64_t ns) {
  quantities.push_back({key, Unit::kShare, assay::share(ns, window.total_ns)});
  return *this;
}

Finding& Finding::fraction(std::string_view key, double of_one) {
  quantities.push_back({key, Unit::kShare, of_one});
  return *this;
}

Finding& Finding::ns(std::string_view key, int64_t ns) {
  quantities.push_back({key, Unit::kNanoseconds, ns});
  return *this;
}

Finding& Finding::count(std::string_view key, uint64_t count) {
  quantities.push_back({key, Unit::kCount, Value(count)});
  return *this;
}

Finding& Finding::ratio(std::string_view key, double ratio) {
  quantities.push_back({key, Unit::kRatio, ratio});
  return *this;
}

Finding& Finding::byte_rate(std::string_view key, double bytes_per_s) {
  quantities.push_back({key, Unit::kBytesPerSecond, bytes_per_s});
  return *this;
}

Finding& Finding::text(std::string_view key, std::string text) {
  if (!text.empty()) quantities.push_back({key, Unit::kText, std::move(text)});
  return *this;
}

Finding& Finding::ranks(std::string_view key, std::vector<std::string> labels) {
  for (const std::string& label : labels) about(SubjectKind::kRank, label);
  return list(key, std::move(labels));
}

Finding& Finding::list(std::string_view key, std::vector<std::string> texts) {
  if (!texts.empty()) quantities.push_back({key, Unit::kText, std::move(texts)});
  return *this;
}

Finding& Finding::named(std::string_view key, SubjectKind kind, std::string name) {
  about(kind, name);
  return text(key, std::move(name));
}

Finding& Finding::about(SubjectKind kind, std::string name) {
  if (!name.empty()) subjects.push_back({kind, std::move(name)});
  return *this;
}

}  // namespace assay::findings
