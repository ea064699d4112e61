#pragma once

// The section of a rank record with the rank's fold (flow/rank_fold.h). Format:
// docs/formats/ranks.md.

#include <cstddef>
#include <string>

#include "base/varint.h"
#include "flow/rank_fold.h"

namespace assay {

// Serializes a fold in at most `cap` bytes. If it does not fit, paths with slack above a quarter of
// an iteration are dropped first, then iterations from the end. Both are counted.
std::string graph_bytes(const RankFold& fold, size_t cap);

// Reads the output of graph_bytes; all times are preserved. On invalid bytes, from.ok() is false.
RankFold read_graph(VarintReader& from);

// Maximum number of points of all ranks in one analysis; they take about 7 GiB.
constexpr size_t kMostPoints = size_t{1} << 24;

// Cuts a rank's last iterations to at most `most` / `ranks` points. The first iteration always
// stays. Folds without numbered iterations are not cut.
void cut_to_fit(RankFold& fold, size_t ranks, size_t most = kMostPoints);

// Cuts all ranks after the earliest iteration at which any of them was cut. Returns that iteration;
// INT32_MAX if no rank was cut.
int32_t cut_alike(std::vector<RankFold>& folds);

}  // namespace assay
