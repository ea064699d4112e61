#include "devices/device.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "devices/simulated.h"

namespace assay {

Result<std::unique_ptr<PowerDevice>> open_device(const std::string& text, uint64_t seed) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon < text.size() ? text.substr(colon + 1) : "";
  if (kind == "simulated") {
    ASSAY_TRY_ASSIGN(const SimulatedKnobs knobs, parse_simulated_knobs(rest));
    return std::unique_ptr<PowerDevice>(make_simulated_device(seed, knobs));
  }
  return Error{ErrorCode::kInvalidArgument,
               "no device '" + text + "': write auto, nvidia:0, amd:0 or simulated", "", -1};
}

}  // namespace assay
