#include "breakdown/shape_phases.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "roof/work.h"

namespace assay {
namespace {

// Queries and keys of the attentions in one iteration.
struct Asked {
  bool one = false;      // one query per sequence, with several keys or pages
  bool several = false;  // several queries per sequence
  bool pages = false;
  double keys = 0;  // of the longest sequence
};

void take(const AttentionLengths& lengths, Asked& asked) {
  asked.several |= lengths.queries > 1;
  asked.one |= lengths.queries == 1 && (lengths.pages || lengths.keys > 1);
  asked.pages |= lengths.pages;
  asked.keys = std::max(asked.keys, lengths.keys);
}

std::vector<Asked> asked_of(const Trace& trace, const Windows& windows) {
  std::vector<Asked> asked(windows.windows.size());
  const OpInputTable& table = trace.op_inputs;
  // Keyed by name, dims and values: the longest of concatenated sequences is a value.
  std::map<std::array<uint32_t, 3>, std::optional<AttentionLengths>> known;
  for (size_t i = 0; i < table.size(); ++i) {
    const size_t op = table.op[i].index();
    const int32_t window = window_at(windows, trace.ops.start_ns[op]);
    if (window < 0) continue;
    const StringId name = trace.ops.name[op];
    const std::array<uint32_t, 3> key = {name.value, table.dims[i].value, table.concrete[i].value};
    auto found = known.find(key);
    if (found == known.end()) {
      const OpInputs inputs = read_op_inputs(trace.text(table.dims[i]), trace.text(table.types[i]),
                                             {}, trace.text(table.concrete[i]));
      found = known.emplace(key, attention_lengths(trace.text(name), inputs)).first;
    }
    if (found->second) take(*found->second, asked[static_cast<size_t>(window)]);
  }
  return asked;
}

bool is_decode(const Asked& asked) { return asked.one && !asked.several; }

bool keeps_keys(const std::vector<Asked>& asked) {
  for (size_t i = 0; i < asked.size(); ++i) {
    if ((asked[i].several && !asked[i].one) || asked[i].pages) return true;
    const bool both = i > 0 && is_decode(asked[i - 1]) && is_decode(asked[i]);
    if (both && asked[i].keys == asked[i - 1].keys + 1) return true;
  }
  return false;
}

}  // namespace

Phases phases_by_shape(const Trace& trace, const Windows& windows) {
  Phases phases;
  if (!may_generate(trace)) return phases;
  const std::vector<Asked> asked = asked_of(trace, windows);
  if (std::none_of(asked.begin(), asked.end(), is_decode) || !keeps_keys(asked)) return phases;
  phases.source = PhaseSource::kShapes;
  phases.why = "attention has one query for each sequence in decode steps, more in a prefill";
  phases.windows = windows;
  for (const Asked& one : asked) {
    const bool prefill = one.several && !one.one;
    phases.phase.push_back(is_decode(one) ? Phase::kDecode
                           : prefill      ? Phase::kPrefill
                                          : Phase::kNone);
    phases.decode_steps += is_decode(one) ? 1 : 0;
  }
  return phases;
}

Phases generation_phases(const Trace& trace, const Links& links, const Windows& windows) {
  Phases phases = find_phases(trace, links, windows);
  if (phases.source == PhaseSource::kLabels) return phases;
  // A single window with prefill and decode: the pattern splits it, which shapes cannot.
  const bool split = phases.source == PhaseSource::kPattern;
  if (split && windows.source == WindowSource::kWholeTrace) return phases;
  Phases by_shape = phases_by_shape(trace, windows);
  return by_shape.source == PhaseSource::kNone ? phases : by_shape;
}

}  // namespace assay
