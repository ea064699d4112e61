#include "diff/gate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/time_units.h"

namespace assay {
namespace {

Error bad_gate(std::string_view text, const std::string& why) {
  return Error{ErrorCode::kInvalidArgument,
               "--fail-on '" + std::string(text) + "': " + why +
                   "; write a metric, > or <, and a limit: tklqt>+10%, time>+50us, kernels>+0, "
                   "hdbi<0.5",
               "", -1};
}

std::string without_spaces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t') out += c;
  }
  return out;
}

std::string list_metrics(const DiffReport& report) {
  std::string list;
  for (const DiffMetric& metric : report.metrics) {
    list += (list.empty() ? "" : ", ") + metric.key;
  }
  return list;
}

const DiffMetric* find_metric(const DiffReport& report, const std::string& name) {
  for (const DiffMetric& metric : report.metrics) {
    if (metric.key == name || metric.key == name + "_ns") return &metric;
  }
  return nullptr;
}

// Length of "12", "0.5", "1e3" at the start; 0 = no number.
size_t number_length(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789.eE"), text.size());
}

bool beyond(double value, GateOp op, double limit) {
  switch (op) {
    case GateOp::kAbove:
      return value > limit;
    case GateOp::kAtLeast:
      return value >= limit;
    case GateOp::kBelow:
      return value < limit;
    case GateOp::kAtMost:
      break;
  }
  return value <= limit;
}

bool upward(GateOp op) { return op == GateOp::kAbove || op == GateOp::kAtLeast; }

Status check_unit(const Gate& gate, const DiffMetric& metric) {
  const bool is_time = metric.unit == DiffUnit::kNanoseconds;
  if (gate.limit == GateLimit::kRelativeChange) return Ok{};
  if (gate.percent && metric.unit != DiffUnit::kShare) {
    return bad_gate(gate.text, "a level of " + metric.key +
                                   " is not a percentage; a change has a sign, as in +10%");
  }
  if (is_time && gate.unit.empty() && gate.value != 0) {
    return bad_gate(gate.text, metric.key + " is a time: give ns, us, ms or s");
  }
  if (!is_time && !gate.unit.empty()) {
    return bad_gate(gate.text, metric.key + " is not a time: give no unit");
  }
  return Ok{};
}

const ChangeInterval& interval_of(const DiffMetric& metric, GateLimit limit) {
  if (limit == GateLimit::kLevel) return metric.b_interval;
  return limit == GateLimit::kChange ? metric.interval : metric.share_interval;
}

// Outcome for a value beyond its limit: crossed only if the whole interval is beyond it.
GateOutcome with_noise(const Gate& gate, const ChangeInterval& interval) {
  if (!interval.known) return GateOutcome::kUndecided;
  const double nearest = upward(gate.op) ? interval.low : interval.high;
  return beyond(nearest, gate.op, gate.value) ? GateOutcome::kCrossed : GateOutcome::kWithinNoise;
}

GateResult check_gate(const Gate& gate, const DiffMetric& metric, bool any) {
  GateResult result;
  result.gate = gate;
  result.metric = metric.key;
  result.unit = metric.unit;
  result.a = metric.a;
  result.b = metric.b;
  result.limit = gate.value;
  result.interval = interval_of(metric, gate.limit);
  result.value = gate.limit == GateLimit::kRelativeChange ? metric.change_share
                 : gate.limit == GateLimit::kChange       ? metric.change
                                                          : metric.b;
  // A change from 0 exceeds any percentage.
  if (gate.limit == GateLimit::kRelativeChange && metric.a == 0 && std::isfinite(metric.b)) {
    result.value = metric.b == 0 ? 0 : std::copysign(HUGE_VAL, metric.b);
  }
  if (std::isnan(result.value)) {
    result.outcome = GateOutcome::kNoValue;
  } else if (!beyond(result.value, gate.op, gate.value)) {
    result.outcome = GateOutcome::kPassed;
  } else {
    result.outcome = any ? GateOutcome::kCrossed : with_noise(gate, result.interval);
  }
  return result;
}

}  // namespace

std::string_view gate_outcome_name(GateOutcome outcome) {
  switch (outcome) {
    case GateOutcome::kPassed:
      return "passed";
    case GateOutcome::kCrossed:
      return "crossed";
    case GateOutcome::kWithinNoise:
      return "within_noise";
    case GateOutcome::kUndecided:
      return "undecided";
    case GateOutcome::kNoValue:
      break;
  }
  return "no_value";
}

Result<Gate> parse_gate(std::string_view text) {
  const std::string packed = without_spaces(text);
  const size_t op_at = packed.find_first_of("<>");
  if (op_at == std::string::npos) return bad_gate(text, "no comparison in it");
  Gate gate;
  gate.text = std::string(text);
  gate.metric = packed.substr(0, op_at);
  if (gate.metric.empty()) return bad_gate(text, "no metric in it");
  size_t at = op_at + 1;
  const bool with_equal = at < packed.size() && packed[at] == '=';
  if (with_equal) ++at;
  gate.op = packed[op_at] == '>' ? (with_equal ? GateOp::kAtLeast : GateOp::kAbove)
                                 : (with_equal ? GateOp::kAtMost : GateOp::kBelow);
  double sign = 0;
  if (at < packed.size() && (packed[at] == '+' || packed[at] == '-')) {
    sign = packed[at++] == '+' ? 1 : -1;
  }
  const std::string_view rest = std::string_view(packed).substr(at);
  const size_t digits = number_length(rest);
  double number = 0;
  if (digits == 0 || !parse_double(rest.substr(0, digits), number) || !std::isfinite(number)) {
    return bad_gate(text, "no number after the comparison");
  }
  gate.unit = std::string(rest.substr(digits));
  gate.percent = gate.unit == "%";
  if (gate.percent) gate.unit.clear();
  gate.limit = sign == 0      ? GateLimit::kLevel
               : gate.percent ? GateLimit::kRelativeChange
                              : GateLimit::kChange;
  gate.value = (sign == 0 ? 1 : sign) * number / (gate.percent ? 100 : 1);
  if (gate.unit.empty()) return gate;
  const double unit_ns = time_unit_ns(gate.unit);
  if (unit_ns == 0) return bad_gate(text, "'" + gate.unit + "' is not a unit: ns, us, ms, s or %");
  gate.value *= unit_ns;
  return gate;
}

Result<std::vector<GateResult>> check_gates(const std::vector<Gate>& gates,
                                            const DiffReport& report, bool any) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    const DiffMetric* metric = find_metric(report, gate.metric);
    if (metric == nullptr) {
      return bad_gate(gate.text, "no metric '" + gate.metric + "' on both sides; there are " +
                                     list_metrics(report));
    }
    ASSAY_TRY(check_unit(gate, *metric));
    results.push_back(check_gate(gate, *metric, any));
  }
  return results;
}

}  // namespace assay
