#pragma once

// Infers prefill and decode from the arguments of attention. A decode step has one query per
// sequence and many keys; a prefill has many queries.

#include "trace/phases.h"

namespace assay {

// Phase per window. Decode if all attentions of an iteration have one query, prefill if all have
// several, kNone if mixed or unknown. A single query alone is no proof of decode, because a pooled
// token has one, too. Decode is therefore reported only if some iteration is a prefill, the keys
// are paged, or their number grows by one from one iteration to the next.
Phases phases_by_shape(const Trace& trace, const Windows& windows);

// Phases from labels, otherwise from shapes, otherwise from the pattern of kernels.
Phases generation_phases(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
