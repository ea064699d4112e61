#pragma once

// A Document: the content of an answer, independent of its presentation. Plain data without
// knowledge of analyses and output formats. section_*.cc fill it, the writers (writers.h) print it.
// Values are raw and in base units (ns, bytes, W, J, shares 0..1); only the writers scale and
// round.
//
// Mapping to JSON (keys in the order given, integers stay integers):
//   Document  {"schema_version", "tool": {"name", "version"}, "inputs": [...],
//              "import_log": [...], "headline": [...], <sections>, <parts_key>: [...] if any parts}
//   Section   an object under its key; with an empty key its blocks merge into the parent. Sections
//             with the same key merge.
//   Facts     an object under its key; with an empty key the items merge into the section's object
//   Table     an array of objects under its key, one key per column; "at.bb" is "bb" in an object
//             "at"
//   Tree      an array of objects under its key: "depth", label_key, then one key per column
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

// Which outputs show a block, a column or an item.
enum class Show : uint8_t {
  kEverywhere,
  kReadersOnly,  // terminal, Markdown and the page
  kDataOnly,     // JSON and CSV
  kPageOnly,     // the HTML page
  kTextOnly,     // terminal and Markdown: data that the page draws as a chart
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
  bool elastic = false;  // may be shortened in the middle on narrow screens
  Show show = Show::kEverywhere;
};

// One value per column. Missing values at the end count as missing; surplus values are ignored.
using Row = std::vector<Value>;

// Default number of rows shown to readers.
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
  size_t data_only_rows = 0;                 // number of rows at the end of `rows` that readers do
                                             // not see
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
  // The column with the areas of an icicle chart on the page; children sum to at most their parent.
  // Empty = no chart.
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

// One curve, point cloud or row of bars. A non-finite y is a gap.
struct Series {
  std::string name = {};
  Mark mark = Mark::kLine;
  std::vector<double> x = {};  // empty: the chart's categories, in order
  std::vector<double> y = {};
  // Interval around y, drawn as a band for lines and as whiskers for points and bars. Both are
  // empty or as long as y.
  std::vector<double> low = {};
  std::vector<double> high = {};
  std::vector<std::string> labels = {};  // tooltip of each point; empty or as long as y
};

// A straight line across the chart: a knee, a peak, the median.
struct Guide {
  enum class Across : uint8_t { kX, kY };  // kX: vertical line at an x value
  Across across = Across::kX;
  double value = 0;
  std::string label = {};
};

// Shown on the page only. Other formats have the same data in a table or in facts, except for
// samples that are too many to print (every launch, every sensor sample).
struct Chart {
  std::string key = {};    // anchor on the page, unique within the section
  std::string title = {};  // "Launch and queue time by batch size (SKIP, Figure 6)"
  std::string caption = {};
  Axis x = {};
  Axis y = {};
  std::vector<std::string> categories = {};  // of the x axis, if it is not numeric
  std::vector<Series> series = {};
  std::vector<Guide> guides = {};
  bool horizontal = false;  // categories run downwards, for long names
  Show show = Show::kPageOnly;
};

struct Section;

// Objects with their own facts and tables, for example kernels with a profile each.
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
  bool folded = false;  // Markdown shows only the title until the reader opens it
  bool with_answer = false;  // requested by the reader, and shown below the short answer
};

struct Tool {
  std::string name = "assay";
  std::string version = {};
};

// One input file. JSON: the name, or {"name", <items>} if there are items.
struct Input {
  std::string name;
  std::vector<Item> items = {};
};

// One line of the import log. first_offset: byte in the uncompressed input, -1 = unknown (null).
struct ImportNote {
  std::string code;
  std::string severity;
  uint64_t count = 0;
  std::string meaning = {};
  int64_t first_offset = -1;
};

// One rank, batch size or configuration of a document on several inputs. JSON: {"name", <items>,
// "import_log", "headline", <sections>}, an element of the document's parts_key array.
struct Part {
  std::string name;
  std::vector<Item> items = {};
  std::vector<ImportNote> import_log = {};
  std::vector<std::string> verdict = {};
  std::vector<Section> sections = {};
  std::optional<ShortAnswer> answer = {};
  std::string lanes = {};  // data of the page's timeline (report/run/lanes.h); may be empty
  std::string lane_details = {};  // details of the timeline's events
};

struct Document {
  int64_t schema_version = 2;
  Tool tool = {};
  std::string title = {};  // readers only
  std::vector<Input> inputs = {};
  std::vector<Input> files = {};  // other files that were read: tables, logs, launch-overhead
                                  // floors, models
  std::vector<ImportNote> import_log = {};
  std::vector<std::string> verdict = {};   // headline sentences; the first one is the answer
  std::optional<ShortAnswer> answer = {};  // "summary" in JSON; readers see it instead of
                                           // everything else
  std::string lanes = {};                  // as in Part
  std::string lane_details = {};
  std::vector<Section> sections = {};
  std::string parts_key = "parts";  // e.g. "ranks"
  std::vector<Part> parts = {};
  // Indices of parts, most informative first: a page over its size limit omits sections and
  // timelines of the last. Empty = document order.
  std::vector<size_t> parts_order = {};
};

}  // namespace assay
