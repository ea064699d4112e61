#include "report/document/palette.h"

#include <algorithm>

namespace assay {

std::span<const CauseColour> cause_colours() {
  static constexpr CauseColour kColours[] = {
      {"no_evidence", 0x6b6963, 0x9e9694, true},   {"compute", 0x8090a6, 0x5c6b80, false},
      {"collective", 0x622b93, 0x8953ed, false},   {"comm_wait", 0xb3a1d1, 0x55418c, false},
      {"copy", 0x0b708c, 0x6bedfd, false},         {"wait_other", 0x9857bd, 0xd1a2f5, false},
      {"unseen", 0x4e24cf, 0x778fff, true},        {"latency", 0x1692ee, 0x337fb7, false},
      {"sync", 0xf7567a, 0xd40a31, false},         {"alloc", 0x81235c, 0xcd379a, false},
      {"cold", 0xa8000c, 0xe46529, true},          {"input", 0xb45c05, 0xee951f, false},
      {"call", 0x455618, 0xd1e097, false},         {"dispatch", 0xbc8803, 0xffc41c, false},
      {"python", 0x2e9c69, 0x81c896, false},       {"host_gap", 0x6b6963, 0x9e9694, true},
      {"migration", 0x81235c, 0xcd379a, true},
      {"nothing_asked", 0xcdd1d7, 0x3a4048, true}, {"rest", 0xcdd1d7, 0x3a4048, false}};
  return kColours;
}

const CauseColour& colour_of(std::string_view key) {
  const auto colours = cause_colours();
  const auto found = std::find_if(colours.begin(), colours.end(),
                                  [key](const CauseColour& colour) { return colour.key == key; });
  return found == colours.end() ? colours.front() : *found;
}

}  // namespace assay
