#pragma once

// Prefill and decode by what attention was called with: a decode step asks with one query for each
// sequence and looks at many keys; a prefill asks with many.

#include "trace/phases.h"

namespace assay {

// Of the given windows. An iteration whose attentions all have one query is decode, one whose
// attentions all have several is a prefill, and one that has both is neither. An attention with one
// query alone is none of a generator for sure (a pooled token has one, too): told only where some
// iteration is a prefill, keys lie in pages, or they grow by one from one iteration to the next.
// kNone where nothing is told.
Phases phases_by_shape(const Trace& trace, const Windows& windows);

// By labels, else by shapes, else by the pattern of kernels.
Phases generation_phases(const Trace& trace, const Links& links, const Windows& windows);

}  // namespace assay
