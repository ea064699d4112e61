#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

// "0-3, 7 and 9", ascending; three or more consecutive ranks form a range.
std::string rank_list(std::vector<int64_t> ranks);
// "rank 3", "ranks 0-3 and 7".
std::string ranks_named(const std::vector<int64_t>& ranks);

// "0, 2 and 6", in the given order. A list beyond `most` labels ends with "and 4 more".
std::string labels_text(const std::vector<std::string>& labels, size_t most);

}  // namespace assay
