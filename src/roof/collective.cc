#include "roof/collective.h"

#include <algorithm>

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

}  // namespace assay
