#include "answers/other_gpu.h"

#include <array>
#include <optional>
#include <utility>

#include "answers/inputs/facts.h"
#include "answers/throughput/plan_files.h"

namespace assay {
namespace {

// Host time in ns that PyTorch's profiler adds per operator and call: high, median and low of
// recordings with a measured step without it (docs/measured/2026-11-26-nvidia-h200.md).
constexpr std::array<double, 3> kUsualRowCostNs = {6'300, 2'300, 300};

// The price of the specified GPU that a name in the price list refers to. Power comes from the
// list, else from the specifications.
Result<GpuPrice> price_of(const GpuOffer& offer, const FactBook& facts, const std::string& path) {
  const auto section = facts.section("hardware", offer.name);
  if (!section) return unknown_gpu("'" + offer.name + "'", path);
  GpuPrice price{.card = section->name, .usd_per_hour = offer.usd_per_hour, .watts = offer.watts};
  const auto values = facts.values("hardware", section->name);
  const auto power = values.find("power_w");
  if (price.watts == 0 && power != values.end()) price.watts = power->second.value;
  return price;
}

Result<std::vector<GpuPrice>> prices_of(const OtherGpuRequest& request, const FactBook& facts) {
  std::vector<GpuPrice> prices;
  if (request.prices.empty()) return prices;
  ASSAY_TRY_ASSIGN(const std::vector<GpuOffer> offers, read_prices(request.prices));
  std::string listed;
  for (const GpuOffer& offer : offers) {
    ASSAY_TRY_ASSIGN(GpuPrice price, price_of(offer, facts, request.prices));
    if (const GpuPrice* other = find_price(prices, price.card)) {
      const std::string& name = offers[static_cast<size_t>(other - prices.data())].name;
      return Error{ErrorCode::kFormat,
                   "'" + name + "' and '" + offer.name + "' are one GPU: one price a GPU",
                   request.prices, -1};
    }
    listed += (listed.empty() ? "" : ", ") + offer.name;
    prices.push_back(std::move(price));
  }
  for (const std::string& name : request.gpus) {
    if (find_price(prices, facts.section("hardware", name)->name) != nullptr) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "no price of " + name + ", which --on asks for; prices of: " + listed,
                 request.prices, -1};
  }
  return prices;
}

// Output tokens of the run. A job's engine counts those of all its GPUs, so they are unknown if the
// trace has only some of these.
std::optional<OutputTokens> tokens_of(const LoadedTrace& loaded, const FlowReport& report,
                                      const OtherGpus& found) {
  if (loaded.trace.distributed.world_size.value_or(1) > found.gpu_count) return std::nullopt;
  return output_tokens(report.serving.steps);
}

}  // namespace

bool OtherGpuRequest::lacks_gpus() const {
  const bool any =
      as_recorded || cpu_speed != 1 || link_gb_s > 0 || !like.empty() || !prices.empty();
  return any && gpus.empty();
}

Result<OtherGpuInputs> other_gpu_inputs(const OtherGpuRequest& request, const FactBook& facts,
                                        const std::string& device, const TraceRequest& traces) {
  OtherGpuInputs inputs{.roof = {&facts, device}};
  for (const std::string& name : request.gpus) {
    if (facts.values("hardware", name).empty()) return unknown_gpu("--on " + name);
  }
  ASSAY_TRY_ASSIGN(inputs.prices, prices_of(request, facts));
  if (!request.like.empty()) {
    ASSAY_TRY_ASSIGN(inputs.like, read_host_recording(request.like, traces));
  }
  return inputs;
}

std::optional<std::array<double, 3>> profiler_row_cost(const JudgedRun& judged,
                                                       const Untraced& untraced) {
  if (!judged.report.evidence.ops) return {};
  if (!untraced.told()) return kUsualRowCostNs;
  return {{static_cast<double>(untraced.row_cost_high_ns),
           static_cast<double>(untraced.row_cost_ns),
           static_cast<double>(untraced.row_cost_low_ns)}};
}

Result<OtherGpuFindings> find_other_gpus(const OtherGpuRequest& request,
                                         const OtherGpuInputs& inputs, const LoadedTrace& loaded,
                                         const FlowModel& model, const JudgedRun& judged,
                                         const Untraced& untraced) {
  OtherGpuOptions asked{.host = faster_host(request.cpu_speed), .roof = inputs.roof};
  if (!request.as_recorded) asked.row_cost_ns = profiler_row_cost(judged, untraced);
  asked.roof.replays = &judged.report.replays;
  if (inputs.like) {
    ASSAY_TRY_ASSIGN(asked.host, host_like(*inputs.like, host_recording(loaded)));
  }
  for (const std::string& name : request.gpus) {
    asked.gpus.push_back({.name = name, .link_bytes_per_s = request.link_gb_s * 1e9});
  }
  OtherGpuFindings found;
  found.gpus = explore_gpus(model, judged.iterations, judged.report, asked);
  found.costs = run_costs(found.gpus, inputs.prices, tokens_of(loaded, judged.report, found.gpus));
  return found;
}

}  // namespace assay
