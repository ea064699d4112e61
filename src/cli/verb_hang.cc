#include <memory>

#include "answers/hang.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct HangVerb : HangRequest {
  CommonOptions common;
};

int run(HangVerb& verb) {
  verb.inputs = verb.common.inputs;
  return write_answer(answer_hang(verb), verb.common);
}

}  // namespace

void add_hang_verb(Verb& app, int& exit_code) {
  auto verb = std::make_shared<HangVerb>();
  Verb& sub = app.verb("hang",
                       "A job that hangs: which rank the others wait for, and where it is, "
                       "from flight-recorder dumps");
  sub.example("assay hang dumps/");
  add_common_options(sub, verb->common, false);
  sub.input("dumps", verb->common.inputs,
            "a folder or archive of dumps, one a rank; or dumps by name")
      .required();
  sub.run([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
