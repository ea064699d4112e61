#pragma once

// Number of tokens that an iteration processes, if the shapes of operators were recorded.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/iterations.h"
#include "trace/trace.h"

namespace assay {

// Elements of the second tensor of "[[128256,4096],[2,4096],...]": the indices of an embedding.
std::optional<int64_t> embedding_tokens(std::string_view dims);

// Per window, the largest batch of indices given to aten::embedding; nullopt if no embedding ran or
// its shape was not recorded. Embeddings of positions and types have the same number.
std::vector<std::optional<int64_t>> tokens_per_window(const Trace& trace, const Windows& windows);

}  // namespace assay
