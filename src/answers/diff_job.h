#pragma once

// Splits the waits of a job's ranks into waiting for others and transfer (diff/waiting.h).

#include <vector>

#include "answers/diff_run.h"

namespace assay {

// Separates wait and transfer times on both sides. Does nothing unless each side is one job of
// several ranks with aligned clocks. Otherwise waits of one side would be compared with transfers
// of the other.
void take_waiting_apart(std::vector<DiffInput>& a, std::vector<DiffInput>& b);

}  // namespace assay
