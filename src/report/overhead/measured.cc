// The decomposition measured by kernel replay, and that of the trace.

#include <cmath>

#include "report/overhead/results.h"
#include "report/overhead/section.h"
#include "report/run/floor.h"

namespace assay {
namespace {

double change(int64_t from, int64_t to) {
  return from > 0 ? static_cast<double>(to - from) / static_cast<double>(from) : std::nan("");
}

Facts measured_facts(const MeasuredReport& m) {
  const HostOverheadSums& s = m.sums;
  return {
      .key = "measured",
      .items = {data_fact(keys::n, s.n), data_fact(keys::n_launch, s.n_launch),
                data_fact(keys::t_py_ns, s.t_py_ns), data_fact(keys::dispatch_base_ns, m.base_ns),
                data_fact(keys::ft_dispatch_ns, s.ft_dispatch_ns), data_fact(keys::ft_ns, s.ft_ns),
                data_fact(keys::ct_ns, s.ct_ns), data_fact(keys::kt_ns, s.kt_ns),
                data_fact(keys::kt_fw_ns, s.kt_fw_ns), data_fact(keys::t_orch_ns, s.t_orch_ns),
                data_fact(keys::t_device_ns, s.t_device_ns), data_fact(keys::hdbi, s.hdbi),
                data_fact(keys::through, std::string(replay_through_name(m.through))),
                data_fact(keys::floor_ns, floor_value(m.floor)),
                data_fact(keys::floor_source, std::string(floor_source_name(m.floor.source))),
                data_fact(keys::entries, static_cast<uint64_t>(m.rows.size())),
                data_fact(keys::entries_found, m.entries_found),
                data_fact(keys::invocations_found, m.invocations_found),
                data_fact(keys::entries_unknown, m.entries_unknown)},
      .show = Show::kDataOnly};
}

struct LayerBeside {
  std::string name;
  int64_t measured_ns;
  int64_t traced_ns;
  std::string from;
};

// Both decompositions, side by side, for readers.
Table beside_table(const MeasuredReport& m, const HostOverheadReport& r) {
  const HostOverheadSums& a = m.sums;
  const HostOverheadSums& b = r.whole.sums;
  const std::vector<LayerBeside> layers = {
      {"Python, T_Py", a.t_py_ns, b.t_py_ns, "trace, both"},
      {"dispatch, " + std::string(replay_through_words(m.through)), a.ft_dispatch_ns,
       b.ft_dispatch_ns,
       m.base_ns ? "base " + format_ns(*m.base_ns) + ", replay" : std::string("no base")},
      {"library, ΔCT", a.ct_ns, b.ct_ns, "replay"},
      {"launch floor, ΔKT", a.kt_ns, b.kt_ns, m.floor.text},
      {"T_Orch", a.t_orch_ns, b.t_orch_ns, "sum"},
      {"ΔKT_fw", a.kt_fw_ns, b.kt_fw_ns, "replay; the trace's contains queueing"}};
  TableOf table(layers, {.title = "Measured by replay, compared with the trace alone",
                         .terminal_limit = 0,
                         .show = Show::kReadersOnly});
  table.add(keys::part_name, &LayerBeside::name)
      .add(keys::replayed_ns, &LayerBeside::measured_ns)
      .add(keys::traced_ns, &LayerBeside::traced_ns)
      .add(keys::part_change,
           [](const LayerBeside& l) { return change(l.traced_ns, l.measured_ns); })
      .add(keys::told_by, &LayerBeside::from, elastic());
  return table;
}

Table differences_table(const MeasuredReport& m) {
  using Family = FamilyDifference;
  TableOf table(
      m.families,
      {.key = "measured_families", .title = "Difference per family", .terminal_limit = 0});
  table.add(keys::name, &Family::name, elastic())
      .add(keys::kernels, &Family::kernels)
      .add(keys::measured_kernels, &Family::measured_kernels)
      .add(keys::measured_t_orch_ns, &Family::measured_t_orch_ns)
      .add(keys::trace_t_orch_ns, &Family::trace_t_orch_ns)
      .add(keys::t_orch_change,
           [](const Family& f) { return change(f.trace_t_orch_ns, f.measured_t_orch_ns); })
      .add_ns(keys::measured_launch_p50_ns, &Family::measured_launch_p50_ns)
      .add_ns(keys::trace_launch_p50_ns, &Family::trace_launch_p50_ns);
  return table;
}

Table matching_table(const MeasuredReport& m) {
  const std::vector<MatchTier> tiers = {MatchTier::kSignature, MatchTier::kExactName,
                                        MatchTier::kSubstring, MatchTier::kMostFrequent,
                                        MatchTier::kNone};
  const auto of_tier = [](const auto& counts) {
    return [&counts](MatchTier tier) { return counts[static_cast<size_t>(tier)]; };
  };
  TableOf table(tiers, {.key = "measured_matching",
                        .title = "How replayed kernels were found",
                        .terminal_limit = 0});
  table.add(keys::tier, [](MatchTier tier) { return std::string(match_tier_name(tier)); })
      .add(keys::entries, of_tier(m.tier_entries))
      .add(keys::invocations, of_tier(m.tier_invocations));
  return table;
}

Table guarded_table(const MeasuredReport& m) {
  std::vector<MeasuredRow> guarded;
  for (const size_t index : m.guarded) guarded.push_back(m.rows[index]);
  TableOf table(guarded, {.key = "measured_guarded",
                          .title = "Replays that were rejected as contaminated (dispatch, " +
                                   std::string(replay_through_words(m.through)) + ")"});
  table.add(keys::name, &MeasuredRow::candidate, elastic())
      .add(keys::rule, &MeasuredRow::guard)
      .add(keys::kernels, [](const MeasuredRow& row) { return row.cost.invocations; })
      .add(keys::replay_launch_ns, &MeasuredRow::replay_launch_ns)
      .add(keys::replay_dispatch_ns, &MeasuredRow::replay_dispatch_ns)
      .add(keys::used_dispatch_ns, [](const MeasuredRow& row) { return row.cost.t_dispatch_ns; });
  if (guarded.empty()) table.show = Show::kDataOnly;
  return table;
}

}  // namespace

void add_measured_blocks(const MeasuredReport& measured, const HostOverheadReport& report,
                         Section& section) {
  section.blocks.push_back(measured_facts(measured));
  section.blocks.push_back(beside_table(measured, report));
  section.blocks.push_back(differences_table(measured));
  section.blocks.push_back(matching_table(measured));
  section.blocks.push_back(guarded_table(measured));
}

}  // namespace assay
