#pragma once

// The first screen: how the time was spent, recommended changes, confidence, and the next command.
// Plain data, built once, with the same content on the terminal, in Markdown, JSON and on the page.
// All shares are of the wall time of the window (times devices, if there are several).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "findings/diagnosis.h"

namespace assay {

// A part of the whole. The word for a reader: findings::cause_legend().
struct AnswerCause {
  std::string key;  // "compute", "dispatch", ...
  int64_t ns = 0;
};

// The action at another factor, as replayed.
struct AnswerPoint {
  std::string edit;   // as `assay whatif --edit` takes it
  std::string words;  // "at 50 %", "1.5 times as fast"
  int64_t gain_ns = 0;
  std::string grade;    // as of an action
  std::string between;  // as of an action
};

struct AnswerLever {
  std::string key;    // "cheaper_host", ...
  std::string title;  // what to do, at most some 45 characters
  std::string code;   // what to type or change, or why; may be empty
  int64_t gain_ns = 0;
  double share = 0;   // of the window
  std::string grade;  // "simulated" or "up to"
  // Interval of the gain, in words, or that it is unknown; empty = not requested.
  std::string between = {};
  std::optional<Interval> gain_reach = {};  // of the run; absent where it was not replayed
  std::string edit = {};  // what was replayed, as `assay whatif --edit` takes it; may be empty
  // Effect on the timeline: keys of the states that it shortens, or kinds of kernels ("gemm"), or
  // one kernel's name on the timeline. All empty = no particular place.
  std::vector<std::string> states = {};
  std::string kernel_kind = {};
  std::string kernel_name = {};
  std::vector<AnswerPoint> points = {};  // for the page, by how much they change; may be none
};

// Joint gain of some of the actions, if it was replayed.
struct AnswerTogether {
  std::vector<size_t> levers;  // places in ShortAnswer::levers, ascending, two or more
  int64_t gain_ns = 0;
  std::string between;  // as of an action
};

// Replaces the actions if the cause is unknown: "seen", "likely", "record", "do".
struct AnswerNote {
  std::string head;
  std::vector<std::string> lines;
  bool code = false;  // to be typed as it is
};

// Device work of one name in the window.
struct AnswerKernel {
  std::string name;  // short
  std::string kind;  // "gemm", "copy", ...
  int64_t ns = 0;
  uint64_t count = 0;
};

// State of a rank over the window of its job, as shares of a bin in 1/255: computes or copies, is
// idle, is in a collective. The rest up to 255 is outside its recording.
using RankBin = std::array<uint8_t, 3>;
struct AnswerRank {
  std::string name;
  std::vector<RankBin> bins;
  std::string remark;
  bool shown = true;  // on the terminal; the page has all that are here
};

struct ShortAnswer {
  std::string kind;                  // the cause's word of the closed list
  std::vector<std::string> verdict;  // one or two sentences, of at most 160 characters together
  std::vector<std::string> more;     // further sentences after the headline
  int64_t window_ns = 0;
  std::vector<AnswerCause> causes;  // compute first, then largest first; sum = total_ns
  int64_t total_ns = 0;             // window times devices
  std::vector<AnswerLever> levers;
  std::vector<AnswerTogether> together;
  std::vector<AnswerNote> notes;
  std::vector<AnswerRank> ranks;  // of a job, at most 64
  uint64_t more_ranks = 0;        // those not shown on the terminal
  int64_t strip_ns = 0;           // time range of the bins of all ranks; 0 = each has its own
  findings::Confidence confidence = findings::Confidence::kNone;
  std::string reason;
  std::vector<findings::Finding> findings;  // the diagnosis as data; of a job none so far
  std::vector<std::string> next;            // commands
  std::vector<AnswerKernel> kernels;        // those that take most time, at most ten; of one run
  std::vector<Interval> spans;  // intervals that the headline mentions, from the window's start
};
constexpr size_t kLongestVerdict = 160;

// Sets the headline to the first of `sentences` that fit, and `more` to the others. A first
// sentence that is too long alone is split between its parts. No word is lost.
void set_verdict(ShortAnswer& answer, const std::vector<std::string>& sentences);

// How many of `room` cells each part gets: largest remainder, at least one for every part that is
// not 0, and `room` together. No part is negative.
std::vector<size_t> bar_cells(const std::vector<int64_t>& parts, size_t room);

// Parts of a bar: compute, the three largest causes of at least 0.5 %, and the sum of the others
// ("rest", if there is one).
std::vector<AnswerCause> bar_parts(const ShortAnswer& answer);

}  // namespace assay
