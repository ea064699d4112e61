#pragma once

// Which launch floor a trace gets. A floor of another tracer is never taken by itself.

#include <vector>

#include "base/result.h"
#include "tax/tax.h"

namespace assay {

// The user's, else one that was published for this board and taken with this tracer, else the 5th
// percentile of T_launch over launches of `rows` that found their stream drained (spec/tax 4.5).
// Fails on a negative floor or one above a second.
Result<TaxFloor> choose_floor(const Trace& trace, const Links& links,
                              const std::vector<TaxRow>& rows,
                              const std::optional<TaxFloor>& given);

}  // namespace assay
