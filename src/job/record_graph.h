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

// Cuts ranks to the iterations that all records had room for.
void cut_alike(std::vector<RankFold>& folds);

}  // namespace assay
