#include "report/run/floor.h"

#include <string>

namespace assay {

Value floor_value(const LaunchFloor& floor) {
  return floor.known() ? Value(floor.floor_ns) : Value();
}

Facts floor_facts(const LaunchFloor& floor, Show show) {
  return {
      .key = "floor",
      .title = "Launch floor",
      .items = {{"floor_ns", "launch floor F", floor_value(floor), Unit::kNanoseconds, floor.text},
                {"source", "source", std::string(floor_source_name(floor.source)), Unit::kText, "",
                 Show::kDataOnly},
                {"samples", "samples", floor.samples, Unit::kCount, "", Show::kDataOnly},
                {"text", "source in words", floor.text, Unit::kText, "", Show::kDataOnly}},
      .show = show};
}

}  // namespace assay
