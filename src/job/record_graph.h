#pragma once

// The section of a rank record that holds the rank's fold (flow/rank_fold.h). As bytes:
// docs/formats/ranks.md.

#include <cstddef>
#include <string>

#include "base/varint.h"
#include "flow/rank_fold.h"

namespace assay {

// At most `cap` bytes. If not all fits, paths with more slack than a quarter of an iteration are left
// out, then iterations from the end. Both are counted.
std::string graph_bytes(const RankFold& fold, size_t cap);

// Reads the bytes of graph_bytes, with the same times; `from` fails on other bytes.
RankFold read_graph(VarintReader& from);

// Points of all ranks that are compared at once. They take about 7 GiB.
constexpr size_t kMostPoints = size_t{1} << 24;

// Leaves out a rank's last iterations so that as many points of each of `ranks` ranks are at most
// `most` points. The first iteration stays, and what has no numbered iterations.
void cut_to_fit(RankFold& fold, size_t ranks, size_t most = kMostPoints);

// Cuts ranks to the iterations that none of them was cut after. Returns the last one; INT32_MAX
// if no rank was cut.
int32_t cut_alike(std::vector<RankFold>& folds);

}  // namespace assay
