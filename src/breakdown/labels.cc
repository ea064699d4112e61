#include "breakdown/labels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <map>

#include "base/ascii.h"
#include "breakdown/structure.h"
#include "trace/phases.h"

namespace assay {
namespace {

// Operations of Chopper's Figure 1.
constexpr std::array<std::string_view, 22> kOperations = {
    "ie",      "attn_n",  "qkv_ip",  "qkv_s", "qkv_t",  "qkv_re",  "qkv_c",  "attn_fa",
    "attn_or", "attn_op", "attn_ra", "mlp_n", "mlp_gp", "mlp_gs",  "mlp_up", "mlp_gu",
    "mlp_dp",  "mlp_ra",  "ln",      "lp",    "ga",     "opt_step"};

// A label around this share of all launches wraps the run; it is not an operation.
constexpr double kWrapperShare = 0.4;
constexpr size_t kLeastRepetitions = 3;

// Layer number in "layer3", "Layer_12", "layers.7", "decoder layer 4"; -1 if there is none.
int32_t layer_number(const std::string& text) {
  const size_t at = text.rfind("layer");
  if (at == std::string::npos) return -1;
  size_t digits = at + 5;
  while (digits < text.size() &&
         (text[digits] == 's' || text[digits] == '_' || text[digits] == ' ' ||
          text[digits] == '.' || text[digits] == '#' || text[digits] == ':' ||
          text[digits] == '[')) {
    ++digits;
  }
  int32_t number = -1;
  std::from_chars(text.data() + digits, text.data() + text.size(), number);
  return number;
}

LevelPhase phase_of(const std::string& text) {
  const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
  if (has("optimizer") || has("zero_grad") || text == "opt_step") return LevelPhase::kOptimizer;
  if (has("recompute")) return LevelPhase::kRecompute;
  if (has("backward") || text.ends_with("(b)") || text.ends_with("(w)") || text == "bwd") {
    return LevelPhase::kBackward;
  }
  if (has("forward") || text.ends_with("(f)") || text == "fwd") return LevelPhase::kForward;
  return LevelPhase::kNone;
}

// True for the framework's labels of steps, data loaders, compiled regions and collectives.
bool is_framework_label(const std::string& text) {
  constexpr std::array<std::string_view, 12> kStarts = {"profilerstep#",
                                                        "enumerate(",
                                                        "optimizer.",
                                                        "nccl:",
                                                        "gloo:",
                                                        "distributeddataparallel.",
                                                        "## call compiledfxgraph",
                                                        "torch-compiled region",
                                                        "pytorch profiler",
                                                        "iteration",
                                                        "fullyshardeddataparallel.",
                                                        "mccl:"};
  if (text.find("forward") != std::string::npos || text.find("backward") != std::string::npos ||
      text.find("optimizer") != std::string::npos || text.find("zero_grad") != std::string::npos) {
    return true;
  }
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&text](std::string_view start) { return text.starts_with(start); });
}

}  // namespace

LabelFacts read_label(std::string_view name) {
  LabelFacts facts;
  const std::string text = lower(name);
  facts.phase = phase_of(text);
  const Phase generation = phase_of_label(name);
  if (generation == Phase::kPrefill) facts.phase = LevelPhase::kPrefill;
  if (generation == Phase::kDecode) facts.phase = LevelPhase::kDecode;
  facts.layer = layer_number(text);
  std::string_view plain = text;
  if (plain.starts_with("f_") || plain.starts_with("b_")) {
    if (facts.phase == LevelPhase::kNone) {
      facts.phase = plain[0] == 'f' ? LevelPhase::kForward : LevelPhase::kBackward;
    }
    plain.remove_prefix(2);
  }
  const bool known = std::find(kOperations.begin(), kOperations.end(), plain) != kOperations.end();
  if (known) facts.op = plain;
  const bool prefixed = plain.size() != text.size();
  if (prefixed && !known) facts.phase = phase_of(text);
  facts.own = !known && facts.layer < 0 && !is_framework_label(text);
  return facts;
}

Labels::Labels(const Trace& trace, const Links& links, const Windows& windows) {
  fact_of_.assign(trace.strings.size(), UINT32_MAX);
  std::vector<NestedSpan> spans;
  for (size_t a = 0; a < trace.annotations.size(); ++a) {
    const StringId name = trace.annotations.name[a];
    uint32_t& fact = fact_of_[name.index()];
    if (fact == UINT32_MAX) {
      fact = static_cast<uint32_t>(facts_.size());
      facts_.push_back(read_label(trace.text(name)));
    }
    const int64_t start_ns = trace.annotations.start_ns[a];
    spans.push_back(
        {start_ns, start_ns + trace.annotations.dur_ns[a], trace.annotations.thread[a], name});
  }
  std::vector<size_t> per_thread(trace.threads.size());
  for (const NestedSpan& span : spans) ++per_thread[span.thread.index()];
  const auto most = std::max_element(per_thread.begin(), per_thread.end());
  if (!spans.empty()) main_thread_ = ThreadId(static_cast<size_t>(most - per_thread.begin()));
  spans_ = NestedSpans(std::move(spans), trace.threads.size());
  drop_wide_labels(trace, links);
  find_repetitions(trace, windows);
}

// Finds user labels for the parts of a layer: a block of labels, with names of attention and
// feed-forward parts, that repeats within an iteration.
void Labels::find_repetitions(const Trace& trace, const Windows& windows) {
  std::vector<uint8_t> holds_own(spans_.size());
  for (uint32_t s = 0; s < spans_.size(); ++s) {
    const uint32_t parent = spans_[s].parent;
    const bool own = facts_[fact_of_[spans_[s].name.index()]].own;
    if (own && parent != NestedSpans::kNone) holds_own[parent] = 1;
  }
  std::map<int32_t, std::vector<uint32_t>> per_window;
  for (uint32_t s = 0; s < spans_.size(); ++s) {
    const bool own = facts_[fact_of_[spans_[s].name.index()]].own;
    if (!own || holds_own[s] != 0 || spans_[s].thread != main_thread_) continue;
    per_window[window_at(windows, spans_[s].start_ns)].push_back(s);
  }
  for (const auto& [window, leaves] : per_window) {
    std::vector<uint32_t> tokens;
    for (uint32_t s : leaves) tokens.push_back(spans_[s].name.value);
    const RepeatingBlock found = find_repeating_block(tokens);
    if (found.repeats < kLeastRepetitions) continue;
    bool attends = false;
    bool feeds = false;
    for (size_t k = found.begin; k < found.begin + found.period; ++k) {
      const std::string name = lower(trace.text(StringId(tokens[k])));
      attends |= contains_any(name, {"attn", "attention"});
      feeds |= contains_any(name, {"mlp", "ffn", "feed_forward", "feedforward", "moe", "expert"});
    }
    if (!attends || !feeds) continue;
    repetition_.resize(spans_.size(), -1);
    block_ = "block of " + std::to_string(found.period) + " labels";
    for (size_t k = 0; k < found.covered(); ++k) {
      repetition_[leaves[found.begin + k]] = static_cast<int32_t>(k / found.period);
    }
  }
}

void Labels::drop_wide_labels(const Trace& trace, const Links& links) {
  std::vector<uint64_t> inside(facts_.size());
  std::vector<uint64_t> last_seen(facts_.size(), UINT64_MAX);
  uint64_t launches = 0;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    if (links.activities_of(ApiCallId(c)).empty()) continue;
    ++launches;
    uint32_t span = spans_.innermost(trace.api_calls.thread[c], trace.api_calls.start_ns[c]);
    for (; span != NestedSpans::kNone; span = spans_[span].parent) {
      const uint32_t fact = fact_of_[spans_[span].name.index()];
      if (last_seen[fact] != c) ++inside[fact];
      last_seen[fact] = c;
    }
  }
  for (size_t f = 0; f < facts_.size(); ++f) {
    if (static_cast<double>(inside[f]) > kWrapperShare * static_cast<double>(launches)) {
      facts_[f].own = false;
    }
  }
}

Labels::Place Labels::at(ThreadId thread, int64_t time_ns) const {
  Place place;
  for (uint32_t span = spans_.innermost(thread, time_ns); span != NestedSpans::kNone;
       span = spans_[span].parent) {
    const LabelFacts& facts = facts_[fact_of_[spans_[span].name.index()]];
    if (place.op.empty()) place.op = facts.op;
    if (place.layer < 0) place.layer = facts.layer;
    if (place.phase == LevelPhase::kNone) place.phase = facts.phase;
    if (!place.own && facts.own) place.own = spans_[span].name;
    if (place.repetition < 0 && !repetition_.empty()) place.repetition = repetition_[span];
  }
  return place;
}

}  // namespace assay
