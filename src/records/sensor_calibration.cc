#include "records/sensor_calibration.h"

namespace assay {

std::string_view response_kind_name(ResponseKind kind) {
  switch (kind) {
    case ResponseKind::kBoxcar:
      return "boxcar";
    case ResponseKind::kExponential:
      return "exponential";
    case ResponseKind::kNotTold:
      break;
  }
  return "not_told_apart";
}

}  // namespace assay
