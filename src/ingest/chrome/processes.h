#pragma once

// Several processes in one file, as serving engines merge the ranks of a server: each numbers its
// calls and operators from 1, so that an id alone joins rows of different ranks.

#include "trace/builder.h"

namespace assay {

// Moves the ids of each process that launches work to a range of their own, where ids of several
// collide. The work of a device is of the process whose calls come before it (most rows by far); a
// row that no process can be found for loses its ids. Logged: kSeveralProcesses, and
// kMissingCorrelation of what stays unlinked.
void separate_processes(TraceBuilder& builder);

}  // namespace assay
