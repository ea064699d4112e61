#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct FactsVerb : FactsRequest {
  CommonOptions common;
};

}  // namespace

void add_throughput_facts_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<FactsVerb>();
  Verb& sub = throughput.verb("facts", "List specifications of models and GPUs, with sources, "
                                       "checked");
  sub.example("assay throughput facts");
  sub.input("name", verb->names, "models or devices to list in full; without one, all in short");
  sub.option("--specs", verb->facts, "a file of more facts (docs/formats/facts.md), checked too")
      .called("FILE");
  add_common_options(sub, verb->common, false);
  sub.run([verb, &exit_code] { exit_code = write_answer(answer_facts(*verb), verb->common); });
}

}  // namespace assay
