#pragma once

// A Document, and a flag for inputs that could not be read completely.

#include <optional>
#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/flow/answer.h"

namespace assay {

struct Answer {
  Document document;
  bool data_lost = false;  // some input was not imported; totals are lower bounds
};

// One trace's part of a document.
struct TraceContent {
  std::vector<std::string> verdict = {};
  std::vector<Section> sections = {};
  std::optional<ShortAnswer> answer = {};   // the first screen
  RankOfAnswer rank = {};                   // for the joint answer of several ranks
  std::string lanes = {};                   // JSON of the page's timeline; empty without a page
  std::string lane_details = {};
  std::vector<Item> overview = {};          // this trace's row in the table that compares traces
  std::vector<ImportNote> import_log = {};  // of other files that were read with the trace
};

// A document with the tool and title filled in.
Document new_document(std::string title);

// True if an import log reports lost data.
bool has_losses(const std::vector<ImportNote>& import_log);

}  // namespace assay
