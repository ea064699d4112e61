#pragma once

// The answer on a job that hangs, as a Document: sentences, and the section "hang".

#include <optional>
#include <string>
#include <vector>

#include "hang/hang.h"
#include "report/document/document.h"

namespace assay {

// A line of a log of the communication library about a rank; it decides nothing.
struct HangEvidence {
  std::optional<int64_t> rank;
  std::string source;  // "nccl_log", "nccl_inspector"
  std::string text;
};

// A file that gave no dump.
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

// The first sentence is the answer.
std::vector<std::string> hang_words(const HangView& view);
Section hang_section(const HangView& view);

}  // namespace assay
