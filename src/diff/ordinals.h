#pragma once

// Ordinals of operations: "aten::linear[1]" is the second of its kind in a block of layers. If the
// sides have different counts of a kind, equal ordinals do not correspond.

#include <vector>

#include "diff/run.h"

namespace assay {

// Removes the ordinals from operations of every kind with ordinals that differ between the sides,
// so that each side has one item of that kind.
void join_unlike_ordinals(std::vector<DiffRun>& a, std::vector<DiffRun>& b);

}  // namespace assay
