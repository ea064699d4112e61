#pragma once

// What every answer is: a Document, and whether its inputs could be read whole.

#include <optional>
#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/flow/answer.h"

namespace assay {

struct Answer {
  Document document;
  bool data_lost = false;  // on import: totals are lower bounds
};

// The part of a document that one trace gives: import log, verdict, sections, facts.
struct TraceContent {
  std::vector<std::string> verdict = {};
  std::vector<Section> sections = {};
  std::optional<ShortAnswer> answer = {};   // what a reader sees first
  RankOfAnswer rank = {};                   // for the answer of several
  std::string lanes = {};                   // of the page's timeline, where a page is made
  std::string lane_details = {};
  std::vector<Item> overview = {};          // this trace's row in the table that compares several
  std::vector<ImportNote> import_log = {};  // of other files that were read beside the trace
};

// A document with the head filled in: tool and title.
Document new_document(std::string title);

// Whether an import log says that data was lost.
bool has_losses(const std::vector<ImportNote>& import_log);

}  // namespace assay
