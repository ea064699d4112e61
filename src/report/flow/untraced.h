#pragma once

// The run without profiler overhead (flow/untraced.h), as sentences and data.

#include <string>
#include <vector>

#include "flow/untraced.h"
#include "flow/whatif.h"
#include "report/document/document.h"
#include "report/run/section.h"

namespace assay {

// Which run the times on the first screen describe, or why a measured iteration was not used; may
// be empty.
std::string untraced_words(const Untraced& untraced);

// Top level "untraced", with the actions of the recording. `tried` and `headline` are of the run
// without profiler overhead, null and empty if it was not measured.
Section untraced_section(const Untraced& untraced, const std::vector<Lever>& actions,
                         const WhatIf* tried, const std::vector<std::string>& headline);

// "untraced.causes": device time by cause without profiler overhead. Only in the data.
Section untraced_causes_section(const FlowTotals& total);

}  // namespace assay
