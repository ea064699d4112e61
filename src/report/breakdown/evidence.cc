#include "report/breakdown/evidence.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "report/breakdown/results.h"
#include "report/launch/results.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kParagraphs = 10;

// Source of an activity's attribution, as the end of a sentence.
std::string_view source_words(const PlacementEvidence& place) {
  switch (place.by) {
    case PlacedBy::kMap:
      return "a rule of --attribution-rules";
    case PlacedBy::kLabel:
      return "a label around the launch";
    case PlacedBy::kModule:
      return "the nn.Module around the launch";
    case PlacedBy::kFlow:
      return "the flow from the backward node to its forward operator";
    case PlacedBy::kSequence:
      return "the number that the backward node shares with its forward operator";
    case PlacedBy::kBetween:
      return "its place before the next number: it carries none itself, and nothing else there "
             "could make the backward node";
    case PlacedBy::kGradient:
      return "AccumulateGrad around the launch";
    case PlacedBy::kStructure:
      return "by similarity only: it is in a repeated sequence of kernels";
    case PlacedBy::kOperator:
      return "the operator around the launch";
    case PlacedBy::kCollective:
      return "the kind of the collective";
    case PlacedBy::kOptimizer:
      return "an optimizer's operator or label around the launch";
    case PlacedBy::kTwin:
      return "by similarity only: the same sequence of kernels occurs with recorded launches";
    case PlacedBy::kRecording:
      return "the launch that was recorded into the graph";
    case PlacedBy::kKernelName:
      return "its own name: no single operator launched it, and it is not in a repeated sequence";
    case PlacedBy::kNone:
      break;
  }
  return "nothing";
}

std::string_view reason_words(UnplacedReason reason) {
  switch (reason) {
    case UnplacedReason::kCarriedOver:
      return "it was queued before the recording";
    case UnplacedReason::kNoLaunch:
      return "its launch is not in the trace";
    case UnplacedReason::kNoOperator:
      return "its launch lies in no operator, module or label";
    case UnplacedReason::kNoForward:
      return "the forward operator of this backward work is not in the trace";
    case UnplacedReason::kGraphReplay:
      return "a graph replays it, and no recording of it or block that repeats was found";
    case UnplacedReason::kPlaced:
      break;
  }
  return "";
}

std::string chain_of(const std::vector<std::string>& names, std::string_view between) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += between;
    text += name;
  }
  return text;
}

std::string place_words(const PlacementEvidence& place) {
  if (place.first_layer == kNoLayer) return "";
  std::string text = place.first_layer == place.last_layer
                         ? fmt::format(", layer {}", place.first_layer)
                         : fmt::format(", layers {} to {}", place.first_layer, place.last_layer);
  if (!place.stack.empty()) text += " of " + place.stack;
  return text;
}

std::string surroundings_words(const PlacementEvidence& place) {
  std::string text = place.activities > 1 ? " The first of them" : " It";
  if (!place.iteration.empty()) text += ", in " + place.iteration + ",";
  text +=
      place.call.empty() ? " has no launch call in the trace" : " was launched by " + place.call;
  if (!place.operators.empty()) text += " inside " + chain_of(place.operators, " > ");
  if (!place.module.empty()) text += "; modules: " + place.module;
  if (!place.labels.empty()) text += "; labels: " + chain_of(place.labels, " > ");
  if (!place.forward.empty()) text += "; forward operator: " + place.forward;
  if (!place.recorded.empty()) text += "; recorded into the graph by " + place.recorded;
  return text + ".";
}

std::string paragraph(const RankEvidence& one) {
  const PlacementEvidence& place = one.place;
  std::string text = fmt::format("{}: {}, {}", place.kernel,
                                 format_counted(place.activities, "activity", "activities"),
                                 format_ns(place.dur_ns));
  if (!one.file.empty()) text += ", of " + one.file;
  const bool placed = place.unplaced == UnplacedReason::kPlaced;
  text += placed ? fmt::format(": {}", place.op) : fmt::format(": no operation");
  text += place.phase == LevelPhase::kNone ? ", phase not known"
                                           : fmt::format(", {}", level_phase_name(place.phase));
  text += place_words(place) + ". ";
  text += placed ? fmt::format("Known from {}.", source_words(place))
                 : fmt::format("Unknown: {}.", reason_words(place.unplaced));
  return text + surroundings_words(place);
}

Value told_layer(int32_t layer) { return layer == kNoLayer ? Value() : Value(layer); }

Table evidence_table(const std::vector<RankEvidence>& evidence) {
  using One = RankEvidence;
  TableOf table(evidence, {.key = "places", .show = Show::kDataOnly});
  const auto text = [](std::string PlacementEvidence::*field) {
    return [field](const One& one) { return text_or_null(one.place.*field); };
  };
  const auto list = [](std::vector<std::string> PlacementEvidence::*field) {
    return [field](const One& one) { return text_or_null(chain_of(one.place.*field, " > ")); };
  };
  table.add(keys::file, [](const One& one) { return text_or_null(one.file); })
      .add(keys::kernel, text(&PlacementEvidence::kernel))
      .add(keys::op, text(&PlacementEvidence::op))
      .add(keys::phase, [](const One& one) { return level_phase_name(one.place.phase); })
      .add(keys::stack, text(&PlacementEvidence::stack))
      .add(keys::first_layer, [](const One& one) { return told_layer(one.place.first_layer); })
      .add(keys::last_layer, [](const One& one) { return told_layer(one.place.last_layer); })
      .add(keys::source, [](const One& one) { return placed_by_name(one.place.by); })
      .add(keys::sure, [](const One& one) { return sure_word(one.place.by); })
      .add(keys::reason, [](const One& one) { return unplaced_reason_name(one.place.unplaced); })
      .add(keys::activities, [](const One& one) { return one.place.activities; })
      .add(keys::time_ns, [](const One& one) { return one.place.dur_ns; })
      .add(keys::iteration, text(&PlacementEvidence::iteration))
      .add(keys::call, text(&PlacementEvidence::call))
      .add(keys::operators, list(&PlacementEvidence::operators))
      .add(keys::module_path, text(&PlacementEvidence::module))
      .add(keys::labels_around, list(&PlacementEvidence::labels))
      .add(keys::forward_op, text(&PlacementEvidence::forward))
      .add(keys::recorded_op, text(&PlacementEvidence::recorded));
  return table;
}

}  // namespace

std::string_view sure_word(PlacedBy by) {
  if (by == PlacedBy::kNone) return "untold";
  return is_likeness(by) ? "likeness" : "recorded";
}

std::string evidence_words(const std::vector<RankEvidence>& evidence, const std::string& asked,
                           int64_t device_ns) {
  int64_t all_ns = 0;
  int64_t likeness_ns = 0;
  uint64_t activities = 0;
  for (const RankEvidence& one : evidence) {
    activities += one.place.activities;
    all_ns += one.place.dur_ns;
    if (is_likeness(one.place.by)) likeness_ns += one.place.dur_ns;
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
  };
  std::string text = fmt::format("{} with '{}' in the name {} {}, {} of the device time",
                                 format_counted(activities, "activity", "activities"), asked,
                                 activities == 1 ? "takes" : "take", format_ns(all_ns),
                                 format_share(share(all_ns, device_ns)));
  if (likeness_ns > 0) {
    text += fmt::format("; {} of it is attributed by similarity only",
                        format_share(share(likeness_ns, all_ns)));
  }
  return text + ".";
}

Section evidence_section(const std::vector<RankEvidence>& evidence) {
  Section section{.key = "evidence", .title = "Basis of their attribution"};
  Prose words{.bullets = true, .show = Show::kReadersOnly};
  for (size_t i = 0; i < evidence.size() && i < kParagraphs; ++i)
    words.paragraphs.push_back(paragraph(evidence[i]));
  if (evidence.size() > kParagraphs) {
    words.paragraphs.push_back(
        fmt::format("and {} more (--format csv shows all)", evidence.size() - kParagraphs));
  }
  section.blocks.push_back(std::move(words));
  section.blocks.push_back(evidence_table(evidence));
  return section;
}

}  // namespace assay
