#include "report/hang/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "report/document/columns.h"
#include "report/hang/results.h"
#include "text/plain_text.h"
#include "text/rank_list.h"
#include "text/units.h"

namespace assay {
namespace {

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

const char* reason_key(HangReason reason) {
  switch (reason) {
    case HangReason::kNeverRequested:
      return "never_requested";
    case HangReason::kDevice:
      return "device";
    case HangReason::kSilent:
      return "silent";
    case HangReason::kNoDump:
      return "no_dump";
    case HangReason::kOperation:
      return "operation";
    case HangReason::kSize:
      return "size";
    case HangReason::kType:
      return "type";
    case HangReason::kOrder:
      return "order";
  }
  return "";
}

// Completes the sentence "Rank 5 hangs: ".
const char* reason_words(HangReason reason, bool one) {
  switch (reason) {
    case HangReason::kNeverRequested:
      return one ? "its host never requested the collective that the others wait in"
                 : "their hosts never requested the collectives that the others wait in";
    case HangReason::kDevice:
      return one ? "its device stopped" : "their devices stopped";
    case HangReason::kSilent:
      return one ? "its dump has no entries" : "their dumps have no entries";
    case HangReason::kNoDump:
      return one ? "it left no dump" : "they left no dump";
    case HangReason::kOperation:
      return one ? "it asks for another operation than the others"
                 : "they ask for another operation than the others";
    case HangReason::kSize:
      return one ? "it asks for another size than the others"
                 : "they ask for another size than the others";
    case HangReason::kType:
      return one ? "it asks for another element type than the others"
                 : "they ask for another element type than the others";
    case HangReason::kOrder:
      return one ? "it asks in another order than the others"
                 : "they ask in another order than the others";
  }
  return "";
}

const HangGroup* group_of(const HangReport& report, const HangCulprit& culprit) {
  return culprit.group < report.groups.size() ? &report.groups[culprit.group] : nullptr;
}

std::string group_name(const HangGroup& group) {
  const std::string members = ranks_named(group.ranks);
  return group.desc.empty() ? "the group of " + members
                            : fmt::format("{} ({})", clean_text(group.desc), members);
}

// The call in which the first stalled group waits, if no rank can be identified.
std::string cannot_tell(const HangReport& report) {
  if (!report.hangs || !report.culprits.empty()) return {};
  const HangGroup* stuck = nullptr;
  for (const HangGroup& group : report.groups) {
    if (group.stuck_at < 0) continue;
    const bool all_in = group.started.size() == group.ranks.size();
    if (stuck == nullptr || all_in) stuck = &group;
    if (all_in) break;
  }
  if (stuck == nullptr) {
    return "unfinished calls are in no process group that the dumps describe";
  }
  if (stuck->started.size() == stuck->ranks.size()) {
    return fmt::format("all {} ranks of {} are in collective {}: a link or a device among them",
                       stuck->ranks.size(), group_name(*stuck), stuck->stuck_at);
  }
  return fmt::format("{} waits in collective {}, and its ranks requested the same",
                     group_name(*stuck), stuck->stuck_at);
}

std::string frames_text(const std::vector<FlightFrame>& frames) {
  std::string text;
  for (const FlightFrame& frame : frames) {
    text += fmt::format("{}{} ({}:{})", text.empty() ? "" : " < ", clean_text(frame.function),
                        clean_text(frame.file), frame.line);
  }
  return text;
}

// The innermost frame of the user's code, else the innermost frame.
const FlightFrame* telling_frame(const std::vector<FlightFrame>& frames) {
  if (frames.empty()) return nullptr;
  const auto own = std::find_if(frames.begin(), frames.end(), [](const FlightFrame& frame) {
    return frame.file.find("torch/") == std::string::npos && frame.file.ends_with(".py");
  });
  return own == frames.end() ? &frames.front() : &*own;
}

std::string place_words(const char* verb, int64_t rank, const std::vector<FlightFrame>& frames) {
  const FlightFrame* frame = telling_frame(frames);
  if (frame == nullptr) return {};
  return fmt::format("Rank {} {} {} ({}:{}).", rank, verb, clean_text(frame->function),
                     clean_text(frame->file), frame->line);
}

// "Rank 12 finished collective 20529 of tp (ranks 12-15), others 20536."
std::string evidence_words(const HangReport& report, const HangCulprit& culprit) {
  const HangGroup* group = group_of(report, culprit);
  const std::string of = group == nullptr ? "" : " of " + group_name(*group);
  switch (culprit.reason) {
    case HangReason::kNeverRequested:
      if (culprit.others_at < 0 && !culprit.others_ask.empty()) {
        return fmt::format("Rank {} never requested {}{}.", culprit.rank,
                           clean_text(culprit.others_ask), of);
      }
      return fmt::format("Rank {} requested collective {}{}, others {}.", culprit.rank,
                         culprit.at, of, culprit.others_at);
    case HangReason::kDevice:
      if (!culprit.others_ask.empty()) {
        return fmt::format("The device of rank {} did not begin {}, which its partner is in.",
                           culprit.rank, clean_text(culprit.others_ask));
      }
      return culprit.at < 0 ? fmt::format("The device of rank {} did not begin collective {}{}.",
                                          culprit.rank, culprit.others_at, of)
                            : fmt::format("Rank {} finished collective {}{}, others reached {}.",
                                          culprit.rank, culprit.at, of, culprit.others_at);
    case HangReason::kOperation:
    case HangReason::kSize:
    case HangReason::kType:
    case HangReason::kOrder:
      return fmt::format("Rank {} asks for {}{}, the others for {}.", culprit.rank,
                         clean_text(culprit.asks), of, clean_text(culprit.others_ask));
    case HangReason::kSilent:
    case HangReason::kNoDump:
      break;
  }
  return {};
}

Value number_or_none(int64_t number) { return number < 0 ? Value() : Value(number); }

std::string versions_of(const std::vector<FlightDump>& dumps, std::string FlightDump::* field) {
  std::set<std::string> versions;
  for (const FlightDump& dump : dumps) {
    if (!(dump.*field).empty()) versions.insert(dump.*field);
  }
  std::string text;
  for (const std::string& version : versions) text += (text.empty() ? "" : ", ") + version;
  return text;
}

std::string by_rank(const std::map<int64_t, int64_t>& numbers) {
  std::map<int64_t, std::vector<int64_t>, std::greater<>> ranks;
  for (const auto& [rank, number] : numbers) ranks[number].push_back(rank);
  std::string text;
  for (const auto& [number, of] : ranks) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", number, ranks_named(of));
  }
  return text;
}

Table culprits_table(const HangReport& report) {
  TableOf table(report.culprits, {.key = "culprits", .title = "Who hangs"});
  const auto any = [&](auto has) {
    return shown_if(std::any_of(report.culprits.begin(), report.culprits.end(), has));
  };
  table.add(keys::rank, &HangCulprit::rank)
      .add(keys::hang_reason, [](const HangCulprit& one) { return Value(reason_key(one.reason)); })
      .add(keys::hang_group,
           [&](const HangCulprit& one) {
             const HangGroup* group = group_of(report, one);
             return group == nullptr ? Value() : text_or_null(group->desc);
           })
      .add(keys::hang_at, [](const HangCulprit& one) { return number_or_none(one.at); })
      .add(keys::others_at, [](const HangCulprit& one) { return number_or_none(one.others_at); })
      .add(
          keys::asks, [](const HangCulprit& one) { return text_or_null(one.asks); },
          any([](const HangCulprit& one) { return !one.asks.empty(); }))
      .add(
          keys::others_ask, [](const HangCulprit& one) { return text_or_null(one.others_ask); },
          any([](const HangCulprit& one) { return !one.others_ask.empty(); }))
      .add(
          keys::also,
          [](const HangCulprit& one) {
            std::string text;
            for (const HangReason reason : one.also) {
              text += (text.empty() ? "" : ", ") + std::string(reason_key(reason));
            }
            return text_or_null(text);
          },
          any([](const HangCulprit& one) { return !one.also.empty(); }))
      .add(
          keys::last_call, [](const HangCulprit& one) { return text_or_null(one.last_call); },
          elastic())
      .add(
          keys::frames,
          [](const HangCulprit& one) { return text_or_null(frames_text(one.frames)); },
          elastic(any([](const HangCulprit& one) { return !one.frames.empty(); })));
  return table;
}

Table groups_table(const HangReport& report) {
  TableOf table(report.groups,
                {.key = "groups", .title = "Process groups", .terminal_limit = 12});
  table.add(
           keys::name, [](const HangGroup& one) { return text_or_null(one.desc); }, elastic())
      .add(
          keys::group_ranks, [](const HangGroup& one) { return Value(rank_list(one.ranks)); },
          elastic())
      .add(keys::stuck_at, [](const HangGroup& one) { return number_or_none(one.stuck_at); })
      .add(
          keys::stuck_call, [](const HangGroup& one) { return text_or_null(one.stuck_call); },
          elastic())
      .add(
          keys::in_it, [](const HangGroup& one) { return text_or_null(rank_list(one.started)); },
          elastic())
      .add(
          keys::enqueued, [](const HangGroup& one) { return text_or_null(by_rank(one.enqueued)); },
          elastic())
      .add(
          keys::completed,
          [](const HangGroup& one) { return text_or_null(by_rank(one.completed)); }, elastic());
  return table;
}

}  // namespace

std::vector<std::string> hang_words(const HangView& view) {
  const HangReport& report = view.report;
  std::vector<std::string> words;
  std::map<HangReason, std::vector<int64_t>> by_reason;
  for (const HangCulprit& culprit : report.culprits) by_reason[culprit.reason].push_back(culprit.rank);
  for (const auto& [reason, ranks] : by_reason) {
    const bool one = ranks.size() == 1;
    words.push_back(fmt::format("{} {}: {}.", capital(ranks_named(ranks)), one ? "hangs" : "hang",
                                reason_words(reason, one)));
  }
  if (!report.hangs && !report.culprits.empty()) {
    words.push_back(fmt::format("All calls in the other {} are finished.",
                                format_counted(view.dumps.size(), "dump", "dumps")));
  } else if (!report.hangs) {
    words.push_back(fmt::format("{}: all calls in {} are finished.",
                                report.absent.empty() ? "Nothing hangs" : "No dump shows a hang",
                                format_counted(view.dumps.size(), "dump", "dumps")));
  } else if (report.culprits.empty()) {
    words.push_back("The job hangs, and no rank can be named: " + cannot_tell(report) + ".");
  }
  constexpr size_t kMostTold = 4;
  for (size_t i = 0; i < std::min(report.culprits.size(), kMostTold); ++i) {
    const HangCulprit& culprit = report.culprits[i];
    for (std::string text : {evidence_words(report, culprit),
                             place_words("last called from", culprit.rank, culprit.frames)}) {
      if (!text.empty()) words.push_back(std::move(text));
    }
  }
  if (!report.waiting.empty() && !report.culprits.empty()) {
    words.push_back(capital(ranks_named(report.waiting)) +
                    (report.waiting.size() == 1 ? " waits." : " wait."));
  }
  if (report.waiting_rank >= 0 && !report.culprits.empty()) {
    words.push_back(place_words("waits in", report.waiting_rank, report.waiting_frames));
  }
  if (report.hangs && !report.has_frames) {
    words.push_back("No dump has stacks: record with TORCH_INCLUDE_STACK_TRACE=1.");
  }
  if (!report.absent.empty()) {
    words.push_back(fmt::format(
        "{} of {} ranks have no dump: {}.{}", report.absent.size(), report.world.size(),
        rank_list(report.absent), report.hangs ? "" : " A hang there is not known."));
  }
  for (const UnreadDump& one : view.unread) {
    words.push_back("Not read: " + clean_text(file_name(one.file)) + ": " + clean_text(one.why) +
                    ".");
  }
  return words;
}

Section hang_section(const HangView& view) {
  const HangReport& report = view.report;
  Section section{.key = "hang", .title = "Who hangs"};
  section.blocks.push_back(Facts{
      .items = {data_fact(keys::hangs, report.hangs), fact(keys::world, report.world.size()),
                fact(keys::dumps, view.dumps.size()),
                fact(keys::recorder_version,
                     text_or_null(versions_of(view.dumps, &FlightDump::version))),
                fact(keys::library_version,
                     text_or_null(versions_of(view.dumps, &FlightDump::library_version))),
                fact(keys::timeout_ms, number_or_none(report.timeout_ms)),
                data_fact(keys::cannot_tell, text_or_null(cannot_tell(report))),
                fact(keys::waiting_ranks, text_or_null(rank_list(report.waiting))),
                fact(keys::dumps_absent, text_or_null(rank_list(report.absent))),
                data_fact(keys::waiting_rank, number_or_none(report.waiting_rank)),
                data_fact(keys::waiting_frames,
                          text_or_null(frames_text(report.waiting_frames)))}});
  if (!report.culprits.empty()) section.blocks.push_back(culprits_table(report));
  if (!report.groups.empty()) section.blocks.push_back(groups_table(report));
  if (!view.evidence.empty()) {
    TableOf table(view.evidence, {.key = "evidence", .title = "Logs of the communication library"});
    table.add(keys::rank, [](const HangEvidence& one) { return Value(one.rank); })
        .add(keys::source, &HangEvidence::source)
        .add(keys::text, &HangEvidence::text, elastic());
    section.blocks.push_back(std::move(table));
  }
  if (!view.unread.empty()) {
    TableOf table(view.unread, {.key = "unread", .title = "Dumps that are not used"});
    table.add(keys::what, &UnreadDump::file, elastic())
        .add(keys::why_unused, &UnreadDump::why, elastic());
    section.blocks.push_back(std::move(table));
  }
  return section;
}

}  // namespace assay
