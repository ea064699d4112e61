#pragma once

// Sections of a Document from results of the power module.

#include <string>
#include <vector>

#include "power/attribute.h"
#include "power/report.h"
#include "power/token_energy.h"
#include "report/document/document.h"

namespace assay {

// One sentence per kernel, then what limits the accuracy.
std::vector<std::string> power_verdict_words(const PowerReport& report);
// Section "power" (sensor, kernels with their profiles, takeaways, pairs and comparisons) and
// section "caveats".
// "caveats".
std::vector<Section> power_sections(const PowerReport& report);

struct LogSource {
  const PowerLog* log = nullptr;
  size_t series = 0;  // into log->series
};
std::vector<std::string> energy_verdict_words(const EnergyReport& report);
// Import notes on data lost from the log itself.
std::vector<ImportNote> power_log_notes(const PowerLog& log);
// Section "energy" (totals, power classes, energy by kernel, operator, iteration and phase) and
// section "caveats". top: rows shown to readers.
std::vector<Section> energy_sections(const EnergyReport& report, const LogSource& source,
                                     size_t top);

// Energy per token of a serving engine: inserted after the numbers of the engine's steps, and as a
// sentence, which is empty if nothing is known.
void add_token_energy(const TokenEnergy& energy, Section& section);
std::string token_energy_words(const TokenEnergy& energy);

// Kernels of several recordings side by side, under "power": report_across() with comparisons.
Section across_section(const PowerReport& across);

}  // namespace assay
