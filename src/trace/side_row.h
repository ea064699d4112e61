#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

// The row of `owner` in a side table; SIZE_MAX if there is none. owners: the sorted owner column.
// Binary search.
template <typename RowId>
size_t side_row(const std::vector<RowId>& owners, RowId owner) {
  const auto found = std::lower_bound(owners.begin(), owners.end(), owner);
  if (found == owners.end() || *found != owner) return SIZE_MAX;
  return static_cast<size_t>(found - owners.begin());
}

}  // namespace assay
