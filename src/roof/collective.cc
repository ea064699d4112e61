#include "roof/collective.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "roof/inputs.h"

namespace assay {

double bus_factor(std::string_view kind, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (kind == "all_reduce") return 2 * (n - 1) / n;
  const bool one_way = kind == "all_gather" || kind == "reduce_scatter" || kind == "all_to_all" ||
                       kind == "gather" || kind == "scatter";
  return one_way ? (n - 1) / n : 1;
}

MessageSize message_size(std::string_view kind, std::string_view dtype, int64_t in_elements,
                         int64_t out_elements, int64_t group_size) {
  const double element = element_bytes(element_type_named(dtype));
  const int64_t elements = std::max(in_elements, out_elements);
  if (element == 0 || elements <= 0) return {};
  // Parts of different sizes, as in a mixture of experts: the size of a rank's own part is unknown.
  const bool uneven =
      kind == "all_to_all" && in_elements >= 0 && out_elements >= 0 && in_elements != out_elements;
  return {.bytes = static_cast<double>(elements) * element,
          .factor = group_size >= 2 && !uneven ? bus_factor(kind, group_size) : 0};
}

namespace {

// Number of listed ranks per machine. `cut`: the list is truncated.
struct WrittenRanks {
  std::map<int64_t, int64_t> on = {};
  bool cut = false;
};

std::optional<WrittenRanks> written_ranks(std::string_view ranks, int64_t group_size,
                                          int64_t machine_gpus) {
  constexpr double kMostRanks = 1e9;
  WrittenRanks found;
  const size_t dots = ranks.find(", ...");
  found.cut = dots != std::string_view::npos;
  const auto list = read_numbers(ranks.substr(0, dots));
  if (!list || (!found.cut && static_cast<int64_t>(list->size()) != group_size)) return {};
  for (const double rank : *list) {
    if (!(rank >= 0 && rank < kMostRanks)) return {};
    ++found.on[static_cast<int64_t>(rank) / machine_gpus];
  }
  // Drop the last machine: the truncated list may lack some of its ranks.
  if (found.cut && found.on.size() > 1) found.on.erase(std::prev(found.on.end()));
  return found.on.empty() ? std::nullopt : std::optional(found);
}

}  // namespace

GroupPlace place_of_group(std::string_view ranks, int64_t group_size, int64_t machine_gpus) {
  const auto written = written_ranks(ranks, group_size, machine_gpus);
  if (!written) {
    const int64_t machines = (group_size + machine_gpus - 1) / machine_gpus;
    return {machines, group_size % machine_gpus == 0 ? machine_gpus : 0};
  }
  const int64_t each = written->on.begin()->second;
  const bool same = std::all_of(written->on.begin(), written->on.end(),
                                [each](const auto& machine) { return machine.second == each; });
  if (!written->cut) return {static_cast<int64_t>(written->on.size()), same ? each : 0};
  const bool fits = same && group_size % each == 0;
  return {fits ? group_size / each : group_size, fits ? each : 0};
}

double network_bus_bytes_per_s(std::string_view kind, const GroupPlace& place, int64_t group_size,
                               double nic_bytes_per_s) {
  if (place.machines < 2 || place.each == 0) return 0;
  const auto n = static_cast<double>(group_size);
  const auto m = static_cast<double>(place.machines);
  const auto each = static_cast<double>(place.each);
  // n - each of the n - 1 parts that a rank sends leave the machine.
  if (kind == "all_to_all") return nic_bytes_per_s * (n - 1) / (n - each);
  if (kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter")
    return nic_bytes_per_s * each * (n - 1) / n * m / (m - 1);
  return kind == "broadcast" || kind == "reduce" ? nic_bytes_per_s * each : 0;
}

}  // namespace assay
