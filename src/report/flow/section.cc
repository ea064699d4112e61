#include "report/flow/section.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "text/units.h"
#include "report/flow/results.h"
#include "report/launch/results.h"
#include "report/run/results.h"

namespace assay {
namespace {

// One state of the devices: the activity, or the cause of idle time.
struct StateRow {
  std::string state;
  int64_t ns = 0;
  int64_t evidence_ns[kEvidences] = {};
  int64_t opened_by_sync_ns = 0;
  int64_t opened_by_host_ns = 0;
};

StateRow busy_row(const char* state, int64_t ns) {
  StateRow row{.state = state, .ns = ns};
  row.evidence_ns[static_cast<size_t>(CauseEvidence::kRecorded)] = ns;
  return row;
}

std::vector<StateRow> state_rows(const FlowTotals& total, const CommSplit& comm) {
  std::vector<StateRow> rows = {busy_row("compute", total.compute_ns),
                                busy_row("collective", comm.unsplit_ns),
                                busy_row("copy", total.copy_ns)};
  if (comm.wait_ns + comm.transfer_ns > 0) {
    rows.push_back(busy_row("comm_wait", comm.wait_ns));
    rows.push_back(busy_row("transfer", comm.transfer_ns));
  }
  for (size_t c = 0; c < kFlowCauses; ++c) {
    StateRow row{.state = std::string(flow_cause_name(static_cast<FlowCause>(c))),
                 .ns = total.cause_ns[c]};
    for (size_t e = 0; e < kEvidences; ++e) row.evidence_ns[e] = total.evidence_ns[c][e];
    row.opened_by_sync_ns = total.opened_ns[c][static_cast<size_t>(OpenedBy::kSync)];
    row.opened_by_host_ns = total.opened_ns[c][static_cast<size_t>(OpenedBy::kHost)];
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StateRow& a, const StateRow& b) { return a.ns > b.ns; });
  return rows;
}

std::string text_or_none(const Trace& trace, StringId name) {
  return name ? std::string(trace.text(name)) : std::string();
}

// The label of a contributor. For launch latency, it is the activity's last predecessor.
std::string contributor_label(const Trace& trace, const Contributor& contributor) {
  if (contributor.cause != FlowCause::kLatency) return text_or_none(trace, contributor.name);
  switch (contributor.ready_by) {
    case ReadyBy::kLaunch:
      return "(from launch to start)";
    case ReadyBy::kStream:
      return "(after work of the same stream)";
    case ReadyBy::kEvent:
      return "(after work of another stream)";
    case ReadyBy::kGraph:
      return "(inside a graph launch)";
  }
  return "";
}

Table contributors_table(const FlowAnswer& answer) {
  const Trace& trace = answer.trace;
  const int64_t window_ns = answer.report.total.window_ns;
  const FlowTotals& total = answer.report.total;
  std::vector<Contributor> rows = answer.report.contributors;
  std::stable_sort(rows.begin(), rows.end(), [&total](const Contributor& a, const Contributor& b) {
    return total[a.cause] > total[b.cause];
  });
  TableOf table(rows, {.key = "contributors", .title = "Largest contributors to each cause"});
  table.add(keys::cause, [](const Contributor& c) { return std::string(flow_cause_name(c.cause)); })
      .add(
          keys::name, [&](const Contributor& c) { return contributor_label(trace, c); }, elastic())
      .add(keys::ns, &Contributor::ns)
      .add(keys::window_share, [&](const Contributor& c) { return share(c.ns, window_ns); })
      .add(keys::slices, &Contributor::slices)
      .add(keys::longest_slice_ns, &Contributor::longest_ns)
      .add(
          keys::within,
          [&](const Contributor& c) {
            return text_or_none(trace, c.within_op ? c.within_op : c.within_frame);
          },
          elastic(Show::kDataOnly));
  return table;
}

Table levers_table(const std::vector<Lever>& levers) {
  TableOf table(
      levers, {.key = "actions", .title = "Actions", .terminal_limit = 0, .show = Show::kDataOnly});
  table.add(keys::code, &Lever::key)
      .add(keys::text, &Lever::what)
      .add(keys::edit, &Lever::edit)
      .add(keys::gain_ns, &Lever::gain_ns)
      .add(keys::window_share, &Lever::share_of_window)
      .add(keys::upper_bound_ns, &Lever::at_most_ns)
      .add(keys::basis, &Lever::basis);
  return table;
}

Prose levers_prose(const std::vector<Lever>& levers) {
  Prose prose{.bullets = true, .show = Show::kReadersOnly};
  for (const Lever& lever : levers) {
    prose.paragraphs.push_back(lever_gain_words(lever) + ": " + lever.what + ". By " + lever.basis +
                               ".");
  }
  return prose;
}

Facts flow_facts(const FlowAnswer& answer) {
  const FlowVerdict& v = answer.verdict;
  const FlowReport& r = answer.report;
  const bool cut = r.stretches.parts.size() > 1;
  return {.key = "flow",
          .title = "Basis of the analysis",
          .items = {fact(keys::window_ns, cut ? r.stretches.window_ns : r.window_ns()),
                    fact(keys::judged_ns, r.window_ns(), {}, shown_if(cut)),
                    fact(keys::unrecorded_ns, length_ns(r.unrecorded)),
                    data_fact(keys::devices, static_cast<uint64_t>(r.devices.size())),
                    fact(keys::largest_loss_share, finite_value(v.leading_share)),
                    fact(keys::recorded_share, finite_value(v.recorded_share)),
                    fact(keys::inferred_share, finite_value(v.inferred_share)),
                    fact(keys::no_evidence_share, finite_value(v.absent_share)),
                    fact(keys::linked_share, finite_value(v.linked_share)),
                    fact(keys::model_error, finite_value(r.fit.model_error)),
                    fact(keys::unexplained_path_share, finite_value(r.fit.unexplained_share)),
                    data_fact(keys::first_action, std::string(first_lever_word(v.lever))),
                    data_fact(keys::steady_bottleneck,
                              v.steady_judged ? Value(std::string(bound_by_word(v.steady_bound)))
                                              : Value()),
                    data_fact(keys::init_iterations, v.cold_iterations)}};
}

}  // namespace

Facts stretch_facts(const FlowReport& report) {
  const bool known = !report.stretches.parts.empty();
  return {.items = {data_fact(keys::torn, report.stretches.torn),
                    data_fact(keys::window_idle_share,
                              known ? finite_value(report.stretches.idle_share) : Value())},
          .show = Show::kDataOnly};
}

Table stretches_table(const Stretches& stretches) {
  TableOf table(stretches.parts, {.key = "stretches",
                                  .title = "Parts of the recording",
                                  .show = shown_if(stretches.parts.size() > 1)});
  const int64_t from_ns = stretches.window.start_ns;
  table.add(keys::kind, [](const Stretch& s) { return std::string(stretch_kind_word(s.kind)); })
      .add(keys::name, [](const Stretch& s) { return stretch_name(s); })
      .add(
          keys::unit, [](const Stretch& s) { return std::string(stretch_unit_word(s.unit)); },
          Show::kDataOnly)
      .add(
          keys::start_ns, [=](const Stretch& s) { return s.span.start_ns - from_ns; },
          Show::kDataOnly)
      .add(
          keys::end_ns, [=](const Stretch& s) { return s.span.end_ns - from_ns; }, Show::kDataOnly)
      .add(keys::ns, &Stretch::ns)
      .add(keys::bottleneck,
           [](const Stretch& s) {
             return s.cause ? Value(std::string(bound_by_word(*s.cause))) : Value();
           })
      .add(keys::device_idle_share,
           [](const Stretch& s) { return finite_value(share(s.total.idle_ns, s.total.window_ns)); })
      .add(keys::whole_iterations, &Stretch::iterations)
      .add(keys::headline, &Stretch::headline);
  return table;
}

// Device activity or a cause of idle time in one stretch.
struct StretchState {
  uint64_t stretch = 0;
  std::string state;
  int64_t ns = 0;
};

Table stretch_states_table(const Stretches& stretches) {
  std::vector<StretchState> states;
  for (size_t i = 0; i < stretches.parts.size(); ++i) {
    const FlowTotals& total = stretches.parts[i].total;
    for (const StateRow& row : state_rows(total, {.unsplit_ns = total.collective_ns})) {
      if (row.ns > 0) states.push_back({i + 1, row.state, row.ns});
    }
  }
  TableOf table(states, {.key = "stretch_states", .title = "States by part", .show = Show::kDataOnly});
  table.add(keys::stretch, &StretchState::stretch)
      .add(keys::cause, &StretchState::state)
      .add(keys::ns, &StretchState::ns);
  return table;
}

Table programs_table(const Program& program) {
  TableOf table(program.seen, {.key = "programs", .title = "Which program", .show = shown_if(!program.seen.empty())});
  const auto names = [](ProgramTable of) {
    return [of](const ProgramSeen& seen) { return seen.names[static_cast<size_t>(of)]; };
  };
  table.add(keys::program, [](const ProgramSeen& seen) { return std::string(seen.key); }, Show::kDataOnly)
      .add(keys::name, [](const ProgramSeen& seen) { return std::string(seen.name); })
      .add(keys::program_layer,
           [](const ProgramSeen& seen) { return std::string(program_layer_name(seen.layer)); })
      .add(keys::names_frames, names(ProgramTable::kFrames))
      .add(keys::names_ops, names(ProgramTable::kOps))
      .add(keys::names_labels, names(ProgramTable::kLabels))
      .add(keys::names_kernels, names(ProgramTable::kKernels))
      .add(keys::names_threads, names(ProgramTable::kThreads));
  return table;
}

// 0 means unknown.
Value known_ns(int64_t ns) { return ns > 0 ? Value(ns) : Value(); }
Value told(const std::optional<uint64_t>& count) { return count ? Value(*count) : Value(); }

Value slow_token_word(SlowToken::What what) {
  constexpr std::string_view kWords[] = {"", "prefill_in_step", "prefill_between", "host", "long_step"};
  const std::string_view word = kWords[static_cast<size_t>(what)];
  return word.empty() ? Value() : Value(std::string(word));
}

Facts serving_facts(const Serving& s) {
  return {.key = "serving",
          .title = "Serving",
          .items = {fact(keys::serving_steps, static_cast<uint64_t>(s.steps.size())),
                    fact(keys::prefill_steps, s.prefill_steps),
                    fact(keys::decode_steps, s.decode_steps),
                    fact(keys::mixed_steps, s.mixed_steps),
                    fact(keys::prompt_tokens, s.prompt_tokens),
                    fact(keys::decode_tokens, s.decode_tokens),
                    fact(keys::decode_batch, finite_value(s.batch)),
                    fact(keys::steps_span_ns, s.span_ns),
                    fact(keys::serving_tokens_per_s, finite_value(s.tokens_per_s)),
                    fact(keys::new_tokens_per_s, finite_value(s.new_tokens_per_s)),
                    fact(keys::itl_p50_ns, known_ns(s.itl_p50_ns)),
                    fact(keys::itl_p90_ns, known_ns(s.itl_p90_ns)),
                    fact(keys::itl_p99_ns, known_ns(s.itl_p99_ns)),
                    data_fact(keys::speculative, s.speculates),
                    data_fact(keys::itl_at_least, s.itl_at_least),
                    data_fact(keys::slow_token_cause, slow_token_word(s.slow_token.what)),
                    data_fact(keys::slow_token_ns, known_ns(s.slow_token.ns)),
                    data_fact(keys::slow_token_prompt_tokens, s.slow_token.prompt_tokens),
                    fact(keys::tpot_ns, known_ns(s.tpot_ns)),
                    fact(keys::ttft_low_ns, known_ns(s.ttft_low_ns)),
                    fact(keys::serving_padding, finite_value(s.padding)),
                    fact(keys::hfu, finite_value(s.hfu)), fact(keys::mfu, finite_value(s.mfu)),
                    fact(keys::mbu, finite_value(s.mbu)),
                    fact(keys::serving_known_share, finite_value(s.known_share))}};
}

Table serving_table(const Serving& serving, int64_t from_ns) {
  using Step = ServingStep;
  TableOf table(serving.steps, {.key = "serving_steps", .title = "Steps of the engine"});
  table.add(keys::kind, [](const Step& s) { return std::string(step_kind_name(s.told.kind)); })
      .add(keys::prompts, [](const Step& s) { return told(s.told.prompts); })
      .add(keys::prompt_tokens, [](const Step& s) { return told(s.told.prompt_tokens); })
      .add(keys::decoding, [](const Step& s) { return told(s.told.decoding); })
      .add(keys::decode_tokens, [](const Step& s) { return told(s.told.decode_tokens); })
      .add(keys::computed_tokens, [](const Step& s) { return told(s.told.computed); }, Show::kDataOnly)
      .add(keys::start_ns, [=](const Step& s) { return s.host.start_ns - from_ns; }, Show::kDataOnly)
      .add(keys::step_span_ns, [](const Step& s) { return s.device.end_ns - s.device.start_ns; })
      .add(keys::step_busy_ns, &Step::busy_ns)
      .add(keys::step_launch_ns, &Step::launch_ns)
      .add(keys::step_period_ns, [](const Step& s) { return known_ns(s.period_ns); })
      .add(keys::step_token_gap_ns, [](const Step& s) { return known_ns(s.token_gap_ns); }, Show::kDataOnly);
  return table;
}

Value part_word(const RequestTail& tail) {
  return tail.part ? Value(std::string(request_part_name(*tail.part))) : Value();
}
Value part_ns(const RequestTail& tail) { return tail.part ? Value(tail.part_ns) : Value(); }
Value ns_of(const RequestLatency& latency, int64_t RequestLatency::*percentile) {
  return latency.count > 0 ? Value(latency.*percentile) : Value();
}

Facts request_facts(const RequestsReport& r) {
  using L = RequestLatency;
  const std::string_view refusal = requests_refusal_name(r.refusal);
  return {.key = "request_latency",
          .title = "Requests",
          .items = {data_fact(keys::requests_file, r.file), fact(keys::requests_format, r.format),
                    data_fact(keys::requests_refusal, refusal.empty() ? Value() : Value(std::string(refusal))),
                    fact(keys::requests_offset_ns, r.is_joined() ? Value(r.offset_ns) : Value()),
                    data_fact(keys::requests_offset_fitted, r.offset_fitted),
                    fact(keys::requests_logged, static_cast<uint64_t>(r.requests.size())),
                    data_fact(keys::requests_failed, r.failed), data_fact(keys::requests_unread, r.unread),
                    fact(keys::requests_in_trace, r.in_trace), fact(keys::requests_joined, r.joined),
                    fact(keys::sequences_share, finite_value(r.sequences_share)),
                    fact(keys::queue_p50_ns, ns_of(r.queue, &L::p50_ns)),
                    fact(keys::queue_p99_ns, ns_of(r.queue, &L::p99_ns)),
                    fact(keys::ttft_p50_ns, ns_of(r.ttft, &L::p50_ns)),
                    fact(keys::ttft_p90_ns, ns_of(r.ttft, &L::p90_ns)),
                    fact(keys::ttft_p99_ns, ns_of(r.ttft, &L::p99_ns)),
                    fact(keys::ttft_p99_part, part_word(r.ttft_tail)),
                    fact(keys::ttft_p99_part_ns, part_ns(r.ttft_tail)),
                    fact(keys::e2e_p50_ns, ns_of(r.e2e, &L::p50_ns)),
                    fact(keys::e2e_p90_ns, ns_of(r.e2e, &L::p90_ns)),
                    fact(keys::e2e_p99_ns, ns_of(r.e2e, &L::p99_ns)),
                    fact(keys::e2e_p99_part, part_word(r.e2e_tail)),
                    fact(keys::e2e_p99_part_ns, part_ns(r.e2e_tail)),
                    fact(keys::token_p50_ns, ns_of(r.itl, &L::p50_ns)),
                    fact(keys::token_p99_ns, ns_of(r.itl, &L::p99_ns)),
                    fact(keys::no_request_ns, length_ns(r.without_requests))}};
}

Table requests_table(const RequestsReport& report, int64_t from_ns) {
  using R = JoinedRequest;
  TableOf table(report.requests, {.key = "requests", .title = "Requests and where their time went"});
  const auto part = [](RequestPart which) {
    return [which](const R& r) {
      const bool known = static_cast<size_t>(which) < kFirstTokenParts ? r.to_first : r.to_last;
      return known ? Value(r.part_ns(which)) : Value();
    };
  };
  const auto or_null = [](const std::optional<int64_t>& ns) { return ns ? Value(*ns) : Value(); };
  const bool joined = report.is_joined();
  table.add(keys::request_id, [](const R& r) { return r.record.id; })
      .add(keys::request_arrival_ns,
           [=](const R& r) {
             return joined && r.record.arrival_ns ? Value(r.arrival_ns - from_ns) : Value();
           }, Show::kDataOnly)
      .add(keys::prompt_tokens, [](const R& r) { return told(r.record.prompt_tokens); })
      .add(keys::cached_tokens, [](const R& r) { return told(r.record.cached_tokens); }, Show::kDataOnly)
      .add(keys::output_tokens, [](const R& r) { return told(r.record.output_tokens); })
      .add(keys::preemptions, [](const R& r) { return r.record.preemptions; }, Show::kDataOnly)
      .add(keys::request_ttft_ns, [=](const R& r) { return or_null(r.record.ttft_ns); })
      .add(keys::request_e2e_ns, [=](const R& r) { return or_null(r.record.e2e_ns); })
      .add(keys::request_joined,
           [](const R& r) {
             return r.to_last ? Value(std::string("e2e")) : r.to_first ? Value(std::string("ttft")) : Value();
           }, Show::kDataOnly)
      .add(keys::queue_inferred, [](const R& r) { return r.queue_inferred; }, Show::kDataOnly)
      .add(keys::input_ns, part(RequestPart::kInput), Show::kDataOnly)
      .add(keys::queue_prefill_ns, part(RequestPart::kQueuePrefill))
      .add(keys::queue_decode_ns, part(RequestPart::kQueueDecode))
      .add(keys::queue_idle_ns, part(RequestPart::kQueueIdle), Show::kDataOnly)
      .add(keys::prefill_ns, part(RequestPart::kPrefill))
      .add(keys::others_ns, part(RequestPart::kOthers))
      .add(keys::request_host_ns, part(RequestPart::kHost), Show::kDataOnly)
      .add(keys::decode_ns, part(RequestPart::kDecode))
      .add(keys::decode_prefill_ns, part(RequestPart::kDecodePrefill))
      .add(keys::decode_host_ns, part(RequestPart::kDecodeHost), Show::kDataOnly);
  return table;
}

Table causes_table(const FlowTotals& total, const CommSplit& comm) {
  const std::vector<StateRow> rows = state_rows(total, comm);
  const auto evidence = [](CauseEvidence kind) {
    return [kind](const StateRow& row) { return row.evidence_ns[static_cast<size_t>(kind)]; };
  };
  TableOf table(rows, {.key = "causes",
                      .title = "Device time of the window by activity or cause of idle time"});
  table.add(keys::cause, &StateRow::state)
      .add(keys::ns, &StateRow::ns)
      .add(keys::window_share, [&](const StateRow& row) { return share(row.ns, total.window_ns); })
      .add(keys::recorded_ns, evidence(CauseEvidence::kRecorded), Show::kDataOnly)
      .add(keys::inferred_ns, evidence(CauseEvidence::kInferred))
      .add(keys::no_evidence_ns, evidence(CauseEvidence::kAbsent))
      .add(keys::gap_after_sync_ns, &StateRow::opened_by_sync_ns, Show::kDataOnly)
      .add(keys::gap_after_host_ns, &StateRow::opened_by_host_ns, Show::kDataOnly);
  // Rows are sorted, so causes without time are last. The data has a row for every cause.
  table.data_only_rows = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const StateRow& row) { return row.ns == 0; }));
  return table;
}

Section rules_section(const std::vector<findings::RuleState>& rules) {
  using findings::RuleState;
  TableOf table(rules, {.key = "rules", .title = "Rules of the diagnosis, in order"});
  table.add(keys::code, [](const RuleState& r) { return std::string(findings::name(r.code)); })
      .add(keys::rule_role,
           [](const RuleState& r) {
             return std::string(findings::role_name(findings::info(r.code).role));
           })
      .add(keys::holds, &RuleState::holds)
      .add(
          keys::condition, [](const RuleState& r) { return std::string(r.when); }, elastic());
  return {.key = "", .title = "Rules", .blocks = {table}};
}

Facts answer_facts(BoundBy bound, double device_idle_share) {
  return {.items = {data_fact(keys::bottleneck, std::string(bound_by_word(bound))),
                    data_fact(keys::device_idle_share, finite_value(device_idle_share))},
          .show = Show::kDataOnly};
}

// Graph launches, and the operators with launches captured in the graphs.
void add_replays(const ReplayReport& replays, Section& section) {
  if (replays.replays == 0) return;
  section.blocks.push_back(
      Facts{.key = "graph_replays",
            .title = "Replays of graphs",
            .items = {fact(keys::graph_launches, replays.replays),
                      fact(keys::graph_activities, replays.works),
                      fact(keys::joined_activities, replays.joined),
                      fact(keys::named_activities, replays.named, {}, shown_if(replays.joined > 0)),
                      fact(keys::ambiguous_activities, replays.ambiguous, {},
                           shown_if(replays.ambiguous > 0))}});
  if (replays.ops.empty()) return;
  TableOf table(replays.ops,
                {.key = "replayed_ops", .title = "Replayed work by captured operator"});
  table.add(keys::op, &ReplayedOp::op, elastic())
      .add(keys::within, &ReplayedOp::outer, elastic(Show::kDataOnly))
      .add(keys::count, &ReplayedOp::works)
      .add(keys::dur_ns, &ReplayedOp::ns);
  section.blocks.push_back(std::move(table));
}

Section causes_section(const FlowAnswer& answer) {
  const FlowTotals& total = answer.report.total;
  Section section = {
      .key = "",
      .title = "Time by cause",
      .blocks = {
          answer_facts(answer.verdict.bound, answer.verdict.device_idle_share), flow_facts(answer),
          causes_table(total, {.unsplit_ns = total.collective_ns}), contributors_table(answer),
          stretch_facts(answer.report), stretches_table(answer.report.stretches),
          stretch_states_table(answer.report.stretches), programs_table(answer.verdict.program)}};
  const Serving& serving = answer.report.serving;
  if (!serving.steps.empty()) {
    section.blocks.push_back(serving_facts(serving));
    section.blocks.push_back(serving_table(serving, answer.report.window.start_ns));
  }
  if (answer.requests != nullptr && answer.requests->asked) {
    section.blocks.push_back(request_facts(*answer.requests));
    section.blocks.push_back(requests_table(*answer.requests, answer.report.window.start_ns));
  }
  return section;
}

Section flow_section(const FlowAnswer& answer, const std::vector<Lever>& levers) {
  Section section = causes_section(answer);
  section.title = "Time by cause, and recommended changes";
  section.blocks.insert(section.blocks.begin() + 1, levers_prose(levers));
  section.blocks.push_back(levers_table(levers));
  add_replays(answer.report.replays, section);
  return section;
}

}  // namespace assay
