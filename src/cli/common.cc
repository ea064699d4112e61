#include "cli/common.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/export_file.h"
#include "base/files.h"
#include "base/json_string.h"
#include "base/platform/platform.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output_format.h"
#include "cli/output_guard.h"
#include "cli/progress.h"
#include "cli/workbook_file.h"
#include "ingest/formats.h"
#include "report/document/paper_figure.h"
#include "report/document/self_check.h"
#include "report/writers/writers.h"
#include "text/plain_text.h"
#include "text/units.h"

namespace assay {
namespace {

int terminal_width(int where_none) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const int width = std::atoi(columns); width > 0) return width;
  }
  return where_none;
}

}  // namespace

size_t help_width() { return static_cast<size_t>(terminal_width(80)); }

namespace {

bool wants_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
  }
  // No locale, as in containers: assume a UTF-8 terminal.
  return true;
}

TerminalOptions terminal_options(const CommonOptions& options) {
  TerminalOptions terminal;
  const bool to_screen = options.output == "-" && platform::is_terminal(STDOUT_FILENO);
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  terminal.full = options.full;
  terminal.quiet = options.quiet;
  terminal.width = options.width > 0 ? options.width : terminal_width(options.full ? 100 : 80);
  terminal.color = options.color == "always" || (options.color == "auto" && to_screen && !refused);
  terminal.utf8 = !options.ascii && wants_utf8();
  const char* depth = std::getenv("COLORTERM");
  terminal.truecolor = depth != nullptr &&
                       (std::strcmp(depth, "truecolor") == 0 || std::strcmp(depth, "24bit") == 0);
  const char* theme = std::getenv("ASSAY_THEME");
  terminal.in_thread = threads_of({.threads = options.threads}) > 1;
  terminal.light = theme != nullptr && std::strcmp(theme, "light") == 0;
  return terminal;
}

Status write_text(const std::string& text, const std::string& path) {
  if (path != "-") return export_file(path, text);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // A closed pipe, as after `head`, is not an error.
  if (written || errno == EPIPE) return Ok{};
  return Error{ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(errno)),
               "standard output", -1};
}

}  // namespace

std::string output_extension(const std::string& path) {
  if (path == "-") return "";
  std::string extension = extension_of(path);
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

Result<Format> output_format(const CommonOptions& options) {
  if (!options.format.empty()) {
    auto format = parse_format(options.format);
    if (format) return format;
    Error error = format.take_error();
    error.message += ", xlsx";
    return error;
  }
  const std::string extension = output_extension(options.output);
  if (extension == ".htm") return Format::kHtml;
  if (extension == ".markdown") return Format::kMarkdown;
  for (const Writer& writer : kWriters) {
    if (extension == fmt::format(".{}", writer.name)) return writer.format;
  }
  for (const char* plain : {"", ".txt", ".text", ".log", ".out"}) {
    if (extension == plain) return Format::kTerminal;
  }
  if (!options.figure.empty() && (extension == ".svg" || extension == ".png")) {
    return Error{ErrorCode::kInvalidArgument,
                 "the page draws figures: end it in .html and save the chart there", options.output,
                 -1};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("the ending {} names no format: end it in .json, .csv, .md, .html, "
                           ".xlsx or .txt, or give --format",
                           extension),
               options.output, -1};
}

Status check_output(const CommonOptions& options, const std::vector<std::string>& inputs) {
  if (wants_workbook(options)) {
    ASSAY_TRY(check_workbook_output(options));
  } else {
    ASSAY_TRY(output_format(options));
  }
  return options.output == "-" ? Status(Ok{}) : check_export(options.output, inputs);
}

namespace {

// A line "Key:  123 kB" of /proc/self/status; 0 if there is none.
long status_kb(const char* key) {
  const auto file = open_file("/proc/self/status", "r");
  if (!file) return 0;
  char line[256];
  long value = 0;
  const size_t length = std::strlen(key);
  while (std::fgets(line, sizeof(line), file->get()) != nullptr) {
    if (std::strncmp(line, key, length) == 0) value = std::atol(line + length + 1);
  }
  return value;
}

}  // namespace

void add_window_option(Verb& verb, CommonOptions& options) {
  verb.option("--window", options.window,
              "use spans with a matching label as iterations, e.g. 'decode*' (* and ? match any "
              "characters): annotations, else operators, else Python frames")
      .called("GLOB")
      .common();
}

void add_figure_option(Verb& verb, CommonOptions& options) {
  verb.option("--figure", options.figure,
              "write one figure of a paper only: skip6, taxbreakT4 (a table), chopper5a, or list "
              "(docs/papers.md)")
      .called("NAME");
}

void add_part_option(Verb& verb, CommonOptions& options) {
  verb.option("--part", options.part,
              "analyze this part of the recording: lead-in, start-up, iterations, prefill, decode, hole, tail, its number "
              "from 1, or all. Default: the longest that allows a diagnosis; all of several traces")
      .called("NAME|N");
  verb.option("--between", options.part,
              "analyze this stretch of time only, e.g. 10.2ms..15ms from the begin of the window; the page gives it for an "
              "area that is dragged")
      .checked_by([](const std::string& value) {
        return std::string(value.find("..") == std::string::npos ? "two times are needed, e.g. 10.2ms..15ms" : "");
      })
      .called("A..B")
      .not_with("--part");
}

void add_capture_option(Verb& verb, std::vector<std::string>& files) {
  verb.option("--capture", files,
              "trace with the capture of CUDA or HIP graphs, for the operators of replays; "
              "default: traces in the same folder with capture in their names")
      .one_value_each()
      .called("FILE");
}

void add_reading_options(Verb& verb, CommonOptions& options) {
  options.listener = terminal_listener(options);
  verb.option("--threads", options.threads, "threads for reading and analyses; 0 = all processors")
      .between(0, 1024)
      .common();
  verb.flag("--allow-truncated", options.allow_truncated,
            "read what lies before the cut of a truncated file instead of refusing it")
      .common();
  verb.flag("--strict", options.strict, "leave with 3 when data was lost on import").common();
}

void add_common_options(Verb& verb, CommonOptions& options, bool takes_inputs) {
  options.tell_files = [&verb](DocumentInputs& read) { tell_files(verb.given(), read); };
  if (takes_inputs) {
    verb.input(
            "traces", options.inputs,
            trace_inputs_words() + ", a folder or pattern of them, or - for JSON on standard input")
        .required();
    add_window_option(verb, options);
    verb.option("--kernels", options.kernels,
                "what kernels are, where the built-in table does not know their names "
                "(docs/formats/kernels.md)")
        .called("FILE")
        .common();
    verb.option("--execution-trace", options.execution_trace,
                "PyTorch's execution trace of the same process, for shapes and values that the "
                "trace lacks (docs/formats/execution_trace.md)")
        .called("FILE")
        .common();
    verb.flag("--cache{auto}", options.cache,
              "keep a cached form of every trace read, and open that the next time; --cache=DIR "
              "names the folder, else ~/.cache/assay")
        .called("[=DIR]")
        .common();
  }
  verb.option("--format", options.format,
              // language: allow too_many_commas
              "terminal, json, csv, md, html or xlsx; default: by the ending of the output file, "
              "else terminal")
      .suggests({"terminal", "json", "csv", "md", "html", "xlsx"})
      .common();
  verb.option("-o,--output", options.output, "write to this file instead of standard output")
      .called("FILE")
      .common();
  verb.option("--color", options.color, "auto, always or never")
      .one_of({"auto", "always", "never"})
      .shows_default()
      .common();
  verb.option("--width", options.width, "columns of the terminal output; 0 = the terminal's")
      .between(0, 10000)
      .common();
  verb.flag("--ascii", options.ascii, "no characters beyond ASCII in the terminal output").common();
  add_reading_options(verb, options);
  verb.flag("--perf", options.perf, "time and memory per phase on standard error").hidden();
}

namespace {

void show_phase(const char* phase, double seconds, uint64_t bytes) {
  const std::string rate =
      bytes > 0 ? fmt::format(" {:.0f} MB/s", static_cast<double>(bytes) / seconds / 1e6)
                : std::string();
  fmt::print(stderr, "perf {} {:.6f} s{} anon {} kB peak {} kB\n", phase, seconds, rate,
             status_kb("RssAnon"), status_kb("VmHWM"));
}

// Overwrites one line on the terminal.
void show_step(const std::string& text, bool can_stop) {
  if (!platform::is_terminal(STDERR_FILENO)) return;
  fmt::print(stderr, "\r\033[K{}{}", clean_text(text),
             can_stop && !text.empty() ? " (Ctrl-C ends it and takes what there is)" : "");
  std::fflush(stderr);
}

}  // namespace

Listener terminal_listener(const CommonOptions& options) {
  Listener listener;
  listener.reading = [](const std::string& path, const ReadProgress& progress) {
    return std::make_shared<ProgressBar>(path, progress);
  };
  listener.note = [](const std::string& sentence) {
    fmt::print(stderr, "assay: {}\n", clean_text(sentence));
  };
  listener.phase = [&options](const char* phase, double seconds, uint64_t bytes) {
    if (options.perf) show_phase(phase, seconds, bytes);
  };
  const auto held = std::make_shared<std::weak_ptr<void>>();
  listener.step = [held](const std::string& text) { show_step(text, !held->expired()); };
  listener.stoppable = [held]() -> std::shared_ptr<void> {
    std::shared_ptr<void> stop = std::make_shared<StopOnInterrupt>();
    *held = stop;
    return stop;
  };
  listener.stopped = interrupt_asked;
  return listener;
}

TraceRequest traces_of(const CommonOptions& options) {
  TraceRequest request = options;
  request.accept = [&options](const std::vector<std::string>& files) {
    return check_output(options, files);
  };
  return request;
}

bool wants_page(const CommonOptions& options) {
  if (!options.figure.empty()) return true;
  const auto format = output_format(options);
  return format && *format == Format::kHtml;
}

bool wants_json(const CommonOptions& options) {
  const auto format = output_format(options);
  return format && *format == Format::kJson;
}

bool wants_card(const CommonOptions& options) {
  const auto format = output_format(options);
  return format && *format == Format::kTerminal && !options.full && options.output == "-";
}

namespace {

Status write_as_asked(const Document& document, const CommonOptions& options);

Status write_figure(const Document& document, CommonOptions options) {
  const auto format = output_format(options);
  ASSAY_TRY_ASSIGN(Document figure,
                   only_figure(document, options.figure, format && *format == Format::kHtml));
  if (format && *format == Format::kCsv)
    return write_text(write_csv(figure.sections[0]), options.output);
  options.figure.clear();
  options.full = true;
  return write_as_asked(figure, options);
}

Status write_as_asked(const Document& document, const CommonOptions& options) {
  if (!options.figure.empty()) return write_figure(document, options);
  if (wants_workbook(options)) return write_document_workbook(document, options.output);
  ASSAY_TRY_ASSIGN(const Format format, output_format(options));
  return write_text(render(document, format, terminal_options(options)), options.output);
}

}  // namespace

int write_answer(const Result<Answer>& answer, const CommonOptions& options) {
  if (!answer) return fail(answer.error());
  PhaseClock clock(options.listener);
  const int exit_code = write_document(answer->document, options, answer->data_lost);
  clock.mark("write");
  return exit_code;
}

int write_answer(Result<Document> document, const CommonOptions& options) {
  if (!document) return fail(document.error());
  const bool data_lost = has_losses(document->import_log);
  return write_document(*document, options, data_lost);
}

namespace {

// Prints the answer to the terminal although the document went to a file, and names the file.
Status tell_of_file(const Document& document, const CommonOptions& options) {
  const auto facts = file_facts(options.output);
  if (facts && facts->kind != FileKind::kFile) return Ok{};
  CommonOptions screen = options;
  screen.output = "-";
  ASSAY_TRY(write_text(write_answer_text(*document.answer, terminal_options(screen)), "-"));
  const std::string size = facts ? format_bytes(static_cast<int64_t>(facts->bytes))
                                 : "size not known: " + facts.error().message;
  fmt::print(stderr, "assay: wrote {} ({})\n", clean_text(options.output), clean_text(size));
  return Ok{};
}

int write_told(const Document& document, const CommonOptions& options, bool data_lost) {
  Status written = write_as_asked(document, options);
  if (written && document.answer && options.output != "-" && options.figure.empty()) {
    written = tell_of_file(document, options);
  }
  if (!written) return fail(written.error());
  return exit_code_of_loss(data_lost, options, "see the import log");
}

// Removes statements that contradict the document's data. With ASSAY_SELF_CHECK, as in tests, they
// are an error.
int write_checked(const Document& document, const CommonOptions& options, bool data_lost) {
  const std::vector<Breach> breaches = breaches_of(document);
  if (breaches.empty()) return write_told(document, options, data_lost);
  if (const char* asked = std::getenv("ASSAY_SELF_CHECK"); asked != nullptr && *asked != '\0') {
    for (const Breach& breach : breaches) {
      fmt::print(stderr, "assay: self-check: {} is false, as {}\n", clean_text(breach.place), breach.law);
    }
    return kExitError;
  }
  Document whole = document;
  withhold(breaches, whole);
  return write_told(whole, options, data_lost);
}

bool has_checksums(const std::vector<Input>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), tells_checksum);
}

}  // namespace

int write_document(const Document& document, const CommonOptions& options, bool data_lost) {
  if (!options.tell_files) return write_checked(document, options, data_lost);
  DocumentInputs read{document.inputs, {}};
  options.tell_files(read);
  if (read.files.empty() && has_checksums(document.inputs)) {
    return write_checked(document, options, data_lost);
  }
  Document whole = document;
  whole.inputs = std::move(read.inputs);
  whole.files = std::move(read.files);
  return write_checked(whole, options, data_lost);
}

int exit_code_of_loss(bool data_lost, const CommonOptions& options, const char* where) {
  if (!data_lost || !options.strict) return kExitFine;
  fmt::print(stderr, "assay: data was lost on import ({}); --strict\n", where);
  return kExitDataLost;
}

uint64_t half_of_memory() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

void add_cache_word(const std::string& cache, std::vector<std::string>& words) {
  if (!cache.empty()) words.push_back(cache == "auto" ? "--cache" : "--cache=" + cache);
}

Status write_output(const std::string& text, const std::string& path) {
  return write_text(text, path);
}

namespace {

std::string_view error_word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kFormat:
      return "format";
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotATrace:
      return "not_a_trace";
    case ErrorCode::kSeveralTraces:
      return "several_traces";
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

// Prints the error as JSON for a program that reads stderr, such as the Python module.
bool fail_for_program(const Error& error) {
  const char* asked = std::getenv("ASSAY_ERRORS");
  if (asked == nullptr || std::string_view(asked) != "json") return false;
  // language: allow too_many_colons
  fmt::print(stderr, "{{\"error\": {}, \"file\": {}, \"offset\": {}, \"message\": {}}}\n",
             json_string(std::string(error_word(error.code))), json_string(error.file),
             error.offset >= 0 ? std::to_string(error.offset) : "null", json_string(error.message));
  return true;
}

}  // namespace

int fail_in_lines(const Error& error) {
  if (fail_for_program(error)) return kExitError;
  const std::string message = error.describe();
  std::string shown;
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    const std::string line = clean_text(std::string_view(message).substr(begin, end - begin));
    begin = end + 1;
    // DuckDB prints some positions twice.
    const bool again = line.starts_with("LINE ") && shown.find("\n" + line) != std::string::npos;
    if (again) break;
    if (!line.empty()) shown += (shown.empty() ? "" : "\n") + line;
  }
  fmt::print(stderr, "assay: {}\n", shown);
  return kExitError;
}

int fail(const Error& error) {
  if (fail_for_program(error)) return kExitError;
  fmt::print(stderr, "assay: {}\n", clean_text(error.describe()));
  return kExitError;
}

}  // namespace assay
