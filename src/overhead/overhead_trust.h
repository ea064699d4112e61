#pragma once

// What stands between a HostOverheadReport and belief in it: one note per kind of oddity, with the
// number it moves, which way and by how much.

#include "overhead/overhead.h"

namespace assay {

TrustNotes overhead_trust(const Trace& trace, const Windows& windows,
                          const HostOverheadReport& report);

}  // namespace assay
