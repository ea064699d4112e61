#pragma once

// The writers: pure functions from a Document to text. They share only the Document; a new format
// is a new function and a new line in kWriters.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/document/document.h"

namespace assay {

struct TerminalOptions {
  int width = 80;          // values below 20 count as 20
  bool color = false;      // ANSI sequences; the caller checks isatty() and NO_COLOR
  bool utf8 = true;        // false: ASCII only
  bool full = false;       // every section instead of the short answer, also in Markdown
  bool quiet = false;      // only the headline of the short answer
  bool truecolor = false;  // 24-bit colours instead of the nearest of 256
  bool light = false;      // for a light background
  bool in_thread = false;  // build a page's JSON document in a parallel thread; same output
};

// For the terminal: headline first, numbers scaled, tables cut to the width and to their row limit,
// with a note. The only control characters are the writer's own colour sequences. A document with a
// short answer shows only that, unless options.full is set.
std::string write_terminal(const Document& document, const TerminalOptions& options = {});
std::string write_answer_text(const ShortAnswer& answer, const TerminalOptions& options = {});

// All values in base units, as document.h describes; indented by two spaces, with a final newline.
// Doubles round-trip exactly; non-finite ones are null. Invalid UTF-8 becomes U+FFFD. Control and
// invisible characters become \u escapes, so that nothing is lost and output to a terminal is safe.
std::string write_json(const Document& document);

// Tables with all values in base units: a line "# section.table", a header, one line per record,
// and an empty line between tables. Facts are key,value tables. Quoting as in RFC 4180, line ends "
// ". Text is cleaned as for a terminal, so that a record is one line (JSON is the lossless format).
// Text that begins with = + - @ gets a leading ', because spreadsheets would run it as a formula.
std::string write_csv(const Document& document);
// The tables of one section. A single table is bare: only its header and its records.
std::string write_csv(const Section& section);

// GitHub-flavoured Markdown: numbers scaled and tables cut as on a terminal, text escaped. A
// document with a short answer shows only that, unless `full` is set.
std::string write_markdown(const Document& document, bool full = true);

// A self-contained HTML file that needs no network, with charts, sortable and filterable tables,
// and the JSON document (docs/formats/report_html.md).
std::string write_html(const Document& document, bool in_thread = false);

enum class Format : uint8_t { kTerminal, kJson, kCsv, kMarkdown, kHtml };

struct Writer {
  Format format;
  std::string_view name;  // what --format takes
  std::string (*write)(const Document&, const TerminalOptions&);
};

inline constexpr std::array kWriters = {
    Writer{Format::kTerminal, "terminal", write_terminal},
    Writer{Format::kJson, "json",
           [](const Document& document, const TerminalOptions&) { return write_json(document); }},
    Writer{Format::kCsv, "csv",
           [](const Document& document, const TerminalOptions&) { return write_csv(document); }},
    Writer{Format::kMarkdown, "md",
           [](const Document& document, const TerminalOptions& options) {
             return write_markdown(document, options.full);
           }},
    Writer{Format::kHtml, "html", [](const Document& document, const TerminalOptions& options) {
             return write_html(document, options.in_thread);
           }}};

// The format with that name. Errors (invalid argument) list the valid names.
Result<Format> parse_format(std::string_view name);

// The document in that format. Most options only affect the terminal.
std::string render(const Document& document, Format format, const TerminalOptions& options = {});

}  // namespace assay
