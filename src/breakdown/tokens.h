#pragma once

// Number of tokens that an iteration processes, from the recorded operator shapes.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/iterations.h"
#include "trace/trace.h"

namespace assay {

// Number of elements of the second tensor of "[[128256,4096],[2,4096],...]": the indices of an
// embedding.
std::optional<int64_t> embedding_tokens(std::string_view dims);

// Per window, the largest number of indices given to aten::embedding; nullopt if no embedding ran
// or its shape was not recorded. Position and type embeddings have the same number of indices.
std::vector<std::optional<int64_t>> tokens_per_window(const Trace& trace, const Windows& windows);

}  // namespace assay
