#include "throughput/method.h"

namespace assay {

std::string_view prediction_status_name(PredictionStatus status) {
  switch (status) {
    case PredictionStatus::kInside:
      return "inside";
    case PredictionStatus::kOutside:
      return "outside";
    case PredictionStatus::kNoAnswer:
      return "no answer";
  }
  return "";
}

}  // namespace assay
