#pragma once

// Shared by all verbs: input and output options, progress on the terminal, and exit codes. Only
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
  std::string format = {};  // empty = by the output's extension, else terminal
  std::string output = "-";
  std::string figure = {};  // of a paper: only that is written (report/document/paper_figure.h)
  std::string color = "auto";
  int width = 0;  // 0 = terminal width, else 80 for the short answer and 100 for tables
  bool ascii = false;
  bool full = true;    // every section; only `report` has a short answer
  bool quiet = false;  // only the headline of a short answer
  bool strict = false;
  bool perf = false;
  // Adds size and checksum of the command's input files (cli/output_guard.h). Set by
  // add_common_options.
  std::function<void(DocumentInputs&)> tell_files = {};
};

// Adds the options above to a verb. takes_inputs: the verb has positional inputs.
void add_common_options(Verb& verb, CommonOptions& options, bool takes_inputs);
// Adds only --threads, --allow-truncated and --strict, for verbs that read traces but write no
// document.
void add_reading_options(Verb& verb, CommonOptions& options);
// Adds `--window`, for verbs that declare their inputs themselves. With takes_inputs,
// add_common_options already adds it.
void add_window_option(Verb& verb, CommonOptions& options);
// `--figure`: for verbs that make figures of a paper.
void add_figure_option(Verb& verb, CommonOptions& options);
// `--part`: for verbs that analyze one part of the recording.
void add_part_option(Verb& verb, CommonOptions& options);

// Adds `--capture`, for verbs that join graph replays to their captures.
void add_capture_option(Verb& verb, std::vector<std::string>& files);

// Shows progress and notes on stderr, with --perf also the time of each phase. Ctrl-C ends long
// searches early. options must outlive the listener. add_common_options already sets
// options.listener.
Listener terminal_listener(const CommonOptions& options);
// The input options as a request. The output file is excluded from the inputs. options must
// outlive the request.
TraceRequest traces_of(const CommonOptions& options);

// Fails early if the output is not writable or is one of the inputs.
Status check_output(const CommonOptions& options, const std::vector<std::string>& inputs);
// True if the output has charts, which may need another pass over the trace: HTML, or a figure.
bool wants_page(const CommonOptions& options);
bool wants_json(const CommonOptions& options);
// True if the output is the short answer on the terminal, and nothing else.
bool wants_card(const CommonOptions& options);
// Writes the answer, or prints the error. Returns the process's exit code.
int write_answer(const Result<Answer>& answer, const CommonOptions& options);
// The same for a document alone; data loss is taken from its import log.
int write_answer(Result<Document> document, const CommonOptions& options);
// Writes the document to the requested output. data_lost: an import log has losses.
int write_document(const Document& document, const CommonOptions& options, bool data_lost);

// Half of the machine's memory, in bytes. For verbs that start this program for each request.
uint64_t half_of_memory();
// Appends the option `--cache` as it was given: empty = not given, "auto" = without a folder.
void add_cache_word(const std::string& cache, std::vector<std::string>& words);
// kExitDataLost with --strict if data was lost, else kExitFine. Reports the loss on stderr, with
// `where` to find details.
int exit_code_of_loss(bool data_lost, const CommonOptions& options, const char* where);
// Writes text unchanged to a file, or to standard output for "-".
Status write_output(const std::string& text, const std::string& path);
// Prints the error on stderr; returns kExitError.
int fail(const Error& error);
// The same for a message with line breaks that matter, such as the position of a syntax error.
int fail_in_lines(const Error& error);

}  // namespace assay
