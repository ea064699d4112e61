#include <CLI/CLI.hpp>
#include <memory>

#include "cli/report_content.h"
#include "cli/verbs.h"

namespace assay {
namespace {

struct ReportVerb {
  CommonOptions common;
  ReportRequest request;
};

}  // namespace

void add_report_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<ReportVerb>();
  CLI::App* sub = app.add_subcommand(
      "report", "The verdict in words, the numbers behind it, and what they rest on");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--floor", verb->request.floor,
                  "launch time of an empty kernel (see assay launch --help)");
  sub->add_option("--top", verb->request.top, "kernels listed; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_fusion_flags(*sub, verb->request.fusion);
  sub->callback([verb, &exit_code] {
    // Unique kernels differ by their operators' inputs: the same dispatch base as `assay tax`.
    verb->common.keep_op_inputs = true;
    verb->request.perf = verb->common.perf;
    verb->request.timelines = wants_page(verb->common);
    exit_code = run_over_inputs(verb->common, "Report", [verb](const LoadedTrace& loaded) {
      return report_content(verb->request, loaded);
    });
  });
}

}  // namespace assay
