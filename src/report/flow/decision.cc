// The table of gains, as data.

#include <string>
#include <utility>
#include <vector>

#include "report/flow/results.h"
#include "report/flow/section.h"

namespace assay {
namespace {

struct ResourceRow {
  std::string resource;
  const GroupGain& gain;
};

struct HostPartRow {
  std::string part;
  int64_t gain_ns;
};

Facts decision_facts(const Decision& d) {
  const GainTable& table = d.table;
  const bool judged = d.relation != GainRelation::kNoGpu && d.relation != GainRelation::kNoHost;
  return {
      .key = "",
      .items = {data_fact(keys::relation, std::string(gain_relation_name(d.relation))),
                data_fact(keys::word, text_or_null(judged ? gain_group_name(d.word) : "")),
                data_fact(keys::narrow, text_or_null(judged ? narrow_host_name(d.narrow) : "")),
                data_fact(keys::second, text_or_null(judged ? gain_group_name(d.second) : "")),
                data_fact(keys::brief, d.brief), data_fact(keys::window_ns, table.window_ns()),
                data_fact(keys::no_device_ns, table.idle_ns),
                data_fact(keys::together_ns, d.together_ns),
                data_fact(keys::rest_ns, table.rest_ns),
                data_fact(keys::order_gain_ns, table.order_gain_ns),
                data_fact(keys::keep_ns, table.keep_ns), data_fact(keys::pin_ns, table.pin_ns),
                data_fact(keys::drop_ns, table.drop_ns), data_fact(keys::same_times, d.repeats)},
      .show = Show::kDataOnly};
}

Table resources_table(const GainTable& table) {
  std::vector<ResourceRow> rows;
  for (size_t g = 0; g < kGainGroups; ++g) {
    rows.push_back({std::string(gain_group_name(static_cast<GainGroup>(g))), table.groups[g]});
  }
  TableOf made(rows,
               {.key = "classes", .title = "Gain of each resource", .show = Show::kDataOnly});
  made.add(keys::resource, &ResourceRow::resource)
      .add(keys::gain_ns, [](const ResourceRow& row) { return row.gain.gain_ns; })
      .add(keys::gain_low_ns, [](const ResourceRow& row) { return row.gain.low_ns; })
      .add(keys::gain_high_ns, [](const ResourceRow& row) { return row.gain.high_ns; })
      .add(keys::only_ns, [](const ResourceRow& row) { return row.gain.only_ns; })
      .add(keys::share_ns, [](const ResourceRow& row) { return row.gain.share_ns; })
      .add(keys::all_pieces_ns, [](const ResourceRow& row) { return row.gain.total_ns; })
      .add(keys::pieces, [](const ResourceRow& row) { return row.gain.pieces.count; })
      .add(keys::half_in, [](const ResourceRow& row) { return row.gain.pieces.half_in; })
      .add(keys::median_piece_ns, [](const ResourceRow& row) { return row.gain.pieces.median_ns; })
      .add(keys::largest_piece_ns,
           [](const ResourceRow& row) { return row.gain.pieces.largest_ns; });
  return made;
}

Table host_parts_table(const GainTable& table) {
  std::vector<HostPartRow> rows;
  for (size_t p = 0; p < kHostParts; ++p) {
    rows.push_back({std::string(host_part_name(static_cast<HostPart>(p))), table.host_gain_ns[p]});
  }
  TableOf made(
      rows,
      {.key = "host_parts", .title = "Gain of each part of the host", .show = Show::kDataOnly});
  made.add(keys::host_part, &HostPartRow::part).add(keys::gain_ns, &HostPartRow::gain_ns);
  return made;
}

}  // namespace

Section decision_section(const Decision& decision) {
  return {.key = "diagnosis",
          .title = "",
          .blocks = {decision_facts(decision), resources_table(decision.table),
                     host_parts_table(decision.table)}};
}

}  // namespace assay
