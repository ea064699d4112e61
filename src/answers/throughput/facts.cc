#include "answers/inputs/facts.h"
#include "answers/answer.h"
#include "answers/throughput/throughput.h"
#include "report/throughput/facts.h"

namespace assay {

Result<Document> answer_facts(const FactsRequest& request) {
  ASSAY_TRY_ASSIGN(const FactBook facts, load_facts(request.facts));
  for (const std::string& name : request.names) {
    if (facts.model(name) != nullptr || facts.hardware(name) != nullptr) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "nothing is known of a model or device '" + name + "'", "", -1};
  }
  Document document = new_document("Facts about models and devices");
  if (!request.facts.empty()) document.inputs.push_back({request.facts, {}});
  document.verdict = facts_words(facts, request.names);
  document.sections.push_back(facts_section(facts, request.names));
  return document;
}

}  // namespace assay
