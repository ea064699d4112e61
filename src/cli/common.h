#pragma once

// What every verb shares: the options that say what to read and where to write, loading with
// progress, and the way out. Only this folder prints and exits.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/names.h"
#include "launch/metrics.h"
#include "records/replay.h"
#include "report/document/document.h"
#include "tax/tax.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"
#include "trace/trust.h"

namespace CLI {
class App;
}

namespace assay {

enum ExitCode : int {
  kExitFine = 0,
  kExitGateCrossed = 1,
  kExitError = 2,
  kExitDataLost = 3,  // only with --strict
};

struct CommonOptions {
  std::vector<std::string> inputs;
  std::string format;  // empty = as the output's name ends, else terminal
  std::string output = "-";
  std::string color = "auto";
  int width = 0;  // 0 = the terminal's, else 100
  unsigned threads = 0;
  bool allow_truncated = false;
  bool strict = false;
  bool perf = false;
  std::string window;           // glob of window labels; empty = the iterations found
  std::string kernels;          // file of kernel names; empty = the built-in table
  std::string cache;            // folder of cached forms, "auto" = the user's; empty = none
  bool keep_op_inputs = false;  // set by verbs whose analysis needs Trace::op_inputs; no flag
};

// One input with everything that analyses start from.
struct LoadedTrace {
  Trace trace;
  Links links;
  Windows windows;
  std::shared_ptr<const KernelNames> kernels;  // what they are, by the built-in table and --kernels
};

// Adds the options above to a verb. takes_inputs: whether it has positional inputs.
void add_common_options(CLI::App& verb, CommonOptions& options, bool takes_inputs);
// Of those, the ones for verbs that read traces and write no document: --threads,
// --allow-truncated, --strict.
void add_reading_options(CLI::App& verb, CommonOptions& options);
// `--window`, which comes with positional inputs: for verbs that declare their inputs themselves.
void add_window_option(CLI::App& verb, CommonOptions& options);

// `--floor` as typed: nanoseconds, the name of a published platform, or a floor file
// (docs/formats/floor.md); absent when empty.
struct FloorChoice {
  std::optional<double> floor_ns;
  std::string source = {};                             // in words
  TaxSource kind = TaxSource::kNone;                   // kUser, kTable or kMeasured
  uint64_t samples = 0;                                // launches behind a measured one
  CollectorTracer tracer = CollectorTracer::kUnknown;  // of a measured one
  TrustNotes notes = {};  // what could not be checked, or does not fit the trace
};
// trace: what the floor is for, nullptr when it is for several. Fails on a floor measured on
// another GPU than the trace's.
Result<FloorChoice> parse_floor(const std::string& text, const Trace* trace);

// Time and memory per phase on stderr, for --perf.
class PhaseClock {
 public:
  explicit PhaseClock(bool enabled);
  void mark(const char* phase, uint64_t bytes = 0);

 private:
  bool enabled_;
  double last_s_ = 0;
};

// The built-in table of kernel names, with the rows of the user's file in front where one is named.
Result<std::shared_ptr<const KernelBook>> load_kernel_book(const std::string& path);

Result<LoadedTrace> load_input(const std::string& path, const CommonOptions& options);

// A document with the head filled in: tool, title, inputs.
Document new_document(std::string title);
// The part of a document that one trace gives: import log, verdict, sections, facts.
struct TraceContent {
  std::vector<std::string> verdict;
  std::vector<Section> sections;
  std::vector<Item> overview;               // this trace's row in the table that compares several
  std::vector<ImportNote> import_log = {};  // of other files that the verb read beside the trace
};
using Analyze = std::function<Result<TraceContent>(const LoadedTrace&)>;

// Loads every input in turn, analyses it and writes one document: flat for one input, with one part
// per input ("ranks") for several. Returns the process's exit code; errors go to stderr.
// conclude: what inputs say together, or others beside them, added before the document is written.
int run_over_inputs(const CommonOptions& options, const std::string& title, const Analyze& analyze,
                    const std::function<void(Document&)>& conclude = {});

// Whether the document can be written where the options say and is no input, before any work
// starts.
Status check_output(const CommonOptions& options, const std::vector<std::string>& inputs);
// Whether the document becomes a page, whose charts may cost a pass over the trace.
bool wants_page(const CommonOptions& options);
// Writes the document where the options say. data_lost: an import log had losses.
int write_document(const Document& document, const CommonOptions& options, bool data_lost);
// kExitDataLost with --strict where data was lost, told on stderr with `where` to look; else
// kExitFine.
int exit_code_of_loss(bool data_lost, const CommonOptions& options, const char* where);
// Writes text as it is to a file, or to standard output for "-".
Status write_output(const std::string& text, const std::string& path);
// Says what went wrong on stderr; returns kExitError.
int fail(const Error& error);

}  // namespace assay
