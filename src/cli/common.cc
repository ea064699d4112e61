#include "cli/common.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "cli/export_file.h"
#include "cli/input_files.h"
#include "cli/output_format.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "cli/workbook_file.h"
#include "ingest/cached_load.h"
#include "ingest/load.h"
#include "ingest/replay/file.h"
#include "ingest/text/csv_table.h"
#include "launch/floors.h"
#include "report/document/import_notes.h"
#include "report/document/text.h"
#include "report/sections.h"
#include "report/writers/writers.h"
#include "tax/measured.h"
#include "trace/label_windows.h"

namespace assay {
namespace {

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS")) {
    if (const int width = std::atoi(columns); width > 0) return width;
  }
  return 100;
}

bool wants_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
  }
  // No locale at all, as in containers: terminals of this century show UTF-8.
  return true;
}

TerminalOptions terminal_options(const CommonOptions& options) {
  TerminalOptions terminal;
  const bool to_screen = options.output == "-" && ::isatty(STDOUT_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  terminal.width = options.width > 0 ? options.width : terminal_width();
  terminal.color = options.color == "always" || (options.color == "auto" && to_screen && !refused);
  terminal.utf8 = wants_utf8();
  return terminal;
}

// Ranks that a set should have by its own word and does not, or has twice.
TrustNotes rank_oddities(const std::vector<Trace>& heads) {
  std::set<int64_t> seen;
  uint64_t twice = 0;
  int64_t world_size = 0;
  for (const Trace& head : heads) {
    if (head.distributed.world_size)
      world_size = std::max(world_size, *head.distributed.world_size);
    if (head.distributed.rank) twice += !seen.insert(*head.distributed.rank).second;
  }
  TrustNotes notes;
  std::string missing;
  uint64_t missing_count = 0;
  for (int64_t rank = 0; rank < world_size && !seen.empty(); ++rank) {
    if (seen.count(rank) != 0) continue;
    if (++missing_count <= 16) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
  }
  if (missing_count > 0) {
    notes.push_back(
        {"missing_ranks", missing_count, 0, "overview",
         fmt::format("{} of {} ranks are not in this set ({}{}): nothing here says how "
                     "they ran",
                     missing_count, world_size, missing, missing_count > 16 ? ", ..." : "")});
  }
  if (twice > 0) {
    notes.push_back({"repeated_ranks", twice, 0, "overview",
                     "the same rank occurs more than once: these may be different runs"});
  }
  return notes;
}

// The traces of a set side by side.
Section overview_section(const std::vector<std::vector<Item>>& overviews,
                         const std::vector<Trace>& heads) {
  Table table{
      .key = "overview",
      .title = "Side by side",
      .columns = {{.key = "rank", .title = "rank"},
                  {.key = "name", .title = "trace", .unit = Unit::kText, .show = Show::kDataOnly},
                  {.key = "file",
                   .title = "trace",
                   .unit = Unit::kText,
                   .elastic = true,
                   .show = Show::kReadersOnly}},
      .terminal_limit = 0};
  for (const Item& item : overviews.front()) {
    table.columns.push_back({.key = item.key, .title = item.label, .unit = item.unit});
  }
  for (size_t i = 0; i < overviews.size(); ++i) {
    Row row = {heads[i].distributed.rank, heads[i].source,
               std::filesystem::path(heads[i].source).filename().string()};
    for (const Item& item : overviews[i]) row.push_back(item.value);
    table.rows.push_back(std::move(row));
  }
  return {.key = "", .title = "", .blocks = {std::move(table)}};
}

// What remains of a trace for the head of a set, once its rows are released.
Trace head_of(Trace&& trace) {
  Trace head;
  head.source = std::move(trace.source);
  head.distributed = std::move(trace.distributed);
  return head;
}

Status write_text(const std::string& text, const std::string& path) {
  if (path != "-") return export_file(path, text);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  // The reader of a pipe may stop early, as `head` does: that is no failure.
  if (written || errno == EPIPE) return Ok{};
  return Error{ErrorCode::kIo, fmt::format("cannot write: {}", std::strerror(errno)),
               "standard output", -1};
}

constexpr Tracer kTracersWithFloors[] = {Tracer::kPyTorchProfiler, Tracer::kNsightSystems};

// The trace's own tracer first: a floor of another one is not the same quantity. But a platform
// named in full is meant: DGX-H100 is not any H100.
const PublishedFloor* published_floor(const std::string& text, Tracer traced) {
  if (const PublishedFloor* floor = floor_of_platform(text, traced)) return floor;
  for (const Tracer tracer : kTracersWithFloors) {
    if (const PublishedFloor* floor = floor_of_platform(text, tracer)) return floor;
  }
  if (const PublishedFloor* floor = find_published_floor(text, traced)) return floor;
  for (const Tracer tracer : kTracersWithFloors) {
    if (const PublishedFloor* floor = find_published_floor(text, tracer)) return floor;
  }
  return nullptr;
}

std::string published_names() {
  std::string known;
  for (const Tracer tracer : kTracersWithFloors) {
    for (const PublishedFloor& floor : published_floors(tracer)) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", floor.platform);
    }
  }
  return known;
}

Result<FloorChoice> floor_of_file(const std::string& path, const Trace* trace) {
  ASSAY_TRY_ASSIGN(const FloorFile file, read_floor_file(path));
  const std::string gpu = trace != nullptr ? gpu_of_trace(*trace) : "";
  ASSAY_TRY_ASSIGN(const TaxFloor floor, floor_from_file(file, gpu));
  FloorChoice choice{.floor_ns = static_cast<double>(floor.floor_ns),
                     .source = floor.text,
                     .kind = TaxSource::kMeasured,
                     .samples = floor.samples,
                     .tracer = file.head.tracer};
  if (trace != nullptr) {
    choice.notes = floor_trust(file, gpu, trace->tracer);
  } else {
    choice.notes.push_back({"floor_gpu_unchecked", 1, 0, "floor",
                            "one floor for a whole sweep: that it is of the machines in it is "
                            "taken on trust"});
  }
  return choice;
}

}  // namespace

std::string output_extension(const std::string& path) {
  if (path == "-") return "";
  std::string extension = std::filesystem::path(path).extension().string();
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
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("a name that ends in {} tells no format: end it in .json, .csv, .md, "
                           ".html, .xlsx or .txt, or give --format",
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

// Folders and patterns also give files that hold something else than a trace, such as results that
// lie beside it. A file that was named itself is meant.
bool may_skip(const CommonOptions& options, const std::string& file, const Error& error) {
  const bool named =
      std::find(options.inputs.begin(), options.inputs.end(), file) != options.inputs.end();
  return !named && error.code == ErrorCode::kNotATrace;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A "Key:  123 kB" line of /proc/self/status; 0 where there is none.
long status_kb(const char* key) {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  long value = 0;
  const size_t length = std::strlen(key);
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, key, length) == 0) value = std::atol(line + length + 1);
  }
  std::fclose(file);
  return value;
}

}  // namespace

void add_window_option(CLI::App& verb, CommonOptions& options) {
  verb.add_option("--window", options.window,
                  "take the spans whose label matches as iterations, e.g. 'decode*' (* and ? "
                  "stand for any characters): annotations, else operators, else Python frames")
      ->type_name("GLOB");
}

void add_reading_options(CLI::App& verb, CommonOptions& options) {
  verb.add_option("--threads", options.threads, "threads for reading; 0 = all processors")
      ->check(CLI::Range(0, 1024));
  verb.add_flag("--allow-truncated", options.allow_truncated,
                "read what lies before the cut of a truncated file instead of refusing it");
  verb.add_option("--kernels", options.kernels,
                  "what kernels are, where the built-in table does not know their names "
                  "(docs/formats/kernels.md)")
      ->type_name("FILE");
  verb.add_flag("--strict", options.strict, "leave with 3 when data was lost on import");
}

void add_common_options(CLI::App& verb, CommonOptions& options, bool takes_inputs) {
  if (takes_inputs) {
    verb.add_option("traces", options.inputs,
                    "PyTorch profiler JSON (.json, .json.gz, .json.zst), Nsight Systems exports "
                    "(.sqlite), rocprofv3 (kernel_trace.csv, results.json, results.db), recordings "
                    "(.assaytrace), cached forms (.assay), a folder or pattern of them, or - for "
                    "JSON on standard input")
        ->required();
    add_window_option(verb, options);
    verb.add_flag(
            "--cache{auto}", options.cache,
            "keep a cached form of every trace read, and open that the next time; --cache=DIR "
            "names the folder, else ~/.cache/assay")
        ->type_name("[=DIR]");
  }
  verb.add_option(
      "--format", options.format,
      "terminal, json, csv, md, html or xlsx; without it, what the name of the output file "
      "ends with, else terminal");
  verb.add_option("-o,--output", options.output, "write to this file instead of standard output")
      ->type_name("FILE");
  verb.add_option("--color", options.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  verb.add_option("--width", options.width, "columns of the terminal output; 0 = the terminal's")
      ->check(CLI::Range(0, 10000));
  add_reading_options(verb, options);
  verb.add_flag("--perf", options.perf, "time and memory per phase on standard error")->group("");
}

Result<FloorChoice> parse_floor(const std::string& text, const Trace* trace) {
  if (text.empty()) return FloorChoice{};
  char* end = nullptr;
  const double ns = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0') {
    if (ns >= 1 && ns < 1e9) {
      return FloorChoice{.floor_ns = ns, .source = "given with --floor", .kind = TaxSource::kUser};
    }
    return Error{ErrorCode::kInvalidArgument, "--floor: from 1 to under 1e9 nanoseconds", "", -1};
  }
  if (std::filesystem::is_regular_file(text)) return floor_of_file(text, trace);
  const Tracer traced = trace != nullptr ? trace->tracer : Tracer::kPyTorchProfiler;
  if (const PublishedFloor* floor = published_floor(text, traced)) {
    FloorChoice choice{.floor_ns = floor->launch_ns, .kind = TaxSource::kTable};
    choice.source = fmt::format("published for {}: {}", floor->platform, floor->source);
    if (floor->tracer != traced) {
      choice.notes.push_back({"floor_tracer", 1, 0, "floor",
                              "the published floor was taken with another tracer than the trace: "
                              "launch times include their tracer's cost"});
    }
    const std::string gpu = trace != nullptr ? gpu_of_trace(*trace) : "";
    if (!gpu.empty() && !taken_on(*floor, gpu)) {
      choice.notes.push_back({"floor_gpu", 1, 0, "floor",
                              fmt::format("the published floor was taken on another GPU ({}) than "
                                          "the trace ({}): what rests on the floor may be off by "
                                          "their difference",
                                          floor->gpu, gpu)});
    }
    return choice;
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("--floor {}: neither nanoseconds, nor a floor file, nor a published "
                           "platform ({})",
                           text, published_names()),
               "", -1};
}

PhaseClock::PhaseClock(bool enabled) : enabled_(enabled), last_s_(now_s()) {}

void PhaseClock::mark(const char* phase, uint64_t bytes) {
  if (!enabled_) return;
  const double now = now_s();
  const double took = now - last_s_;
  const std::string rate =
      bytes > 0 ? fmt::format(" {:.0f} MB/s", static_cast<double>(bytes) / took / 1e6)
                : std::string();
  fmt::print(stderr, "perf {} {:.6f} s{} anon {} kB peak {} kB\n", phase, took, rate,
             status_kb("RssAnon"), status_kb("VmHWM"));
  last_s_ = now_s();
}

namespace {

Result<Trace> load_maybe_cached(const std::string& path, const ReadOptions& read,
                                const std::string& cache) {
  if (cache.empty()) return load_trace(path, read);
  std::string folder = cache;
  if (cache == "auto") {
    ASSAY_TRY_ASSIGN(folder, default_cache_folder());
  }
  std::string note;
  auto trace = load_cached(path, read, folder, note);
  if (!note.empty()) fmt::print(stderr, "assay: {}: {}\n", clean_text(path), clean_text(note));
  return trace;
}

}  // namespace

Result<std::shared_ptr<const KernelBook>> load_kernel_book(const std::string& path) {
  if (path.empty()) return KernelBook::built_in();
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  auto book = std::make_shared<KernelBook>(*KernelBook::built_in());
  ASSAY_TRY(book->add(text, path));
  return std::shared_ptr<const KernelBook>(std::move(book));
}

Result<LoadedTrace> load_input(const std::string& path, const CommonOptions& options) {
  PhaseClock clock(options.perf);
  ReadProgress progress;
  ReadOptions read{.allow_truncated = options.allow_truncated,
                   .keep_op_inputs = options.keep_op_inputs,
                   .threads = options.threads,
                   .progress = &progress};
  LoadedTrace loaded;
  ASSAY_TRY_ASSIGN(const auto kernel_book, load_kernel_book(options.kernels));
  {
    ProgressBar bar(path, progress);
    ASSAY_TRY_ASSIGN(loaded.trace, load_maybe_cached(path, read, options.cache));
  }
  clock.mark("read", loaded.trace.content_bytes);
  loaded.links = link_trace(loaded.trace);
  clock.mark("link");
  loaded.kernels = std::make_shared<const KernelNames>(loaded.trace.strings,
                                                       loaded.trace.activities.name, kernel_book);
  clock.mark("kernels");
  if (options.window.empty()) {
    loaded.windows = find_iterations(loaded.trace, loaded.links);
  } else {
    auto windows = windows_by_label(loaded.trace, options.window);
    if (!windows) {
      Error error = windows.take_error();
      error.file = path;
      return error;
    }
    loaded.windows = *std::move(windows);
  }
  clock.mark("windows");
  return loaded;
}

Document new_document(std::string title) {
  Document document;
  document.tool = {"assay", kVersion};
  document.title = std::move(title);
  return document;
}

int run_over_inputs(const CommonOptions& options, const std::string& title, const Analyze& analyze,
                    const std::function<void(Document&)>& conclude) {
  auto files = input_files(options.inputs);
  if (!files) return fail(files.error());
  if (Status status = check_output(options, *files); !status) return fail(status.error());
  Document document = new_document(title);
  document.parts_key = "ranks";
  std::vector<Trace> heads;
  std::vector<std::vector<Item>> overviews;
  bool data_lost = false;
  for (const std::string& file : *files) {
    auto loaded = load_input(file, options);
    if (!loaded && may_skip(options, file, loaded.error())) {
      fmt::print(stderr, "assay: skipped {}\n", clean_text(loaded.error().describe()));
      continue;
    }
    if (!loaded) return fail(loaded.error());
    auto content = analyze(*loaded);
    if (!content) return fail(content.error());
    const Trace& trace = loaded->trace;
    std::vector<ImportNote> import_log = import_notes(trace.log);
    for (ImportNote& note : content->import_log) import_log.push_back(std::move(note));
    data_lost |= std::any_of(import_log.begin(), import_log.end(),
                             [](const ImportNote& n) { return n.severity == "data_loss"; });
    document.inputs.push_back({trace.source, trace_items(trace)});
    document.parts.push_back({trace.source, trace_items(trace), std::move(import_log),
                              std::move(content->verdict), std::move(content->sections)});
    overviews.push_back(std::move(content->overview));
    heads.push_back(head_of(std::move(loaded->trace)));
  }
  if (heads.empty()) {
    return fail(Error{ErrorCode::kInvalidArgument, "none of the files found is a trace", "", -1});
  }
  if (heads.size() == 1) {
    Part part = std::move(document.parts.front());
    document.parts.clear();
    document.import_log = std::move(part.import_log);
    document.verdict = std::move(part.verdict);
    document.sections = std::move(part.sections);
  } else {
    const TrustNotes notes = rank_oddities(heads);
    for (const TrustNote& note : notes) document.verdict.push_back(note.effect + ".");
    Section trust = trust_section(notes);
    if (notes.empty()) hide_from_readers(trust);  // each trace says what holds for it
    document.sections = {overview_section(overviews, heads), std::move(trust)};
  }
  if (conclude) conclude(document);
  data_lost |= std::any_of(document.import_log.begin(), document.import_log.end(),
                           [](const ImportNote& n) { return n.severity == "data_loss"; });
  PhaseClock clock(options.perf);
  const int exit_code = write_document(document, options, data_lost);
  clock.mark("write");
  return exit_code;
}

bool wants_page(const CommonOptions& options) {
  const auto format = output_format(options);
  return format && *format == Format::kHtml;
}

namespace {

Status write_as_asked(const Document& document, const CommonOptions& options) {
  if (wants_workbook(options)) return write_document_workbook(document, options.output);
  ASSAY_TRY_ASSIGN(const Format format, output_format(options));
  return write_text(render(document, format, terminal_options(options)), options.output);
}

}  // namespace

int write_document(const Document& document, const CommonOptions& options, bool data_lost) {
  const Status written = write_as_asked(document, options);
  if (!written) return fail(written.error());
  return exit_code_of_loss(data_lost, options, "see the import log");
}

int exit_code_of_loss(bool data_lost, const CommonOptions& options, const char* where) {
  if (!data_lost || !options.strict) return kExitFine;
  fmt::print(stderr, "assay: data was lost on import ({}); --strict\n", where);
  return kExitDataLost;
}

Status write_output(const std::string& text, const std::string& path) {
  return write_text(text, path);
}

int fail(const Error& error) {
  fmt::print(stderr, "assay: {}\n", clean_text(error.describe()));
  return kExitError;
}

}  // namespace assay
