#include "power/token_energy.h"

#include <cmath>

namespace assay {
namespace {

void add_to(Joules95& sum, const Joules95& other) {
  sum.value += other.value;
  sum.low += other.low;
  sum.high += other.high;
}

}  // namespace

bool Joules95::known() const { return std::isfinite(value); }

TokenEnergy TokenEnergy::of(const EnergyReport& report) {
  TokenEnergy energy{
      .output = {report.energy_per_token_j, report.energy_per_token_low_j,
                 report.energy_per_token_high_j},
      .prompt = {report.energy_per_prompt_token_j, report.energy_per_prompt_token_low_j,
                 report.energy_per_prompt_token_high_j}};
  if (energy.output.known() || energy.prompt.known()) return energy;
  energy.unknown = report.total_only.empty()
                       ? "the log covers too little of the trace, or does not follow it"
                       : report.total_only;
  return energy;
}

void TokenEnergy::add(const TokenEnergy& other) {
  add_to(output, other.output);
  add_to(prompt, other.prompt);
  if (unknown.empty()) unknown = other.unknown;
}

}  // namespace assay
