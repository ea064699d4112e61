#pragma once

// Prefill and decode from the arguments of attention. A decode step has one query per sequence and
// many keys; a prefill has many queries.

#include "trace/phases.h"

namespace assay {

// Phases of the given windows. If all attentions of an iteration have one query, it is decode; if
// all have several, it is prefill; if it has both, it is neither. A single query alone does not
// prove decode, because a pooled token has one, too. Decode is therefore reported only if some
// iteration is a prefill, keys are in pages, or their number grows by one from one iteration to the
// next. kNone if unknown.
Phases phases_by_shape(const Trace& trace, const Windows& windows);

// By labels, else by shapes, else by the pattern of kernels.
Phases generation_phases(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
