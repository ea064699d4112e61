#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/plain_text.h"
#include "report/writers/grid.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

std::string text_cell(std::string_view raw) {
  std::string text = clean_text(raw);
  if (!text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos) {
    text.insert(0, 1, '\'');
  }
  // Quote a leading '#', so that a record does not look like the line that starts a table.
  const bool quote = text.find_first_of(",\"") != std::string::npos || text.starts_with('#') ||
                     text.starts_with(' ') || text.ends_with(' ');
  if (!quote) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

std::string cell(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = value.get<int64_t>()) return fmt::format("{}", *integer);
  if (const auto* real = value.get<double>()) {
    return std::isfinite(*real) ? fmt::format("{}", *real) : std::string();
  }
  if (const auto* text = value.get<std::string>()) return text_cell(*text);
  if (const auto* list = value.get<Value::List>()) {
    std::string joined;
    for (const std::string& entry : *list) {
      if (&entry != list->data()) joined += "; ";
      joined += entry;
    }
    return text_cell(joined);
  }
  return {};
}

class CsvWriter {
 public:
  // prefix: start of a table's name, such as "ranks.rank 0."; path: section and block keys.
  void start_table(const std::string& prefix, std::initializer_list<std::string_view> path) {
    std::string name = prefix;
    for (const std::string_view key : path) {
      if (key.empty()) continue;
      if (!name.empty() && !name.ends_with('.')) name += '.';
      name += key;
    }
    if (name.ends_with('.')) name.pop_back();
    if (!out_.empty()) out_ += '\n';
    out_ += "# " + clean_text(name) + "\n";
  }

  void record(const std::vector<Value>& values) {
    for (const Value& value : values) {
      if (&value != values.data()) out_ += ',';
      out_ += cell(value);
    }
    out_ += '\n';
  }

  void facts(const std::vector<Item>& items) {
    record({"key", "value"});
    for (const Item& item : items) {
      if (for_data(item.show)) record({item.key, item.value});
    }
  }

  void import_log(const std::string& prefix, const std::vector<ImportNote>& notes) {
    start_table(prefix, {"import_log"});
    record({"code", "severity", "count", "text", "first_offset"});
    for (const ImportNote& note : notes) {
      record({note.code, note.severity, note.count, note.meaning,
              note.first_offset >= 0 ? Value(note.first_offset) : Value()});
    }
  }

  void lines(const std::string& prefix, std::initializer_list<std::string_view> path,
             const std::vector<std::string>& texts) {
    start_table(prefix, path);
    record({"text"});
    for (const std::string& text : texts) record({text});
  }

  void sections(const std::string& prefix, const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      for (const Block& content : section.blocks) {
        std::visit(
            [&](const auto& shown) {
              if (for_data(shown.show)) block(prefix, section.key, shown);
            },
            content);
      }
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void block(const std::string& prefix, const std::string& section, const Prose& prose) {
    if (!prose.key.empty()) lines(prefix, {section, prose.key}, prose.paragraphs);
  }

  void block(const std::string& prefix, const std::string& section, const Facts& content) {
    // In JSON, facts without any key merge into the root; in CSV, their table needs a name.
    const bool nameless = prefix.empty() && section.empty() && content.key.empty();
    start_table(prefix, {section, nameless ? "facts" : content.key});
    facts(content.items);
  }

  void block(const std::string& prefix, const std::string& section, const Table& table) {
    if (table.key.empty()) return;
    start_table(prefix, {section, table.key});
    columns({}, table.columns);
    for (const Row& row : table.rows) cells({}, table.columns, row);
  }

  void block(const std::string& prefix, const std::string& section, const Tree& tree) {
    if (tree.key.empty()) return;
    start_table(prefix, {section, tree.key});
    columns({"depth", tree.label_key}, tree.columns);
    for (const TreeNode& node : tree.nodes) {
      cells({node.depth, node.label}, tree.columns, node.values);
    }
  }

  // "power.kernels.0.": elements are identified by position.
  void block(const std::string& prefix, const std::string& section, const Elements& list) {
    if (list.key.empty()) return;
    for (size_t i = 0; i < list.elements.size(); ++i) {
      sections(prefix + (section.empty() ? "" : section + ".") + list.key + "." +
                   std::to_string(i) + ".",
               list.elements[i]);
    }
  }

  void block(const std::string&, const std::string&, const Chart&) {}  // shown on the page only

  void columns(std::vector<Value> first, const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      if (for_data(column.show)) first.emplace_back(column.key);
    }
    record(first);
  }

  void cells(std::vector<Value> first, const std::vector<Column>& columns, const Row& row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (for_data(columns[i].show)) first.push_back(i < row.size() ? row[i] : Value());
    }
    record(first);
  }

  std::string out_;
};

// Inputs may have different items: the header has all keys, in order of first appearance.
void write_inputs(const char* table, const std::vector<Input>& inputs, CsvWriter& csv) {
  std::vector<std::string> keys;
  for (const Input& input : inputs) {
    for (const Item& item : input.items) {
      if (!for_data(item.show)) continue;
      if (std::find(keys.begin(), keys.end(), item.key) == keys.end()) keys.push_back(item.key);
    }
  }
  csv.start_table("", {table});
  std::vector<Value> record{Value("name")};
  for (const std::string& key : keys) record.emplace_back(key);
  csv.record(record);
  for (const Input& input : inputs) {
    record.assign({Value(input.name)});
    for (const std::string& key : keys) {
      const auto item = std::find_if(input.items.begin(), input.items.end(),
                                     [&](const Item& candidate) { return candidate.key == key; });
      record.push_back(item == input.items.end() ? Value() : item->value);
    }
    csv.record(record);
  }
}

}  // namespace

std::string write_csv(const Section& section) {
  CsvWriter csv;
  csv.sections("", {section});
  std::string text = csv.take();
  const bool one = text.find("\n\n# ") == std::string::npos;
  return one ? text.substr(text.find('\n') + 1) : text;
}

std::string write_csv(const Document& document) {
  CsvWriter csv;
  csv.start_table("", {"document"});
  csv.facts({{.key = "schema_version", .label = {}, .value = document.schema_version},
             {.key = "tool", .label = {}, .value = document.tool.name},
             {.key = "version", .label = {}, .value = document.tool.version}});
  write_inputs("inputs", document.inputs, csv);
  if (!document.files.empty()) write_inputs("files", document.files, csv);
  csv.import_log("", document.import_log);
  csv.lines("", {"headline"}, document.verdict);
  csv.sections("", document.sections);
  for (const Part& part : document.parts) {
    const std::string prefix = document.parts_key + "." + part.name + ".";
    std::vector<Item> items = {{.key = "name", .label = {}, .value = part.name}};
    items.insert(items.end(), part.items.begin(), part.items.end());
    csv.start_table(document.parts_key + "." + part.name, {});
    csv.facts(items);
    csv.import_log(prefix, part.import_log);
    csv.lines(prefix, {"headline"}, part.verdict);
    csv.sections(prefix, part.sections);
  }
  return csv.take();
}

}  // namespace assay
