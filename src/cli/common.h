#pragma once

// Common to all verbs: options for input and output, progress on the terminal, and exit codes. Only
// this folder prints and exits; answers/ computes the answers.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "report/document/document.h"

namespace assay {

class Verb;             // cli/options.h
struct DocumentInputs;  // cli/output_guard.h

enum ExitCode : int {
  kExitFine = 0,
  kExitGateCrossed = 1,
  kExitError = 2,
  kExitDataLost = 3,  // only with --strict
};

struct CommonOptions : TraceRequest {
  std::string format = {};  // empty = as the output's name ends, else terminal
  std::string output = "-";
  std::string color = "auto";
  int width = 0;  // 0 = the terminal's, else 80 for the short answer and 100 for tables
  bool ascii = false;
  bool full = true;    // every section; only `report` has a short answer
  bool quiet = false;  // only the headline of a short answer
  bool strict = false;
  bool perf = false;
  // Adds size and checksum of the command's input files (cli/output_guard.h); set with the options.
  std::function<void(DocumentInputs&)> tell_files = {};
};

// Adds the options above to a verb. takes_inputs: whether it has positional inputs.
void add_common_options(Verb& verb, CommonOptions& options, bool takes_inputs);
// Of those, the ones for verbs that read traces and write no document: --threads,
// --allow-truncated, --strict.
void add_reading_options(Verb& verb, CommonOptions& options);
// `--window`, which comes with positional inputs: for verbs that declare their inputs themselves.
void add_window_option(Verb& verb, CommonOptions& options);
// `--part`: for verbs that analyze one part of the recording.
void add_part_option(Verb& verb, CommonOptions& options);

// `--capture`, for verbs that give replays of graphs what was recorded.
void add_capture_option(Verb& verb, std::vector<std::string>& files);

// Draws progress on stderr, says notes there, and with --perf what phases took; long searches end
// on Ctrl-C. options must outlive the listener. Options that were added to a verb have it already.
Listener terminal_listener(const CommonOptions& options);
// The options for reading as a request. No input may be the output file. options must outlive the
// request.
TraceRequest traces_of(const CommonOptions& options);

// Checks before the analysis that the output is writable and is not an input.
Status check_output(const CommonOptions& options, const std::vector<std::string>& inputs);
// True if the document becomes a page; its charts may cost a pass over the trace.
bool wants_page(const CommonOptions& options);
bool wants_json(const CommonOptions& options);
// Writes the answer, or says why there is none. Returns the process's exit code.
int write_answer(const Result<Answer>& answer, const CommonOptions& options);
// The same for a document alone, with losses taken from its import log.
int write_answer(Result<Document> document, const CommonOptions& options);
// Writes the document where the options say. data_lost: an import log had losses.
int write_document(const Document& document, const CommonOptions& options, bool data_lost);

// For verbs that start this program for each request.
// Half of the machine's memory, in bytes.
uint64_t half_of_memory();
// Adds the option `--cache` as it was given: empty = not given, "auto" = without a folder.
void add_cache_word(const std::string& cache, std::vector<std::string>& words);
// kExitDataLost with --strict if data was lost, reported on stderr with the place `where`; else
// kExitFine.
int exit_code_of_loss(bool data_lost, const CommonOptions& options, const char* where);
// Writes text as it is to a file, or to standard output for "-".
Status write_output(const std::string& text, const std::string& path);
// Says what went wrong on stderr; returns kExitError.
int fail(const Error& error);
// The same for a message with significant line breaks, such as the position of a syntax error.
int fail_in_lines(const Error& error);

}  // namespace assay
