#include "report/run/floor.h"

#include "report/document/results.h"
#include "report/run/results.h"

#include <string>

namespace assay {

Value floor_value(const LaunchFloor& floor) {
  return floor.known() ? Value(floor.floor_ns) : Value();
}

Facts floor_facts(const LaunchFloor& floor, Show show) {
  return {.key = "floor",
          .title = "Launch floor",
          .items = {fact(keys::floor_ns, floor_value(floor), floor.text),
                    data_fact(keys::source, std::string(floor_source_name(floor.source))),
                    data_fact(keys::samples, floor.samples), data_fact(keys::text, floor.text)},
          .show = show};
}

}  // namespace assay
