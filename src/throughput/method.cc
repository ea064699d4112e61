#include "throughput/method.h"

namespace assay {

std::string_view prediction_status_name(PredictionStatus status) {
  switch (status) {
    case PredictionStatus::kInside:
      return "inside";
    case PredictionStatus::kWide:
      return "wide";
    case PredictionStatus::kOutside:
      return "outside";
    case PredictionStatus::kNoAnswer:
      return "no answer";
  }
  return "";
}

PredictionStatus prediction_status(bool outside, double half_width90) {
  if (outside) return PredictionStatus::kOutside;
  return half_width90 > kWidestInside ? PredictionStatus::kWide : PredictionStatus::kInside;
}

}  // namespace assay
