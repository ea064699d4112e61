#include "flow/contributor_names.h"

#include "flow/names.h"
#include "kernels/name.h"

namespace assay {

std::string contributor_name(const Trace& trace, const Contributor& contributor) {
  if (!contributor.name) return "";
  const std::string_view name = trace.text(contributor.name);
  if (contributor.source == RowSource::kActivity) return describe_kernel(name);
  return std::string(name);
}

std::string loader_around(const Trace& trace, Interval span) {
  const auto in_table = [&](const auto& table) -> std::string {
    for (size_t i = 0; i < table.size(); ++i) {
      const bool around =
          table.start_ns[i] <= span.start_ns && table.start_ns[i] + table.dur_ns[i] >= span.end_ns;
      if (around && classify_host_name(trace.text(table.name[i])).input) {
        return std::string(trace.text(table.name[i]));
      }
    }
    return "";
  };
  std::string name = in_table(trace.ops);
  if (name.empty()) name = in_table(trace.annotations);
  return name.empty() ? in_table(trace.frames) : name;
}

}  // namespace assay
