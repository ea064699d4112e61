#include <memory>

#include "answers/inputs/listing.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace assay {
namespace {

int run(const CommonOptions& options) {
  if (Status status = check_output(options, {}); !status) return fail(status.error());
  return write_answer(list_folders(options.inputs), options);
}

}  // namespace

void add_list_verb(Verb& app, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  Verb& verb = app.verb("list", "List the traces, logs and jobs below a folder, by their beginnings");
  verb.example("assay list runs/");
  verb.input("folders", options->inputs, "folders to look in, or files").required();
  add_common_options(verb, *options, false);
  options->tell_files = {};  // each row names its file
  verb.run([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace assay
