#include "report/flow/other_gpu.h"

#include <cmath>
#include <limits>
#include <utility>

#include "findings/other_gpu.h"
#include "report/breakdown/results.h"
#include "report/flow/results.h"
#include "report/flow/whatif.h"
#include "report/overhead/results.h"
#include "report/run/results.h"
#include "report/throughput/results.h"
#include "text/message.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kLongestSentence = 2000;

Value ns_or_null(bool known, double ns) { return known ? whole_ns(ns) : Value(); }
Value ratio_or_null(bool known, double ratio) { return known ? finite_value(ratio) : Value(); }

std::string card_name(const RunOnGpu& gpu) {
  return gpu.roof.card.empty() ? gpu.gpu.name : gpu.roof.card;
}

Facts on_facts(const OtherGpus& found) {
  const bool replayed = found.refusal == EditRefusal::kNone;
  const bool host_known = replayed && found.host_known();
  const auto ratio = [host_known](double value) { return ratio_or_null(host_known, value); };
  const auto other_host = [&found](double value) {
    return ratio_or_null(found.host.source == HostPaceSource::kLike, value);
  };
  Facts facts{.key = "on", .show = Show::kDataOnly};
  facts.items = {
      fact(keys::host, text_or_null(host_known ? host_pace_name(found.host.source) : "")),
      fact(keys::host_pace, ratio(found.host.middle)),
      fact(keys::host_pace_low, ratio(found.host.low)),
      fact(keys::host_pace_high, ratio(found.host.high)),
      fact(keys::host_like, text_or_null(found.host.other.recording)),
      fact(keys::host_like_ratio, other_host(found.host.other.middle)),
      fact(keys::host_like_ratio_low, other_host(found.host.other.low)),
      fact(keys::host_like_ratio_high, other_host(found.host.other.high)),
      fact(keys::recorded_ns, found.recorded_ns),
      fact(keys::run_ns, ns_or_null(replayed, found.now_ns.middle)),
      fact(keys::bound_gain, ratio(found.bound_gain.middle)),
      fact(keys::bound_gain_low, ratio(found.bound_gain.low)),
      fact(keys::bound_gain_high, ratio(found.bound_gain.high)),
      fact(keys::knee, ratio(found.knee)),
      fact(keys::slack_5_percent, ratio(found.slack_5_percent)),
      fact(keys::known_share, ratio_or_null(replayed, found.known_share)),
      fact(keys::unlinked_share, finite_value(found.unlinked_share)),
      fact(keys::reserved_bytes, found.reserved_bytes < 0 ? Value() : Value(found.reserved_bytes)),
      fact(keys::refused, text_or_null(edit_refusal_word(found.refusal)))};
  return facts;
}

Column factor_column(const char* key, const char* title, Show show = Show::kEverywhere) {
  return {.key = key, .title = title, .unit = Unit::kRatio, .show = show};
}

Table gpus_table(const OtherGpus& found) {
  const auto binds_known = [&found](const RunOnGpu& gpu) {
    return gpu.has_time() && found.host_known();
  };
  using G = RunOnGpu;
  TableOf table(
      found.gpus,
      {.key = "on.gpus", .title = "The run on other GPUs: 90 % intervals", .terminal_limit = 0});
  const auto at = [](Ends90 G::*bracket, double Ends90::*end) {
    return [bracket, end](const G& gpu) {
      const bool known = gpu.has_time() && (end != &Ends90::middle || gpu.has_middle);
      return known ? gpu.*bracket.*end : std::numeric_limits<double>::quiet_NaN();
    };
  };
  const auto ratio = [&at](Ends90 G::*bracket, double Ends90::*end) {
    return [value = at(bracket, end)](const G& gpu) { return finite_value(value(gpu)); };
  };
  const auto ns = [&at](double Ends90::*end) {
    return [value = at(&G::run_ns, end)](const G& gpu) { return whole_ns(value(gpu)); };
  };
  table
      .add(
          keys::gpu, [](const G& gpu) { return card_name(gpu); }, Show::kDataOnly)
      .add_named({.key = "gpu_asked", .title = "GPU", .elastic = true, .show = Show::kReadersOnly},
                 [](const G& gpu) { return gpu.gpu.name; })
      .add(
          keys::change,
          [](const G& gpu) {
            return gpu.missing.empty() ? Value(std::string(gpu_change_name(gpu.change))) : Value();
          },
          Show::kDataOnly)
      .add_named(factor_column("kernels", "kernels \u00D7"), ratio(&G::kernels, &Ends90::middle))
      .add(keys::kernels_low, ratio(&G::kernels, &Ends90::low), Show::kDataOnly)
      .add(keys::kernels_high, ratio(&G::kernels, &Ends90::high), Show::kDataOnly)
      .add(keys::run_ns, ns(&Ends90::middle))
      .add_named({.key = "run_low_ns", .title = "from", .unit = Unit::kNanoseconds},
                 ns(&Ends90::low))
      .add_named({.key = "run_high_ns", .title = "to", .unit = Unit::kNanoseconds},
                 ns(&Ends90::high))
      .add(keys::gain, ratio(&G::gain, &Ends90::middle))
      .add(keys::gain_low, ratio(&G::gain, &Ends90::low))
      .add(keys::gain_high, ratio(&G::gain, &Ends90::high))
      .add_named({.key = "binds_shown", .title = "binds", .show = Show::kReadersOnly},
                 [binds_known](const G& gpu) {
                   if (!binds_known(gpu)) return std::string(gpu.fits ? "?" : "too small");
                   return std::string(gpu.host_binds ? "host" : "GPU") +
                          (gpu.binds_sure ? "" : "?");
                 })
      .add(
          keys::binds,
          [binds_known](const G& gpu) {
            return binds_known(gpu) ? Value(gpu.host_binds ? "host" : "GPU") : Value();
          },
          Show::kDataOnly)
      .add(
          keys::binds_sure,
          [binds_known](const G& gpu) { return binds_known(gpu) ? Value(gpu.binds_sure) : Value(); },
          Show::kDataOnly)
      .add(
          keys::fits_memory,
          [&found](const G& gpu) {
            return found.reserved_bytes >= 0 && gpu.missing.empty() ? Value(gpu.fits) : Value();
          },
          Show::kDataOnly)
      .add(
          keys::no_unit_for,
          [](const G& gpu) {
            Value::List types;
            for (const auto& [type, time_ns] : gpu.lacking_ns) types.push_back(type);
            return Value(std::move(types));
          },
          Show::kDataOnly)
      .add(
          keys::lacks, [](const G& gpu) { return text_or_null(gpu.missing); }, Show::kDataOnly)
      .add(
          keys::known_share,
          [](const G& gpu) { return gpu.has_time() ? finite_value(gpu.known_share) : Value(); },
          Show::kDataOnly);
  return table;
}

struct FamilyOnGpu {
  std::string gpu;
  FamilyScale of;
};

Table families_table(const std::vector<FamilyOnGpu>& rows) {
  using F = FamilyOnGpu;
  TableOf table(rows, {.key = "on.families", .show = Show::kDataOnly});
  table.add(keys::gpu, [](const F& row) { return row.gpu; })
      .add(keys::family, [](const F& row) { return std::string(scale_family_name(row.of.family)); })
      .add(keys::was_ns, [](const F& row) { return row.of.was_ns; })
      .add(keys::ns, [](const F& row) { return whole_ns(row.of.ns); })
      .add(keys::low_ns, [](const F& row) { return whole_ns(row.of.low_ns); })
      .add(keys::high_ns, [](const F& row) { return whole_ns(row.of.high_ns); })
      .add(keys::ramp_share, [](const F& row) { return row.of.ramp; })
      .add(keys::compute_part, [](const F& row) { return row.of.compute; })
      .add(keys::memory_part, [](const F& row) { return row.of.memory; });
  return table;
}

Column priced_gpu_column() {
  return {.key = "gpu_priced", .title = "GPU", .elastic = true, .show = Show::kReadersOnly};
}
std::string priced_gpu(const RunCost& cost) {
  return cost.gpu + (cost.recorded ? " (recorded)" : "");
}

// For readers: the data are in the table of costs.
Table token_costs_table(const std::vector<RunCost>& costs) {
  using C = RunCost;
  const bool any = !costs.empty() && costs.front().has_tokens();
  TableOf table(costs, {.key = "",
                        .title = "Cost of a million output tokens: 90 % intervals",
                        .terminal_limit = 0,
                        .show = any ? Show::kReadersOnly : Show::kDataOnly});
  table.add_named(priced_gpu_column(), priced_gpu)
      .add(keys::usd_per_mtok,
           [](const C& cost) {
             return cost.has_middle ? finite_value(cost.usd_per_mtok.middle) : Value();
           })
      .add(keys::usd_per_mtok_low, [](const C& cost) { return cost.usd_per_mtok.low; })
      .add(keys::usd_per_mtok_high, [](const C& cost) { return cost.usd_per_mtok.high; });
  return table;
}

Table costs_table(const std::vector<RunCost>& costs) {
  using C = RunCost;
  TableOf table(costs, {.key = "on.costs",
                        .title = "Cost: 90 % intervals, and the most energy",
                        .terminal_limit = 0,
                        .show = costs.empty() ? Show::kDataOnly : Show::kEverywhere});
  const auto known = [](bool has, double value) { return has ? finite_value(value) : Value(); };
  table
      .add(
          keys::gpu, [](const C& cost) { return cost.gpu; }, Show::kDataOnly)
      .add_named(priced_gpu_column(), priced_gpu)
      .add(
          keys::recorded_gpu, [](const C& cost) { return cost.recorded; }, Show::kDataOnly)
      .add(keys::usd_per_gpu_hour, [](const C& cost) { return cost.usd_per_hour; })
      .add(keys::usd_for_hour,
           [known](const C& cost) { return known(cost.has_middle, cost.usd_for_hour.middle); })
      .add(keys::usd_for_hour_low, [](const C& cost) { return cost.usd_for_hour.low; })
      .add(keys::usd_for_hour_high, [](const C& cost) { return cost.usd_for_hour.high; })
      .add(
          keys::usd, [known](const C& cost) { return known(cost.has_middle, cost.usd.middle); },
          Show::kDataOnly)
      .add(
          keys::usd_low, [](const C& cost) { return cost.usd.low; }, Show::kDataOnly)
      .add(
          keys::usd_high, [](const C& cost) { return cost.usd.high; }, Show::kDataOnly)
      .add(
          keys::usd_per_mtok,
          [known](const C& cost) {
            return known(cost.has_tokens() && cost.has_middle, cost.usd_per_mtok.middle);
          },
          Show::kDataOnly)
      .add(
          keys::usd_per_mtok_low,
          [known](const C& cost) { return known(cost.has_tokens(), cost.usd_per_mtok.low); },
          Show::kDataOnly)
      .add(
          keys::usd_per_mtok_high,
          [known](const C& cost) { return known(cost.has_tokens(), cost.usd_per_mtok.high); },
          Show::kDataOnly)
      .add(keys::watts_at_most,
           [known](const C& cost) { return known(cost.watts > 0, cost.watts); })
      .add(keys::joule_at_most,
           [known](const C& cost) { return known(cost.watts > 0, cost.joule_at_most); });
  return table;
}

}  // namespace

std::vector<std::string> other_gpu_words(const OtherGpuAnswer& answer) {
  const OtherGpus& found = answer.found;
  if (found.refusal != EditRefusal::kNone) {
    Edit refused;
    refused.refusal = found.refusal;
    return {"No replay is possible: " + refusal_words(refused, answer.report) + "."};
  }
  std::vector<std::string> words;
  for (const findings::Finding& finding : findings::other_gpu_findings(found)) {
    std::string sentence = text::message(finding, kLongestSentence);
    const bool continues = !words.empty() && finding.code == findings::Code::kOnKernels;
    if (continues) {
      words.back() += " " + std::move(sentence);
    } else {
      words.push_back(std::move(sentence));
    }
  }
  if (const auto cost = findings::cost_finding(answer.costs)) {
    const bool after_headline = words.size() > 1;
    words.insert(words.begin() + (after_headline ? 1 : 0), text::message(*cost, kLongestSentence));
  }
  return words;
}

Section other_gpu_section(const OtherGpuAnswer& answer) {
  const OtherGpus& found = answer.found;
  std::vector<FamilyOnGpu> families;
  for (const RunOnGpu& gpu : found.gpus) {
    for (const FamilyScale& of : gpu.families) families.push_back({card_name(gpu), of});
  }
  return {.key = "whatif",
          .title = "On other GPUs",
          .blocks = {on_facts(found), gpus_table(found), costs_table(answer.costs),
                     token_costs_table(answer.costs), families_table(families)}};
}

Section other_gpu_section_with_words(const OtherGpuAnswer& answer) {
  Section section = other_gpu_section(answer);
  section.with_answer = true;
  section.blocks.insert(section.blocks.begin(),
                        Prose{.key = "headline", .paragraphs = other_gpu_words(answer)});
  return section;
}

std::vector<Item> other_gpu_overview(const OtherGpus& found) {
  const bool replayed = found.refusal == EditRefusal::kNone;
  return {fact(keys::run_ns, ns_or_null(replayed, found.now_ns.middle)),
          fact(keys::bound_gain,
               ratio_or_null(replayed && found.host_known(), found.bound_gain.middle))};
}

std::vector<std::string> run_score_words(const RunScoreAnswer& answer) {
  const FrozenGpu& gpu = answer.gpu;
  const MeasuredRun& measured = answer.score.measured;
  const findings::ScoredRun scored{.gpu = gpu.card,
                                   .predicted_ns = gpu.run_ns,
                                   .low_ns = gpu.low_ns,
                                   .high_ns = gpu.high_ns,
                                   .measured_ns = measured.ns,
                                   .measured_low_ns = measured.low_ns,
                                   .measured_high_ns = measured.high_ns,
                                   .signed_error = answer.score.signed_error,
                                   .as_recorded = answer.prediction.as_recorded,
                                   .held = answer.score.held,
                                   .program_known = answer.program_known};
  std::vector<std::string> words;
  for (const findings::Finding& finding : findings::scored_run_findings(scored)) {
    words.push_back(text::message(finding, kLongestSentence));
  }
  return words;
}

Section run_score_section(const RunScoreAnswer& answer) {
  const FrozenGpu& gpu = answer.gpu;
  const RunScore& score = answer.score;
  const bool kept = answer.prediction.as_recorded;
  const Value inside = score.held ? Value(*score.held) : Value();
  return {.key = "score",
          .title = "Prediction and result",
          .blocks = {Facts{
              .items = {data_fact(keys::tool_version, answer.prediction.tool_version),
                        fact(keys::gpu, gpu.card),
                        data_fact(keys::host,
                                  std::string(host_pace_name(kept ? HostPaceSource::kRecorded
                                                                  : HostPaceSource::kUntraced))),
                        fact(keys::run_ns, gpu.run_ns > 0 ? Value(gpu.run_ns) : Value()),
                        fact(keys::run_low_ns, gpu.low_ns), fact(keys::run_high_ns, gpu.high_ns),
                        fact(keys::after_measured_ns, score.measured.ns),
                        data_fact(keys::after_measured_low_ns, score.measured.low_ns),
                        data_fact(keys::after_measured_high_ns, score.measured.high_ns),
                        fact(keys::error_share, finite_value(score.signed_error)),
                        data_fact(keys::in_interval, inside)}}}};
}

}  // namespace assay
