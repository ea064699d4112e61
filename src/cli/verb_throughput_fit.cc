#include <memory>
#include <utility>

#include "answers/throughput/throughput.h"
#include "base/export_file.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct FitVerb : ThroughputFitRequest {
  CommonOptions common;
};

Result<Document> fit(FitVerb& verb) {
  verb.listener = verb.common.listener;
  ASSAY_TRY_ASSIGN(ThroughputFitAnswer answer, answer_fit(verb));
  ASSAY_TRY(export_file(verb.common.output, answer.model));
  answer.document.verdict.push_back("Written to " + verb.common.output + ".");
  return std::move(answer.document);
}

int run(FitVerb& verb) {
  auto document = fit(verb);
  CommonOptions to_screen = verb.common;
  to_screen.output = "-";
  return write_answer(std::move(document), to_screen);
}

}  // namespace

void add_throughput_fit_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<FitVerb>();
  Verb& sub = throughput.verb(
      "fit", "Learn from a table of measurements: a model file with calibrated intervals");
  sub.example("assay throughput fit results/ -o model.json");
  add_bench_options(sub, verb->bench);
  add_common_options(sub, verb->common, false);
  add_method_option(sub, verb->fit);
  add_fit_options(sub, verb->fit);
  sub.flag("--small", verb->fit.small,
           "leave out the data for fast predictions of large tables: a file of a fortieth, and "
           "over half a second more for each load");
  sub.declared("--output").says("the model file").required();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
