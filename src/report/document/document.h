#pragma once

// A Document: the content of an answer, independent of its presentation. Plain data, without
// knowledge of analyses and output formats; section_*.cc fill it, the writers (writers.h) print it.
// Values are raw and in base units (ns, bytes, W, J, shares 0..1): only the writers scale and
// round.
//
// Mapping to JSON (keys in the order given, integers stay integers):
//   Document  {"schema_version", "tool": {"name", "version"}, "inputs": [...],
//              "import_log": [...], "headline": [...], <sections>, <parts_key>: [...] if any parts}
//   Section   an object under its key; with an empty key its blocks merge into the parent. Sections
//             with the same key merge.
//   Facts     an object under its key; with an empty key the items merge into the section's object
//   Table     an array of objects under its key, one key per column; "at.bb" is "bb" in an object
//   "at" Tree      an array of objects under its key: "depth", label_key, then one key per column
//   Prose     a list of strings under its key
//   Elements  an array under its key, each element an object with its own sections: tables in rows
//   A Table, Tree, Prose or Elements with an empty key is for readers only: not in JSON, not in
//   CSV. A Chart is for the page only. Keys are unique within an object; a later one replaces an
//   earlier one.
// For example, {"caveats": [...]} at top level is a Section with an empty key and a Table with key
// "caveats".

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/value.h"
#include "report/document/short_answer.h"

namespace assay {

// Outputs that show a block, a column or an item.
enum class Show : uint8_t {
  kEverywhere,
  kReadersOnly,  // terminal, Markdown and the page
  kDataOnly,     // JSON and CSV
  kPageOnly,     // the HTML page
  kTextOnly,     // terminal and Markdown: what the page draws
};

// One named value. The key carries the unit (tklqt_ns), the label does not (TKLQT).
struct Item {
  std::string key;
  std::string label;
  Value value = {};
  Unit unit = Unit::kNone;
  std::string note = {};  // short remark after the value, for readers only
  Show show = Show::kEverywhere;
};

enum class Align : uint8_t { kAuto, kLeft, kRight };  // kAuto: text left, everything else right

struct Column {
  std::string key;
  std::string title;
  Unit unit = Unit::kNone;
  Align align = Align::kAuto;
  bool elastic = false;  // may be shortened in the middle when the screen is narrow
  Show show = Show::kEverywhere;
};

// A row has one value per column; values missing at its end count as missing, surplus is ignored.
using Row = std::vector<Value>;

// Rows that a reader format shows when the author says nothing else.
constexpr size_t kDefaultRowLimit = 20;

struct Prose {
  std::string key = {};
  std::vector<std::string> paragraphs = {};
  bool bullets = false;
  Show show = Show::kEverywhere;
};

struct Facts {
  std::string key = {};
  std::string title = {};
  std::vector<Item> items = {};
  Show show = Show::kEverywhere;
};

struct Table {
  std::string key = {};
  std::string title = {};
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
  size_t terminal_limit = kDefaultRowLimit;  // rows shown to readers; 0 = all
  size_t data_only_rows = 0;                 // the last of `rows`, which readers need not see
  Show show = Show::kEverywhere;

  size_t reader_rows() const { return rows.size() - std::min(data_only_rows, rows.size()); }
};

struct TreeNode {
  uint32_t depth = 0;  // 0 = root; children follow their parent
  std::string label = {};
  Row values = {};
};

struct Tree {
  std::string key = {};
  std::string title = {};
  std::string label_key = "name";
  std::string label_title = "name";
  std::vector<Column> columns = {};
  std::vector<TreeNode> nodes = {};
  size_t terminal_limit = 0;  // nodes shown to readers; 0 = all
  Show show = Show::kEverywhere;
  // The column with the areas of an icicle chart on the page: children sum to at most their parent.
  // Empty = no such chart.
  std::string area_key = {};
};

// How one series of a chart is drawn.
enum class Mark : uint8_t {
  kLine,
  kSteps,  // holds its value until the next point: queue depths, clocks
  kPoints,
  kBars,         // next to the bars of the other series
  kStackedBars,  // on top of the other series with the same mark
};

struct Axis {
  std::string title = {};
  Unit unit = Unit::kNone;
  bool logarithmic = false;
};

// One curve, cloud of points or row of bars. A non-finite y is a gap.
struct Series {
  std::string name = {};
  Mark mark = Mark::kLine;
  std::vector<double> x = {};  // empty: the chart's categories, in order
  std::vector<double> y = {};
  // An interval around y: a band around a line, whiskers on points and bars. Both empty, or both as
  // long as y.
  std::vector<double> low = {};
  std::vector<double> high = {};
  std::vector<std::string> labels = {};  // what a point is, for its tooltip; empty or as long as y
};

// A line across the chart: a knee, a peak, the median.
struct Guide {
  enum class Across : uint8_t { kX, kY };  // kX: at an x value, drawn upright
  Across across = Across::kX;
  double value = 0;
  std::string label = {};
};

// For the page only. Other formats have the data of a chart in a table or in facts. Only samples
// too many to print (every launch, every sensor sample) may be in a chart alone.
struct Chart {
  std::string key = {};    // anchor on the page, unique within the section
  std::string title = {};  // "Launch and queue time by batch size (SKIP, Figure 6)"
  std::string caption = {};
  Axis x = {};
  Axis y = {};
  std::vector<std::string> categories = {};  // of the x axis, when that is not a number
  std::vector<Series> series = {};
  std::vector<Guide> guides = {};
  bool horizontal = false;  // categories run downwards: long names
  Show show = Show::kPageOnly;
};

struct Section;

// Things that each have facts and tables of their own: kernels with a profile each.
struct Elements {
  std::string key = {};
  std::vector<std::vector<Section>> elements = {};
  Show show = Show::kEverywhere;
};

using Block = std::variant<Prose, Facts, Table, Tree, Elements, Chart>;

struct Section {
  std::string key = {};
  std::string title = {};
  std::vector<Block> blocks = {};
  bool folded = false;  // Markdown shows the title alone until the reader opens it
};

struct Tool {
  std::string name = "assay";
  std::string version = {};
};

// One input file. JSON: the name alone, or {"name", <items>} when there are items.
struct Input {
  std::string name;
  std::vector<Item> items = {};
};

// One line of the import log. first_offset: byte in the uncompressed input, -1 = no place (null).
struct ImportNote {
  std::string code;
  std::string severity;
  uint64_t count = 0;
  std::string meaning = {};
  int64_t first_offset = -1;
};

// One rank, one batch size, one configuration of a document about several inputs. JSON: {"name",
// <items>, "import_log", "headline", <sections>}, an element of the document's parts_key array.
struct Part {
  std::string name;
  std::vector<Item> items = {};
  std::vector<ImportNote> import_log = {};
  std::vector<std::string> verdict = {};
  std::vector<Section> sections = {};
  std::optional<ShortAnswer> answer = {};
  std::string lanes = {};  // what the page's timeline shows (report/run/lanes.h); may be empty
  std::string lane_details = {};  // what it says of single events
};

struct Document {
  int64_t schema_version = 2;
  Tool tool = {};
  std::string title = {};  // readers only
  std::vector<Input> inputs = {};
  std::vector<Input> files = {};  // other files that were read: tables, logs, launch-overhead
                                  // floors, models
  std::vector<ImportNote> import_log = {};
  std::vector<std::string> verdict = {};   // sentences; the first one is the answer
  std::optional<ShortAnswer> answer = {};  // JSON: "summary"; shown to readers instead of
                                           // everything else
  std::string lanes = {};                  // as of a part
  std::string lane_details = {};
  std::vector<Section> sections = {};
  std::string parts_key = "parts";  // e.g. "ranks"
  std::vector<Part> parts = {};
  // Parts by priority, the most informative first: a full page omits sections and timelines of the
  // last. Empty = as they are.
  std::vector<size_t> parts_order = {};
};

}  // namespace assay
