// Problem: a service has a rate of requests and limits on TTFT and TPOT. Tables have closed loops,
// and the cheapest plan depends on the required confidence.
//
// Method: every GPU of the price list, times devices, engine, precision and layout, has a curve of
// TTFT and TPOT over requests in flight, with the processes' own errors. For each draw of the two
// errors, the smallest number of replicas is searched with a queue (queueing.h) that meets both
// limits. The share of draws for which a number is enough is the probability. Replicas share one
// draw, because the errors are common to all of them.
//
// Effect: predicted against actual success over held-out benchmark runs,
// docs/measured/throughput_latency.md.

#include "throughput/serving/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "base/decimal.h"
#include "base/numbers.h"
#include "throughput/physics.h"
#include "throughput/placement.h"
#include "throughput/serving/limits.h"

namespace assay {
namespace {

constexpr std::array<double, 9> kInFlight = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr double kLikely = 0.5;

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

// Data of the table on the requested model.
struct Asked {
  const ModelFacts* model = nullptr;
  std::string model_name;  // as in the question
  std::vector<std::string> engines;
  std::vector<std::string> precisions;
  std::map<std::string, std::vector<std::string>> versions;  // by engine
  std::string version;  // as written in rows; empty = not requested
  // Layouts that rows ran, by engine and devices.
  std::map<std::pair<std::string, double>, std::vector<std::optional<ParallelLayout>>> layouts;
};

void add_new(std::vector<std::string>& list, const std::string& name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Status check_wanted(const std::vector<std::string>& wanted, const std::vector<std::string>& known,
                    const char* what) {
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return invalid("no row ran the " + std::string(what) + " '" + name + "'; there are " +
                   list_of(known));
  }
  return Ok{};
}

bool has_version(const Asked& known, const std::string& engine) {
  const auto at = known.versions.find(engine);
  return at != known.versions.end() &&
         std::find(at->second.begin(), at->second.end(), known.version) != at->second.end();
}

// Versions of an engine in the rows: "vllm has v0.8.4, v0.9.1".
std::string versions_text(const Asked& known, const std::string& engine) {
  const auto at = known.versions.find(engine);
  return engine +
         (at == known.versions.end() ? " has no versions" : " has " + list_of(at->second));
}

// Fails if a requested engine has no rows of the version, or if no engine has.
Status check_version(const Asked& known, const std::vector<std::string>& wanted) {
  for (const std::string& engine : wanted) {
    if (has_version(known, engine)) continue;
    return invalid("no row ran '" + engine + "' in version '" + known.version + "'; " +
                   versions_text(known, engine));
  }
  std::string all;
  for (const auto& [engine, versions] : known.versions) {
    if (has_version(known, engine)) return Ok{};
    all += (all.empty() ? "" : "; ") + versions_text(known, engine);
  }
  return invalid("no row ran the engine version '" + known.version + "'" +
                 (all.empty() ? ": no row gives one" : "; " + all));
}

Result<Asked> look_up(const std::vector<BenchRow>& rows, const FactBook& facts,
                      const PlanQuestion& question) {
  Asked out;
  out.model = facts.model(question.model);
  if (out.model == nullptr) {
    return invalid("no specifications of the model '" + question.model +
                   "': add them with --specs FILE (assay throughput facts lists the known ones)");
  }
  out.model_name = question.model;
  FactLookup lookup(facts);
  Asked all;
  for (const BenchRow& row : rows) {
    // A row with implausible speed still shows that the model was served in a precision.
    if (tells_latency(row) && lookup.model(row.model) == out.model)
      add_new(out.precisions, row.variant.words);
    if (!teaches_latency(row, lookup)) continue;
    add_new(all.engines, row.framework);
    add_new(all.precisions, row.variant.words);
    if (!row.variant.version.empty()) add_new(out.versions[row.framework], row.variant.version);
    if (lookup.model(row.model) != out.model) continue;
    add_new(out.engines, row.framework);
    auto& layouts = out.layouts[{row.framework, row.devices}];
    if (std::find(layouts.begin(), layouts.end(), row.variant.layout) == layouts.end())
      layouts.push_back(row.variant.layout);
  }
  if (out.engines.empty()) out.engines = all.engines;
  if (out.precisions.empty()) out.precisions = all.precisions;
  ASSAY_TRY(check_wanted(question.engines, all.engines, "engine"));
  if (!question.version.empty()) {
    // Rows write "v0.9.1"; users may omit the v.
    out.version = question.version.front() == 'v' ? question.version : "v" + question.version;
    ASSAY_TRY(check_version(out, question.engines));
  }
  if (!question.engines.empty()) out.engines = question.engines;
  if (!question.precisions.empty()) out.precisions = question.precisions;
  std::sort(out.engines.begin(), out.engines.end());
  std::sort(out.precisions.begin(), out.precisions.end());
  return out;
}

Status check(const PlanQuestion& question, const FactBook& facts) {
  for (const double value :
       {question.in_len, question.out_len, question.ttft_ms, question.tpot_ms, question.per_s}) {
    if (!(value > 0) || !std::isfinite(value))
      return invalid("lengths, limits and the rate must be above 0");
  }
  if (question.offers.empty()) return invalid("no GPU to choose from");
  for (const GpuOffer& offer : question.offers) {
    if (facts.hardware(offer.name) == nullptr)
      return invalid("no specifications of the GPU '" + offer.name +
                     "': add them with --specs FILE");
  }
  return Ok{};
}

class Planner {
 public:
  Planner(const LatencyModel& latencies, const FactBook& facts, const PlanQuestion& question,
          const Asked& known)
      : latencies_(latencies), facts_(facts), question_(question), known_(known) {}

  Plan make(const std::vector<BenchRow>& rows) {
    plan_.most_load = most_load(question_.variation);
    for (size_t offer = 0; offer < question_.offers.size(); ++offer) list_setups(offer);
    draw_curves();
    note_measured(rows);
    for (size_t s = 0; s < plan_.setups.size(); ++s) count_replicas(s);
    choose();
    return std::move(plan_);
  }

 private:
  void refuse(size_t offer, const std::string& why, const std::string& example = "");
  void note_best(const PlanSetup& setup, const LatencyAnswer& alone);
  void note_measured(const std::vector<BenchRow>& rows);
  void list_setups(size_t offer);
  void add_setup(size_t offer, BenchRow row);
  void draw_curves();
  bool fill_curve(PlanSetup& setup, const std::vector<LatencyAnswer>& answers);
  void add_points(size_t index, const PlanSetup& setup, const std::vector<LatencyAnswer>& answers);
  uint32_t most_replicas(const PlanSetup& setup) const;
  uint32_t fewest_replicas(const PlanSetup& setup, const LatencyDraw& draw) const;
  void count_replicas(size_t setup);
  std::optional<PlanCandidate> candidate(size_t setup, uint32_t replicas, double probability) const;
  double cost(const PlanCandidate& one) const;
  bool better(const PlanCandidate& a, const PlanCandidate& b) const;
  std::vector<PlanCandidate> best_of_each(std::vector<PlanCandidate> all) const;
  void choose();
  void keep_frontier();
  double watts(size_t offer) const;

  const LatencyModel& latencies_;
  const FactBook& facts_;
  const PlanQuestion& question_;
  const Asked& known_;
  Plan plan_;
  std::vector<PlanCandidate> sure_, likely_;
  std::vector<ParetoPoint> points_;
};

double Planner::watts(size_t offer) const {
  const GpuOffer& gpu = question_.offers[offer];
  if (gpu.watts > 0) return gpu.watts;
  const auto values = facts_.values("hardware", facts_.hardware(gpu.name)->name);
  const auto at = values.find("power_w");
  return at == values.end() ? kNan : at->second.value;
}

void Planner::refuse(size_t offer, const std::string& why, const std::string& example) {
  PlanRefusal& refusal = plan_.refused[why];
  ++refusal.setups;
  refusal.offers.insert(offer);
  refusal.example = example;
}

void Planner::list_setups(size_t offer) {
  const GpuOffer& gpu = question_.offers[offer];
  for (uint32_t n = 1; n <= gpu.per_node; ++n) {
    for (const std::string& engine : known_.engines) {
      std::vector<std::optional<ParallelLayout>> layouts = {std::nullopt};
      const auto measured = known_.layouts.find({engine, n});
      if (measured != known_.layouts.end()) {
        for (const auto& layout : measured->second) {
          if (layout) layouts.push_back(layout);
        }
      }
      for (const std::string& precision : known_.precisions) {
        for (const auto& layout : layouts) {
          BenchRow row;
          row.hardware = gpu.name;
          row.framework = engine;
          row.model = known_.model_name;
          row.devices = n;
          row.in_len = question_.in_len;
          row.out_len = question_.out_len;
          row.batch = 1;
          row.variant.words = precision;
          row.variant.layout = layout;
          row.variant.version = known_.version;
          settle_precision(row);
          add_setup(offer, std::move(row));
        }
      }
    }
  }
}

void Planner::add_setup(size_t offer, BenchRow row) {
  if (!known_.version.empty() && !has_version(known_, row.framework))
    return refuse(offer, "an engine without rows of that version",
                  versions_text(known_, row.framework));
  const HardwareFacts& hardware = *facts_.hardware(row.hardware);
  const Placement placement = placement_of(row, *known_.model, hardware);
  if (placement.seats < 1) {
    const std::string cache = placement.free_gb > 0
                                  ? " and " + rounded_text(placement.sequence_gb, 3) +
                                        " GB of keys and values of one request"
                                  : "";
    return refuse(offer, "memory",
                  "weights of " + rounded_text(placement.weights_gb, 3) + " GB" + cache + " in " +
                      rounded_text(placement.memory_gb, 3) + " GB of " + rounded_text(row.devices) +
                      " " + row.hardware);
  }
  const auto problems = placement_problems(row, *known_.model, hardware);
  if (!problems.empty()) return refuse(offer, "heads that do not divide", problems.front());
  if (!peak_is_known(row, hardware) && row.precision.units != MatrixUnits::k16Bit)
    return refuse(offer, "a precision without units", row.variant.words + " on " + row.hardware);
  const double context = known_.model->context;
  if (context > 0 && row.in_len + row.out_len > context) {
    return refuse(offer, "the model's context",
                  rounded_text(context) + " tokens, and prompt and answer have " +
                      rounded_text(row.in_len + row.out_len));
  }
  PlanSetup setup;
  setup.row = std::move(row);
  setup.offer = offer;
  setup.seats = static_cast<size_t>(std::min(placement.seats, kInFlight.back()));
  plan_.setups.push_back(std::move(setup));
}

void Planner::draw_curves() {
  std::vector<BenchRow> asked;
  for (const PlanSetup& setup : plan_.setups) {
    for (const double in_flight : kInFlight) {
      asked.push_back(setup.row);
      asked.back().batch = in_flight;
    }
  }
  const auto answers = latencies_.answer(asked);
  std::vector<PlanSetup> kept;
  for (size_t s = 0; s < plan_.setups.size(); ++s) {
    std::vector<LatencyAnswer> curve;
    for (size_t k = 0; k < kInFlight.size(); ++k)
      curve.push_back(*answers[s * kInFlight.size() + k]);
    PlanSetup& setup = plan_.setups[s];
    if (!fill_curve(setup, curve)) continue;
    add_points(kept.size(), setup, curve);
    note_best(setup, curve.front());
    kept.push_back(std::move(setup));
  }
  plan_.setups = std::move(kept);
}

void Planner::note_best(const PlanSetup& setup, const LatencyAnswer& alone) {
  const auto lower = [](double& least, double ms) {
    if (least == 0 || ms < least) least = ms;
  };
  for (auto [floor, target] : {std::pair{&plan_.ttft, LatencyTarget::kTtft},
                               std::pair{&plan_.tpot, LatencyTarget::kTpot}}) {
    lower(floor->estimate_ms, alone.at(target).ms);
    lower(floor->low90_ms, alone.at(target).low90_ms);
  }
  plan_.most_per_s = std::max(plan_.most_per_s,
                              most_replicas(setup) * plan_.most_load * capacity_per_s(setup.loop));
}

// Measured latencies bound the estimates, because a longer prompt takes no less time.
void Planner::note_measured(const std::vector<BenchRow>& rows) {
  FactLookup lookup(facts_);
  std::set<const HardwareFacts*> offered;
  for (const GpuOffer& offer : question_.offers) offered.insert(lookup.hardware(offer.name));
  for (const BenchRow& row : rows) {
    if (!teaches_latency(row, lookup) || lookup.model(row.model) != known_.model ||
        offered.count(lookup.hardware(row.hardware)) == 0 || row.in_len < question_.in_len)
      continue;
    plan_.ttft.measured_ms =
        std::min(plan_.ttft.measured_ms, measured_ms(row, LatencyTarget::kTtft));
    plan_.tpot.measured_ms =
        std::min(plan_.tpot.measured_ms, measured_ms(row, LatencyTarget::kTpot));
  }
}

// Fills in TTFT and TPOT with 1, 2, 3, ... in flight, interpolated between the answers in
// logarithms. Returns false if the setup is rejected.
bool Planner::fill_curve(PlanSetup& setup, const std::vector<LatencyAnswer>& answers) {
  setup.question = answers.front().question;
  if (setup.question == LatencyQuestion::kHardware && answers.front().sibling.empty()) {
    refuse(setup.offer, "an engine without rows on any GPU of the vendor",
           setup.row.framework + " on " + setup.row.hardware);
    return false;
  }
  setup.sibling = answers.front().sibling;
  if (question_.measured_only && setup.question != LatencyQuestion::kOtherCampaign) {
    refuse(setup.offer, "having no rows");
    return false;
  }
  // Uses the curve up to the first point beyond the rows.
  size_t reached = 0;
  while (reached < answers.size() && !answers[reached].beyond_rows()) ++reached;
  if (reached == 0) {
    refuse(setup.offer, "reaching beyond the rows", answers.front().reasons.back());
    return false;
  }
  setup.seats = std::min(setup.seats, static_cast<size_t>(kInFlight[reached - 1]));
  setup.measured = answers.front().measured;
  const LatencyAnswer& middle = answers[reached / 2];
  setup.status = middle.at(LatencyTarget::kEndToEnd).status;
  setup.by_sheet = middle.by_sheet;
  setup.ttft_log_sd = middle.at(LatencyTarget::kTtft).log_sd;
  setup.tpot_log_sd = middle.at(LatencyTarget::kTpot).log_sd;
  setup.loop.out_len = question_.out_len;
  const auto between = [&answers](LatencyTarget target, double in_flight) {
    size_t k = 0;
    while (k + 2 < kInFlight.size() && kInFlight[k + 1] < in_flight) ++k;
    const double part =
        std::log(in_flight / kInFlight[k]) / std::log(kInFlight[k + 1] / kInFlight[k]);
    return std::exp((1 - part) * std::log(answers[k].at(target).ms) +
                    part * std::log(answers[k + 1].at(target).ms));
  };
  for (size_t k = 1; k <= setup.seats; ++k) {
    setup.loop.ttft_ms.push_back(between(LatencyTarget::kTtft, static_cast<double>(k)));
    setup.loop.tpot_ms.push_back(between(LatencyTarget::kTpot, static_cast<double>(k)));
  }
  return true;
}

// Adds Pareto points up to the setup's maximum concurrency. index: of the setup among the kept
// ones.
void Planner::add_points(size_t index, const PlanSetup& setup,
                         const std::vector<LatencyAnswer>& answers) {
  for (size_t k = 0; k < kInFlight.size() && kInFlight[k] <= static_cast<double>(setup.seats);
       ++k) {
    const LatencyEstimate& e2e = answers[k].at(LatencyTarget::kEndToEnd);
    const double tokens = kInFlight[k] * question_.out_len * 1000;  // times ms
    const auto per_gpu = [&](double ms) { return tokens / ms / setup.row.devices; };
    ParetoPoint point;
    point.setup = index;
    point.in_flight = kInFlight[k];
    point.tokens_per_s_per_user = 1000 / answers[k].at(LatencyTarget::kTpot).ms;
    point.tokens_per_s_per_gpu = per_gpu(e2e.ms);
    point.low90 = per_gpu(e2e.high90_ms);
    point.high90 = per_gpu(e2e.low90_ms);
    const double usd = question_.offers[setup.offer].usd_per_hour;
    point.usd_per_mtok = usd > 0 ? usd / (point.tokens_per_s_per_gpu * 3600) * 1e6 : kNan;
    point.joules_per_token = watts(setup.offer) / point.tokens_per_s_per_gpu;
    points_.push_back(point);
  }
}

uint32_t Planner::most_replicas(const PlanSetup& setup) const {
  const GpuOffer& gpu = question_.offers[setup.offer];
  uint32_t gpus = gpu.per_node * gpu.nodes;
  if (question_.max_gpus > 0) gpus = std::min(gpus, question_.max_gpus);
  return gpus / static_cast<uint32_t>(setup.row.devices);
}

// Smallest number of replicas that meets the limits under this draw; 0 if all available GPUs are
// not enough.
uint32_t Planner::fewest_replicas(const PlanSetup& setup, const LatencyDraw& draw) const {
  ClosedLoop loop = setup.loop;
  for (double& ms : loop.ttft_ms) ms *= draw.ttft_factor;
  for (double& ms : loop.tpot_ms) ms *= draw.tpot_factor;
  const RateLimits limits{question_.ttft_ms, question_.tpot_ms, question_.percentile};
  const auto enough = [&](uint32_t replicas) {
    return keeps_limits(loop, question_.per_s / replicas, limits, question_.variation);
  };
  uint32_t high = most_replicas(setup);
  if (high == 0 || loop.ttft_ms.front() > limits.ttft_ms || loop.tpot_ms.front() > limits.tpot_ms ||
      !enough(high))
    return 0;
  uint32_t low = 0;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

void Planner::count_replicas(size_t index) {
  const PlanSetup& setup = plan_.setups[index];
  std::map<uint32_t, double> weight;
  for (const LatencyDraw& draw :
       latency_draws(setup.ttft_log_sd, setup.tpot_log_sd, latencies_.correlation())) {
    const uint32_t replicas = fewest_replicas(setup, draw);
    if (replicas > 0) weight[replicas] += draw.weight;
  }
  double probability = 0;
  bool had_likely = false;
  for (const auto& [replicas, of] : weight) {
    probability += of;
    plan_.best_probability = std::max(plan_.best_probability, probability);
    // Confidence is unknown for a GPU without rows.
    const bool may_be_sure = setup.question != LatencyQuestion::kHardware;
    if (may_be_sure && probability >= question_.confidence) {
      if (auto one = candidate(index, replicas, probability)) sure_.push_back(*one);
      return;
    }
    if (probability < kLikely || had_likely) continue;
    had_likely = true;
    if (auto one = candidate(index, replicas, probability)) likely_.push_back(*one);
  }
}

std::optional<PlanCandidate> Planner::candidate(size_t index, uint32_t replicas,
                                                double probability) const {
  const PlanSetup& setup = plan_.setups[index];
  const auto at =
      at_rate(setup.loop, question_.per_s / replicas, question_.percentile, question_.variation);
  if (!at) return std::nullopt;
  PlanCandidate out;
  out.setup = index;
  out.replicas = replicas;
  out.gpus = replicas * static_cast<uint32_t>(setup.row.devices);
  out.usd_per_hour = out.gpus * question_.offers[setup.offer].usd_per_hour;
  out.probability = probability;
  out.at = *at;
  out.load = question_.per_s / replicas / capacity_per_s(setup.loop);
  const double tokens = question_.per_s * question_.out_len;
  out.tokens_per_s_per_gpu = tokens / out.gpus;
  out.tokens_per_usd = out.usd_per_hour > 0 ? tokens * 3600 / out.usd_per_hour : kNan;
  out.joules_per_token = out.gpus * watts(setup.offer) / tokens;
  return out;
}

double Planner::cost(const PlanCandidate& one) const {
  switch (question_.rank) {
    case PlanRank::kDollar:
      if (one.usd_per_hour > 0) return one.usd_per_hour;
      return one.gpus;
    case PlanRank::kGpu:
      return one.gpus;
    case PlanRank::kJoule:
      return one.joules_per_token;
    case PlanRank::kUser:
      return one.at.tpot_percentile_ms;
  }
  return 0;
}

bool Planner::better(const PlanCandidate& a, const PlanCandidate& b) const {
  const double cost_a = cost(a);
  const double cost_b = cost(b);
  if (cost_a != cost_b) return cost_a < cost_b;
  if (a.probability != b.probability) return a.probability > b.probability;
  return a.setup < b.setup;
}

std::vector<PlanCandidate> Planner::best_of_each(std::vector<PlanCandidate> all) const {
  std::sort(all.begin(), all.end(),
            [this](const PlanCandidate& a, const PlanCandidate& b) { return better(a, b); });
  std::vector<PlanCandidate> out;
  std::set<std::tuple<size_t, std::string, std::string>> seen;
  for (const PlanCandidate& one : all) {
    const PlanSetup& setup = plan_.setups[one.setup];
    if (seen.emplace(setup.offer, setup.row.framework, setup.row.variant.words).second)
      out.push_back(one);
  }
  return out;
}

void Planner::choose() {
  plan_.sure = best_of_each(sure_);
  plan_.likely = best_of_each(likely_);
  if (!plan_.sure.empty()) {
    const PlanCandidate& best = plan_.sure.front();
    std::erase_if(plan_.likely, [&](const PlanCandidate& one) { return cost(one) >= cost(best); });
    double most = 0;
    for (size_t k = 0; k < plan_.likely.size(); ++k) {
      const PlanCandidate& one = plan_.likely[k];
      const double saves = (cost(best) - cost(one)) * one.probability;
      if (saves <= most) continue;
      most = saves;
      plan_.measure_next = k;
    }
  } else if (!plan_.likely.empty()) {
    plan_.measure_next = 0;
  }
  keep_frontier();
}

void Planner::keep_frontier() {
  std::sort(points_.begin(), points_.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
    return std::tie(b.tokens_per_s_per_user, b.tokens_per_s_per_gpu) <
           std::tie(a.tokens_per_s_per_user, a.tokens_per_s_per_gpu);
  });
  double most = 0;
  std::map<size_t, double> most_of;
  for (const ParetoPoint& point : points_) {
    double& of_gpu = most_of[plan_.setups[point.setup].offer];
    if (point.tokens_per_s_per_gpu > of_gpu) plan_.pareto_by_gpu.push_back(point);
    of_gpu = std::max(of_gpu, point.tokens_per_s_per_gpu);
    if (point.tokens_per_s_per_gpu <= most) continue;
    most = point.tokens_per_s_per_gpu;
    plan_.pareto.push_back(point);
  }
}

}  // namespace

Result<Plan> make_plan(const LatencyModel& latencies, const std::vector<BenchRow>& rows,
                       const FactBook& facts, const PlanQuestion& question) {
  ASSAY_TRY(check(question, facts));
  ASSAY_TRY_ASSIGN(const Asked known, look_up(rows, facts, question));
  return Planner(latencies, facts, question, known).make(rows);
}

}  // namespace assay
