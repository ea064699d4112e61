#pragma once

// What stands between a TaxReport and belief in it: one note per kind of oddity, with the number it
// moves, which way and by how much.

#include "tax/tax.h"

namespace assay {

TrustNotes tax_trust(const Trace& trace, const Windows& windows, const TaxReport& report);

}  // namespace assay
