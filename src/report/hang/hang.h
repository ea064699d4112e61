#pragma once

// The answer for a hanging job as a Document: sentences, and the section "hang".

#include <optional>
#include <string>
#include <vector>

#include "hang/hang.h"
#include "report/document/document.h"

namespace assay {

// A log line of the communication library about a rank. Shown as evidence; it does not affect the
// conclusion.
struct HangEvidence {
  std::optional<int64_t> rank;
  std::string source;  // "nccl_log", "nccl_inspector"
  std::string text;
};

// A file that yielded no dump.
struct UnreadDump {
  std::string file;
  std::string why;
};

struct HangView {
  const HangReport& report;
  const std::vector<FlightDump>& dumps;
  std::vector<UnreadDump> unread = {};
  std::vector<HangEvidence> evidence = {};
};

// The first sentence is the headline.
std::vector<std::string> hang_words(const HangView& view);
Section hang_section(const HangView& view);

}  // namespace assay
