#include "query/workbook.h"

#include <xlsxwriter.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/dynamic_library.h"
#include "base/files.h"
#include "query/document_relations.h"
#include "query/sheet.h"
#include "query/sheet_zip.h"
#include "query/trust_sentences.h"
#include "report/document/definitions.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "report/writers/grid.h"

namespace assay {
namespace {

// An input's name with its checksum, if known.
std::string with_checksum(const Input& input) {
  for (const Item& item : input.items) {
    const auto* text = item.value.get<std::string>();
    if (item.key == "checksum" && text != nullptr) return input.name + " (" + *text + ")";
  }
  return input.name;
}

// libxlsxwriter, loaded when a workbook is first requested, because it needs cryptography and
// compression that no other format needs. Its functions keep their names.
#define ASSAY_XLSX_FUNCTIONS(use)                                                            \
  use(format_set_align) use(format_set_bg_color) use(format_set_bold) use(format_set_bottom) \
      use(format_set_font_color) use(format_set_font_size) use(format_set_num_format)        \
          use(format_set_text_wrap) use(format_set_underline) use(lxw_strerror)              \
              use(lxw_workbook_free) use(workbook_add_format) use(workbook_add_worksheet)    \
                  use(workbook_close) use(workbook_new_opt) use(workbook_set_properties)     \
                      use(worksheet_autofilter) use(worksheet_freeze_panes)                  \
                          use(worksheet_set_column) use(worksheet_write_boolean)             \
                              use(worksheet_write_number) use(worksheet_write_string)        \
                                  use(worksheet_write_url)

struct Library {
#define ASSAY_FUNCTION(name) decltype(&::name) name;
  ASSAY_XLSX_FUNCTIONS(ASSAY_FUNCTION)
#undef ASSAY_FUNCTION
};

Result<Library> open_library() {
  ASSAY_TRY_ASSIGN(
      const DynamicLibrary file,
      DynamicLibrary::open({"libxlsxwriter.so.4", "libxlsxwriter.so.5", "libxlsxwriter.so"},
                           "libxlsxwriter is not here, which writes Excel workbooks: "
                           "install it (libxlsxwriter4), or choose another format"));
  Library library = {};
#define ASSAY_BIND(name) ASSAY_TRY(file.bind(#name, library.name));
  ASSAY_XLSX_FUNCTIONS(ASSAY_BIND)
#undef ASSAY_BIND
  return library;
}

// Only valid after check_workbooks().
const Result<Library>& xlsx() {
  static const Result<Library> library = open_library();
  return library;
}

constexpr size_t kWorkbookBatchRows = 2048;
constexpr size_t kMeasuredRows = 100;        // number of rows that determine the width of a column
constexpr time_t kBeginOfZip = 315'532'800;  // 1 January 1980
constexpr double kNarrowest = 9;
constexpr double kWidest = 60;

Error failed(const std::string& what) { return {ErrorCode::kIo, "cannot write: " + what, "", -1}; }

class Formats {
 public:
  explicit Formats(lxw_workbook* book) : book_(book) {
    header_ = xlsx()->workbook_add_format(book);
    xlsx()->format_set_bold(header_);
    xlsx()->format_set_text_wrap(header_);
    xlsx()->format_set_align(header_, LXW_ALIGN_VERTICAL_TOP);
    xlsx()->format_set_bg_color(header_, 0xE7EDF3);
    xlsx()->format_set_bottom(header_, LXW_BORDER_THIN);
    title_ = xlsx()->workbook_add_format(book);
    xlsx()->format_set_bold(title_);
    xlsx()->format_set_font_size(title_, 16);
    label_ = xlsx()->workbook_add_format(book);
    xlsx()->format_set_bold(label_);
    xlsx()->format_set_align(label_, LXW_ALIGN_VERTICAL_TOP);
    wrapped_ = xlsx()->workbook_add_format(book);
    xlsx()->format_set_text_wrap(wrapped_);
    xlsx()->format_set_align(wrapped_, LXW_ALIGN_VERTICAL_TOP);
    link_ = xlsx()->workbook_add_format(book);
    xlsx()->format_set_font_color(link_, 0x0B57D0);
    xlsx()->format_set_underline(link_, LXW_UNDERLINE_SINGLE);
  }
  lxw_format* header() const { return header_; }
  lxw_format* title() const { return title_; }
  lxw_format* label() const { return label_; }
  lxw_format* wrapped() const { return wrapped_; }
  lxw_format* link() const { return link_; }

  // Number format of a unit; the value stays in base units.
  lxw_format* of(const std::string& unit, CellType type, bool left = false) {
    const char* pattern = nullptr;
    if (unit == "share") {
      pattern = "0.0%";
    } else if (unit == "ratio") {
      pattern = "0.000";
    } else if (unit == "ns" || unit == "count" || unit == "bytes" || unit == "1/s") {
      pattern = type == CellType::kReal ? "#,##0.0##" : "#,##0";
    }
    if (pattern == nullptr && !left) return nullptr;
    lxw_format*& format = by_pattern_[{pattern == nullptr ? "" : pattern, left}];
    if (format == nullptr) {
      format = xlsx()->workbook_add_format(book_);
      if (pattern != nullptr) xlsx()->format_set_num_format(format, pattern);
      if (left) xlsx()->format_set_align(format, LXW_ALIGN_LEFT);
      if (left) xlsx()->format_set_align(format, LXW_ALIGN_VERTICAL_TOP);
    }
    return format;
  }

 private:
  lxw_workbook* book_;
  lxw_format* header_ = nullptr;
  lxw_format* title_ = nullptr;
  lxw_format* label_ = nullptr;
  lxw_format* wrapped_ = nullptr;
  lxw_format* link_ = nullptr;
  std::map<std::pair<std::string, bool>, lxw_format*> by_pattern_;
};

// Adds a sheet; null on failure, with `error` set. libxlsxwriter dereferences a null pointer if it
// gets no memory for a sheet (some 200 KiB), so check first that a block of 2 MiB is available.
lxw_worksheet* add_sheet(lxw_workbook* book, const std::string& name, lxw_error& error) {
  constexpr size_t kEnough = size_t{2} << 20;
  {
    const std::unique_ptr<char[]> probe(new (std::nothrow) char[kEnough]);
    if (probe == nullptr) {
      error = LXW_ERROR_MEMORY_MALLOC_FAILED;
      return nullptr;
    }
    const_cast<volatile char&>(probe[0]) = 0;  // keeps the compiler from removing the allocation
  }
  lxw_worksheet* sheet = xlsx()->workbook_add_worksheet(book, name.c_str());
  // The remaining cause: no disk space or descriptor for the temporary file of the rows.
  if (sheet == nullptr) error = LXW_ERROR_CREATING_TMPFILE;
  return sheet;
}

// One sheet, written from top to bottom. Rows go directly to a temporary file.
class Sheet {
 public:
  Sheet(lxw_workbook* book, const std::string& name) : name_(name) {
    sheet_ = add_sheet(book, name, error_);
  }

  const std::string& name() const { return name_; }
  size_t rows() const { return row_; }
  uint64_t texts_cut() const { return texts_cut_; }
  lxw_worksheet* raw() const { return sheet_; }

  void text(size_t column, std::string_view raw_text, lxw_format* format = nullptr) {
    if (sheet_ == nullptr) return;
    const SheetText cell = sheet_text(raw_text);
    texts_cut_ += cell.cut ? 1 : 0;
    widen(column, display_width(cell.text));
    // Never worksheet_write_formula or similar functions: text that begins with = stays text.
    check(xlsx()->worksheet_write_string(sheet_, row(), place(column), cell.text.c_str(), format));
  }
  void number(size_t column, double value, lxw_format* format = nullptr) {
    if (!std::isfinite(value) || sheet_ == nullptr) return;
    widen(column, 12);
    check(xlsx()->worksheet_write_number(sheet_, row(), place(column), value, format));
  }
  void flag(size_t column, bool value) {
    if (sheet_ == nullptr) return;
    check(xlsx()->worksheet_write_boolean(sheet_, row(), place(column), value ? 1 : 0, nullptr));
  }
  void link(size_t column, const std::string& sheet, const Formats& formats) {
    if (sheet_ == nullptr) return;
    const std::string target = "internal:'" + sheet + "'!A1";
    widen(column, sheet.size());
    check(
        xlsx()->worksheet_write_url(sheet_, row(), place(column), target.c_str(), formats.link()));
    check(xlsx()->worksheet_write_string(sheet_, row(), place(column), sheet.c_str(),
                                         formats.link()));
  }
  void next_row() { ++row_; }

  // Freezes the header row and adds a filter to it.
  void finish_table(size_t columns) {
    if (sheet_ == nullptr) return;
    xlsx()->worksheet_freeze_panes(sheet_, 1, 0);
    if (columns == 0) return;
    const auto last = static_cast<lxw_row_t>(std::max<size_t>(row_, 2) - 1);
    check(xlsx()->worksheet_autofilter(sheet_, 0, 0, last, place(columns - 1)));
    for (size_t c = 0; c < columns && c < widths_.size(); ++c) {
      const double width = std::clamp(static_cast<double>(widths_[c]) + 3, kNarrowest, kWidest);
      check(xlsx()->worksheet_set_column(sheet_, place(c), place(c), width, nullptr));
    }
  }
  Status status() const {
    if (error_ == LXW_NO_ERROR) return Ok{};
    return failed(xlsx()->lxw_strerror(error_));
  }

 private:
  lxw_row_t row() const { return static_cast<lxw_row_t>(row_); }
  static lxw_col_t place(size_t column) { return static_cast<lxw_col_t>(column); }
  void widen(size_t column, size_t width) {
    if (row_ > kMeasuredRows) return;
    if (column >= widths_.size()) widths_.resize(column + 1, 0);
    widths_[column] = std::max(widths_[column], width);
  }
  void check(lxw_error error) {
    if (error_ == LXW_NO_ERROR) error_ = error;
  }

  lxw_worksheet* sheet_ = nullptr;
  std::string name_;
  size_t row_ = 0;
  std::vector<size_t> widths_;
  uint64_t texts_cut_ = 0;
  lxw_error error_ = LXW_NO_ERROR;
};

// Entry of a table in the summary: its sheets, or a note that it is empty.
struct TableSheets {
  std::string table;
  std::string meaning;
  size_t rows = 0;
  size_t inputs = 0;  // number of inputs with rows; 0 for a table of all inputs together
  std::vector<std::string> sheets;
};

// The workbook. It is written only when it is closed.
class Book {
 public:
  Book(const std::string& path, const std::string& folder) : folder_(folder) {
    lxw_workbook_options options = {};
    options.constant_memory = LXW_TRUE;
    options.tmpdir = folder_.data();
    book_ = xlsx()->workbook_new_opt(path.c_str(), &options);
    // A fixed creation time, so that the same input gives the same bytes.
    lxw_doc_properties properties = {};
    properties.created = kBeginOfZip;
    xlsx()->workbook_set_properties(book_, &properties);
  }
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;
  ~Book() { xlsx()->lxw_workbook_free(book_); }
  lxw_workbook* raw() const { return book_; }
  lxw_error close() { return xlsx()->workbook_close(std::exchange(book_, nullptr)); }

 private:
  std::string folder_;
  lxw_workbook* book_;
};

class WorkbookMaker {
 public:
  WorkbookMaker(const WorkbookContent& content, const std::string& path, size_t sheet_rows)
      : content_(content),
        path_(path),
        sheet_rows_(std::max<size_t>(sheet_rows, 1)),
        book_(path, folder_of(path)),
        formats_(book_.raw()) {}

  Status write() {
    Sheet summary = add_sheet("Summary");
    ASSAY_TRY(summary.status());
    find_origin();
    ASSAY_TRY(write_numbers());
    ASSAY_TRY(write_catalog(content_.whole, ""));
    ASSAY_TRY(write_catalog(content_.by_input, content_.input_column));
    ASSAY_TRY(write_definitions());
    write_summary(summary);
    ASSAY_TRY(summary.status());
    return close();
  }

 private:
  static std::string folder_of(const std::string& path) {
    const std::string folder = assay::folder_of(path);
    return folder.empty() ? "." : folder;
  }

  Sheet add_sheet(const std::string& name, size_t part = 0) {
    return {book_.raw(), names_.take(name, part)};
  }

  void find_origin() {
    for (const Catalog* catalog : {&content_.whole, &content_.by_input}) {
      if (const auto origin = sheet_origin(*catalog)) {
        origin_ = std::min(origin_.value_or(*origin), *origin);
      }
    }
  }

  // ---- tables ----

  Status write_catalog(const Catalog& catalog, const std::string& input_column) {
    for (const Relation& relation : catalog.relations) {
      if (relation.facts) continue;  // in "numbers"
      const bool taken = content_.whole.find(relation.name) != nullptr && !input_column.empty();
      const std::string name = taken ? input_column + "s_" + relation.name : relation.name;
      ASSAY_TRY(write_relation(relation, name, input_column));
    }
    return Ok{};
  }

  Status write_relation(const Relation& relation, const std::string& name,
                        const std::string& input_column) {
    TableSheets& told =
        tables_.emplace_back(TableSheets{name, relation.meaning, relation.rows(), 0, {}});
    if (told.rows == 0) return Ok{};
    const size_t before = input_column.empty() ? 0 : 1;
    for (const RelationPart& part : relation.parts) {
      told.inputs += before > 0 && part.rows > 0 ? 1 : 0;
    }
    if (relation.columns.size() + before > LXW_COL_MAX) {
      return Error{ErrorCode::kUnsupported, "table " + name + " has more columns than a sheet", "",
                   -1};
    }
    std::vector<SheetCells> kinds;
    kinds.reserve(relation.columns.size());
    for (size_t c = 0; c < relation.columns.size(); ++c) {
      kinds.push_back(sheet_cells(relation, c, origin_));
    }
    std::unique_ptr<Sheet> sheet;
    const auto next_sheet = [&]() -> Status {
      ASSAY_TRY(finish(sheet.get(), relation.columns.size() + before));
      sheet = std::make_unique<Sheet>(add_sheet(name, told.sheets.size() + 1));
      told.sheets.push_back(sheet->name());
      write_header(*sheet, relation, kinds, input_column);
      return Ok{};
    };
    std::vector<Cells> batch(relation.columns.size());
    for (const RelationPart& part : relation.parts) {
      for (size_t row = 0; row < part.rows; ++row) {
        if (row % kWorkbookBatchRows == 0) read_batch(part, row, batch);
        if (sheet == nullptr || sheet->rows() > sheet_rows_) ASSAY_TRY(next_sheet());
        if (before > 0) sheet->number(0, static_cast<double>(part.rank));
        for (size_t c = 0; c < batch.size(); ++c) {
          write_cell(*sheet, c + before, relation.columns[c], kinds[c], batch[c],
                     row % kWorkbookBatchRows);
        }
        sheet->next_row();
      }
    }
    return finish(sheet.get(), relation.columns.size() + before);
  }

  static void read_batch(const RelationPart& part, size_t first, std::vector<Cells>& batch) {
    for (size_t c = 0; c < batch.size(); ++c) {
      batch[c].clear();
      part.columns[c](first, std::min(kWorkbookBatchRows, part.rows - first), batch[c]);
    }
  }

  void write_header(Sheet& sheet, const Relation& relation, const std::vector<SheetCells>& kinds,
                    const std::string& input_column) {
    size_t at = 0;
    if (!input_column.empty()) sheet.text(at++, input_column, formats_.header());
    for (size_t c = 0; c < relation.columns.size(); ++c) {
      sheet.text(at++, sheet_header(relation.columns[c], kinds[c]), formats_.header());
    }
    sheet.next_row();
  }

  void write_cell(Sheet& sheet, size_t at, const RelationColumn& column, SheetCells kind,
                  const Cells& cells, size_t i) {
    if (cells.is_missing(i)) return;
    switch (column.type) {
      case CellType::kInteger:
        write_integer(sheet, at, column, kind, cells.integers[i]);
        break;
      case CellType::kUnsigned:
        if (kind == SheetCells::kAsText) {
          sheet.text(at, std::to_string(cells.unsigneds[i]));
        } else {
          sheet.number(at, static_cast<double>(cells.unsigneds[i]));
        }
        break;
      case CellType::kReal:
        sheet.number(at, cells.reals[i], formats_.of(column.unit, column.type));
        break;
      case CellType::kBool:
        sheet.flag(at, cells.bools[i] != 0);
        break;
      case CellType::kText:
        sheet.text(at, cells.texts[i]);
        break;
    }
  }

  void write_integer(Sheet& sheet, size_t at, const RelationColumn& column, SheetCells kind,
                     int64_t value, bool left = false) {
    if (kind == SheetCells::kAsText) return sheet.text(at, std::to_string(value));
    const int64_t shown = kind == SheetCells::kSince ? value - *origin_ : value;
    sheet.number(at, static_cast<double>(shown), formats_.of(column.unit, column.type, left));
  }

  Status finish(Sheet* sheet, size_t columns) {
    if (sheet == nullptr) return Ok{};
    sheet->finish_table(columns);
    ASSAY_TRY(sheet->status());
    texts_cut_ += sheet->texts_cut();
    return settle(*sheet);
  }

  // Checks that the temporary file was written, which libxlsxwriter does not check.
  Status settle(const Sheet& sheet) {
    std::FILE* rows = sheet.raw()->optimize_tmpfile;
    if (rows == nullptr) return Ok{};
    if (std::fflush(rows) != 0 || std::ferror(rows) != 0) {
      return failed("no room for the rows of sheet " + sheet.name());
    }
    written_[sheet.raw()->index + 1] = static_cast<uint64_t>(std::max(std::ftell(rows), 0L));
    return Ok{};
  }

  // ---- single numbers, below each other ----

  Status write_numbers() {
    Sheet sheet = add_sheet("numbers");
    const bool several = !content_.input_column.empty();
    size_t columns = 0;
    if (several) sheet.text(columns++, content_.input_column, formats_.header());
    for (const char* title : {"table", "name", "value", "unit", "meaning"}) {
      sheet.text(columns++, title, formats_.header());
    }
    sheet.next_row();
    for (const Catalog* catalog : {&content_.whole, &content_.by_input}) {
      for (const Relation& relation : catalog->relations) {
        if (relation.facts) write_facts(sheet, relation, several, catalog == &content_.by_input);
      }
    }
    return finish(&sheet, columns);
  }

  void write_facts(Sheet& sheet, const Relation& relation, bool several, bool by_input) {
    Cells cells;
    for (const RelationPart& part : relation.parts) {
      for (size_t c = 0; c < relation.columns.size() && part.rows > 0; ++c) {
        const RelationColumn& column = relation.columns[c];
        cells.clear();
        part.columns[c](0, 1, cells);
        if (cells.is_missing(0)) continue;
        size_t at = 0;
        if (several && by_input) sheet.number(0, static_cast<double>(part.rank));
        if (several) ++at;
        sheet.text(at++, relation.name);
        sheet.text(at++, column.name);
        const bool large = column.type == CellType::kInteger &&
                           (cells.integers[0] > kSheetExact || cells.integers[0] < -kSheetExact);
        write_cell(sheet, at++, column, large ? SheetCells::kAsText : SheetCells::kNumbers, cells,
                   0);
        sheet.text(at++, column.unit == "string" ? "" : column.unit);
        sheet.text(at++, column.meaning);
        sheet.next_row();
        names_used_.insert(column.name);
      }
    }
  }

  // ---- what the names mean ----

  Status write_definitions() {
    for (const Catalog* catalog : {&content_.whole, &content_.by_input}) {
      for (const Relation& relation : catalog->relations) {
        for (const RelationColumn& column : relation.columns) names_used_.insert(column.name);
      }
    }
    Sheet sheet = add_sheet("definitions");
    size_t columns = 0;
    for (const char* title : {"name", "room", "under", "definition"}) {
      sheet.text(columns++, title, formats_.header());
    }
    sheet.next_row();
    for (const Definition& definition : parse_definitions(metrics_text())) {
      for (const std::string& key : definition.keys) {
        if (names_used_.count(key) == 0) continue;
        sheet.text(0, key);
        sheet.text(1, definition.room);
        sheet.text(2, definition.heading);
        sheet.text(3, definition.text);
        sheet.next_row();
      }
    }
    return finish(&sheet, columns);
  }

  // ---- summary ----

  void line(Sheet& sheet, std::string_view label, std::string_view text) {
    if (!label.empty()) sheet.text(0, label, formats_.label());
    sheet.text(1, text, formats_.wrapped());
    sheet.next_row();
  }

  void write_summary(Sheet& sheet) {
    const Document& head = content_.head;
    xlsx()->worksheet_set_column(sheet.raw(), 0, 0, 34, nullptr);
    xlsx()->worksheet_set_column(sheet.raw(), 1, 1, 110, nullptr);
    sheet.text(0, head.title.empty() ? "Assay" : head.title, formats_.title());
    sheet.next_row();
    for (const std::string& sentence : head.verdict) {
      line(sheet, &sentence == head.verdict.data() ? "Verdict" : "", sentence);
    }
    sheet.next_row();
    if (write_headline(sheet, head.sections)) sheet.next_row();
    write_trust(sheet);
    write_inputs(sheet, head);
    write_notes(sheet);
    write_index(sheet);
  }

  // Writes the first displayed Facts block of the sections. False if there are none.
  bool write_headline(Sheet& sheet, const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      for (const Block& block : section.blocks) {
        const auto* facts = std::get_if<Facts>(&block);
        if (facts == nullptr || !for_readers(facts->show)) continue;
        bool any = false;
        for (const Item& item : facts->items) {
          if (for_readers(item.show)) any |= write_item(sheet, item);
        }
        if (any) return true;
      }
    }
    return false;
  }

  bool write_item(Sheet& sheet, const Item& item) {
    const RelationColumn column{item.key, CellType::kReal, std::string(relation_unit(item.unit))};
    if (const auto number = item.value.number()) {
      const bool shown = !column.unit.empty() && column.unit != "share" && column.unit != "count";
      sheet.text(0, shown ? item.label + " (" + column.unit + ")" : item.label, formats_.label());
      sheet.number(
          1, *number,
          formats_.of(column.unit, is_whole(item) ? CellType::kInteger : CellType::kReal, true));
      sheet.next_row();
      return true;
    }
    const auto* text = item.value.get<std::string>();
    if (text != nullptr) line(sheet, item.label, *text);
    return text != nullptr;
  }
  static bool is_whole(const Item& item) { return item.value.get<int64_t>() != nullptr; }

  void write_trust(Sheet& sheet) {
    std::string label = "Caveats of these numbers";
    for (const std::string& sentence : trust_sentences(content_.head, content_.input_column)) {
      line(sheet, std::exchange(label, ""), sentence);
    }
    if (label.empty()) sheet.next_row();
  }

  void write_inputs(Sheet& sheet, const Document& head) {
    for (const Input& input : head.inputs) {
      line(sheet, &input == head.inputs.data() ? "Inputs" : "", with_checksum(input));
    }
    for (const Input& file : head.files) line(sheet, "", with_checksum(file));
    line(sheet, "Written by", head.tool.name + " " + head.tool.version);
    sheet.next_row();
  }

  // True if a table without rows for all inputs together has rows for single inputs.
  bool inputs_have(const std::string& name) const {
    const Relation* relation =
        content_.input_column.empty() ? nullptr : content_.by_input.find(name);
    return relation != nullptr && relation->rows() > 0;
  }

  void write_notes(Sheet& sheet) {
    std::string label = "How to read the sheets";
    const auto say = [&](const std::string& text) { line(sheet, std::exchange(label, ""), text); };
    say("Numbers are in base units (ns, bytes, W, J, shares of 1): only their display is rounded. "
        "Sheet definitions says what each name means.");
    if (origin_) {
      say("T0 is " + std::to_string(*origin_) +
          " ns (since 1970 if the trace has wall-clock time): times too large for Excel's numbers "
          "are nanoseconds since T0.");
    }
    if (texts_cut_ > 0) {
      say(std::to_string(texts_cut_) +
          " texts are longer than a cell takes (32,767 characters): they are cut and end with an "
          "ellipsis. CSV and JSON lines have them whole.");
    }
    std::string empty;
    for (const TableSheets& table : tables_) {
      if (table.rows == 0 && !inputs_have(table.table)) {
        empty += (empty.empty() ? "" : ", ") + table.table;
      }
      if (table.sheets.size() < 2) continue;
      say(table.table + " has " + std::to_string(table.rows) +
          " rows, more than a sheet takes: it is on " + std::to_string(table.sheets.size()) +
          " sheets.");
    }
    if (!empty.empty()) say("No sheet, because without rows: " + empty + ".");
    sheet.next_row();
  }

  std::string index_words(const TableSheets& table) const {
    std::string words = format_counted(table.rows, "row", "rows");
    if (table.inputs == 1) words += " of one " + content_.input_column;
    if (table.inputs > 1) {
      words += " of " + std::to_string(table.inputs) + " " + content_.input_column + "s";
    }
    if (table.meaning.empty()) return words;
    return words + (table.inputs > 1 ? "; of each: " : ": ") + table.meaning;
  }

  void write_index(Sheet& sheet) {
    sheet.text(0, "Sheet", formats_.header());
    sheet.text(1, "Contents", formats_.header());
    sheet.next_row();
    const auto entry = [&](const std::string& name, const std::string& text) {
      sheet.link(0, name, formats_);
      sheet.text(1, text, formats_.wrapped());
      sheet.next_row();
    };
    entry("numbers", "all single numbers, by table");
    for (const TableSheets& table : tables_) {
      for (const std::string& name : table.sheets) {
        entry(name, index_words(table));
      }
    }
    entry("definitions", "what the names mean (docs/metrics.md)");
  }

  Status close() {
    const lxw_error error = book_.close();
    if (error != LXW_NO_ERROR) return failed(xlsx()->lxw_strerror(error));
    return check_sheet_sizes(path_, written_);
  }

  const WorkbookContent& content_;
  const std::string path_;
  const size_t sheet_rows_;
  Book book_;
  Formats formats_;
  SheetNames names_;
  std::optional<int64_t> origin_;
  std::vector<TableSheets> tables_;
  std::set<std::string> names_used_;
  std::map<uint32_t, uint64_t> written_;  // bytes of rows by sheet number, from 1
  uint64_t texts_cut_ = 0;
};

}  // namespace

Status check_workbooks() {
  if (!xlsx()) return xlsx().error();
  return Ok{};
}

Status write_workbook(const WorkbookContent& content, const std::string& path, size_t sheet_rows) {
  ASSAY_TRY(check_workbooks());
  return WorkbookMaker(content, path, sheet_rows).write();
}

}  // namespace assay
