#pragma once

// The run without its profiler (flow/untraced.h), in words and as data.

#include <string>
#include <vector>

#include "flow/untraced.h"
#include "flow/whatif.h"
#include "report/document/document.h"
#include "report/run/section.h"

namespace assay {

// The run that the times on the first screen belong to, or the reason against a measured iteration; may be empty.
std::string untraced_words(const Untraced& untraced);

// Top level "untraced", with the actions of the recording. tried and headline are of the run without its profiler, null and
// empty if it was not measured.
Section untraced_section(const Untraced& untraced, const std::vector<Lever>& actions,
                         const WhatIf* tried, const std::vector<std::string>& headline);

}  // namespace assay
