#include "trace/phases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "trace/copy_way.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

constexpr size_t kShortestRun = 4;       // minimum number of consecutive decode steps
constexpr double kSharedKernels = 0.95;  // minimum of two steps of one run
constexpr double kLengthSpread = 0.02;
constexpr double kLongerPrefill = 1.2;  // minimum device time relative to a decode step
constexpr size_t kShortestPeriod = 16;  // kernels; a shorter one is a loop over one operator
constexpr double kFewestPrefillKernels = 0.8;
constexpr double kMostPrefillKernels = 1.5;

// True if the lower-case text contains `word` as a whole word.
bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) {
      return true;
    }
  }
  return false;
}

// Whether the number after `key` is above 0; nullopt without the key and digits.
std::optional<bool> positive_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  size_t digit = at + key.size();
  if (digit == text.size() || !is_digit(text[digit])) return std::nullopt;
  while (digit < text.size() && text[digit] == '0') ++digit;
  return digit < text.size() && is_digit(text[digit]);
}

Phase one_of(bool prefill, bool decode) {
  if (prefill == decode) return Phase::kNone;
  return prefill ? Phase::kPrefill : Phase::kDecode;
}

// ---- labels ----

Phases phases_by_label(const Trace& trace) {
  std::vector<uint8_t> told(trace.strings.size());  // per StringId: 0 = not computed, else 1 +
                                                    // phase
  std::vector<Window> labelled;
  for (size_t i = 0; i < trace.annotations.size(); ++i) {
    const StringId name = trace.annotations.name[i];
    uint8_t& known = told[name.index()];
    if (known == 0)
      known = static_cast<uint8_t>(1 + static_cast<int>(phase_of_label(trace.text(name))));
    if (known == 1 + static_cast<uint8_t>(Phase::kNone)) continue;
    const int64_t start_ns = trace.annotations.start_ns[i];
    labelled.push_back(
        {std::string(trace.text(name)), start_ns, start_ns + trace.annotations.dur_ns[i]});
  }
  Phases phases;
  phases.windows.source = WindowSource::kLabel;
  phases.windows.windows = disjoint_windows(std::move(labelled), phases.windows.overlaps_cut);
  if (phases.windows.windows.empty()) return phases;
  phases.source = PhaseSource::kLabels;
  phases.why = "annotations say prefill or decode";
  uint64_t steps = 0;
  bool engine = false;
  for (const Window& window : phases.windows.windows) {
    phases.phase.push_back(phase_of_label(window.name));
    if (phases.phase.back() != Phase::kDecode) continue;
    ++steps;
    engine |= is_step_label(window.name);
  }
  // A single user label may enclose the whole loop.
  phases.decode_steps = steps > 1 || engine ? steps : 0;
  return phases;
}

// ---- patterns ----

struct Launched {
  int64_t call_ns;
  int64_t kernel_ns;
  ActivityId kernel;
  StringId name;
};

// Kernels with a call, in launch order.
std::vector<Launched> launch_sequence(const Trace& trace, const Links& links) {
  std::vector<Launched> sequence;
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    const ApiCallId call = links.activity_call[a];
    if (!call || trace.activities.kind[a] != ActivityKind::kKernel) continue;
    sequence.push_back({trace.api_calls.start_ns[call.index()], trace.activities.start_ns[a],
                        ActivityId(a), trace.activities.name[a]});
  }
  std::sort(sequence.begin(), sequence.end(), [](const Launched& a, const Launched& b) {
    if (a.call_ns != b.call_ns) return a.call_ns < b.call_ns;
    return a.kernel_ns != b.kernel_ns ? a.kernel_ns < b.kernel_ns : a.kernel < b.kernel;
  });
  return sequence;
}

// Content of one window: sorted kernel names, and the device time.
struct Pass {
  std::vector<StringId> names;
  int64_t device_ns = 0;
};

bool alike(const Pass& a, const Pass& b) {
  const size_t fewer = std::min(a.names.size(), b.names.size());
  const size_t more = std::max(a.names.size(), b.names.size());
  if (fewer == 0 || static_cast<double>(more - fewer) > kLengthSpread * static_cast<double>(more)) {
    return false;
  }
  size_t shared = 0;
  for (size_t i = 0, j = 0; i < a.names.size() && j < b.names.size();) {
    if (a.names[i] == b.names[j]) {
      ++shared;
      ++i;
      ++j;
    } else if (a.names[i] < b.names[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return static_cast<double>(shared) >= kSharedKernels * static_cast<double>(more);
}

bool is_longer(int64_t prefill_ns, int64_t decode_ns) {
  return static_cast<double>(prefill_ns) >= kLongerPrefill * static_cast<double>(decode_ns);
}

std::vector<Pass> steps_of(const Trace& trace, const std::vector<Launched>& sequence,
                           const std::vector<Window>& windows) {
  std::vector<Pass> steps(windows.size());
  size_t w = 0;
  for (const Launched& launched : sequence) {
    while (w < windows.size() && windows[w].end_ns <= launched.call_ns) ++w;
    if (w == windows.size()) break;
    if (launched.call_ns < windows[w].start_ns) continue;
    steps[w].names.push_back(launched.name);
    steps[w].device_ns += trace.activities.dur_ns[launched.kernel.index()];
  }
  for (Pass& step : steps) std::sort(step.names.begin(), step.names.end());
  return steps;
}

Phases phases_of_iterations(const Trace& trace, const std::vector<Launched>& sequence,
                            const Windows& windows) {
  const std::vector<Pass> steps = steps_of(trace, sequence, windows.windows);
  Phases phases;
  phases.windows = windows;
  phases.phase.assign(steps.size(), Phase::kNone);
  for (size_t begin = 1, end = 1; begin < steps.size(); begin = end) {
    end = begin + 1;
    while (end < steps.size() && alike(steps[end - 1], steps[end])) ++end;
    const bool prefilled = !alike(steps[begin - 1], steps[begin]) &&
                           is_longer(steps[begin - 1].device_ns, steps[begin].device_ns);
    if (end - begin < kShortestRun || !prefilled || phases.phase[begin - 1] == Phase::kDecode) {
      continue;
    }
    phases.phase[begin - 1] = Phase::kPrefill;
    std::fill(phases.phase.begin() + static_cast<std::ptrdiff_t>(begin),
              phases.phase.begin() + static_cast<std::ptrdiff_t>(end), Phase::kDecode);
    phases.decode_steps += end - begin;
    phases.source = PhaseSource::kPattern;
  }
  phases.why = "iterations that repeat after a longer one with other kernels";
  return phases;
}

// z[i]: length of the common prefix of the sequence and its suffix at i (Gusfield).
std::vector<size_t> z_function(const std::vector<StringId>& text) {
  std::vector<size_t> z(text.size(), 0);
  size_t left = 0;
  size_t right = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (i < right) z[i] = std::min(right - i, z[i - left]);
    while (i + z[i] < text.size() && text[z[i]] == text[i + z[i]]) ++z[i];
    if (i + z[i] > right) {
      left = i;
      right = i + z[i];
    }
  }
  return z;
}

// Times at which the host waits for the device or copies from it, sorted.
std::vector<int64_t> waits_for_device(const Trace& trace, const Links& links) {
  std::vector<int64_t> waits;
  for (size_t c = 0; c < trace.api_calls.size(); ++c) {
    bool waits_here = is_blocking(links.role_of(trace, ApiCallId(c)));
    for (ActivityId activity : links.activities_of(ApiCallId(c))) {
      const std::string_view name = trace.text(trace.activities.name[activity.index()]);
      waits_here |= copy_way(name) == CopyWay::kToHost;
    }
    if (waits_here) waits.push_back(trace.api_calls.start_ns[c]);
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

int64_t device_time(const Trace& trace, const std::vector<Launched>& sequence, size_t begin,
                    size_t end) {
  int64_t sum_ns = 0;
  for (size_t i = begin; i < end; ++i) {
    sum_ns += trace.activities.dur_ns[sequence[i].kernel.index()];
  }
  return sum_ns;
}

// The phases of a sequence that ends with `repeats` times `period` kernels.
Phases phases_of_period(const Trace& trace, const Links& links,
                        const std::vector<Launched>& sequence, size_t period, size_t repeats,
                        int64_t end_ns) {
  Phases phases;
  const size_t before = sequence.size() - period * repeats;
  const auto fits = [&](double share) { return share * static_cast<double>(period); };
  if (static_cast<double>(before) < fits(kFewestPrefillKernels) ||
      static_cast<double>(before) > fits(kMostPrefillKernels) ||
      !is_longer(device_time(trace, sequence, 0, before),
                 device_time(trace, sequence, before, before + period))) {
    return phases;
  }
  const std::vector<int64_t> waits = waits_for_device(trace, links);
  std::vector<Window>& windows = phases.windows.windows;
  windows.push_back({"prefill", sequence.front().call_ns, sequence[before].call_ns});
  for (size_t r = 0; r < repeats; ++r) {
    const size_t first = before + r * period;
    const int64_t start_ns = sequence[first].call_ns;
    const int64_t next_ns = r + 1 < repeats ? sequence[first + period].call_ns : end_ns;
    const auto wait = std::lower_bound(waits.begin(), waits.end(), start_ns);
    if (wait == waits.end() || *wait >= next_ns || next_ns <= start_ns) return {};
    windows.push_back({"decode [" + std::to_string(r + 1) + "]", start_ns, next_ns});
  }
  if (windows.front().end_ns <= windows.front().start_ns) return {};
  phases.phase.assign(windows.size(), Phase::kDecode);
  phases.phase.front() = Phase::kPrefill;
  phases.source = PhaseSource::kPattern;
  phases.windows.source = WindowSource::kRepeatedRoot;
  phases.decode_steps = repeats;
  phases.why = "a sequence of kernels that repeats after a longer pass with other kernels";
  return phases;
}

Phases phases_of_sequence(const Trace& trace, const Links& links,
                          const std::vector<Launched>& sequence, int64_t end_ns) {
  std::vector<StringId> backwards;
  for (size_t i = sequence.size(); i-- > 0;) backwards.push_back(sequence[i].name);
  const std::vector<size_t> z = z_function(backwards);
  for (size_t period = kShortestPeriod; period * kShortestRun <= z.size(); ++period) {
    const size_t repeats = z[period] / period + 1;
    if (repeats < kShortestRun) continue;
    // Also tries one repeat less: a prefill that runs the same kernels ends with a complete period.
    for (size_t taken = repeats; taken >= kShortestRun && taken + 1 >= repeats; --taken) {
      Phases phases = phases_of_period(trace, links, sequence, period, taken, end_ns);
      if (phases.source != PhaseSource::kNone) return phases;
    }
    return {};
  }
  return {};
}

}  // namespace

std::string_view phase_name(Phase phase) {
  switch (phase) {
    case Phase::kNone:
      return "none";
    case Phase::kPrefill:
      return "prefill";
    case Phase::kDecode:
      return "decode";
  }
  return "";
}

std::string_view phase_source_name(PhaseSource source) {
  switch (source) {
    case PhaseSource::kNone:
      return "none";
    case PhaseSource::kLabels:
      return "labels";
    case PhaseSource::kShapes:
      return "shapes";
    case PhaseSource::kPattern:
      return "pattern";
  }
  return "";
}

Phase phase_of_label(std::string_view label) {
  const std::string text = lower(label);
  const auto context = positive_behind(text, "context_");
  const auto generation = positive_behind(text, "generation_");
  if (context && generation) return one_of(*context, *generation);
  const bool prefill = has_word(text, "prefill") || text.starts_with("step[extend");
  return one_of(prefill, has_word(text, "decode"));
}

bool is_step_label(std::string_view label) {
  return label.starts_with("step[") || label.starts_with("execute_");
}

bool may_generate(const Trace& trace) {
  constexpr std::array<std::string_view, 6> kAttention = {"attention", "attn",    "flash",
                                                          "fmha",      "softmax", "sdpa"};
  constexpr std::array<std::string_view, 3> kTraining = {"backward0", "autograd::engine",
                                                         "optimizer.step"};
  bool attends = false;
  std::vector<bool> seen(trace.strings.size());
  const auto look = [&](const std::vector<StringId>& names) {
    for (StringId id : names) {
      if (seen[id.index()]) continue;
      seen[id.index()] = true;
      const std::string name = lower(trace.text(id));
      const auto in_name = [&](std::string_view part) { return contains(name, part); };
      if (std::any_of(kTraining.begin(), kTraining.end(), in_name)) return false;
      attends |= std::any_of(kAttention.begin(), kAttention.end(), in_name);
    }
    return true;
  };
  return look(trace.ops.name) && look(trace.annotations.name) && look(trace.activities.name) &&
         attends;
}

Phases find_phases(const Trace& trace, const Links& links, const Windows& windows) {
  Phases phases = phases_by_label(trace);
  if (phases.source != PhaseSource::kNone) return phases;
  if (!may_generate(trace)) {
    Phases none;
    none.why = "no label says prefill or decode, and nothing here attends, or it trains";
    return none;
  }
  const std::vector<Launched> sequence = launch_sequence(trace, links);
  // Windows from kernel periods leave out the prefill before them, which is no period.
  const bool told =
      windows.source != WindowSource::kWholeTrace && windows.source != WindowSource::kKernelPeriod;
  if (told) {
    phases = phases_of_iterations(trace, sequence, windows);
  } else if (!windows.windows.empty()) {
    phases = phases_of_sequence(trace, links, sequence, windows.windows.back().end_ns);
  }
  if (phases.source != PhaseSource::kNone) return phases;
  Phases none;
  none.why =
      "no label says prefill or decode, and no run of at least 4 equal steps follows a "
      "longer pass with other kernels";
  return none;
}

}  // namespace assay
