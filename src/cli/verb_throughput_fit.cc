#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/common.h"
#include "cli/export_file.h"
#include "cli/throughput_content.h"
#include "cli/throughput_input.h"
#include "cli/verbs.h"
#include "report/run/section.h"

namespace assay {
namespace {

struct FitVerb {
  CommonOptions common;
  BenchFlags bench;
  FitFlags fit;
};

void show_digests(size_t done, size_t of) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rpreparing predictions: configuration {} of {} ", done + 1, of);
  std::fflush(stderr);
}

Result<Document> fit(const FitVerb& verb) {
  ASSAY_TRY_ASSIGN(const FittedModel model, fit_table(verb.bench, verb.fit));
  const std::string& path = verb.common.output;
  const std::string text = model.ala ? write_ala_model(model.fit)
                                     : write_model(model.fit, *model.predictor, show_digests);
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  ASSAY_TRY(export_file(path, text));
  Document document = new_document("Throughput model");
  document.inputs.push_back({model.fit.source, {}});
  document.import_log = import_notes(model);
  document.verdict = fit_words(model);
  add_notes(model, document);
  document.verdict.push_back("Written to " + path + ".");
  document.sections.push_back(fit_section(model));
  document.sections.push_back(trust_section(fit_trust(model)));
  return document;
}

int run(const FitVerb& verb) {
  auto document = fit(verb);
  if (!document) return fail(document.error());
  CommonOptions to_screen = verb.common;
  to_screen.output = "-";
  return write_document(*document, to_screen, has_lost_rows(*document));
}

}  // namespace

void add_throughput_fit_verb(CLI::App& throughput, int& exit_code) {
  auto verb = std::make_shared<FitVerb>();
  CLI::App* sub = throughput.add_subcommand(
      "fit", "Learn from a table of measurements: a model file with calibrated intervals");
  add_bench_options(*sub, verb->bench);
  add_common_options(*sub, verb->common, false);
  add_method_option(*sub, verb->fit);
  add_fit_options(*sub, verb->fit);
  sub->add_flag("--small", verb->fit.small,
                "leave out what makes predictions of large tables fast: a file of a fortieth, and "
                "over half a second more for every reading");
  sub->get_option("--output")->description("the model file")->required();
  sub->callback([verb, &exit_code] { exit_code = run(*verb); });
}

}  // namespace assay
