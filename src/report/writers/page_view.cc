#include "report/writers/page_view.h"
#include "findings/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/json_tree.h"
#include "report/document/definitions.h"
#include "report/document/names.h"
#include "report/document/palette.h"
#include "report/writers/grid.h"
#include "text/plain_text.h"

namespace assay {
namespace {

using PageJson = nlohmann::json;

// Larger integers are not exact in JavaScript and are written as text.
constexpr int64_t kLargestExact = int64_t{1} << 53;

// The page shows blocks for readers and for the page. Columns and items for data only are included
// and shown on request.
bool for_page(Show show) {
  return show != Show::kTextOnly && (for_readers(show) || show == Show::kPageOnly);
}

PageJson text_json(const std::string& text) { return clean_text(text); }

PageJson texts_json(const std::vector<std::string>& texts) {
  PageJson list = PageJson::array();
  for (const std::string& text : texts) list.push_back(clean_text(text));
  return list;
}

PageJson number_json(double number) {
  return std::isfinite(number) ? PageJson(number) : PageJson(nullptr);
}

PageJson numbers_json(const std::vector<double>& numbers) {
  PageJson list = PageJson::array();
  for (const double number : numbers) list.push_back(number_json(number));
  return list;
}

PageJson value_json(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag;
  if (const auto* integer = value.get<int64_t>()) {
    if (*integer > kLargestExact || *integer < -kLargestExact) return std::to_string(*integer);
    return *integer;
  }
  if (const auto* real = value.get<double>()) return number_json(*real);
  if (const auto* text = value.get<std::string>()) return text_json(*text);
  if (const auto* list = value.get<Value::List>()) return texts_json(*list);
  return nullptr;
}

bool is_fraction(const Value& value) { return value.get<double>() != nullptr; }

// Walks a document and collects the definitions of its keys. Each item and column refers to its
// definition by number.
class ViewMaker {
 public:
  // Parts are converted to text one by one, so that only one part at a time is a JSON tree.
  PageView document(const Document& document, const TakePart& take, bool holds_json) {
    std::vector<bool> taken(document.parts.size(), false);
    for (const size_t place : parts_in_order(document)) {
      const Part& part = document.parts[place];
      PageJson entry = PageJson::object();
      entry["sections"] = sections(part.sections);
      if (!take(place, json_text(entry))) break;
      taken[place] = true;
    }
    PageView view;
    view.head = json_text(head(document, holds_json));
    view.rest = json_text(rest(document, taken));
    return view;
  }

 private:
  static std::vector<size_t> parts_in_order(const Document& document) {
    if (!document.parts_order.empty()) return document.parts_order;
    std::vector<size_t> order(document.parts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }

  // The noun for one of several inputs: a rank, a batch size, or a trace if they are not a job.
  static std::string part_word(const Document& document) {
    if (document.parts_key == "parts") return "part";
    const auto has_rank = [](const Part& part) {
      return std::any_of(part.items.begin(), part.items.end(), [](const Item& item) {
        return item.key == "rank" && item.value.get<int64_t>() != nullptr;
      });
    };
    const bool is_job = std::any_of(document.parts.begin(), document.parts.end(), has_rank);
    if (document.parts_key == "ranks" && !is_job) return "trace";
    const bool plural = document.parts_key.ends_with('s');
    return document.parts_key.substr(0, document.parts_key.size() - plural);
  }

  // The content above the fold.
  PageJson head(const Document& document, bool holds_json) {
    PageJson head = {{"title", text_json(document.title)},
                     {"tool", {{"name", document.tool.name}, {"version", document.tool.version}}},
                     {"parts_count", document.parts.size()},
                     {"part_word", part_word(document)},
                     {"json", holds_json},
                     {"inputs", PageJson::array()}};
    head["answer"] = answer(document.answer);
    head["palette"] = palette();
    for (const Input& input : document.inputs) {
      head["inputs"].push_back({{"name", text_json(input.name)}, {"items", items(input.items)}});
    }
    for (const Input& file : document.files) {
      head["inputs"].push_back({{"name", text_json(file.name)}, {"items", items(file.items)}});
    }
    return head;
  }

  PageJson rest(const Document& document, const std::vector<bool>& taken) {
    PageJson rest = body(document.import_log, document.verdict, document.sections);
    rest["sections"] = sections(document.sections);
    rest["parts"] = PageJson::array();
    for (size_t place = 0; place < document.parts.size(); ++place) {
      const Part& part = document.parts[place];
      PageJson entry = body(part.import_log, part.verdict, part.sections);
      entry["answer"] = answer(part.answer);
      entry["name"] = text_json(part.name);
      entry["items"] = items(part.items);
      entry["held"] = static_cast<bool>(taken[place]);
      rest["parts"].push_back(std::move(entry));
    }
    rest["definitions"] = definitions();
    return rest;
  }

  static PageJson palette() {
    PageJson colours = PageJson::object();
    for (const CauseColour& colour : cause_colours()) {
      colours[std::string(colour.key)] = {
          {"light", fmt::format("#{:06x}", colour.light)},
          {"dark", fmt::format("#{:06x}", colour.dark)},
          {"hatched", colour.hatched},
          {"word", findings::cause_legend(std::string(colour.key))}};
    }
    return colours;
  }

  static PageJson answer(const std::optional<ShortAnswer>& told) {
    if (!told) return nullptr;
    PageJson out = {{"kind", told->kind},
                    {"verdict", texts_json(told->verdict)},
                    {"more", texts_json(told->more)},
                    {"window_ns", told->window_ns},
                    {"total_ns", told->total_ns},
                    {"trust", findings::confidence_name(told->confidence)},
                    {"reason", text_json(told->reason)},
                    {"next", texts_json(told->next)}};
    out["causes"] = PageJson::array();
    for (const AnswerCause& cause : told->causes) {
      out["causes"].push_back(
          {{"key", cause.key}, {"word", findings::cause_legend(cause.key)}, {"ns", cause.ns}});
    }
    out["levers"] = PageJson::array();
    for (const AnswerLever& lever : told->levers) {
      PageJson points = PageJson::array();
      for (const AnswerPoint& point : lever.points) {
        points.push_back({{"edit", text_json(point.edit)},
                          {"words", text_json(point.words)},
                          {"gain_ns", point.gain_ns},
                          {"grade", point.grade},
                          {"between", text_json(point.between)}});
      }
      out["levers"].push_back({{"title", text_json(lever.title)},
                               {"code", text_json(lever.code)},
                               {"gain_ns", lever.gain_ns},
                               {"share", lever.share},
                               {"grade", lever.grade},
                               {"between", text_json(lever.between)},
                               {"edit", text_json(lever.edit)},
                               {"points", std::move(points)},
                               {"states", lever.states},
                               {"kernel_kind", lever.kernel_kind},
                               {"kernel_name", lever.kernel_name}});
    }
    out["together"] = PageJson::array();
    for (const AnswerTogether& set : told->together) {
      out["together"].push_back(
          {{"levers", set.levers}, {"gain_ns", set.gain_ns}, {"between", text_json(set.between)}});
    }
    out["notes"] = PageJson::array();
    for (const AnswerNote& note : told->notes) {
      PageJson lines = PageJson::array();  // leading blanks of code are significant
      for (const std::string& line : note.lines) lines.push_back(clean_text(line));
      out["notes"].push_back({{"head", note.head}, {"lines", lines}, {"code", note.code}});
    }
    out["spans"] = PageJson::array();
    for (const Interval& span : told->spans) {
      out["spans"].push_back({span.start_ns, span.end_ns});
    }
    out["ranks"] = ranks(*told);
    out["strip_ns"] = told->strip_ns;
    return out;
  }

  static PageJson ranks(const ShortAnswer& told) {
    PageJson list = PageJson::array();
    for (const AnswerRank& rank : told.ranks) {
      PageJson bins = PageJson::array();
      for (const RankBin& bin : rank.bins) {
        for (const uint8_t share : bin) bins.push_back(share);
      }
      list.push_back({{"name", text_json(rank.name)},
                      {"remark", text_json(rank.remark)},
                      {"bins", std::move(bins)}});
    }
    return list;
  }

  PageJson body(const std::vector<ImportNote>& log, const std::vector<std::string>& verdict,
                const std::vector<Section>& contents) {
    PageJson out = {
        {"verdict", texts_json(verdict)}, {"trust", nullptr}, {"import_log", PageJson::array()}};
    for (const ImportNote& note : log) {
      out["import_log"].push_back({{"code", text_json(note.code)},
                                   {"severity", text_json(note.severity)},
                                   {"count", note.count},
                                   {"meaning", text_json(note.meaning)},
                                   {"first_offset", note.first_offset}});
    }
    for (const Section& section : contents) {
      const Table* notes = trust_notes(section);
      if (notes == nullptr) continue;
      out["trust"] = table(*notes);
      out["trust"]["code_definitions"] = code_definitions(*notes);
    }
    return out;
  }

  // For each caveat, the number of its code's definition; null if undefined.
  PageJson code_definitions(const Table& notes) {
    PageJson list = PageJson::array();
    const auto code = std::find_if(notes.columns.begin(), notes.columns.end(),
                                   [](const Column& column) { return column.key == "code"; });
    const auto place = static_cast<size_t>(code - notes.columns.begin());
    for (size_t row = 0; row < notes.reader_rows(); ++row) {
      const auto* text =
          place < notes.rows[row].size() ? notes.rows[row][place].get<std::string>() : nullptr;
      const auto number = text ? number_of("trust", "", *text) : std::nullopt;
      list.push_back(number ? PageJson(*number) : PageJson(nullptr));
    }
    return list;
  }

  PageJson sections(const std::vector<Section>& contents) {
    PageJson list = PageJson::array();
    for (const Section& section : contents) {
      section_ = section.key;
      PageJson entry = this->section(section, trust_notes(section) != nullptr);
      section_.clear();
      if (!entry["blocks"].empty()) list.push_back(std::move(entry));
    }
    return list;
  }

  // The caveats table at the document's top level, which the page shows in a separate panel.
  static const Table* trust_notes(const Section& section) {
    if (!section.key.empty()) return nullptr;
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (table != nullptr && table->key == "caveats") return table;
    }
    return nullptr;
  }

  static bool is_trust(const Block& block) {
    const auto* table = std::get_if<Table>(&block);
    return std::holds_alternative<Prose>(block) || (table != nullptr && table->key == "caveats");
  }

  // If `told`, the page shows the section's caveats from their table, so sentences for them are
  // omitted.
  PageJson section(const Section& section, bool told = false) {
    PageJson blocks = PageJson::array();
    for (const Block& block : section.blocks) {
      if (told && is_trust(block)) continue;
      std::visit(
          [&](const auto& content) {
            if (for_page(content.show)) blocks.push_back(this->block(content));
          },
          block);
    }
    return {
        {"key", section.key}, {"title", text_json(section.title)}, {"blocks", std::move(blocks)}};
  }

  PageJson block(const Prose& prose) {
    return {{"type", "prose"},
            {"paragraphs", texts_json(prose.paragraphs)},
            {"bullets", prose.bullets}};
  }

  PageJson block(const Facts& facts) {
    return {{"type", "facts"},
            {"key", facts.key},
            {"title", text_json(facts.title)},
            {"items", items(facts.items, facts.key)}};
  }

  PageJson block(const Table& content) { return table(content); }

  PageJson block(const Tree& tree) {
    PageJson depths = PageJson::array();
    PageJson labels = PageJson::array();
    for (const TreeNode& node : tree.nodes) {
      depths.push_back(node.depth);
      labels.push_back(clean_text(node.label));
    }
    PageJson entry = {
        {"type", "tree"},
        {"key", tree.key},
        {"title", text_json(tree.title)},
        {"label_key", tree.label_key},
        {"label_title", text_json(tree.label_title)},
        {"area_key", tree.area_key},
        {"depths", std::move(depths)},
        {"labels", std::move(labels)},
        {"columns", columns(tree.columns, tree.nodes.size(), tree.key,
                            [&tree](size_t row) -> const Row& { return tree.nodes[row].values; })}};
    define(tree.key, tree.label_key, entry, "label_definition");
    return entry;
  }

  PageJson block(const Elements& list) {
    PageJson elements = PageJson::array();
    for (const std::vector<Section>& element : list.elements) {
      PageJson contents = PageJson::array();
      for (const Section& content : element) {
        PageJson entry = section(content);
        if (!entry["blocks"].empty()) contents.push_back(std::move(entry));
      }
      elements.push_back(std::move(contents));
    }
    return {{"type", "elements"}, {"key", list.key}, {"elements", std::move(elements)}};
  }

  PageJson block(const Chart& chart) {
    PageJson all_series = PageJson::array();
    for (const Series& series : chart.series) {
      all_series.push_back({{"name", text_json(series.name)},
                            {"mark", mark_name(series.mark)},
                            {"x", numbers_json(series.x)},
                            {"y", numbers_json(series.y)},
                            {"low", numbers_json(series.low)},
                            {"high", numbers_json(series.high)},
                            {"labels", texts_json(series.labels)}});
    }
    PageJson guides = PageJson::array();
    for (const Guide& guide : chart.guides) {
      guides.push_back({{"across", guide.across == Guide::Across::kX ? "x" : "y"},
                        {"value", number_json(guide.value)},
                        {"label", text_json(guide.label)}});
    }
    return {{"type", "chart"},
            {"key", chart.key},
            {"title", text_json(chart.title)},
            {"caption", text_json(chart.caption)},
            {"x", axis(chart.x)},
            {"y", axis(chart.y)},
            {"categories", texts_json(chart.categories)},
            {"horizontal", chart.horizontal},
            {"series", std::move(all_series)},
            {"guides", std::move(guides)}};
  }

  static PageJson axis(const Axis& axis) {
    return {{"title", text_json(axis.title)},
            {"unit", unit_name(axis.unit)},
            {"log", axis.logarithmic}};
  }

  // Adds the number of the key's definition, if it is defined.
  void define(const std::string& table, const std::string& key, PageJson& entry,
              const char* name = "definition") {
    if (const std::optional<size_t> number = number_of(section_, table, key)) entry[name] = *number;
  }

  std::optional<size_t> number_of(const std::string& section, const std::string& table,
                                  const std::string& key) {
    const Definition* found = places_.find(section, table, key);
    if (found == nullptr) return std::nullopt;
    const auto [at, is_new] = numbers_.try_emplace(found, used_.size());
    if (is_new) used_.push_back(found);
    return at->second;
  }

  PageJson items(const std::vector<Item>& contents, const std::string& table = "") {
    PageJson list = PageJson::array();
    for (const Item& item : contents) {
      PageJson entry = {{"key", item.key},
                        {"label", text_json(item.label)},
                        {"value", value_json(item.value)},
                        {"unit", unit_name(item.unit)},
                        {"whole", !is_fraction(item.value)}};
      define(table, item.key, entry);
      if (!item.note.empty()) entry["note"] = text_json(item.note);
      if (!for_page(item.show)) entry["hidden"] = true;
      list.push_back(std::move(entry));
    }
    return list;
  }

  PageJson table(const Table& table) {
    return {{"type", "table"},
            {"key", table.key},
            {"title", text_json(table.title)},
            {"rows", table.reader_rows()},
            {"columns", columns(table.columns, table.reader_rows(), table.key,
                                [&table](size_t row) -> const Row& { return table.rows[row]; })}};
  }

  // Column by column, because similar values compress better when adjacent.
  template <typename RowValues>
  PageJson columns(const std::vector<Column>& contents, size_t rows, const std::string& table,
                   const RowValues& row_values) {
    static const Value kMissing;
    PageJson list = PageJson::array();
    for (size_t i = 0; i < contents.size(); ++i) {
      const Column& column = contents[i];
      PageJson cells = PageJson::array();
      bool whole = true;
      for (size_t row = 0; row < rows; ++row) {
        const Row& values = row_values(row);
        const Value& value = i < values.size() ? values[i] : kMissing;
        whole = whole && !is_fraction(value);
        cells.push_back(value_json(value));
      }
      PageJson entry = {{"key", column.key},
                        {"title", text_json(column.title)},
                        {"unit", unit_name(column.unit)},
                        {"whole", whole},
                        {"cells", std::move(cells)}};
      define(table, column.key, entry);
      if (column.align == Align::kLeft) entry["align"] = "left";
      if (column.align == Align::kRight) entry["align"] = "right";
      if (column.elastic) entry["elastic"] = true;
      if (!for_page(column.show)) entry["hidden"] = true;
      list.push_back(std::move(entry));
    }
    return list;
  }

  PageJson definitions() const {
    PageJson list = PageJson::array();
    for (const Definition* definition : used_) {
      list.push_back({{"keys", definition->keys},
                      {"room", definition->room},
                      {"heading", definition->heading},
                      {"text", definition->text}});
    }
    return list;
  }

  const DefinitionsByPlace places_{parse_definitions(metrics_text())};
  std::vector<const Definition*> used_;  // in numbering order
  std::unordered_map<const Definition*, size_t> numbers_;
  std::string section_;  // key of the current outermost section
};

}  // namespace

PageView page_view(const Document& document, const TakePart& take, bool holds_json) {
  return ViewMaker().document(document, take, holds_json);
}

}  // namespace assay
