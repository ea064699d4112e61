#pragma once

// MFU and HFU of a run, as a statement.

#include <optional>

#include "findings/finding.h"
#include "roof/utilisation.h"

namespace assay::findings {

// Nothing where they are not known, or lie in an interval too wide to mean something.
std::optional<Finding> utilisation_finding(const Utilisation& use);

}  // namespace assay::findings
