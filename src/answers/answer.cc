#include "answers/answer.h"

#include <algorithm>
#include <utility>

namespace assay {

Document new_document(std::string title) {
  Document document;
  document.tool = {"assay", ASSAY_VERSION};  // project(VERSION) in CMakeLists.txt
  document.title = std::move(title);
  return document;
}

bool has_losses(const std::vector<ImportNote>& import_log) {
  return std::any_of(import_log.begin(), import_log.end(),
                     [](const ImportNote& note) { return note.severity == "data_loss"; });
}

}  // namespace assay
