#include <string>

#include "kernels/name.h"
#include "report/document/units.h"
#include "report/launch/charts.h"
#include "report/sections.h"

namespace assay {
namespace {

Table chains_table(const FusionReport& report) {
  Table table{.key = "chains",
              .title = "Chains by length (fusable = deterministic, PS = 1, not overlapping)",
              .columns = {{.key = "length", .title = "L"},
                          {.key = "unique", .title = "unique", .unit = Unit::kCount},
                          {.key = "total", .title = "total", .unit = Unit::kCount},
                          {.key = "candidates", .title = "PS ≥ T", .unit = Unit::kCount},
                          {.key = "c_fused", .title = "fusable", .unit = Unit::kCount},
                          {.key = "c_fused_min2", .title = "seen twice", .unit = Unit::kCount},
                          {.key = "k_eager", .title = "K eager", .unit = Unit::kCount},
                          {.key = "k_fused", .title = "K fused", .unit = Unit::kCount},
                          {.key = "speedup", .title = "speedup", .unit = Unit::kRatio},
                          {.key = "k_fused_min2",
                           .title = "K fused, seen twice",
                           .unit = Unit::kCount,
                           .show = Show::kDataOnly},
                          {.key = "speedup_min2", .title = "seen twice", .unit = Unit::kRatio}},
              .terminal_limit = 0};
  for (const ChainRow& row : report.chains) {
    table.rows.push_back({row.length, row.unique, row.total, row.candidates, row.c_fused,
                          row.c_fused_min2, row.k_eager, row.k_fused, row.speedup, row.k_fused_min2,
                          row.speedup_min2});
  }
  return table;
}

Table candidates_table(const FusionReport& report) {
  Table table{
      .key = "candidates",
      .title = "Candidate chains, PS ≥ T",
      .columns = {{.key = "length", .title = "L"},
                  {.key = "count", .title = "f(C)", .unit = Unit::kCount},
                  {.key = "proximity", .title = "PS", .unit = Unit::kRatio},
                  {.key = "kernels", .title = "kernels", .unit = Unit::kText, .elastic = true}},
      .show = Show::kDataOnly};
  for (const ChainRow& row : report.chains) {
    for (const CandidateChain& chain : row.top_candidates) {
      table.rows.push_back({row.length, chain.count, chain.proximity, Value::List(chain.kernels)});
    }
  }
  return table;
}

Facts plan_facts(const char* key, std::string title, const FusionPlan& plan, uint64_t k_eager) {
  return {.key = key,
          .title = std::move(title),
          .items = {{"chains", "chains", plan.chains, Unit::kCount},
                    {"launches_saved", "launches saved", plan.launches_saved, Unit::kCount,
                     "of " + format_count(static_cast<int64_t>(k_eager))},
                    {"k_fused", "launches left", plan.k_fused, Unit::kCount},
                    {"speedup", "ideal speedup", plan.speedup, Unit::kRatio}}};
}

std::string joined(const std::vector<NamedCount>& names) {
  std::string text;
  for (const NamedCount& name : names) {
    if (!text.empty()) text += ", ";
    text += name.name + " (" + std::to_string(name.count) + ")";
  }
  return text;
}

// "relu → add → copy (and 29 more)": enough to recognise a chain in one line.
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
    case Remedy::kCudaGraph:
      break;
  }
  return "CUDA graph";
}

Table recommended_table(const FusionReport& report) {
  Table table{
      .key = "recommended",
      .title = "Recommended chains (" + std::to_string(report.recommended.size()) + " of " +
               std::to_string(report.recommended_total) + ")",
      .columns =
          {{.key = "length", .title = "L"},
           {.key = "count", .title = "times", .unit = Unit::kCount},
           {.key = "launches_saved", .title = "saved", .unit = Unit::kCount},
           {.key = "saving_ns", .title = "host time ≤", .unit = Unit::kNanoseconds},
           {.key = "use", .title = "use", .unit = Unit::kText, .show = Show::kReadersOnly},
           {.key = "label",
            .title = "chain",
            .unit = Unit::kText,
            .elastic = true,
            .show = Show::kReadersOnly},
           {.key = "where",
            .title = "where",
            .unit = Unit::kText,
            .elastic = true,
            .show = Show::kReadersOnly},
           {.key = "device_ns",
            .title = "device",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "launch_queue_ns",
            .title = "t_l",
            .unit = Unit::kNanoseconds,
            .show = Show::kDataOnly},
           {.key = "speedup", .title = "speedup", .unit = Unit::kRatio, .show = Show::kDataOnly},
           {.key = "remedy", .title = "use", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "remedy_reason", .title = "why", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "common_ops", .title = "in", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "root_ops", .title = "under", .unit = Unit::kText, .show = Show::kDataOnly},
           {.key = "short_kernels",
            .title = "kernels",
            .unit = Unit::kText,
            .show = Show::kDataOnly},
           {.key = "kernels", .title = "full names", .unit = Unit::kText, .show = Show::kDataOnly}},
      .terminal_limit = 0};
  for (const RecommendedChain& chain : report.recommended) {
    const std::string where = !chain.common_ops.empty() ? "in " + joined(chain.common_ops)
                              : !chain.root_ops.empty() ? "under " + joined(chain.root_ops)
                                                        : std::string();
    table.rows.push_back({chain.length, chain.count, chain.launches_saved,
                          whole_ns(chain.saving_ns), remedy_words(chain.remedy),
                          chain_label(chain.kernels), where, chain.device_ns, chain.launch_queue_ns,
                          chain.speedup, std::string(remedy_name(chain.remedy)),
                          chain.remedy_reason, joined(chain.common_ops), joined(chain.root_ops),
                          Value::List(chain.short_kernels), Value::List(chain.kernels)});
  }
  return table;
}

// The chains in full, for those who will write the kernel; full names are in JSON and CSV.
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

Section fusion_section(const FusionReport& report) {
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
          {"segment", "segments cut by", std::string(segment_rule_name(report.segment)),
           Unit::kText,
           format_counted(report.segments, "segment", "segments") + ", the longest of " +
               format_counted(report.longest_segment, "kernel", "kernels")},
          {"threshold", "threshold T", report.threshold, Unit::kRatio, "", Show::kDataOnly},
          {"segments", "segments", report.segments, Unit::kCount, "", Show::kDataOnly},
          {"longest_segment", "longest segment", report.longest_segment, Unit::kCount, "",
           Show::kDataOnly},
          {"k_eager", "kernels mined (K eager)", report.k_eager, Unit::kCount, left_out},
          {"distinct_kernels", "distinct names", report.distinct_kernels, Unit::kCount},
          {"graph_kernels", "left out: replayed by graphs", report.graph_kernels, Unit::kCount, "",
           Show::kDataOnly},
          {"unlinked_kernels", "left out: without a launch", report.unlinked_kernels, Unit::kCount,
           "", Show::kDataOnly},
          {"identity", "kernels told apart by",
           report.identity == KernelIdentity::kName ? "name" : "shape", Unit::kText, "",
           Show::kDataOnly},
          {"min_count", "occurrences needed", report.min_count, Unit::kCount, "", Show::kDataOnly},
          {"recommended_total", "recommended chains", report.recommended_total, Unit::kCount, "",
           Show::kDataOnly},
          {"floor_ns", "launch floor F",
           report.floor.source == FloorSource::kNone ? Value() : Value(report.floor.floor_ns),
           Unit::kNanoseconds, report.floor.text},
          {"outside_kernels", "left out: outside iterations", report.outside_kernels, Unit::kCount,
           "", Show::kDataOnly}}});
  for (Block& chart : fusion_charts(report)) section.blocks.push_back(std::move(chart));
  section.blocks.push_back(chains_table(report));
  section.blocks.push_back(candidates_table(report));
  section.blocks.push_back(plan_facts("plan", "Best mix of lengths", report.plan, report.k_eager));
  section.blocks.push_back(plan_facts(
      "plan_min",
      "Best mix of lengths, kernels seen at least " + std::to_string(report.min_count) + " times",
      report.plan_min, report.k_eager));
  section.blocks.push_back(recommended_table(report));
  section.blocks.push_back(chains_prose(report));
  return section;
}

}  // namespace assay
