#pragma once

// The section of a rank record that holds the rank's fold (flow/rank_fold.h). As bytes:
// docs/formats/ranks.md.

#include <cstddef>
#include <string>

#include "base/varint.h"
#include "flow/rank_fold.h"

namespace assay {

// At most `cap` bytes: where not all fits, paths with more slack than a quarter of an iteration are
// left out, then iterations from the end; both are counted.
std::string graph_bytes(const RankFold& fold, size_t cap);

// What graph_bytes wrote, with the same times; `from` fails where the bytes are none.
RankFold read_graph(VarintReader& from);

// Ranks with records that had no room for the same iterations: all are cut behind the last that all
// have.
void cut_alike(std::vector<RankFold>& folds);

}  // namespace assay
