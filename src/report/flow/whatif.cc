// Gains of changes: sentences and tables. Every number comes from a replay.

#include "report/flow/whatif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/numbers.h"
#include "findings/actions.h"
#include "findings/causes.h"
#include "flow/cause.h"
#include "kernels/name.h"
#include "report/breakdown/results.h"
#include "report/flow/results.h"
#include "report/run/results.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

std::string left_of(const Edit& edit) {
  const double factor = edit.request.factor;
  return factor == 0 ? "no time" : format_share(factor) + " of their time";
}

// The range of the gain over the iterations.
std::string repeats(const Gain& gain) {
  if (gain.before.n < 2) return "one iteration, no repeats";
  return format_ns(gain.low_ns) + " to " + format_ns(gain.high_ns) + " over " +
         format_counted(gain.before.n, "iteration", "iterations");
}

// A component of a critical path and its time.
struct Binding {
  std::string name;
  int64_t ns = 0;
};
std::vector<Binding> path_states(const CriticalPath& path) {
  const auto work = [&path](WorkKind kind) { return path.work_ns[static_cast<size_t>(kind)]; };
  std::vector<Binding> states = {{"compute", work(WorkKind::kCompute)},
                                 {"collective", work(WorkKind::kCollective)},
                                 {"copy", work(WorkKind::kCopy) + work(WorkKind::kFill)},
                                 {"queue", path.queue_ns},
                                 {"start", path.start_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    states.push_back({std::string(flow_cause_name(static_cast<FlowCause>(c))), path.cause_ns[c]});
  }
  std::erase_if(states, [](const Binding& state) { return state.ns == 0; });
  std::stable_sort(states.begin(), states.end(),
                   [](const Binding& a, const Binding& b) { return a.ns > b.ns; });
  return states;
}

// Components of the path within the window, from a replay.
std::vector<Binding> path_states(const ReplayBar& bar) {
  std::vector<Binding> states = {
      {"compute", bar.compute_ns}, {"collective", bar.collective_ns}, {"copy", bar.copy_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    states.push_back({std::string(flow_cause_name(static_cast<FlowCause>(c))), bar.cause_ns[c]});
  }
  std::erase_if(states, [](const Binding& state) { return state.ns == 0; });
  std::stable_sort(states.begin(), states.end(),
                   [](const Binding& a, const Binding& b) { return a.ns > b.ns; });
  return states;
}

// The name of a state in a sentence.
std::string state_words(const std::string& state) { return std::string(findings::cause_name(state)); }

// The gain's range for the run, with typical values for times that it does not determine.
std::string reach(const Gain& gain) {
  return format_ns(gain.run_low_ns) + " to " + format_ns(gain.run_high_ns) +
         ", because the run shows little of how soon work follows work and calls return";
}

// False if few iterations have most of the gain; the median over all is then not informative.
bool in_most_iterations(const Gain& gain) {
  const auto usual_ns = static_cast<int64_t>(gain.before.n) * std::max<int64_t>(gain.step_ns, 0);
  return gain.before.n > 0 && gain.run_ns <= 2 * usual_ns;
}

// True if typical values for undetermined times change the gain by more than 1 % of the run.
bool lies_between(const Gain& gain, const WhatIf& found) {
  return (gain.run_high_ns - gain.run_low_ns) * 100 > found.run_ns;
}

// True if an action is simulated and may save 1 % of the window.
bool may_give(const TriedLever& lever, const WhatIf& found) {
  return lever.edit.refusal == EditRefusal::kNone &&
         lever.alone.run_high_ns * 100 >= found.window_ns;
}

class WhatIfWords {
 public:
  explicit WhatIfWords(const WhatIfAnswer& answer)
      : answer_(answer), found_(answer.found), program_(program_of(answer.trace)) {}

  std::vector<std::string> all() const {
    std::vector<std::string> words;
    if (found_.refusal != EditRefusal::kNone) {
      words.push_back("No replay is reported: " + refusal_words(refused_run(), answer_.report) +
                      ".");
    } else {
      words.push_back(gain());
      for (std::string text : {then(), overlap()}) {
        if (!text.empty()) words.push_back(std::move(text));
      }
    }
    words.push_back(model());
    for (std::string text : {warm(), refused()}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
    return words;
  }

 private:
  Edit refused_run() const {
    Edit edit;
    edit.refusal = found_.refusal;
    return edit;
  }

  std::string gain() const {
    if (found_.order.empty()) return nothing();
    std::vector<std::string> with;
    bool predicted = true;
    for (const size_t i : found_.order) {
      with.push_back(edit_words(found_.levers[i].edit, program_));
      predicted = predicted && found_.levers[i].edit.predicted;
    }
    const Gain& joint = found_.joint;
    const bool steps = in_most_iterations(joint);
    const int64_t before_ns = steps ? joint.before.median_ns : found_.run_ns;
    const int64_t after_ns = steps ? joint.after.median_ns : found_.run_ns - joint.run_ns;
    const int64_t gain_ns = steps ? joint.step_ns : joint.run_ns;
    const std::string apart = !steps && lies_between(joint, found_) ? "; " + reach(joint) : "";
    std::string text = "With " + joined_words(with) + (steps ? " an iteration" : " the run") +
                       " takes " + format_ns(after_ns) + " instead of " + format_ns(before_ns) +
                       ": " + (predicted || !apart.empty() ? "" : "at most ") + format_ns(gain_ns) +
                       " (" + format_share(share(gain_ns, before_ns)) + ") less";
    if (steps) return text + ", " + repeats(joint) + ".";
    return text +
           (joint.before.n < 2 ? ", one run, no repeats" : ", most of it in few iterations") +
           apart + ".";
  }

  // The simulated action with the largest individual gain.
  const TriedLever* largest_alone() const {
    const TriedLever* largest = nullptr;
    for (const TriedLever& lever : found_.levers) {
      const bool told = lever.alone_only && may_give(lever, found_);
      if (told && (largest == nullptr || lever.alone.run_high_ns > largest->alone.run_high_ns)) {
        largest = &lever;
      }
    }
    return largest;
  }

  // Weakens the statement if an action may help with other typical values.
  std::string no_lever() const {
    const bool may = std::any_of(
        found_.levers.begin(), found_.levers.end(),
        [this](const TriedLever& lever) { return !lever.alone_only && may_give(lever, found_); });
    return may ? "For certain, no change" : "No change";
  }

  // Number of requested changes that are simulated, plus those that match nothing in the run.
  size_t known() const {
    return static_cast<size_t>(
        std::count_if(found_.levers.begin(), found_.levers.end(), [](const TriedLever& lever) {
          return lever.edit.refusal == EditRefusal::kNone ||
                 lever.edit.refusal == EditRefusal::kNothing;
        }));
  }

  // Number of requested changes that match anything in the run.
  size_t matching() const {
    return static_cast<size_t>(
        std::count_if(found_.levers.begin(), found_.levers.end(), [](const TriedLever& lever) {
          return lever.edit.refusal != EditRefusal::kNothing;
        }));
  }

  std::string nothing() const {
    if (answer_.asked && known() == 0) return "None of these changes can be simulated.";
    if (answer_.asked && matching() == 0) return "These changes match nothing in this run.";
    const TriedLever* alone = largest_alone();
    const bool all = known() == found_.levers.size();
    std::string text =
        answer_.asked      ? (all ? "These changes save nothing in this run"
                                  : "The changes that can be simulated save nothing in this run")
        : alone == nullptr ? no_lever() + " saves 1 % of this run"
                           : no_lever() + " but cheaper work saves 1 % of this run (" +
                                 edit_text(alone->edit.request) + ", at most " +
                                 format_ns(alone->alone.run_high_ns) + ")";
    const std::vector<Binding> states = path_states(found_.path_before);
    if (states.empty()) return text + ".";
    return text + ": " + state_words(states[0].name) + " is " +
           format_share(share(states[0].ns, found_.path_before.window_ns)) +
           " of its critical path.";
  }

  std::string then() const {
    if (found_.order.empty()) return "";
    const std::vector<Binding> states = path_states(found_.path_after);
    if (states.empty()) return "";
    return "The bottleneck is then " + state_words(states[0].name) + ": " +
           format_share(share(states[0].ns, found_.path_after.window_ns)) +
           " of the critical path" +
           (states.size() > 1
                ? ", before " + state_words(states[1].name) + " (" +
                      format_share(share(states[1].ns, found_.path_after.window_ns)) + ")"
                : "") +
           ".";
  }

  std::string overlap() const {
    if (found_.order.empty()) return "";
    const bool bounds = std::any_of(found_.order.begin(), found_.order.end(),
                                    [this](size_t i) { return !found_.levers[i].edit.predicted; });
    return std::string(
               bounds
                   ? "\"Up to\" bounds these changes alone: a change that does more may save more. "
                   : "") +
           "Work that then overlaps other work keeps its recorded time: contention is not "
           "modelled.";
  }

  std::string model() const {
    const FlowFit& fit = answer_.report.fit;
    return "The model alone makes this run " + format_share(std::abs(fit.model_error)) +
           (fit.model_error < 0 ? " shorter" : " longer") + " than recorded; " +
           format_share(fit.unexplained_share) + " of its critical path is unexplained.";
  }

  std::string warm() const {
    for (const TriedLever& lever : found_.levers) {
      if (lever.edit.request.kind != EditKind::kWarm || lever.edit.refusal != EditRefusal::kNone) {
        continue;
      }
      if (lever.alone.run_ns * 100 < found_.window_ns) return "";
      return "One-time initialization is " + format_ns(lever.alone.run_ns) +
             " of the run, which takes " + format_ns(found_.run_ns - lever.alone.run_ns) +
             " without it: no gain, record after the warm-up.";
    }
    return "";
  }

  // Requested changes that cannot be simulated; of the default actions, only those worth another
  // recording.
  std::string refused() const {
    if (found_.refusal != EditRefusal::kNone) return "";
    std::string text;
    for (const TriedLever& lever : found_.levers) {
      const EditRefusal refusal = lever.edit.refusal;
      if (refusal == EditRefusal::kNone) continue;
      if (!answer_.asked && refusal == EditRefusal::kNothing) continue;
      text += (text.empty() ? "Not simulated: " : "; ") + edit_text(lever.edit.request) + ", since " +
              refusal_words(lever.edit, answer_.report);
    }
    return text.empty() ? "" : text + ".";
  }

  const WhatIfAnswer& answer_;
  const WhatIf& found_;
  const Program program_;
};

// ---- tables -----------------------------------------------------------------------------------

// Listed actions in order, then the others by gain; those that cannot be simulated are last.
std::vector<const TriedLever*> in_order(const WhatIf& found) {
  std::vector<const TriedLever*> levers;
  for (const size_t i : found.order) levers.push_back(&found.levers[i]);
  std::vector<const TriedLever*> rest;
  for (const TriedLever& lever : found.levers) {
    if (!lever.listed) rest.push_back(&lever);
  }
  std::stable_sort(rest.begin(), rest.end(), [](const TriedLever* a, const TriedLever* b) {
    const bool a_told = a->edit.refusal == EditRefusal::kNone;
    const bool b_told = b->edit.refusal == EditRefusal::kNone;
    if (a_told != b_told) return a_told;
    return a->alone.run_ns > b->alone.run_ns;
  });
  levers.insert(levers.end(), rest.begin(), rest.end());
  return levers;
}

const Gain* same_gain(const WhatIf* other, const TriedLever& lever) {
  return gain_in(other, edit_text(lever.edit.request));
}

int64_t gain_ns(const Gain& gain) { return gain.before.n > 0 ? gain.step_ns : gain.run_ns; }
Value gain_or_null(const Gain* gain) { return gain == nullptr ? Value() : Value(gain_ns(*gain)); }
Value low_or_null(const Gain* gain) {
  return gain == nullptr || gain->before.n < 2 ? Value() : Value(gain->low_ns);
}
Value high_or_null(const Gain* gain) {
  return gain == nullptr || gain->before.n < 2 ? Value() : Value(gain->high_ns);
}

Table whatif_levers_table(const WhatIfAnswer& answer) {
  using Row = const TriedLever*;
  const WhatIf& found = answer.found;
  const Program program = program_of(answer.trace);
  const auto told = [](Row lever) { return lever->edit.refusal == EditRefusal::kNone; };
  const auto steps = [](Row lever) { return lever->alone.before.n > 0; };
  const auto value = [told](auto number) {
    return [told, number](Row lever) { return told(lever) ? Value(number(lever)) : Value(); };
  };
  const std::vector<Row> levers = in_order(found);
  const bool any_steps = found.iterations > 1;
  const bool any_open = std::any_of(levers.begin(), levers.end(), [&](Row l) {
    return told(l) && lies_between(l->alone, found);
  });
  TableOf table(levers, {.key = "actions", .title = "Changes, each alone and one after the other"});
  table
      .add(
          keys::name, [](Row l) { return edit_text(l->edit.request); }, elastic())
      .add(
          keys::edits, [&](Row l) { return edit_words(l->edit, program); }, Show::kDataOnly)
      .add(keys::kind, [](Row l) { return certainty_words(l->edit); })
      .add(keys::before_ns,
           value([&](Row l) { return steps(l) ? l->alone.before.median_ns : found.run_ns; }),
           Show::kDataOnly)
      .add(keys::after_ns, value([&](Row l) {
             return steps(l) ? l->alone.after.median_ns : found.run_ns - l->alone.run_ns;
           }),
           shown_if(any_steps))
      .add(keys::gain_ns,
           value([&](Row l) { return steps(l) ? l->alone.step_ns : l->alone.run_ns; }),
           shown_if(any_steps))
      .add(
          keys::low95_ns,
          [&](Row l) {
            return told(l) && l->alone.before.n > 1 ? Value(l->alone.low_ns) : Value();
          },
          shown_if(any_steps))
      .add(
          keys::high95_ns,
          [&](Row l) {
            return told(l) && l->alone.before.n > 1 ? Value(l->alone.high_ns) : Value();
          },
          shown_if(any_steps));
  if (answer.recorded != nullptr) {
    table.add_named({.key = "recorded",
                     .title = "less by, recorded",
                     .unit = Unit::kNanoseconds,
                     .show = Show::kReadersOnly},
                    [&](Row l) { return gain_or_null(same_gain(answer.recorded, *l)); });
  }
  const auto untraced = [&answer](auto number) {
    return [&answer, number](Row l) { return number(same_gain(answer.untraced, *l)); };
  };
  table.add(keys::gain_untraced_ns, untraced(gain_or_null), Show::kDataOnly)
      .add(keys::gain_untraced_low_ns, untraced(low_or_null), Show::kDataOnly)
      .add(keys::gain_untraced_high_ns, untraced(high_or_null), Show::kDataOnly)
      .add(keys::run_gain_ns, value([](Row l) { return l->alone.run_ns; }))
      .add(keys::run_low_ns, value([](Row l) { return l->alone.run_low_ns; }),
           shown_if(any_open && !any_steps))
      .add(keys::run_high_ns, value([](Row l) { return l->alone.run_high_ns; }),
           shown_if(any_open && !any_steps))
      .add(keys::cumulative_gain_ns,
           [](Row l) { return l->listed ? Value(l->in_order_ns) : Value(); })
      .add(keys::refused, [&](Row l) {
        return told(l) ? Value() : Value(std::string(edit_refusal_word(l->edit.refusal)));
      });
  return table;
}

struct BarRow {
  std::string state;
  int64_t before_ns = 0;
  int64_t after_ns = 0;
};

Table bar_table(const WhatIf& found) {
  const ReplayBar& a = found.before;
  const ReplayBar& b = found.after;
  std::vector<BarRow> rows = {{"compute", a.compute_ns, b.compute_ns},
                              {"collective", a.collective_ns, b.collective_ns},
                              {"copy", a.copy_ns, b.copy_ns}};
  for (size_t c = 0; c < kFlowCauses; ++c) {
    rows.push_back(
        {std::string(flow_cause_name(static_cast<FlowCause>(c))), a.cause_ns[c], b.cause_ns[c]});
  }
  std::erase_if(rows, [](const BarRow& row) { return row.before_ns == 0 && row.after_ns == 0; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BarRow& x, const BarRow& y) { return x.before_ns > y.before_ns; });
  TableOf table(rows,
                {.key = "states",
                 .title = "The devices between their first and their last work, now and then"});
  table.add(keys::cause, &BarRow::state)
      .add(keys::state_before_ns, &BarRow::before_ns)
      .add(keys::state_before_share,
           [&](const BarRow& row) { return share(row.before_ns, a.window_ns); })
      .add(keys::state_after_ns, &BarRow::after_ns)
      .add(keys::state_after_share,
           [&](const BarRow& row) { return share(row.after_ns, b.window_ns); });
  return table;
}

Table next_table(const WhatIf& found) {
  const std::vector<Binding> states = path_states(found.path_after);
  TableOf table(states, {.key = "next", .title = "Critical path after the changes"});
  table.add(keys::cause, &Binding::name)
      .add(keys::ns, &Binding::ns)
      .add(keys::path_share,
           [&](const Binding& state) { return share(state.ns, found.path_after.window_ns); });
  return table;
}

Facts identity_facts(const WhatIfAnswer& answer) {
  const FlowFit& fit = answer.report.fit;
  return {.key = "identity",
          .title = "Accuracy of the replay",
          .items = {data_fact(keys::recorded_ns, fit.run_ns),
                    data_fact(keys::replayed_ns,
                              fit.identity_errors == 0 ? Value(fit.run_ns) : Value()),
                    data_fact(keys::replay_mismatches, fit.identity_errors),
                    data_fact(keys::model_error, finite_value(fit.model_error)),
                    data_fact(keys::unexplained_path_share, finite_value(fit.unexplained_share))},
          .show = Show::kDataOnly};
}

Facts joint_facts(const WhatIfAnswer& answer) {
  const WhatIf& found = answer.found;
  const Gain& joint = found.joint;
  const bool told = found.refusal == EditRefusal::kNone;
  const bool steps = joint.before.n > 0;
  const auto value = [told](int64_t ns) { return told ? Value(ns) : Value(); };
  const Gain* untraced =
      answer.untraced == nullptr || answer.untraced->refusal != EditRefusal::kNone
          ? nullptr
          : &answer.untraced->joint;
  return {
      .key = "joint",
      .items = {data_fact(keys::per, steps ? "iteration" : "run"),
                data_fact(keys::iterations_used, static_cast<uint64_t>(joint.before.n)),
                data_fact(keys::before_ns, value(steps ? joint.before.median_ns : found.run_ns)),
                data_fact(keys::after_ns,
                          value(steps ? joint.after.median_ns : found.run_ns - joint.run_ns)),
                data_fact(keys::gain_ns, value(steps ? joint.step_ns : joint.run_ns)),
                data_fact(keys::low95_ns, joint.before.n > 1 ? Value(joint.low_ns) : Value()),
                data_fact(keys::high95_ns, joint.before.n > 1 ? Value(joint.high_ns) : Value()),
                data_fact(keys::gain_untraced_ns, gain_or_null(untraced)),
                data_fact(keys::gain_untraced_low_ns, low_or_null(untraced)),
                data_fact(keys::gain_untraced_high_ns, high_or_null(untraced)),
                data_fact(keys::run_gain_ns, value(joint.run_ns)),
                data_fact(keys::run_low_ns, value(joint.run_low_ns)),
                data_fact(keys::run_high_ns, value(joint.run_high_ns)),
                data_fact(keys::refused,
                          told ? Value() : Value(std::string(edit_refusal_word(found.refusal))))},
      .show = Show::kDataOnly};
}

}  // namespace

std::string edit_words(const Edit& edit, const Program& program) {
  const std::string& pattern = edit.request.pattern;
  const std::string graph = program.hip ? "a HIP graph" : "a CUDA graph";
  char speed[32];
  std::snprintf(speed, sizeof(speed), "%.6g", edit.request.factor);
  switch (edit.request.kind) {
    case EditKind::kSync:
      return (pattern.empty() ? std::string("no call waiting for the device")
                              : "no " + pattern + " waiting for the device") +
             (edit.value_is_read ? " (if the values read there are not needed)" : "");
    case EditKind::kInput:
      return "data loaded at no cost to this thread";
    case EditKind::kAlloc:
      return "no allocation of device memory";
    case EditKind::kWarm:
      return "one-time initialization left out";
    case EditKind::kPauses:
      return "the host never pausing for 0.3 ms or more";
    case EditKind::kHost:
      return edit.request.factor == 0
                 ? "the host's own work at no cost"
                 : "the host's own work at " + format_share(edit.request.factor);
    case EditKind::kFasterCpu:
      return std::string("a CPU core ") + speed + " times as fast";
    case EditKind::kKernels:
      return "kernels " + pattern + " taking " + left_of(edit);
    case EditKind::kFamily:
      return pattern + " kernels taking " + left_of(edit);
    case EditKind::kOps:
      return "operators " + pattern + " taking " + left_of(edit) + " on the host";
    case EditKind::kFrames:
      return "Python " + pattern + " taking " + left_of(edit);
    case EditKind::kCalls:
      return "calls " + pattern + " taking " + left_of(edit);
    case EditKind::kCopies:
      return "copies hidden";
    case EditKind::kComm:
      return "communication hidden (one rank: waiting for others included)";
    case EditKind::kGraph:
      return graph + " in each iteration";
    case EditKind::kFuse:
      return "the chain " + pattern + " fused";
    case EditKind::kRoof:
      return (pattern.empty() ? std::string("every operator") : pattern) +
             " at its roofline (boost clock)";
    case EditKind::kAttention:
      return "attention in one kernel that takes as long as its products";
    case EditKind::kSkew:
      return "no rank later than the middle one";
  }
  return "";
}

std::string certainty_words(const Edit& edit) { return std::string(findings::gain_grade(edit.predicted)); }

std::string refusal_words(const Edit& edit, const FlowReport& report) {
  const FlowEvidence& evidence = report.evidence;
  switch (edit.refusal) {
    case EditRefusal::kNone:
      return "";
    case EditRefusal::kModelError:
      return "the model alone misses the run by " + format_share(std::abs(report.fit.model_error)) +
             "; record from an earlier start, with all processes and the rows of waits";
    case EditRefusal::kUnexplained:
      return format_share(report.fit.unexplained_share) +
             " of the critical path are waits for something that was not recorded; record from an "
             "earlier start, with all processes and the rows of waits";
    case EditRefusal::kUnlinked: {
      const bool queued = 2 * evidence.carried_ns > evidence.work_ns - evidence.linked_ns;
      return "launch calls are recorded for " +
             format_share(share(evidence.linked_ns, evidence.work_ns)) +
             " of the device time only" +
             (queued ? ": the rest was queued before the recording began; let the GPU finish "
                       "(torch.cuda.synchronize()) before it starts"
                     : "; record the runtime's calls, with the CPU side");
    }
    case EditRefusal::kCold:
      return "one-time initialization fills most of the idle time; record after the warm-up";
    case EditRefusal::kNothing:
      return evidence.works == 0 ? "there is no device work"
                                 : "nothing in this run is of that kind or name";
    case EditRefusal::kNotCapturable:
      return "waits and allocations between the launches cannot be in one";
    case EditRefusal::kFewIterations:
      return "that needs two iterations or more of work; record some, or mark them (--window)";
    case EditRefusal::kVaries:
      return "fewer than 80 % of the iterations run the same kernels; fix the shapes first";
    case EditRefusal::kInGraphs:
      return "half of the device time is in graphs already";
    case EditRefusal::kChainVaries:
      return "the chain's first kernel is not always followed by the others";
    case EditRefusal::kNeedsRanks:
      return "one rank alone says nothing about it; give the folder of all ranks, of which "
             "\"saved at the medians\" says it";
    case EditRefusal::kNoShapes:
      return "the work of no operator is known; record with record_shapes=True";
    case EditRefusal::kNoOperators:
      return "operators were not recorded; record with PyTorch's profiler, or assay record --torch";
    case EditRefusal::kNoPeaks:
      return "the trace does not name its GPU, or no published figures of it are known";
  }
  return "";
}

std::string between_words(const Gain& gain, const WhatIf& found) {
  std::string words = "one run, no repeats";
  if (gain.before.n == 1) {
    words = repeats(gain);
  } else if (in_most_iterations(gain)) {
    words = "in an iteration " + repeats(gain);
  } else if (gain.before.n > 1) {
    words = "most of it in few of " + format_counted(gain.before.n, "iteration", "iterations");
  }
  return lies_between(gain, found) ? words + "; of the run " + reach(gain) : words;
}

std::vector<std::string> whatif_words(const WhatIfAnswer& answer) {
  return WhatIfWords(answer).all();
}

Section whatif_section(const WhatIfAnswer& answer) {
  Section section{
      .key = "whatif",
      .title = "Time saved by changes",
      .blocks = {identity_facts(answer), joint_facts(answer), whatif_levers_table(answer)}};
  if (answer.found.order.empty()) return section;
  section.blocks.push_back(bar_table(answer.found));
  section.blocks.push_back(next_table(answer.found));
  return section;
}

const Gain* gain_in(const WhatIf* found, const std::string& edit) {
  if (found == nullptr) return nullptr;
  for (const TriedLever& one : found->levers) {
    if (one.edit.refusal == EditRefusal::kNone && edit_text(one.edit.request) == edit)
      return &one.alone;
  }
  return nullptr;
}

void widen_gains(const WhatIf& other, WhatIf& found) {
  const auto widen = [](const Gain* by, Gain& gain) {
    if (by == nullptr || by->before.n < 2) return;
    gain.low_ns = std::min(gain.low_ns, by->low_ns);
    gain.high_ns = std::max(gain.high_ns, by->high_ns);
  };
  for (TriedLever& lever : found.levers) widen(same_gain(&other, lever), lever.alone);
  if (other.refusal == EditRefusal::kNone) widen(&other.joint, found.joint);
}

std::vector<Item> whatif_overview(const WhatIf& found) {
  const bool steps = found.joint.before.n > 0;
  return {fact(keys::before_ns, steps ? found.joint.before.median_ns : found.run_ns),
          fact(keys::after_ns,
               steps ? found.joint.after.median_ns : found.run_ns - found.joint.run_ns)};
}

// ---- predictions ------------------------------------------------------------------------------

std::vector<std::string> score_words(const FrozenGain& prediction, const FrozenScore& score) {
  const std::string whole = prediction.per_iteration ? "An iteration" : "The run";
  std::string text = whole + " takes " + format_ns(score.measured_ns) + " here; " +
                     format_ns(prediction.after_ns) + " was " +
                     (prediction.at_most ? "the predicted minimum" : "predicted") + ", " +
                     format_share(std::abs(score.signed_error)) +
                     (score.signed_error < 0 ? " too little." : " too much.");
  std::string held =
      "The gain is " + format_ns(score.measured_gain_ns) + " of " + format_ns(prediction.before_ns);
  if (prediction.at_most) {
    held += std::string(score.exceeded ? ": more than" : ": not more than") + " the " +
            format_ns(prediction.gain_ns) + " that were predicted as the most.";
  } else if (score.has_interval) {
    held += std::string(score.in_interval ? ": inside" : ": outside of") + " the interval from " +
            format_ns(prediction.low_ns) + " to " + format_ns(prediction.high_ns) + ".";
  } else {
    held += "; no interval was predicted.";
  }
  return {std::move(text), std::move(held), "One pair proves nothing about the next."};
}

Section score_section(const FrozenGain& prediction, const FrozenScore& score) {
  const auto if_told = [](bool told, bool value) { return told ? Value(value) : Value(); };
  return {
      .key = "score",
      .title = "Prediction and result",
      .blocks = {Facts{
          .items = {
              data_fact(keys::tool_version, prediction.tool_version),
              fact(keys::edits, Value::List(prediction.edits)),
              fact(keys::kind, std::string(findings::gain_grade(!prediction.at_most))),
              fact(keys::per, prediction.per_iteration ? "iteration" : "run"),
              fact(keys::before_ns, prediction.before_ns),
              fact(keys::after_ns, prediction.after_ns),
              fact(keys::after_measured_ns, score.measured_ns),
              fact(keys::error_share, finite_value(score.signed_error)),
              fact(keys::gain_ns, prediction.gain_ns), data_fact(keys::low95_ns, prediction.low_ns),
              data_fact(keys::high95_ns, prediction.high_ns),
              fact(keys::gain_measured_ns, score.measured_gain_ns),
              data_fact(keys::exceeded, if_told(prediction.at_most, score.exceeded)),
              data_fact(keys::in_interval, if_told(score.has_interval, score.in_interval))}}}};
}

// ---- critical path ----------------------------------------------------------------------------

namespace {

std::string part_name(const Trace& trace, const PathPart& part) {
  const PathSlice& of = part.of;
  if (of.kind == PathPartKind::kLatency) {
    switch (of.edge) {
      case EdgeKind::kLaunch:
        return "launch to start";
      case EdgeKind::kStream:
        return "between activities of a stream";
      case EdgeKind::kEvent:
        return "after an event";
      case EdgeKind::kReturn:
      case EdgeKind::kAwait:
        return "return of a wait";
      default:
        return "small waits";
    }
  }
  if (!of.name) return of.kind == PathPartKind::kHost ? "not recorded" : "";
  const std::string_view name = trace.text(of.name);
  return of.source == RowSource::kActivity ? describe_kernel(name) : std::string(name);
}

Table path_causes_table(const PathAnswer& answer) {
  const std::vector<Binding> states = path_states(answer.report.path);
  TableOf table(states, {.key = "causes", .title = "The critical path by cause"});
  table.add(keys::cause, &Binding::name)
      .add(keys::ns, &Binding::ns)
      .add(keys::path_share,
           [&](const Binding& state) { return share(state.ns, answer.report.path.makespan_ns); });
  return table;
}

Table path_parts_table(const PathAnswer& answer) {
  const int64_t makespan_ns = answer.report.path.makespan_ns;
  TableOf table(answer.parts, {.key = "parts", .title = "Critical path by component"});
  table
      .add(
          keys::name, [&](const PathPart& part) { return part_name(answer.trace, part); },
          elastic())
      .add(keys::kind,
           [](const PathPart& part) { return std::string(path_part_kind_name(part.of.kind)); })
      .add(keys::cause, [](const PathPart& part) { return std::string(path_slice_state(part.of)); })
      .add(keys::ns, &PathPart::ns)
      .add(keys::path_share, [&](const PathPart& part) { return share(part.ns, makespan_ns); })
      .add(keys::slices, &PathPart::slices)
      .add(keys::longest_slice_ns,
           [](const PathPart& part) { return part.of.span.end_ns - part.of.span.start_ns; });
  return table;
}

Table path_ops_table(const PathAnswer& answer) {
  const int64_t makespan_ns = answer.report.path.makespan_ns;
  TableOf table(answer.ops, {.key = "ops",
                             .title = "The critical path by outermost operator",
                             .show = shown_if(answer.ops.size() > 1)});
  table
      .add(
          keys::name,
          [&](const PathOp& op) {
            return op.name ? std::string(answer.trace.text(op.name)) : "outside of operators";
          },
          elastic())
      .add(keys::ns, &PathOp::ns)
      .add(keys::path_share, [&](const PathOp& op) { return share(op.ns, makespan_ns); })
      .add(keys::path_device_ns, &PathOp::device_ns)
      .add(keys::path_host_ns, [](const PathOp& op) { return op.ns - op.device_ns; });
  return table;
}

std::string layer_words(const NamedPathLayer& layer) {
  if (layer.sum.layer == kPathLayerOutside) return "outside layers";
  if (layer.sum.layer == kPathLayerNotTold) return "between layers";
  return (layer.stack.empty() ? "" : layer.stack + ", ") + "layer " +
         std::to_string(layer.sum.layer);
}

Table path_layers_table(const PathAnswer& answer) {
  using Layer = NamedPathLayer;
  const int64_t makespan_ns = answer.report.path.makespan_ns;
  TableOf table(answer.layers, {.key = "layers",
                                .title = "The critical path by layer",
                                .show = shown_if(!answer.layers.empty())});
  table.add(keys::name, layer_words, elastic())
      .add(
          keys::layer,
          [](const Layer& one) { return one.sum.layer < 0 ? Value() : Value(one.sum.layer); },
          Show::kDataOnly)
      .add(keys::ns, [](const Layer& one) { return one.sum.ns; })
      .add(keys::path_share, [&](const Layer& one) { return share(one.sum.ns, makespan_ns); })
      .add(keys::path_device_ns, [](const Layer& one) { return one.sum.device_ns; })
      .add(keys::path_host_ns, [](const Layer& one) { return one.sum.ns - one.sum.device_ns; });
  return table;
}

struct OpenedRow {
  FlowCause cause = FlowCause::kUnseen;
  int64_t ns = 0;
  std::array<int64_t, kOpenings> by{};
};

}  // namespace

std::vector<std::string> path_words(const PathAnswer& answer) {
  const CriticalPath& path = answer.report.path;
  const std::vector<Binding> states = path_states(path);
  if (states.empty()) return {};
  std::string text = "On the critical path of " + format_ns(path.makespan_ns) + ", " +
                     state_words(states[0].name) + " takes " +
                     format_share(share(states[0].ns, path.makespan_ns));
  if (states.size() > 1) {
    text += ", " + state_words(states[1].name) + " " +
            format_share(share(states[1].ns, path.makespan_ns));
  }
  std::string longest;
  for (const PathPart& part : answer.parts) {
    const std::string name = part_name(answer.trace, part);
    // The activity after unrecorded time does not represent it.
    if (part.of.cause == FlowCause::kNoEvidence || !part.of.name || name.empty()) continue;
    longest = "; most of one name: " + name + ", " + format_ns(part.ns);
    break;
  }
  const std::vector<Interval>& unrecorded = answer.report.unrecorded;
  std::string left_out;
  if (!unrecorded.empty()) {
    left_out = "; " + format_ns(length_ns(unrecorded)) + " between " +
               std::to_string(unrecorded.size() + 1) + " windows are left out";
  }
  return {text + longest + left_out + "."};
}

Section path_section(const PathAnswer& answer) {
  return {.key = "path",
          .title = "The critical path",
          .blocks = {Facts{.items = {fact(keys::makespan_ns, answer.report.path.makespan_ns)}},
                     path_causes_table(answer), path_parts_table(answer), path_ops_table(answer),
                     path_layers_table(answer)}};
}

Section opened_by_section(const FlowReport& report) {
  std::vector<OpenedRow> rows;
  for (size_t c = 0; c < kFlowCauses; ++c) {
    if (report.total.cause_ns[c] == 0) continue;
    rows.push_back(
        {static_cast<FlowCause>(c), report.total.cause_ns[c], report.total.opened_ns[c]});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OpenedRow& a, const OpenedRow& b) { return a.ns > b.ns; });
  const auto by = [](OpenedBy opened) {
    return [opened](const OpenedRow& row) { return row.by[static_cast<size_t>(opened)]; };
  };
  TableOf table(rows,
                {.key = "opened_by", .title = "Idle time by cause, and by how its gap began"});
  table
      .add(keys::cause,
           [](const OpenedRow& row) { return std::string(flow_cause_name(row.cause)); })
      .add(keys::ns, &OpenedRow::ns)
      .add(keys::gap_after_sync_ns, by(OpenedBy::kSync))
      .add(keys::gap_after_host_ns, by(OpenedBy::kHost))
      .add(keys::gap_while_queued_ns, by(OpenedBy::kQueued))
      .add(keys::gap_before_first_ns, by(OpenedBy::kFirst))
      .add(keys::gap_unknown_ns, by(OpenedBy::kUnknown));
  return {.key = "", .title = "How idle time began", .blocks = {std::move(table)}};
}

}  // namespace assay
