#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common.h"
#include "cli/fusion_flags.h"
#include "cli/verbs.h"
#include "report/sections.h"

namespace assay {
namespace {

struct FuseVerb {
  CommonOptions common;
  std::string floor;
  FusionFlags flags;
};

Result<TraceContent> analyze(const FuseVerb& verb, const LoadedTrace& loaded) {
  PhaseClock clock(verb.common.perf);
  ASSAY_TRY_ASSIGN(const FloorChoice floor, parse_floor(verb.floor, &loaded.trace));
  const FusionOptions options = fusion_options(verb.flags, floor, loaded);
  ASSAY_TRY_ASSIGN(const FusionReport fusion,
                   analyze_fusion(loaded.trace, loaded.links, loaded.windows, options));
  clock.mark("fuse");
  TraceContent content;
  if (!has_kernels(loaded.trace)) content.verdict = {no_kernels_words(loaded.trace)};
  content.sections.push_back(fusion_section(fusion));
  content.sections.push_back(trust_section(all_notes(
      loaded.trace.log, {fusion.trust, floor.notes, kernel_notes(loaded.trace, *loaded.kernels)})));
  return content;
}

}  // namespace

void add_fuse_verb(CLI::App& app, int& exit_code) {
  auto verb = std::make_shared<FuseVerb>();
  CLI::App* sub = app.add_subcommand(
      "fuse", "Chains of kernels that always run together, and what fusing them would save");
  add_common_options(*sub, verb->common, true);
  sub->add_option("--floor", verb->floor,
                  "launch time of an empty kernel (see assay launch --help)");
  add_fusion_flags(*sub, verb->flags);
  sub->callback([verb, &exit_code] {
    exit_code = run_over_inputs(verb->common, "Fusion", [verb](const LoadedTrace& loaded) {
      return analyze(*verb, loaded);
    });
  });
}

}  // namespace assay
