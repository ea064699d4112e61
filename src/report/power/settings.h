#pragma once

// From a sweep of settings to a section and its words.

#include <string>
#include <vector>

#include "power/settings.h"
#include "report/document/document.h"

namespace assay {

std::vector<std::string> settings_words(const SettingsReport& report);
// "settings": a table of time, power, energy and energy-delay per iteration, one of the changes,
// and both as charts.
Section settings_section(const SettingsReport& report);

}  // namespace assay
