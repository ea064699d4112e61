#pragma once

// Cost of the run and an upper bound on its energy, on the recorded GPU and on others.

#include <optional>
#include <string>
#include <vector>

#include "flow/other_gpu.h"
#include "flow/serving.h"

namespace assay {

// Price and power of a GPU, by its section of the specifications.
struct GpuPrice {
  std::string card;
  double usd_per_hour = 0;
  double watts = 0;  // maximum; 0 = unknown
};

// Null if `card` is empty or has no price.
const GpuPrice* find_price(const std::vector<GpuPrice>& prices, const std::string& card);

struct RunCost {
  std::string gpu;  // as the price list names it
  bool recorded = false;
  bool has_middle = true;
  double usd_per_hour = 0;
  double watts = 0;  // 0 = unknown
  Ends90 usd;        // cost of the run on all its GPUs
  // Cost of the work that one recorded GPU does in an hour. Both runs have the same host, so the
  // interval is narrower than that of `usd`.
  Ends90 usd_for_hour;
  double joule_at_most = 0;  // 0 = unknown
  Ends90 usd_per_mtok = {};  // per million output tokens; 0 = tokens are unknown

  bool has_tokens() const { return usd_per_mtok.high > 0; }
};

// The recorded GPU first if it has a price, then the other GPUs that have a time and a price, as
// asked. None if no replay was made. `tokens` are those of the run on all its GPUs, if known.
std::vector<RunCost> run_costs(const OtherGpus& found, const std::vector<GpuPrice>& prices,
                               std::optional<OutputTokens> tokens = {});

}  // namespace assay
