#include "report/throughput/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/decimal.h"
#include "base/numbers.h"
#include "report/throughput/results.h"

namespace assay {
namespace {

// Numbers of rows such that the answer fits into twenty lines.
constexpr size_t kSureRows = 3;
constexpr size_t kLikelyRows = 2;

struct PlanRow {
  const PlanCandidate& is;
  const PlanSetup& setup;
  const GpuOffer& offer;
  bool sure = false;
};

std::vector<PlanRow> rows_of(const PlanReport& report) {
  std::vector<PlanRow> rows;
  const auto add = [&](const std::vector<PlanCandidate>& from, bool sure) {
    for (const PlanCandidate& one : from) {
      const PlanSetup& setup = report.plan.setups[one.setup];
      rows.push_back({one, setup, report.question.offers[setup.offer], sure});
    }
  };
  add(report.plan.sure, true);
  add(report.plan.likely, false);
  return rows;
}

bool has_prices(const PlanReport& report) {
  return std::any_of(report.question.offers.begin(), report.question.offers.end(),
                     [](const GpuOffer& offer) { return offer.usd_per_hour > 0; });
}

// "vllm fp4 tp4 ep4"
std::string setup_text(const PlanSetup& setup) {
  BenchVariant variant = setup.row.variant;
  variant.version.clear();
  const std::string words = variant.text();
  std::string text = setup.row.framework + (words.empty() ? "" : " " + words);
  std::erase(text, ',');
  return text;
}

// "3 × 2 b200_sxm vllm fp4": replicas × GPUs per replica.
std::string plan_text(const PlanCandidate& one, const PlanSetup& setup, const GpuOffer& offer) {
  return fmt::format("{} × {:g} {} {}", one.replicas, setup.row.devices, offer.name,
                     setup_text(setup));
}

std::string cost_text(const PlanCandidate& one) {
  if (one.usd_per_hour > 0) return fmt::format("${:.2f} an hour", one.usd_per_hour);
  return one.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", one.gpus);
}

const char* question_words(LatencyQuestion question) {
  switch (question) {
    case LatencyQuestion::kOtherCampaign:
      return "it has rows";
    case LatencyQuestion::kConfiguration:
      return "no row has this precision or split";
    case LatencyQuestion::kModel:
      return "no row ran this model there";
    case LatencyQuestion::kNewModel:
      return "no row ran this model";
    case LatencyQuestion::kHardware:
      return "GPU and engine have no rows together";
  }
  return "";
}

// On held-out benchmark runs, 95.7 % of the plans predicted with at least 90 % met their limits
// (docs/measured/throughput_latency.md). Higher confidence has not been validated.
constexpr double kNoSurer = 0.95;

std::string sure_words(double probability) {
  return probability > kNoSurer ? "> 95 %" : fmt::format("{:.0f} %", 100 * probability);
}

// The unmeasured part of a setup, as a short text.
const char* new_words(LatencyQuestion question) {
  switch (question) {
    case LatencyQuestion::kOtherCampaign:
      return "run";
    case LatencyQuestion::kConfiguration:
      return "setup";
    case LatencyQuestion::kModel:
    case LatencyQuestion::kNewModel:
      return "model";
    case LatencyQuestion::kHardware:
      return "GPU";
  }
  return "";
}

Facts asked_facts(const PlanReport& report) {
  const PlanQuestion& q = report.question;
  return Facts{
      .items = {fact(keys::model, q.model), fact(keys::ii, q.in_len), fact(keys::oo, q.out_len),
                fact(keys::rate_per_s, q.per_s), fact(keys::ttft_limit_ms, q.ttft_ms),
                fact(keys::tpot_limit_ms, q.tpot_ms), fact(keys::percentile, q.percentile),
                fact(keys::goal, q.confidence), fact(keys::arrival_variation, q.variation),
                fact(keys::most_load, report.plan.most_load),
                fact(keys::fitted_rows, report.latencies.rows()),
                fact(keys::campaigns, report.latencies.campaigns()),
                fact(keys::builds, report.latencies.builds()),
                fact(keys::miss_correlation, report.latencies.correlation())},
      .show = Show::kDataOnly};
}

Table plans_table(const PlanReport& report, const std::vector<PlanRow>& rows) {
  TableOf table(rows, {.key = "plans", .terminal_limit = 0, .show = Show::kDataOnly});
  using R = PlanRow;
  table.add(keys::grade, [](const R& r) { return r.sure ? "sure" : "likely"; })
      .add(keys::probability, [](const R& r) { return r.is.probability; })
      .add(keys::hw, [](const R& r) { return r.offer.name; })
      .add(keys::n, [](const R& r) { return r.setup.row.devices; })
      .add(keys::replicas, [](const R& r) { return r.is.replicas; })
      .add(keys::plan_gpus, [](const R& r) { return r.is.gpus; })
      .add(keys::fw, [](const R& r) { return r.setup.row.framework; })
      .add(keys::variant, [](const R& r) { return r.setup.row.variant.text(); })
      .add(keys::usd_per_hour,
           [&](const R& r) { return has_prices(report) ? Value(r.is.usd_per_hour) : Value(); })
      .add(keys::question, [](const R& r) { return latency_question_name(r.setup.question); })
      .add(keys::interval, [](const R& r) { return r.setup.measured ? "measured" : "assumed"; })
      .add(keys::status, [](const R& r) { return prediction_status_name(r.setup.status); })
      .add(keys::sibling, [](const R& r) { return r.setup.sibling; })
      .add(keys::by_sheet, [](const R& r) { return r.setup.by_sheet; })
      .add(keys::ttft_percentile_ms, [](const R& r) { return r.is.at.ttft_percentile_ms; })
      .add(keys::tpot_percentile_ms, [](const R& r) { return r.is.at.tpot_percentile_ms; })
      .add(keys::in_flight, [](const R& r) { return r.is.at.in_flight; })
      .add(keys::seats, [](const R& r) { return r.setup.seats; })
      .add(keys::load, [](const R& r) { return r.is.load; })
      .add(keys::tokens_per_s_per_gpu, [](const R& r) { return r.is.tokens_per_s_per_gpu; })
      .add(keys::tokens_per_usd, [](const R& r) { return r.is.tokens_per_usd; })
      .add(keys::joules_per_token, [](const R& r) { return r.is.joules_per_token; });
  return table;
}

Table readers_table(const PlanReport& report, const std::vector<PlanRow>& rows) {
  using R = PlanRow;
  TableOf table(rows, {.terminal_limit = 0, .show = Show::kReadersOnly});
  const Look right(Show::kEverywhere, false, Align::kRight);
  if (report.question.rank == PlanRank::kJoule)
    table.add(keys::joules_per_token, [](const R& r) { return r.is.joules_per_token; });
  if (has_prices(report)) {
    table.add(
        keys::usd_text, [](const R& r) { return fmt::format("{:.2f}", r.is.usd_per_hour); }, right);
  }
  if (!has_prices(report) || report.question.rank == PlanRank::kGpu)
    table.add(keys::plan_gpus, [](const R& r) { return r.is.gpus; });
  table
      .add(
          keys::plan_words, [](const R& r) { return plan_text(r.is, r.setup, r.offer); }, elastic())
      .add(
          keys::confidence_text, [](const R& r) { return sure_words(r.is.probability); }, right)
      .add(keys::new_values, [](const R& r) { return new_words(r.setup.question); })
      .add(keys::status, [](const R& r) { return prediction_status_name(r.setup.status); })
      .add(
          keys::ttft_text, [](const R& r) { return std::round(r.is.at.ttft_percentile_ms); }, right)
      .add(
          keys::tpot_text,
          [](const R& r) { return fmt::format("{:.1f}", r.is.at.tpot_percentile_ms); }, right);
  if (report.question.rank != PlanRank::kJoule) {
    table.add(
        keys::joules_per_token, [](const R& r) { return r.is.joules_per_token; }, Show::kPageOnly);
  }
  return table;
}

// The best plans of each kind; not all fit on a screen.
std::vector<PlanRow> first_rows(const std::vector<PlanRow>& rows) {
  std::vector<PlanRow> out;
  size_t sure = 0;
  size_t likely = 0;
  for (const PlanRow& row : rows) {
    size_t& count = row.sure ? sure : likely;
    if (++count <= (row.sure ? kSureRows : kLikelyRows)) out.push_back(row);
  }
  return out;
}

Table pareto_table(const PlanReport& report, Table head) {
  const Plan& plan = report.plan;
  using P = ParetoPoint;
  const auto setup = [&plan](const P& p) -> const PlanSetup& { return plan.setups[p.setup]; };
  TableOf table(plan.pareto, std::move(head));
  table.add(keys::tokens_per_s_per_user, &P::tokens_per_s_per_user)
      .add(keys::tokens_per_s_per_gpu, &P::tokens_per_s_per_gpu)
      .add(keys::low90, &P::low90)
      .add(keys::high90, &P::high90)
      .add(keys::hw, [&](const P& p) { return report.question.offers[setup(p).offer].name; })
      .add(keys::n, [&](const P& p) { return std::llround(setup(p).row.devices); })
      .add(keys::fw, [&](const P& p) { return setup(p).row.framework; })
      .add(keys::variant, [&](const P& p) { return setup(p).row.variant.text(); })
      .add(keys::question, [&](const P& p) { return latency_question_name(setup(p).question); })
      .add(keys::in_flight, [](const P& p) { return std::llround(p.in_flight); })
      .add(keys::usd_per_mtok, &P::usd_per_mtok)
      .add(keys::joules_per_token, &P::joules_per_token);
  return table;
}

// One curve per GPU, including GPUs that another one dominates.
Chart pareto_chart(const PlanReport& report) {
  Chart chart{.key = "pareto_chart",
              .title = "Throughput per GPU against speed per user",
              .caption =
                  "Output tokens, with 90 % intervals for a future benchmark run. Points beaten "
                  "in both by one of the same GPU are omitted. No rows: none under the engine.",
              .x = {"tokens/s per user (1000 / TPOT)", Unit::kCount, true},
              .y = {"tokens/s per GPU", Unit::kCount, true}};
  std::map<size_t, Series> by_offer;
  std::map<size_t, size_t> without_rows;
  for (const ParetoPoint& point : report.plan.pareto_by_gpu) {
    const PlanSetup& setup = report.plan.setups[point.setup];
    Series& series = by_offer[setup.offer];
    series.name = report.question.offers[setup.offer].name;
    without_rows[setup.offer] += setup.question == LatencyQuestion::kHardware;
    series.x.push_back(point.tokens_per_s_per_user);
    series.y.push_back(point.tokens_per_s_per_gpu);
    series.low.push_back(point.low90);
    series.high.push_back(point.high90);
    series.labels.push_back(fmt::format("{:g} × {}, {:g} in flight", setup.row.devices,
                                        setup_text(setup), point.in_flight));
  }
  for (auto& [offer, series] : by_offer) {
    if (without_rows[offer] == series.x.size())
      series.name += ", no rows";
    else if (without_rows[offer] > 0)
      series.name += ", partly no rows";
    series.mark = Mark::kLine;
    chart.series.push_back(std::move(series));
  }
  return chart;
}

struct Refusal {
  std::string why;
  size_t setups = 0;
  std::string example;
};

struct PlanKernel {
  LatencyTarget target;
  std::string name;
  double value = 0;
};

std::vector<PlanKernel> kernel_rows(const LatencyModel& latencies) {
  std::vector<PlanKernel> rows;
  for (const LatencyTarget target : kLearntLatencies) {
    const LatencyParameters& p = latencies.options().parameters[static_cast<size_t>(target)];
    for (size_t k = 0; k < kLatencyScales; ++k)
      rows.push_back({target, std::string(latency_scale_names()[k]), p.scale[k]});
    rows.push_back({target, "wide length", p.wide});
    rows.push_back({target, "narrow length", p.narrow});
  }
  return rows;
}

// "Ruled out: 72 setups for heads that do not divide, 2 for reaching beyond the rows." If nothing
// remains, includes the exact reasons.
std::string refused_words(const Plan& plan) {
  if (plan.refused.empty()) return "";
  std::string text;
  for (const auto& [why, refusal] : plan.refused) {
    const char* what = !text.empty() ? "" : refusal.setups == 1 ? " setup" : " setups";
    text += fmt::format("{}{}{} for {}", text.empty() ? "" : ", ", refusal.setups, what, why);
    if (plan.setups.empty() && !refusal.example.empty()) text += " (" + refusal.example + ")";
  }
  return "Ruled out: " + text + ".";
}

// GPUs with plans that do not fit on the screen, each with its best plan.
std::vector<std::string> plans_not_shown(const PlanReport& report) {
  const std::vector<PlanRow> rows = rows_of(report);
  std::set<const GpuOffer*> named;
  for (const PlanRow& row : first_rows(rows)) named.insert(&row.offer);
  std::string sure;
  std::string likely;
  for (const PlanRow& row : rows) {
    if (!named.insert(&row.offer).second) continue;
    std::string& list = row.sure ? sure : likely;
    list += fmt::format("{}{} for {}", list.empty() ? "" : ", ", row.offer.name, cost_text(row.is));
  }
  std::vector<std::string> words;
  if (!sure.empty()) words.push_back("Sure, too: " + sure + ".");
  if (!likely.empty()) words.push_back("Likely, too: " + likely + ".");
  return words;
}

// Why requested GPUs have no plan.
std::vector<std::string> silent_offers(const PlanReport& report) {
  const Plan& plan = report.plan;
  const size_t count = report.question.offers.size();
  std::vector<bool> has_setup(count, false);
  std::vector<bool> has_plan(count, false);
  for (const PlanSetup& setup : plan.setups) has_setup[setup.offer] = true;
  for (const auto* list : {&plan.sure, &plan.likely}) {
    for (const PlanCandidate& one : *list) has_plan[plan.setups[one.setup].offer] = true;
  }
  std::string ruled_out;
  std::string unlikely;
  for (size_t k = 0; k < count; ++k) {
    if (has_plan[k]) continue;
    std::string& names = has_setup[k] ? unlikely : ruled_out;
    names += (names.empty() ? "" : ", ") + report.question.offers[k].name;
    if (has_setup[k]) continue;
    std::string why;
    for (const auto& [reason, refusal] : plan.refused) {
      if (refusal.offers.count(k) > 0) why += (why.empty() ? "" : ", ") + reason;
    }
    if (!why.empty()) names += " (" + why + ")";
  }
  std::vector<std::string> words;
  if (!ruled_out.empty() && !plan.setups.empty())
    words.push_back("Not on " + ruled_out + ": every setup there is ruled out.");
  // If there is no plan at all, an earlier sentence says so.
  const bool any_plan = !plan.sure.empty() || !plan.likely.empty();
  if (!unlikely.empty() && any_plan)
    words.push_back("Not on " + unlikely + ": no setup there is likely to keep the limits" +
                    (plan.sure.empty() ? "." : " for less."));
  return words;
}

std::string rate_text(double per_s) {
  constexpr double kWhole = 1000;
  return per_s < kWhole ? rounded_text(per_s, 3)
                        : format_count(static_cast<int64_t>(std::llround(per_s)));
}

std::string limits_text(const PlanQuestion& q) {
  return fmt::format("TTFT {} ms and TPOT {} ms for {:g} % at {} requests/s",
                     format_count(static_cast<int64_t>(std::llround(q.ttft_ms))),
                     rounded_text(q.tpot_ms), 100 * q.percentile, rate_text(q.per_s));
}

// "an estimated 135 ms or more (90 % intervals begin at 11.6 ms, rows at 184 ms)". The lowest
// interval bound and the lowest estimate may belong to different setups.
std::string least_text(const ShortestLatency& shortest) {
  std::string text =
      fmt::format("an estimated {:.3g} ms or more (90 % intervals begin at {:.3g} ms",
                  shortest.estimate_ms, shortest.low90_ms);
  if (std::isfinite(shortest.measured_ms))
    text += fmt::format(", rows at {:.3g} ms", shortest.measured_ms);
  return text + ")";
}

// The limits that cannot be met.
std::string out_of_reach(const Plan& plan, const PlanQuestion& q) {
  if (plan.ttft.least_ms() > q.ttft_ms)
    return "one request alone waits " + least_text(plan.ttft) + " for its first token";
  if (plan.tpot.least_ms() > q.tpot_ms)
    return "one request alone takes " + least_text(plan.tpot) + " a token";
  if (plan.most_per_s < q.per_s)
    return fmt::format(
        "by the estimates all GPUs of an offer finish {} requests/s, whatever the limits",
        rate_text(plan.most_per_s));
  return fmt::format("the likeliest is {:.0f} % sure with all GPUs that may be rented",
                     100 * plan.best_probability);
}

}  // namespace

Section plan_section(const PlanReport& report) {
  Section section{.key = "throughput", .title = ""};
  const std::vector<PlanRow> rows = rows_of(report);
  const std::vector<PlanRow> few = first_rows(rows);
  std::vector<Refusal> refused;
  for (const auto& [why, refusal] : report.plan.refused)
    refused.push_back({why, refusal.setups, refusal.example});
  section.blocks.push_back(asked_facts(report));
  if (!few.empty()) section.blocks.push_back(readers_table(report, few));
  section.blocks.push_back(plans_table(report, rows));
  if (!report.plan.pareto.empty()) section.blocks.push_back(pareto_chart(report));
  section.blocks.push_back(
      pareto_table(report, {.title = "Capacity of one replica, at any rate",
                            .terminal_limit = 0,
                            .show = Show::kPageOnly}));
  section.blocks.push_back(
      pareto_table(report, {.key = "pareto", .terminal_limit = 0, .show = Show::kDataOnly}));
  TableOf refusals(refused, {.key = "refused", .terminal_limit = 0, .show = Show::kDataOnly});
  refusals.add(keys::reason, &Refusal::why)
      .add(keys::count, &Refusal::setups)
      .add(keys::error_example, &Refusal::example);
  section.blocks.push_back(refusals);
  const std::vector<PlanKernel> kernel = kernel_rows(report.latencies);
  TableOf parameters(kernel, {.key = "kernel", .terminal_limit = 0, .show = Show::kDataOnly});
  parameters.add(keys::latency, [](const PlanKernel& r) { return latency_target_name(r.target); })
      .add(keys::name, &PlanKernel::name)
      .add(keys::kernel_parameter, &PlanKernel::value);
  section.blocks.push_back(parameters);
  return section;
}

TrustNotes plan_trust(const PlanReport& report) {
  size_t wide = 0;
  size_t assumed = 0;
  size_t new_gpus = 0;
  const std::vector<PlanRow> rows = rows_of(report);
  for (const PlanRow& row : rows) {
    wide += row.setup.status == PredictionStatus::kWide;
    new_gpus += row.setup.question == LatencyQuestion::kHardware;
    assumed += !row.setup.measured && row.setup.question != LatencyQuestion::kHardware;
  }
  NoteList notes;
  notes.add("closed_loops", rows.size(), 0, "ttft_percentile_ms,probability",
            "TTFT is of closed loops: too long at low load, an order of magnitude near capacity");
  notes.add("wide_plans", wide, 0, "ttft_percentile_ms,tpot_percentile_ms",
            "intervals beyond twice the estimate: take the probability, not the latency");
  notes.add("gpus_without_rows", new_gpus, 0, "ttft_percentile_ms,tpot_percentile_ms,probability",
            "no measured row: analytical model and nearest GPU, in the order of data sheets, never "
            "sure. Its error: `evaluate --split latency`, line GPU");
  notes.add(
      "assumed_intervals", assumed, 0, "low90,high90",
      "too few benchmark runs or software versions for this question: their intervals are assumed");
  return notes.take();
}

std::vector<std::string> plan_words(const PlanReport& report) {
  const Plan& plan = report.plan;
  const PlanQuestion& q = report.question;
  // "9 × 2 h100_sxm" of the table in words.
  const auto named = [&](const PlanCandidate& one) {
    const PlanSetup& setup = plan.setups[one.setup];
    return fmt::format("{} of {:g} × {} with {}",
                       format_counted(one.replicas, "replica", "replicas"), setup.row.devices,
                       q.offers[setup.offer].name, setup_text(setup));
  };
  std::vector<std::string> words;
  if (plan.setups.empty()) {
    words.push_back("Nothing can be planned: every setup is ruled out.");
  } else if (!plan.sure.empty()) {
    const PlanCandidate& best = plan.sure.front();
    words.push_back(fmt::format("{} for {} {} {}, {} sure: {}.", named(best), cost_text(best),
                                best.replicas == 1 ? "keeps" : "keep", limits_text(q),
                                sure_words(best.probability),
                                question_words(plan.setups[best.setup].question)));
  } else if (plan.likely.empty()) {
    words.push_back(
        fmt::format("No setup is likely to keep {}: {}.", limits_text(q), out_of_reach(plan, q)));
  } else {
    words.push_back(fmt::format("No setup keeps {} with {:g} % certainty.", limits_text(q),
                                100 * q.confidence));
  }
  if (q.confidence > kNoSurer && !plan.sure.empty()) {
    words.push_back(fmt::format(
        "{:g} % is what the process says of itself: nothing above 95 % was ever measured.",
        100 * q.confidence));
  }
  if (plan.measure_next) {
    const PlanCandidate& one = plan.likely[*plan.measure_next];
    words.push_back(fmt::format("Measure next: {} for {}, {:.0f} % likely to do.", named(one),
                                cost_text(one), 100 * one.probability));
  }
  words.push_back(
      fmt::format("Trained on {} of {} and {}, predicted for {}.",
                  format_counted(report.latencies.rows(), "row", "rows"),
                  format_counted(report.latencies.campaigns(), "campaign", "campaigns"),
                  format_counted(report.latencies.builds(), "engine build", "engine builds"),
                  q.version.empty() ? "a build that none of them is (--engine-version)"
                                    : "a new run of build " + q.version));
  // If there is a plan, excluded setups are only in the JSON.
  const std::string refused = plan.sure.empty() ? refused_words(plan) : "";
  if (!refused.empty()) words.push_back(refused);
  for (std::string& text : plans_not_shown(report)) words.push_back(std::move(text));
  for (std::string& text : silent_offers(report)) words.push_back(std::move(text));
  return words;
}

}  // namespace assay
