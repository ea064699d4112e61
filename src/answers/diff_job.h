#pragma once

// The ranks of one side as a job: what each spent waiting for the others (diff/waiting.h).

#include <vector>

#include "answers/diff_run.h"

namespace assay {

// Takes waiting apart on both sides. Does nothing unless each side is one job of several ranks with
// aligned clocks: otherwise one side's waits would be the other's transfers.
void take_waiting_apart(std::vector<DiffInput>& a, std::vector<DiffInput>& b);

}  // namespace assay
