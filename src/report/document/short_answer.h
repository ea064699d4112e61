#pragma once

// What a reader sees first: where the time went, what would change it, how sure that is, what to
// type next. Plain data, made once; terminal, Markdown, JSON and page say the same of it. Every
// share is of one whole: the wall time of the window (times devices, where there are several).

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

// A lever to another factor, as it was replayed.
struct AnswerPoint {
  std::string edit;   // as `assay whatif --edit` takes it
  std::string words;  // "at 50 %", "1.5 times as fast"
  int64_t gain_ns = 0;
  std::string grade;    // as of a lever
  std::string between;  // as of a lever
};

struct AnswerLever {
  std::string key;    // "cheaper_host", ...
  std::string title;  // what to do, at most some 45 characters
  std::string code;   // what to type or change, or why; may be empty
  int64_t gain_ns = 0;
  double share = 0;   // of the window
  std::string grade;  // "simulated" or "up to"
  // Between what the gain lies, in words, or that it is not known; empty: not asked for.
  std::string between = {};
  std::optional<Interval> gain_reach = {};  // of the run; absent where it was not replayed
  std::string edit = {};  // what was replayed, as `assay whatif --edit` takes it; may be empty
  // Where on the timeline it acts: keys of the states that it shortens, or kernels by what they are
  // ("gemm"), or one kernel's name as the timeline has it. All empty: nowhere in particular.
  std::vector<std::string> states = {};
  std::string kernel_kind = {};
  std::string kernel_name = {};
  std::vector<AnswerPoint> points = {};  // for the page, by how much they change; may be none
};

// What some of the levers give together, where that was replayed.
struct AnswerTogether {
  std::vector<size_t> levers;  // places in ShortAnswer::levers, ascending, two or more
  int64_t gain_ns = 0;
  std::string between;  // as of a lever
};

// What stands in place of levers where nothing is decided: "seen", "likely", "record", "do".
struct AnswerNote {
  std::string head;
  std::vector<std::string> lines;
  bool code = false;  // to be typed as it is
};

// What a rank did over the window of its job, as shares of a bin in 1/255: computes or copies, is
// idle, stands in a collective. What is missing to 255 lies outside its recording.
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
  std::vector<std::string> more;     // what else is said at once: sentences behind the verdict
  int64_t window_ns = 0;
  std::vector<AnswerCause> causes;  // compute first, then largest first; sum = total_ns
  int64_t total_ns = 0;             // window times devices
  std::vector<AnswerLever> levers;
  std::vector<AnswerTogether> together;
  std::vector<AnswerNote> notes;
  std::vector<AnswerRank> ranks;  // of a job, at most 64
  uint64_t more_ranks = 0;        // those not shown on the terminal
  int64_t strip_ns = 0;           // what the bins of all ranks span; 0: each its own time
  findings::Confidence confidence = findings::Confidence::kNone;
  std::string reason;
  std::vector<findings::Finding> findings;  // the diagnosis as data; of a job none so far
  std::vector<std::string> next;  // commands
  std::vector<Interval> spans;    // what the verdict speaks of, from the window's start
};
constexpr size_t kLongestVerdict = 160;

// Makes `sentences` the verdict as far as they fit, and the rest what is said behind it; a first
// one that is too long by itself is cut where its parts meet. No word is lost.
void set_verdict(ShortAnswer& answer, const std::vector<std::string>& sentences);


// How many of `room` cells each part gets: largest remainder, at least one for every part that is
// not 0, and `room` together. No part is negative.
std::vector<size_t> bar_cells(const std::vector<int64_t>& parts, size_t room);

// What a bar shows: compute, the three largest causes of at least 0.5 %, and the rest as one
// ("rest", where there is one).
std::vector<AnswerCause> bar_parts(const ShortAnswer& answer);

}  // namespace assay
