#pragma once

// Caveats of a HostOverheadReport: one per kind of import issue, with the affected number, the
// direction and the size of the effect.

#include "overhead/overhead.h"

namespace assay {

TrustNotes overhead_trust(const Trace& trace, const Windows& windows,
                          const HostOverheadReport& report);

}  // namespace assay
