#pragma once

// The first screen: how time was spent, recommended actions, confidence, and the next command.
// Plain data, built once, with the same content on the terminal, in Markdown, JSON and on the page.
// All shares are of the window's wall time (times the number of devices).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "findings/diagnosis.h"

namespace assay {

// Time with one cause. findings::cause_legend() has its displayed name.
struct AnswerCause {
  std::string key;  // "compute", "dispatch", ...
  int64_t ns = 0;
};

// The same action with another scale factor, as simulated.
struct AnswerPoint {
  std::string edit;   // argument of `assay whatif --edit`
  std::string words;  // "at 50 %", "1.5 times as fast"
  int64_t gain_ns = 0;
  std::string grade;    // as AnswerLever::grade
  std::string between;  // as AnswerLever::between
};

struct AnswerLever {
  std::string key;    // "cheaper_host", ...
  std::string title;  // what to do, about 45 characters at most
  std::string code;   // code or change to apply, or the reason; may be empty
  int64_t gain_ns = 0;
  double share = 0;   // of the window
  std::string grade;  // "simulated" or "up to"
  // Interval of the gain in words, or that it is unknown; empty = not requested.
  std::string between = {};
  std::optional<Interval> gain_reach = {};  // over the run; nullopt if not simulated
  std::string edit = {};  // simulated change as an argument of `assay whatif --edit`; may be empty
  // Effect of the action on the timeline: keys of the causes that it shortens, a kernel kind
  // ("gemm"), or one kernel's name. All empty = no particular place.
  std::vector<std::string> states = {};
  std::string kernel_kind = {};
  std::string kernel_name = {};
  std::vector<AnswerPoint> points = {};  // gains at other scale factors, for the page; may be empty
};

// Simulated joint gain of several actions.
struct AnswerTogether {
  std::vector<size_t> levers;  // indices into ShortAnswer::levers, ascending, at least two
  int64_t gain_ns = 0;
  std::string between;  // as AnswerLever::between
};

// Shown instead of actions if the cause is unknown: "seen", "likely", "record", "do".
struct AnswerNote {
  std::string head;
  std::vector<std::string> lines;
  bool code = false;  // commands or code, printed verbatim
};

// GPU activities with one name in the window.
struct AnswerKernel {
  std::string name;  // short
  std::string kind;  // "gemm", "copy", ...
  int64_t ns = 0;
  uint64_t count = 0;
};

// State of a rank in one time bin of its job's window, in 1/255: share of computation and copies,
// of idle time, and of collectives. The remainder up to 255 is not recorded.
using RankBin = std::array<uint8_t, 3>;
struct AnswerRank {
  std::string name;
  std::vector<RankBin> bins;
  std::string remark;
  bool shown = true;  // on the terminal; the page shows all ranks
};

struct ShortAnswer {
  std::string kind;                  // bottleneck, one of a closed list
  std::vector<std::string> verdict;  // one or two sentences, together at most 160 characters
  std::vector<std::string> more;     // further sentences after the headline
  int64_t window_ns = 0;
  std::vector<AnswerCause> causes;  // compute first, then largest first; sum = total_ns
  int64_t total_ns = 0;             // window times devices
  std::vector<AnswerLever> levers;
  std::vector<AnswerTogether> together;
  std::vector<AnswerNote> notes;
  std::vector<AnswerRank> ranks;  // ranks of a job, at most 64
  uint64_t more_ranks = 0;        // ranks that are not shown on the terminal
  int64_t strip_ns = 0;           // time range of the bins of all ranks; 0 = each has its own
  findings::Confidence confidence = findings::Confidence::kNone;
  std::string reason;
  std::vector<findings::Finding> findings;  // the diagnosis as data; empty for a job
  std::vector<std::string> next;            // commands
  std::vector<AnswerKernel> kernels;        // the ten longest kernels at most; of a single run
  std::vector<Interval> spans;  // intervals to highlight, relative to the window's start
};
constexpr size_t kLongestVerdict = 160;

// Sets the headline to the first of `sentences` that fit and `more` to the others. A first sentence
// that does not fit is split between its parts. No text is lost.
void set_verdict(ShortAnswer& answer, const std::vector<std::string>& sentences);

// Distributes `room` cells over the parts by largest remainder. Every non-zero part gets at least
// one. The sum is `room`. Parts must not be negative.
std::vector<size_t> bar_cells(const std::vector<int64_t>& parts, size_t room);

// Parts of a time breakdown bar: compute, the three largest causes of at least 0.5 %, and "rest",
// the sum of the others, if not 0.
std::vector<AnswerCause> bar_parts(const ShortAnswer& answer);

}  // namespace assay
