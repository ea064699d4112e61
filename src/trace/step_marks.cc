#include "trace/step_marks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace assay {
namespace {

using NumberOf = std::vector<std::optional<uint64_t>>;  // per StringId

std::optional<uint64_t> step_number(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

template <typename Table>
void add_marks(const Table& table, const NumberOf& number_of, std::vector<StepMark>& marks) {
  for (size_t i = 0; i < table.size(); ++i) {
    const std::optional<uint64_t> number = number_of[table.name[i].index()];
    if (!number) continue;
    marks.push_back(
        {*number, table.name[i], table.start_ns[i], table.start_ns[i] + table.dur_ns[i]});
  }
}

}  // namespace

std::vector<StepMark> profiler_marks(const Trace& trace) {
  // Computed per name: there are far fewer names than rows, and usually none is a step's.
  NumberOf number_of(trace.strings.size());
  for (size_t i = 0; i < number_of.size(); ++i) number_of[i] = step_number(trace.text(StringId(i)));
  const auto told = [](const std::optional<uint64_t>& number) { return number.has_value(); };
  if (std::none_of(number_of.begin(), number_of.end(), told)) return {};
  std::vector<StepMark> marks;
  add_marks(trace.annotations, number_of, marks);
  add_marks(trace.ops, number_of, marks);
  return marks;
}

}  // namespace assay
