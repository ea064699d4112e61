// The decomposition measured by replays, beside the trace's own.

#include <cmath>

#include "report/document/units.h"
#include "report/run/floor.h"
#include "report/tax/section.h"

namespace assay {
namespace {

double change(int64_t from, int64_t to) {
  return from > 0 ? static_cast<double>(to - from) / static_cast<double>(from) : std::nan("");
}

Item key_only(const char* key, Value value, Unit unit = Unit::kNone) {
  return {key, key, std::move(value), unit, "", Show::kDataOnly};
}

Facts measured_facts(const MeasuredReport& m) {
  constexpr Unit kNs = Unit::kNanoseconds;
  const TaxSums& s = m.sums;
  return {
      .key = "measured",
      .items = {key_only("n", s.n, Unit::kCount), key_only("n_launch", s.n_launch, Unit::kCount),
                key_only("t_py_ns", s.t_py_ns, kNs), key_only("dispatch_base_ns", m.base_ns, kNs),
                key_only("ft_dispatch_ns", s.ft_dispatch_ns, kNs), key_only("ft_ns", s.ft_ns, kNs),
                key_only("ct_ns", s.ct_ns, kNs), key_only("kt_ns", s.kt_ns, kNs),
                key_only("kt_fw_ns", s.kt_fw_ns, kNs), key_only("t_orch_ns", s.t_orch_ns, kNs),
                key_only("t_device_ns", s.t_device_ns, kNs), key_only("hdbi", s.hdbi, Unit::kRatio),
                key_only("floor_ns", floor_value(m.floor), kNs),
                key_only("floor_source", std::string(floor_source_name(m.floor.source)),
                         Unit::kText),
                key_only("entries", static_cast<uint64_t>(m.rows.size()), Unit::kCount),
                key_only("entries_found", m.entries_found, Unit::kCount),
                key_only("invocations_found", m.invocations_found, Unit::kCount),
                key_only("entries_unknown", m.entries_unknown, Unit::kCount)},
      .show = Show::kDataOnly};
}

// Both decompositions side by side, for readers.
Table beside_table(const MeasuredReport& m, const TaxReport& r) {
  Table table{.title = "Measured by replay, beside the trace alone",
              .columns = {{.key = "layer", .title = "layer", .unit = Unit::kText},
                          {.key = "measured", .title = "measured", .unit = Unit::kNanoseconds},
                          {.key = "trace", .title = "trace", .unit = Unit::kNanoseconds},
                          {.key = "change", .title = "difference", .unit = Unit::kShare},
                          {.key = "from", .title = "from", .unit = Unit::kText, .elastic = true}},
              .terminal_limit = 0,
              .show = Show::kReadersOnly};
  const TaxSums& a = m.sums;
  const TaxSums& b = r.whole.sums;
  const auto row = [&table](const char* layer, int64_t measured, int64_t traced, std::string from) {
    table.rows.push_back({layer, measured, traced, change(traced, measured), std::move(from)});
  };
  row("Python, T_Py", a.t_py_ns, b.t_py_ns, "trace, both");
  row("dispatch", a.ft_dispatch_ns, b.ft_dispatch_ns,
      m.base_ns ? "base " + format_ns(*m.base_ns) + ", replay" : std::string("no base"));
  row("library, ΔCT", a.ct_ns, b.ct_ns, "replay");
  row("launch floor, ΔKT", a.kt_ns, b.kt_ns, m.floor.text);
  row("T_Orch", a.t_orch_ns, b.t_orch_ns, "sum");
  row("ΔKT_fw", a.kt_fw_ns, b.kt_fw_ns, "replay; the trace's contains queueing");
  return table;
}

Table differences_table(const MeasuredReport& m) {
  Table table{
      .key = "measured_families",
      .title = "Difference per family",
      .columns = {{.key = "name", .title = "family", .unit = Unit::kText, .elastic = true},
                  {.key = "kernels", .title = "N", .unit = Unit::kCount},
                  {.key = "measured_kernels", .title = "replayed", .unit = Unit::kCount},
                  {.key = "measured_t_orch_ns", .title = "T_Orch", .unit = Unit::kNanoseconds},
                  {.key = "trace_t_orch_ns", .title = "trace", .unit = Unit::kNanoseconds},
                  {.key = "t_orch_change", .title = "difference", .unit = Unit::kShare},
                  {.key = "measured_launch_p50_ns",
                   .title = "launch p50",
                   .unit = Unit::kNanoseconds},
                  {.key = "trace_launch_p50_ns", .title = "trace", .unit = Unit::kNanoseconds}},
      .terminal_limit = 0};
  for (const FamilyDifference& f : m.families) {
    table.rows.push_back({f.name, f.kernels, f.measured_kernels, f.measured_t_orch_ns,
                          f.trace_t_orch_ns, change(f.trace_t_orch_ns, f.measured_t_orch_ns),
                          whole_ns(f.measured_launch_p50_ns), whole_ns(f.trace_launch_p50_ns)});
  }
  return table;
}

Table matching_table(const MeasuredReport& m) {
  Table table{.key = "measured_matching",
              .title = "How replayed kernels were found",
              .columns = {{.key = "tier", .title = "by", .unit = Unit::kText},
                          {.key = "entries", .title = "unique kernels", .unit = Unit::kCount},
                          {.key = "invocations", .title = "N", .unit = Unit::kCount}},
              .terminal_limit = 0};
  for (const MatchTier tier : {MatchTier::kSignature, MatchTier::kExactName, MatchTier::kSubstring,
                               MatchTier::kMostFrequent, MatchTier::kNone}) {
    const auto at = static_cast<size_t>(tier);
    table.rows.push_back(
        {std::string(match_tier_name(tier)), m.tier_entries[at], m.tier_invocations[at]});
  }
  return table;
}

Table guarded_table(const MeasuredReport& m) {
  Table table{
      .key = "measured_guarded",
      .title = "Replays that were rejected as contaminated",
      .columns = {{.key = "name", .title = "replayed kernel", .unit = Unit::kText, .elastic = true},
                  {.key = "rule", .title = "rule", .unit = Unit::kText},
                  {.key = "kernels", .title = "N", .unit = Unit::kCount},
                  {.key = "replay_launch_ns", .title = "launch", .unit = Unit::kNanoseconds},
                  {.key = "replay_dispatch_ns", .title = "dispatch", .unit = Unit::kNanoseconds},
                  {.key = "used_dispatch_ns", .title = "taken as", .unit = Unit::kNanoseconds}}};
  for (const size_t index : m.guarded) {
    const MeasuredRow& row = m.rows[index];
    table.rows.push_back({row.candidate, row.guard, row.cost.invocations, row.replay_launch_ns,
                          row.replay_dispatch_ns, row.cost.t_dispatch_ns});
  }
  if (m.guarded.empty()) table.show = Show::kDataOnly;
  return table;
}

}  // namespace

void add_measured_blocks(const MeasuredReport& measured, const TaxReport& report,
                         Section& section) {
  section.blocks.push_back(measured_facts(measured));
  section.blocks.push_back(beside_table(measured, report));
  section.blocks.push_back(differences_table(measured));
  section.blocks.push_back(matching_table(measured));
  section.blocks.push_back(guarded_table(measured));
}

}  // namespace assay
