#include "roof/collective.h"

#include <algorithm>
#include <map>

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
  return {.bytes = static_cast<double>(elements) * element,
          .factor = group_size >= 2 ? bus_factor(kind, group_size) : 0};
}

namespace {

// Ranks of the group on each of its machines; 0 = one machine, or machines that differ.
int64_t ranks_per_machine(std::string_view ranks, int64_t group_size) {
  const auto list = read_numbers(ranks);
  const bool all_told = list && static_cast<int64_t>(list->size()) == group_size;
  if (!all_told)
    return group_size > kMachineGpus && group_size % kMachineGpus == 0 ? kMachineGpus : 0;
  std::map<int64_t, int64_t> on;
  for (const double rank : *list) ++on[static_cast<int64_t>(rank) / kMachineGpus];
  if (on.size() < 2) return 0;
  const int64_t each = on.begin()->second;
  const bool same = std::all_of(on.begin(), on.end(),
                                [each](const auto& machine) { return machine.second == each; });
  return same ? each : 0;
}

}  // namespace

double network_bus_bytes_per_s(std::string_view kind, std::string_view ranks, int64_t group_size,
                               double nic_bytes_per_s) {
  const int64_t each = ranks_per_machine(ranks, group_size);
  if (each == 0 || nic_bytes_per_s <= 0) return 0;
  if (kind == "all_to_all") {
    // Of n - 1 parts that a rank sends, n - each leave the machine.
    return nic_bytes_per_s * static_cast<double>(group_size - 1) /
           static_cast<double>(group_size - each);
  }
  const bool rings = kind == "all_reduce" || kind == "all_gather" || kind == "reduce_scatter" ||
                     kind == "broadcast" || kind == "reduce";
  return rings ? nic_bytes_per_s * static_cast<double>(each) : 0;
}

}  // namespace assay
