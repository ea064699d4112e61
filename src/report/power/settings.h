#pragma once

// A section and sentences from a sweep of settings.

#include <string>
#include <vector>

#include "power/settings.h"
#include "report/document/document.h"

namespace assay {

std::vector<std::string> settings_words(const SettingsReport& report);
// "settings": a table of time, power, energy and energy-delay product per iteration, a table of
// changes, and charts of both.
Section settings_section(const SettingsReport& report);

}  // namespace assay
