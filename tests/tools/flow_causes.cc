// Prints what flow/ says about traces, one JSON object a line: for tests/golden/check_flow.py.

#include <chrono>
#include <cstdio>
#include <string>

#include "base/json_string.h"
#include "flow/flow.h"
#include "flow/verdict.h"
#include "ingest/load.h"

namespace {

using namespace assay;

void member(const char* key, double value, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  char text[64];
  std::snprintf(text, sizeof(text), "%.17g", value);
  out += value == value ? text : "null";
}

void member(const char* key, int64_t value, std::string& out) {
  out += ",\"" + std::string(key) + "\":" + std::to_string(value);
}

void totals(const char* key, const FlowTotals& of, std::string& out) {
  out += ",\"" + std::string(key) + "\":{\"window_ns\":" + std::to_string(of.window_ns);
  member("compute_ns", of.compute_ns, out);
  member("collective_ns", of.collective_ns, out);
  member("copy_ns", of.copy_ns, out);
  member("idle_ns", of.idle_ns, out);
  out += ",\"causes\":{";
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (c > 0) out += ',';
    out += '"' + std::string(flow_cause_name(static_cast<FlowCause>(c))) +
           "\":" + std::to_string(of.cause_ns[c]);
  }
  out += "},\"opened\":{";
  for (size_t o = 0; o < kOpenings; ++o) {
    int64_t sum = 0;
    for (size_t c = 0; c < kFlowCauses; ++c) sum += of.opened_ns[c][o];
    if (o > 0) out += ',';
    out +=
        '"' + std::string(opened_by_name(static_cast<OpenedBy>(o))) + "\":" + std::to_string(sum);
  }
  out += "},\"evidence\":{";
  for (size_t e = 0; e < kEvidences; ++e) {
    int64_t sum = 0;
    for (size_t c = 0; c < kFlowCauses; ++c) sum += of.evidence_ns[c][e];
    if (e > 0) out += ',';
    out += '"' + std::string(evidence_name(static_cast<CauseEvidence>(e))) +
           "\":" + std::to_string(sum);
  }
  out += "}}";
}

std::string text_of(const Trace& trace, StringId id) {
  return id ? std::string(trace.text(id)) : std::string();
}

void print(const std::string& path) {
  const auto loaded = load_trace(path, {});
  if (!loaded) {
    std::printf("{\"file\":\"%s\",\"error\":true}\n", path.c_str());
    return;
  }
  const Trace& trace = *loaded;
  const Links links = link_trace(trace);
  const auto begin = std::chrono::steady_clock::now();
  const FlowReport report = make_flow_report(trace, links, {});
  const auto end = std::chrono::steady_clock::now();
  std::string out = "{\"file\":";
  append_json_string(path, out);
  member("seconds", std::chrono::duration<double>(end - begin).count(), out);
  member("base_time_ns", trace.base_time_ns, out);
  member("run_start_ns", report.run.start_ns, out);
  member("window_start_ns", report.window.start_ns, out);
  member("window_end_ns", report.window.end_ns, out);
  totals("total", report.total, out);
  totals("before", report.before, out);
  member("points", static_cast<int64_t>(report.fit.points), out);
  member("replay_mismatches", static_cast<int64_t>(report.fit.identity_errors), out);
  member("run_ns", report.fit.run_ns, out);
  member("model_error", report.fit.model_error, out);
  member("unexplained_share", report.fit.unexplained_share, out);
  member("cut_edges", static_cast<int64_t>(report.fit.cut_edges), out);
  member("hand_overs", static_cast<int64_t>(report.fit.hand_overs), out);
  member("recorded_waits", static_cast<int64_t>(report.evidence.recorded_waits), out);
  member("inferred_waits", static_cast<int64_t>(report.evidence.inferred_waits), out);
  member("works", static_cast<int64_t>(report.evidence.works), out);
  member("kernel_ns", report.evidence.kernel_ns, out);
  member("launch_limit_ns", report.floors.launch.limit_ns, out);
  member("stream_limit_ns", report.floors.stream.limit_ns, out);
  member("queue_depth", static_cast<int64_t>(report.floors.queue_depth), out);
  out += ",\"contributors\":[";
  bool first = true;
  for (const Contributor& c : report.contributors) {
    out += first ? "{\"cause\":" : ",{\"cause\":";
    first = false;
    append_json_string(flow_cause_name(c.cause), out);
    out += ",\"name\":";
    append_json_string(text_of(trace, c.name), out);
    out += ",\"within\":";
    append_json_string(text_of(trace, c.within_op ? c.within_op : c.within_frame), out);
    member("ns", c.ns, out);
    member("slices", static_cast<int64_t>(c.slices), out);
    out += '}';
  }
  out += ']';
  const FlowVerdict verdict = judge_flow(trace, report, {});
  out += ",\"cause\":\"" + std::string(bound_by_word(verdict.bound));
  out += "\",\"lever\":\"" + std::string(first_lever_word(verdict.lever));
  out += "\",\"detail\":\"" +
         (verdict.detail ? std::string(flow_cause_name(*verdict.detail)) : std::string()) + '"';
  if (verdict.steady_judged) {
    out += ",\"steady\":\"" + std::string(bound_by_word(verdict.steady_bound)) + '"';
  }
  member("mixed", int64_t{verdict.mixed}, out);
  member("borderline", static_cast<int64_t>(verdict.borderline), out);
  member("program", static_cast<int64_t>(verdict.program.kind), out);
  member("leading_share", verdict.leading_share, out);
  member("linked_share", verdict.linked_share, out);
  member("device_idle_share", verdict.device_idle_share, out);
  member("order_gain_ns", report.decision.table.order_gain_ns, out);
  out += ",\"lost\":[";
  for (const LostGroup& group : verdict.lost) {
    out += out.back() == '[' ? "{\"cause\":\"" : ",{\"cause\":\"";
    out += std::string(bound_by_word(group.bound)) + '"';
    member("ns", group.ns, out);
    out += '}';
  }
  out += "]}";
  std::puts(out.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) print(argv[i]);
  return 0;
}
