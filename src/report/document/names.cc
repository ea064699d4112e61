#include "report/document/names.h"

namespace assay {

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "none";
    case Unit::kText:
      return "text";
    case Unit::kState:
      return "state";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kCount:
      return "count";
    case Unit::kShare:
      return "share";
    case Unit::kRatio:
      return "ratio";
    case Unit::kBytes:
      return "bytes";
    case Unit::kPerSecond:
      return "rate";
    case Unit::kBytesPerSecond:
      return "byte_rate";
    case Unit::kWatts:
      return "watts";
    case Unit::kJoules:
      return "joules";
  }
  return "none";
}

const char* mark_name(Mark mark) {
  switch (mark) {
    case Mark::kLine:
      return "line";
    case Mark::kSteps:
      return "steps";
    case Mark::kPoints:
      return "points";
    case Mark::kBars:
      return "bars";
    case Mark::kStackedBars:
      return "stacked";
  }
  return "line";
}

}  // namespace assay
