#include <string>

#include "kernels/name.h"
#include "text/units.h"
#include "report/launch/charts.h"
#include "report/launch/results.h"
#include "report/launch/section.h"
#include "report/run/floor.h"

namespace assay {
namespace {

Table chains_table(const FusionReport& report) {
  TableOf table(report.chains,
                {.key = "chains",
                 .title = "Chains by length, as SKIP counts them (fusable = always together, PS = 1; launches "
                          "alone, ideal)",
                 .terminal_limit = 0});
  table.add(keys::length, &ChainRow::length)
      .add(keys::unique, &ChainRow::unique)
      .add(keys::total, &ChainRow::total)
      .add(keys::candidates, &ChainRow::candidates)
      .add(keys::c_fused, &ChainRow::c_fused)
      .add(keys::c_fused_min2, &ChainRow::c_fused_min2)
      .add(keys::k_eager, &ChainRow::k_eager)
      .add(keys::k_fused, &ChainRow::k_fused)
      .add(keys::speedup, &ChainRow::speedup)
      .add(keys::k_fused_min2, &ChainRow::k_fused_min2, Show::kDataOnly)
      .add(keys::speedup_min2, &ChainRow::speedup_min2);
  return table;
}

Table candidates_table(const FusionReport& report) {
  struct Candidate {
    const ChainRow& row;
    const CandidateChain& chain;
  };
  std::vector<Candidate> candidates;
  for (const ChainRow& row : report.chains) {
    for (const CandidateChain& chain : row.top_candidates) candidates.push_back({row, chain});
  }
  TableOf table(
      candidates,
      {.key = "candidates", .title = "Candidate chains, PS ≥ T", .show = Show::kDataOnly});
  table.add(keys::length, [](const Candidate& c) { return c.row.length; })
      .add(keys::count, [](const Candidate& c) { return c.chain.count; })
      .add(keys::proximity, [](const Candidate& c) { return c.chain.proximity; })
      .add(keys::kernel_names, [](const Candidate& c) { return c.chain.kernels; }, elastic());
  return table;
}

Facts plan_facts(const char* key, std::string title, const FusionPlan& plan, uint64_t k_eager) {
  return {.key = key,
          .title = std::move(title),
          .items = {fact(keys::chains, plan.chains),
                    fact(keys::launches_saved, plan.launches_saved,
                         "of " + format_count(static_cast<int64_t>(k_eager))),
                    fact(keys::k_fused, plan.k_fused), fact(keys::speedup, plan.speedup)}};
}

std::string joined(const std::vector<NamedCount>& names) {
  std::string text;
  for (const NamedCount& name : names) {
    if (!text.empty()) text += ", ";
    text += name.name + " (" + std::to_string(name.count) + ")";
  }
  return text;
}

// "relu → add → copy (and 29 more)": enough to recognize a chain in one line.
std::string chain_label(const std::vector<std::string>& kernels) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < kernels.size() && i < kShown; ++i) {
    if (i > 0) text += " → ";
    text += describe_kernel(kernels[i]);
  }
  if (kernels.size() > kShown) {
    text += " → … (" + std::to_string(kernels.size() - kShown) + " more)";
  }
  return text;
}

std::string remedy_words(Remedy remedy) {
  switch (remedy) {
    case Remedy::kTriton:
      return "Triton kernel";
    case Remedy::kTorchCompile:
      return "torch.compile";
    case Remedy::kEpilogue:
      break;
  }
  return "epilogue of the product";
}

std::string where_words(const RecommendedChain& chain) {
  if (!chain.common_ops.empty()) return "in " + joined(chain.common_ops);
  return chain.root_ops.empty() ? "" : "under " + joined(chain.root_ops);
}

Table recommended_table(const FusionReport& report, const ChainGains& gains) {
  using Chain = RecommendedChain;
  TableOf table(report.recommended,
                {.key = "recommended",
                 .title = "Recommended chains (" + std::to_string(report.recommended.size()) +
                          " of " + std::to_string(report.recommended_total) + ")",
                 .terminal_limit = 0});
  const auto label = [](const Chain& chain) { return chain_label(chain.kernels); };
  const auto remedy = [](const Chain& chain) { return std::string(remedy_name(chain.remedy)); };
  const auto within = [](const Chain& chain) { return joined(chain.common_ops); };
  const auto under = [](const Chain& chain) { return joined(chain.root_ops); };
  const auto gain = [&](const Chain& chain) {
    const auto i = static_cast<size_t>(&chain - report.recommended.data());
    return i < gains.size() ? Value(gains[i]) : Value();
  };
  table.add(keys::length, &Chain::length)
      .add(keys::count, &Chain::count)
      .add(keys::launches_saved, &Chain::launches_saved)
      .add(keys::gain_ns, gain)
      .add_ns(keys::saving_ns, &Chain::saving_ns, Show::kDataOnly)
      .add(
          keys::use, [](const Chain& c) { return remedy_words(c.remedy); }, Show::kReadersOnly)
      .add(keys::chain_text, label, elastic(Show::kReadersOnly))
      .add(keys::where, where_words, elastic(Show::kReadersOnly))
      .add(keys::device_ns, &Chain::device_ns)
      .add(keys::device_least_ns, &Chain::device_least_ns)
      .add(keys::launch_queue_ns, &Chain::launch_queue_ns, Show::kDataOnly)
      .add(keys::speedup, &Chain::speedup, Show::kDataOnly)
      .add(keys::remedy, remedy, Show::kDataOnly)
      .add(keys::remedy_reason, &Chain::remedy_reason, Show::kDataOnly)
      .add(keys::common_ops, within, Show::kDataOnly)
      .add(keys::root_ops, under, Show::kDataOnly)
      .add(keys::short_kernels, &Chain::short_kernels, Show::kDataOnly)
      .add(keys::kernel_names, &Chain::kernels, Show::kDataOnly);
  return table;
}

// Complete chains, for those who write the fused kernel; full names are in JSON and CSV.
Prose chains_prose(const FusionReport& report) {
  constexpr size_t kLongest = 16;
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const RecommendedChain& chain : report.recommended) {
    std::string line = std::to_string(chain.length) + " kernels, " +
                       format_count(static_cast<int64_t>(chain.count)) + " times: ";
    for (size_t i = 0; i < chain.kernels.size() && i < kLongest; ++i) {
      if (i > 0) line += " → ";
      line += describe_kernel(chain.kernels[i]);
    }
    if (chain.kernels.size() > kLongest) line += " → …";
    prose.paragraphs.push_back(line + ". Why: " + chain.remedy_reason + ".");
  }
  return prose;
}

}  // namespace

Section fusion_section(const FusionReport& report, const ChainGains& gains) {
  Section section{.key = "fusion", .title = "Fusion: chains of kernels that always run together"};
  std::string left_out;
  if (report.graph_kernels > 0) {
    left_out += format_count(static_cast<int64_t>(report.graph_kernels)) + " replayed by graphs";
  }
  if (report.unlinked_kernels > 0) {
    left_out += (left_out.empty() ? "" : ", ") +
                format_count(static_cast<int64_t>(report.unlinked_kernels)) + " without a launch";
  }
  section.blocks.push_back(Facts{
      .items = {
          fact(keys::segment, std::string(segment_rule_name(report.segment)),
               format_counted(report.segments, "segment", "segments") + ", the longest of " +
                   format_counted(report.longest_segment, "kernel", "kernels")),
          data_fact(keys::threshold, report.threshold), data_fact(keys::segments, report.segments),
          data_fact(keys::longest_segment, report.longest_segment),
          fact(keys::k_eager, report.k_eager, left_out),
          fact(keys::distinct_kernels, report.distinct_kernels),
          data_fact(keys::graph_kernels, report.graph_kernels),
          data_fact(keys::unlinked_kernels, report.unlinked_kernels),
          data_fact(keys::identity, report.identity == KernelIdentity::kName ? "name" : "shape"),
          data_fact(keys::min_count, report.min_count),
          data_fact(keys::recommended_total, report.recommended_total),
          fact(keys::floor_ns, floor_value(report.floor), report.floor.text),
          data_fact(keys::outside_kernels, report.outside_kernels)}});
  for (Block& chart : fusion_charts(report)) section.blocks.push_back(std::move(chart));
  section.blocks.push_back(chains_table(report));
  section.blocks.push_back(candidates_table(report));
  section.blocks.push_back(plan_facts("plan", "Best mix of lengths by SKIP (launches alone, ideal)", report.plan, report.k_eager));
  section.blocks.push_back(plan_facts(
      "plan_min",
      "Best mix by SKIP, kernels seen at least " + std::to_string(report.min_count) + " times",
      report.plan_min, report.k_eager));
  section.blocks.push_back(recommended_table(report, gains));
  section.blocks.push_back(chains_prose(report));
  return section;
}

}  // namespace assay
