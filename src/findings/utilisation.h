#pragma once

// MFU, HFU and MBU of a run, as a statement.

#include <optional>

#include "findings/finding.h"
#include "roof/utilisation.h"

namespace assay::findings {

// The values of the statement: one MFU where it is exact, else its interval.
void fill_use(const Utilisation& use, Finding& out);
// Nothing where they are not known, or lie in an interval too wide to mean something.
std::optional<Finding> utilisation_finding(const Utilisation& use);

}  // namespace assay::findings
