#include <memory>

#include "answers/throughput/throughput.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct PredictVerb : PredictRequest {
  CommonOptions common;
};

int run(PredictVerb& verb) {
  verb.inside_only = verb.common.strict;
  verb.listener = verb.common.listener;
  return write_answer(answer_prediction(verb), verb.common);
}

}  // namespace

void add_throughput_predict_verb(Verb& throughput, int& exit_code) {
  auto verb = std::make_shared<PredictVerb>();
  Verb& sub =
      throughput.verb("predict", "Predict throughput of points without measurements, with a 90 % "
                                 "interval each");
  sub.example("assay throughput predict model.json --at bb=96,ii=1024,oo=256,hw=H100");
  add_bench_options(sub, verb->bench);
  sub.declared("table").says("a model file of `assay throughput fit`, or a table");
  add_common_options(sub, verb->common, false);
  sub.declared("--strict")
      .says(
          "fail when a point is outside the range of the data; exit with status 3 when rows were "
          "dropped");
  add_method_option(sub, verb->fit);
  add_fit_options(sub, verb->fit);
  add_point_options(sub, verb->points);
  sub.flag("--curves", verb->curves,
           "throughput over batch for the requested configurations, with measured points");
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
