#include "answers/inputs/facts.h"
#include "answers/answer.h"
#include "answers/throughput/throughput.h"
#include "report/throughput/facts.h"

namespace assay {
namespace {

// Complete sections, and those of the user's file.
std::vector<FactSection> all_sections(const FactBook& facts, const std::string& file) {
  std::vector<FactSection> all;
  const std::vector<FactSection> own = facts.sections_of(file);
  for (const char* kind : {"model", "hardware"}) {
    const bool is_model = std::string_view(kind) == "model";
    for (const std::string& name : is_model ? facts.model_names() : facts.hardware_names())
      all.push_back({kind, name, {}});
    for (const FactSection& section : own) {
      if (section.kind == kind && !section.missing.empty()) all.push_back(section);
    }
  }
  return all;
}

Result<std::vector<FactSection>> named_sections(const FactBook& facts,
                                                const std::vector<std::string>& names) {
  std::vector<FactSection> named;
  for (const std::string& name : names) {
    const size_t before = named.size();
    for (const char* kind : {"model", "hardware"}) {
      if (auto section = facts.section(kind, name)) named.push_back(*std::move(section));
    }
    if (named.size() > before) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "nothing is known of a model or device '" + name + "'", "", -1};
  }
  return named;
}

// An answer without names shows all sections, so that only a file without sections is useless.
FactNames looked_up(const FactBook& facts, const FactsRequest& request) {
  FactNames names{.models = request.names, .devices = request.names};
  if (!request.names.empty()) return names;
  for (const FactSection& section : facts.sections_of(request.facts)) {
    (section.kind == "model" ? names.models : names.devices).push_back(section.name);
  }
  return names;
}

}  // namespace

Result<Document> answer_facts(const FactsRequest& request) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(request.facts));
  std::vector<FactSection> shown = all_sections(facts, request.facts);
  if (!request.names.empty()) {
    ASSAY_TRY_ASSIGN(shown, named_sections(facts, request.names));
  }
  Document document = new_document("Specifications of models and devices");
  if (!request.facts.empty()) document.inputs.push_back({request.facts, {}});
  document.verdict = facts_words(facts, shown);
  document.sections.push_back(facts_section(facts, shown, !request.names.empty()));
  if (auto note = unused_facts(facts, request.facts, looked_up(facts, request))) {
    document.import_log.push_back(*std::move(note));
  }
  return document;
}

}  // namespace assay
