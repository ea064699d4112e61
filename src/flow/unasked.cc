#include "flow/unasked.h"

#include "flow/build.h"
#include "flow/flow.h"

namespace assay {

void leave_unasked(const std::vector<Interval>& spans, FlowModel& model) {
  if (spans.empty()) return;
  for (const Interval& span : spans) mark_unasked(span, model.run);
  model.graph = make_flow_graph(model.run);
}

}  // namespace assay
