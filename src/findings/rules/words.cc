#include "findings/rules/words.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace assay::findings {

std::string host_part_name(const RunFacts& f, FlowCause part) {
  const ProgramKind program = f.program.kind;
  switch (part) {
    case FlowCause::kDispatch:
      return program == ProgramKind::kPyTorch      ? "PyTorch dispatch"
             : program == ProgramKind::kJax        ? "the JAX runtime"
             : program == ProgramKind::kTensorFlow ? "the TensorFlow runtime"
                                                   : "the program's operators";
    case FlowCause::kPython:
      return "Python";
    case FlowCause::kCall:
      if (f.evidence.pageable_to_device_ns * 2 > f.idle(FlowCause::kCall)) {
        return "calls that copy from pageable memory";
      }
      return f.program.hip ? "HIP calls" : f.program.cuda ? "CUDA calls" : "runtime calls";
    case FlowCause::kHostGap:
      return "unrecorded host code";
    default:
      return "launch latency";
  }
}

bool names_second_part(const RunFacts& f) {
  constexpr double kPartNamed = 0.15;
  return share(f.idle(f.host_parts[1]), f.lost_to(BoundBy::kHost)) >= kPartNamed;
}

std::vector<FlowCause> shown_host_parts(const RunFacts& f) {
  std::vector<FlowCause> parts = f.host_parts;
  parts.resize(names_second_part(f) ? 2 : 1);
  return parts;
}

std::vector<std::string> host_part_names(const RunFacts& f) {
  std::vector<std::string> names;
  for (const FlowCause part : shown_host_parts(f)) {
    if (part != FlowCause::kLatency) names.push_back(host_part_name(f, part));
  }
  return names;
}

std::string first_name(const std::vector<TimeByName>& contributors) {
  for (const TimeByName& one : contributors) {
    if (!one.name.empty()) return one.name;
  }
  return "";
}

std::vector<std::string> names_or(const std::vector<TimeByName>& contributors,
                                  std::string otherwise) {
  std::vector<std::string> names;
  for (const TimeByName& one : contributors) {
    if (names.size() == 2) break;
    if (one.name.empty() || std::find(names.begin(), names.end(), one.name) != names.end()) {
      continue;
    }
    names.push_back(one.name);
  }
  if (names.empty()) names.push_back(std::move(otherwise));
  return names;
}

std::string resource_name(GainGroup group) {
  switch (group) {
    case GainGroup::kHost:
      return "the host";
    case GainGroup::kDevice:
      return "kernels";
    case GainGroup::kCopy:
      return "copies";
    case GainGroup::kMigration:
      return "page migration";
    case GainGroup::kComm:
      return "collectives";
    case GainGroup::kUnseen:
      return "unrecorded waits";
    case GainGroup::kOutside:
      return "external waits";
  }
  return "";
}

bool pytorch(const RunFacts& f) { return f.program.kind == ProgramKind::kPyTorch; }
bool replay_holds(const RunFacts& f) {
  return f.evidence.calls && f.misfit == Misfit::kNone && f.linked_share >= kLeastLinked;
}
bool uses_engine(const RunFacts& f) { return f.program.engine() != nullptr; }
bool edits_pytorch(const RunFacts& f) { return pytorch(f) && !uses_engine(f); }

bool insufficient(const RunFacts& f) {
  // A GPU that hardly idles leaves nothing for the host to explain.
  const bool busy_without_host = f.bottleneck == BoundBy::kNoHost &&
                                 f.too_little != TooLittle::kEnough &&
                                 f.total.idle_ns * 2 < f.total_ns;
  return f.bottleneck == BoundBy::kTooLittle || busy_without_host;
}

}  // namespace assay::findings
