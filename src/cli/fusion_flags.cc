#include "cli/fusion_flags.h"

#include <CLI/CLI.hpp>

#include "cli/common.h"

namespace assay {

void add_fusion_flags(CLI::App& verb, FusionFlags& flags) {
  verb.add_option("--length", flags.lengths, "chain lengths, comma separated")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--threshold", flags.threshold, "proximity score of a candidate, (0, 1]")
      ->capture_default_str();
  verb.add_option("--segment", flags.segment,
                  "where sequences are cut: none, sync, rootop, iteration")
      ->check(CLI::IsMember({"none", "sync", "rootop", "iteration"}))
      ->capture_default_str();
  verb.add_option("--identity", flags.identity, "what makes kernels equal: name, or name and shape")
      ->check(CLI::IsMember({"name", "shape"}))
      ->capture_default_str();
  verb.add_option("--min-count", flags.min_count, "occurrences a recommended chain needs")
      ->capture_default_str();
  verb.add_option("--chains", flags.top, "recommended chains listed")->capture_default_str();
}

FusionOptions fusion_options(const FusionFlags& flags, const FloorChoice& floor,
                             const LoadedTrace& loaded) {
  FusionOptions options;
  options.lengths = flags.lengths;
  options.threshold = flags.threshold;
  options.segment = parse_segment_rule(flags.segment).value_or(SegmentRule::kSync);
  options.identity =
      flags.identity == "shape" ? KernelIdentity::kNameAndShape : KernelIdentity::kName;
  options.max_chains = flags.top;
  options.min_count = flags.min_count;
  options.floor_ns = floor.floor_ns;
  options.floor_source = floor.source;
  options.kernels = loaded.kernels;
  return options;
}

}  // namespace assay
