
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {

void add_throughput_verb(Verb& app, int& exit_code) {
  Verb& throughput = app.verb("throughput", "What a configuration nobody measured will do");
  throughput.needs_a_verb();
  add_throughput_fit_verb(throughput, exit_code);
  add_throughput_predict_verb(throughput, exit_code);
  add_throughput_suggest_verb(throughput, exit_code);
  add_throughput_plan_verb(throughput, exit_code);
  add_throughput_facts_verb(throughput, exit_code);
  add_throughput_evaluate_verb(throughput, exit_code);
}

}  // namespace assay
