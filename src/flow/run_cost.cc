#include "flow/run_cost.h"

#include <algorithm>

namespace assay {
namespace {

constexpr double kHourNs = 3600e9;

RunCost cost_of(const GpuPrice& price, const Ends90& run_ns, const Ends90& gain, uint32_t gpus) {
  const auto usd = [&](double ns) { return ns / kHourNs * gpus * price.usd_per_hour; };
  return {.gpu = price.card,
          .usd_per_hour = price.usd_per_hour,
          .watts = price.watts,
          .usd = {usd(run_ns.low), usd(run_ns.middle), usd(run_ns.high)},
          .usd_for_hour = {price.usd_per_hour / gain.high, price.usd_per_hour / gain.middle,
                           price.usd_per_hour / gain.low},
          .joule_at_most = run_ns.high / 1e9 * gpus * price.watts};
}

void add_tokens(const OutputTokens& tokens, RunCost& cost) {
  const auto least = static_cast<double>(tokens.least);
  const auto most = static_cast<double>(tokens.most);
  if (least <= 0) return;
  constexpr double kMillion = 1e6;
  cost.usd_per_mtok = {cost.usd.low / most * kMillion,
                       cost.usd.middle / ((least + most) / 2) * kMillion,
                       cost.usd.high / least * kMillion};
}

}  // namespace

const GpuPrice* find_price(const std::vector<GpuPrice>& prices, const std::string& card) {
  const auto found = std::find_if(prices.begin(), prices.end(),
                                  [&](const GpuPrice& price) { return price.card == card; });
  return card.empty() || found == prices.end() ? nullptr : &*found;
}

std::vector<RunCost> run_costs(const OtherGpus& found, const std::vector<GpuPrice>& prices,
                               std::optional<OutputTokens> tokens) {
  std::vector<RunCost> costs;
  if (found.refusal != EditRefusal::kNone) return costs;
  // Prices are for whole cards, not for parts of one.
  const std::string& recorded = found.recorded.part.empty() ? found.recorded.card : std::string();
  if (const GpuPrice* price = find_price(prices, recorded)) {
    costs.push_back(cost_of(*price, found.now_ns, {1, 1, 1}, found.gpu_count));
    costs.back().recorded = true;
  }
  for (const RunOnGpu& gpu : found.gpus) {
    const GpuPrice* price = find_price(prices, gpu.roof.card);
    // The recorded GPU is listed already.
    if (price == nullptr || !gpu.has_time() || gpu.change == GpuChange::kNone) continue;
    costs.push_back(cost_of(*price, gpu.run_ns, gpu.gain, found.gpu_count));
    costs.back().gpu = gpu.gpu.name;
    costs.back().has_middle = gpu.has_middle;
  }
  for (RunCost& cost : costs) {
    if (tokens) add_tokens(*tokens, cost);
  }
  return costs;
}

}  // namespace assay
