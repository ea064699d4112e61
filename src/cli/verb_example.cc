#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/export_file.h"
#include "cli/common.h"
#include "cli/example_trace.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "text/plain_text.h"

namespace assay {
namespace {

int write_example(const std::string& path) {
  const Status written = export_file(path, std::string(example_trace()));
  if (!written) return fail(written.error());
  fmt::print(stderr, "assay: wrote {} ({} kB): one inference of a vision transformer on an H100\n",
             clean_text(path), example_trace().size() / 1000);
  fmt::print(stderr, "assay: next: assay {}\n", clean_text(path));
  return kExitFine;
}

}  // namespace

void add_example_verb(Verb& app, int& exit_code) {
  auto path = std::make_shared<std::string>(kExampleName);
  Verb& sub = app.verb("example", "Write a small real trace to try Assay on");
  sub.example("assay example");
  sub.example(std::string("assay ") + kExampleName);
  sub.option("-o,--output", *path, "where to").called("FILE").shows_default();
  sub.run([path, &exit_code] { exit_code = write_example(*path); });
}

}  // namespace assay
