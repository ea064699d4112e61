#include <memory>

#include "answers/launch.h"
#include "cli/common.h"
#include "cli/fusion_flags.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct FuseVerb {
  CommonOptions common;
  std::string floor;
  FusionFlags flags;
};

int run(const FuseVerb& verb) {
  const FusionRequest request{traces_of(verb.common), verb.floor, fusion_options(verb.flags)};
  return write_answer(answer_fusion(request), verb.common);
}

}  // namespace

void add_fusion_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<FuseVerb>();
  Verb& sub = app.verb(
      "fusion", "Chains of kernels that always run together, and what fusing them would save");
  sub.example("assay fusion trace.json.gz");
  add_common_options(sub, verb->common, true);
  add_figure_option(sub, verb->common);
  sub.option("--floor", verb->floor, "launch time of an empty kernel (see assay launch --help)")
      .called("FLOOR");
  add_fusion_flags(sub, verb->flags);
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
