#include "cli/fusion_flags.h"

#include "cli/options.h"

namespace assay {

void add_fusion_flags(Verb& verb, FusionFlags& flags) {
  verb.option("--length", flags.lengths, "chain lengths, comma separated")
      .separated_by(',')
      .shows_default();
  verb.option("--threshold", flags.threshold, "proximity score of a candidate, (0, 1]")
      .shows_default();
  verb.option("--segment", flags.segment, "where sequences are cut: none, sync, rootop, iteration")
      .one_of({"none", "sync", "rootop", "iteration"})
      .shows_default();
  verb.option("--match-by", flags.identity, "what makes kernels equal: name, or name and shape")
      .one_of({"name", "shape"})
      .shows_default();
  verb.option("--min-count", flags.min_count, "occurrences a recommended chain needs")
      .shows_default();
  verb.option("--chains", flags.top, "recommended chains listed").shows_default();
}

FusionOptions fusion_options(const FusionFlags& flags) {
  FusionOptions options;
  options.lengths = flags.lengths;
  options.threshold = flags.threshold;
  options.segment = parse_segment_rule(flags.segment).value_or(SegmentRule::kSync);
  options.identity =
      flags.identity == "shape" ? KernelIdentity::kNameAndShape : KernelIdentity::kName;
  options.max_chains = flags.top;
  options.min_count = flags.min_count;
  return options;
}

}  // namespace assay
