#pragma once

// Every answer: a Document, and a flag for inputs that could not be read completely.

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

// One trace's part of a document: import log, headline, sections, facts.
struct TraceContent {
  std::vector<std::string> verdict = {};
  std::vector<Section> sections = {};
  std::optional<ShortAnswer> answer = {};   // what a reader sees first
  RankOfAnswer rank = {};                   // for the answer of several
  std::string lanes = {};                   // of the page's timeline, where a page is made
  std::string lane_details = {};
  std::vector<Item> overview = {};          // this trace's row in the table that compares several
  std::vector<ImportNote> import_log = {};  // of other files that were read with the trace
};

// A document with the head filled in: tool and title.
Document new_document(std::string title);

// True if an import log reports lost data.
bool has_losses(const std::vector<ImportNote>& import_log);

}  // namespace assay
