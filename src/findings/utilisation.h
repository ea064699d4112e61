#pragma once

// MFU, HFU and MBU of a run as a finding.

#include <optional>

#include "findings/finding.h"
#include "roof/utilisation.h"

namespace assay::findings {

// Adds the values of the finding: one MFU if it is exact, else an interval.
void fill_use(const Utilisation& use, Finding& out);
// nullopt if they are unknown, or if their interval is too wide to be useful.
std::optional<Finding> utilisation_finding(const Utilisation& use);

}  // namespace assay::findings
