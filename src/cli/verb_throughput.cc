
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {

void add_throughput_verb(Verb& app, int& exit_code) {
  Verb& throughput = app.verb("throughput", "Predict configurations that were not measured");
  throughput.example("assay throughput fit results/ -o model.json", "learn from measurements");
  throughput.example("assay throughput predict model.json --at bb=96,ii=1024,oo=256,hw=H100");
  throughput.example("assay throughput suggest model.json", "what to measure next");
  throughput.needs_a_verb();
  add_throughput_fit_verb(throughput, exit_code);
  add_throughput_predict_verb(throughput, exit_code);
  add_throughput_suggest_verb(throughput, exit_code);
  add_throughput_plan_verb(throughput, exit_code);
  add_throughput_facts_verb(throughput, exit_code);
  add_throughput_evaluate_verb(throughput, exit_code);
}

}  // namespace assay
