#include "report/flow/untraced.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "findings/causes.h"
#include "report/flow/results.h"
#include "report/flow/section.h"
#include "report/flow/whatif.h"
#include "report/run/results.h"
#include "text/units.h"

namespace assay {
namespace {

struct GainRow {
  std::string edit;
  int64_t recorded_ns = 0;
  std::optional<int64_t> ns = {};
  std::optional<int64_t> low_ns = {};
  std::optional<int64_t> high_ns = {};
};

int64_t scaled(int64_t ns, int64_t of, int64_t by) {
  if (by <= 0) return ns;
  return static_cast<int64_t>(static_cast<double>(ns) * static_cast<double>(of) /
                              static_cast<double>(by));
}

// The gain of the same change in the run without profiler overhead.
std::optional<int64_t> replayed_ns(const WhatIf& tried, const std::string& edit) {
  const Gain* gain = gain_in(&tried, edit);
  return gain == nullptr ? std::nullopt : std::optional(std::max<int64_t>(gain->run_ns, 0));
}

GainRow gain_row(const Untraced& untraced, const Lever& lever, const WhatIf* tried) {
  GainRow row{lever.edit, lever.gain_ns};
  if (!untraced.told() || lever.edit.empty()) return row;
  row.ns = tried != nullptr ? replayed_ns(*tried, lever.edit)
                            : scaled(lever.gain_ns, untraced.iteration_ns,
                                     untraced.recorded_iteration_ns);
  if (!row.ns) return row;
  row.low_ns = scaled(*row.ns, untraced.low_ns, untraced.iteration_ns);
  row.high_ns = scaled(*row.ns, untraced.high_ns, untraced.iteration_ns);
  return row;
}

Value if_told(const Untraced& untraced, int64_t ns) {
  return untraced.told() ? Value(ns) : Value();
}
Value word_or_null(std::string_view word) {
  return word.empty() ? Value() : Value(std::string(word));
}

}  // namespace

std::string untraced_words(const Untraced& untraced) {
  const std::string iteration = format_ns(untraced.iteration_ns);
  const std::string recorded = format_ns(untraced.recorded_iteration_ns);
  if (untraced.source == UntracedSource::kAnchor) {
    const std::string word =
        untraced.turned ? fmt::format(", {}", findings::bottleneck_word(untraced.recorded)) : "";
    return fmt::format("Times are of the run without its profiler: {} an iteration ({}), recorded {}{}.",
                       iteration, untraced.from, recorded, word);
  }
  if (untraced.source == UntracedSource::kEstimate && untraced.turned) {
    return "Times include the cost of the profiler; --untraced TIME removes it.";
  }
  if (untraced.refusal == UntracedRefusal::kSlower) {
    return fmt::format("{} takes {} an iteration without the profiler, {} with it: other work on the "
                       "machine? Times are as recorded.",
                       untraced.from, iteration, recorded);
  }
  if (untraced.refusal == UntracedRefusal::kOtherWork) {
    return fmt::format("No cost of recording explains {} an iteration ({}), recorded {}: other work? "
                       "Times are as recorded.",
                       iteration, untraced.from, recorded);
  }
  if (untraced.refusal == UntracedRefusal::kOutOfOrder) {
    return fmt::format(
        "Events would change order in {} an iteration ({}), recorded {}. Times are as "
        "recorded.",
        iteration, untraced.from, recorded);
  }
  return "";
}

Section untraced_section(const Untraced& untraced, const std::vector<Lever>& actions,
                         const WhatIf* tried, const std::vector<std::string>& headline) {
  std::string words;
  for (const std::string& sentence : headline) words += (words.empty() ? "" : " ") + sentence;
  Facts facts{
      .key = "",
      .items = {
          data_fact(keys::untraced_source, std::string(untraced_source_name(untraced.source))),
          data_fact(keys::untraced_refusal, word_or_null(untraced_refusal_name(untraced.refusal))),
          data_fact(keys::untraced_from, word_or_null(untraced.from)),
          data_fact(keys::untraced_iteration_ns, if_told(untraced, untraced.iteration_ns)),
          data_fact(keys::untraced_low_ns, if_told(untraced, untraced.low_ns)),
          data_fact(keys::untraced_high_ns, if_told(untraced, untraced.high_ns)),
          data_fact(keys::recorded_iteration_ns, untraced.recorded_iteration_ns > 0
                                                     ? Value(untraced.recorded_iteration_ns)
                                                     : Value()),
          data_fact(keys::row_cost_ns, if_told(untraced, untraced.row_cost_ns)),
          data_fact(keys::row_cost_low_ns, if_told(untraced, untraced.row_cost_low_ns)),
          data_fact(keys::row_cost_high_ns, if_told(untraced, untraced.row_cost_high_ns)),
          data_fact(keys::witness_ns,
                    untraced.witness_ns ? Value(*untraced.witness_ns) : Value()),
          data_fact(keys::rows_per_iteration, untraced.rows_per_iteration),
          data_fact(keys::untraced_bottleneck,
                    untraced.turned ? word_or_null(bound_by_word(*untraced.turned)) : Value()),
          data_fact(keys::untraced_headline, word_or_null(words))},
      .show = Show::kDataOnly};
  std::vector<GainRow> rows;
  for (const Lever& action : actions) rows.push_back(gain_row(untraced, action, tried));
  TableOf table(rows, {.key = "actions",
                       .title = "Gains without the profiler",
                       .show = Show::kDataOnly});
  table.add(keys::edit, &GainRow::edit)
      .add(keys::gain_ns, &GainRow::recorded_ns)
      .add(keys::gain_untraced_ns, &GainRow::ns)
      .add(keys::gain_untraced_low_ns, &GainRow::low_ns)
      .add(keys::gain_untraced_high_ns, &GainRow::high_ns);
  return {.key = "untraced", .title = "", .blocks = {std::move(facts), Table(table)}};
}

Section untraced_causes_section(const FlowTotals& total) {
  Section section{.key = "untraced",
                  .blocks = {causes_table(total, {.unsplit_ns = total.collective_ns})}};
  hide_from_readers(section);
  return section;
}

}  // namespace assay
