#include "query/document_relations.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "text/plain_text.h"
#include "report/writers/grid.h"

namespace assay {
namespace {

struct DataColumn {
  std::string name;
  Unit unit = Unit::kNone;
  std::string title = {};
  std::vector<Value> values = {};
};

struct DataTable {
  std::string name;
  std::string title = {};
  std::vector<DataColumn> columns = {};
  size_t rows = 0;
  bool facts = false;  // one row; every item adds a column

  DataColumn& column(const std::string& key, Unit unit, const std::string& name_for_people) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&key](const DataColumn& c) { return c.name == key; });
    if (found != columns.end()) return *found;
    columns.push_back({key, unit, name_for_people, {}});
    return columns.back();
  }
};

// The key as an SQL name: "overlap.at" and "breakdown rows" are none.
std::string sql_name(std::string_view key) {
  std::string name;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) : '_';
  }
  return name;
}

// `rank` is reserved for the input of a row.
std::string column_name(std::string_view key) {
  std::string name = sql_name(key);
  return name == "rank" ? "rank_told" : name;
}

std::string nested_name(const std::string& prefix, const std::string& key) {
  if (key.empty()) return prefix;
  return prefix.empty() ? sql_name(key) : prefix + "_" + sql_name(key);
}

class Collector {
 public:
  void sections(const std::string& prefix, const std::vector<Section>& sections,
                std::optional<int64_t> element) {
    for (const Section& section : sections) {
      const std::string name = nested_name(prefix, section.key);
      for (const Block& block : section.blocks) {
        std::visit(
            [&](const auto& content) {
              if (for_data(content.show)) add(name, content, element);
            },
            block);
      }
    }
  }

  void lines(const std::string& name, const std::vector<std::string>& texts,
             std::optional<int64_t> element = {}) {
    DataTable& table = open(name, "");
    for (const std::string& text : texts) {
      start_row(table, element);
      put(table, "position", Unit::kCount, "", table.rows - 1);
      put(table, "text", Unit::kText, "", text);
      finish_row(table);
    }
  }

  void import_log(const std::vector<ImportNote>& notes) {
    DataTable& table = open("import_log", "irregularities of the input");
    for (const char* key : {"code", "severity", "count", "text", "first_offset"}) {
      const std::string name(key);
      table.column(name, name == "count" || name == "first_offset" ? Unit::kCount : Unit::kText,
                   "");
    }
    for (const ImportNote& note : notes) {
      start_row(table, {});
      put(table, "code", Unit::kText, "", note.code);
      put(table, "severity", Unit::kText, "", note.severity);
      put(table, "count", Unit::kCount, "", note.count);
      put(table, "text", Unit::kText, "", note.meaning);
      if (note.first_offset >= 0) put(table, "first_offset", Unit::kCount, "", note.first_offset);
      finish_row(table);
    }
  }

  void input(const Part& part) {
    DataTable& table = open("input", "the input itself");
    put(table, "name", Unit::kText, "file", part.name);
    items(table, part.items);
    table.facts = true;
  }

  std::vector<DataTable> take() {
    for (DataTable& table : tables_) {
      if (table.facts) table.rows = table.columns.empty() ? 0 : 1;
      for (DataColumn& column : table.columns) column.values.resize(table.rows);
    }
    return std::move(tables_);
  }

 private:
  DataTable& open(const std::string& name, const std::string& title) {
    const auto found = std::find_if(tables_.begin(), tables_.end(),
                                    [&name](const DataTable& t) { return t.name == name; });
    if (found != tables_.end()) return *found;
    tables_.push_back({name, title, {}});
    return tables_.back();
  }

  void start_row(DataTable& table, std::optional<int64_t> element) {
    ++table.rows;
    if (element) put(table, "element", Unit::kCount, "position in the list", *element);
  }
  void finish_row(DataTable& table) {
    for (DataColumn& column : table.columns) column.values.resize(table.rows);
  }
  // Sets a cell of the last row.
  void put(DataTable& table, const std::string& key, Unit unit, const std::string& title,
           const Value& value) {
    DataColumn& column = table.column(column_name(key), unit, title);
    column.values.resize(std::max<size_t>(table.rows, 1));
    column.values.back() = value;
  }

  void items(DataTable& table, const std::vector<Item>& list) {
    for (const Item& item : list) {
      if (for_data(item.show)) put(table, item.key, item.unit, item.label, item.value);
    }
  }

  void add(const std::string& name, const Prose& prose, std::optional<int64_t> element) {
    if (!prose.key.empty()) lines(nested_name(name, prose.key), prose.paragraphs, element);
  }

  void add(const std::string& name, const Facts& facts, std::optional<int64_t> element) {
    std::string full = nested_name(name, facts.key);
    DataTable& table = open(full.empty() ? "facts" : full, facts.title);
    if (element) {
      // Elements are rows; their facts may be in several blocks.
      const auto& known = table.column("element", Unit::kCount, "position in the list").values;
      if (known.empty() || known.back() != Value(*element)) start_row(table, element);
      items(table, facts.items);
      finish_row(table);
      return;
    }
    table.facts = true;
    items(table, facts.items);
  }

  void cells(DataTable& table, const std::vector<Column>& columns, const Row& row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!for_data(columns[i].show)) continue;
      put(table, columns[i].key, columns[i].unit, columns[i].title,
          i < row.size() ? row[i] : Value());
    }
  }

  void declare(DataTable& table, const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      if (for_data(column.show)) table.column(column_name(column.key), column.unit, column.title);
    }
  }

  void add(const std::string& name, const Table& block, std::optional<int64_t> element) {
    if (block.key.empty()) return;
    DataTable& table = open(nested_name(name, block.key), block.title);
    if (element) table.column("element", Unit::kCount, "position in the list");
    declare(table, block.columns);
    for (const Row& row : block.rows) {
      start_row(table, element);
      cells(table, block.columns, row);
      finish_row(table);
    }
  }

  void add(const std::string& name, const Tree& tree, std::optional<int64_t> element) {
    if (tree.key.empty()) return;
    DataTable& table = open(nested_name(name, tree.key), tree.title);
    if (element) table.column("element", Unit::kCount, "position in the list");
    table.column("node", Unit::kCount, "row of this table");
    table.column("parent", Unit::kCount, "node that this one is under");
    table.column("depth", Unit::kCount, "0 = root");
    table.column(column_name(tree.label_key), Unit::kText, tree.label_title);
    declare(table, tree.columns);
    std::vector<int64_t> open_nodes;
    const size_t before = table.rows;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const TreeNode& node = tree.nodes[i];
      start_row(table, element);
      open_nodes.resize(std::min<size_t>(open_nodes.size(), node.depth));
      put(table, "node", Unit::kCount, "", before + i);
      if (!open_nodes.empty()) put(table, "parent", Unit::kCount, "", open_nodes.back());
      put(table, "depth", Unit::kCount, "", node.depth);
      put(table, tree.label_key, Unit::kText, "", node.label);
      cells(table, tree.columns, node.values);
      finish_row(table);
      open_nodes.push_back(static_cast<int64_t>(before + i));
    }
  }

  void add(const std::string& name, const Elements& list, std::optional<int64_t> outer) {
    if (list.key.empty()) return;
    for (size_t i = 0; i < list.elements.size(); ++i) {
      sections(nested_name(name, list.key), list.elements[i],
               outer.value_or(0) * 1'000'000 + static_cast<int64_t>(i));
    }
  }

  void add(const std::string&, const Chart&, std::optional<int64_t>) {}  // its data is in tables

  std::vector<DataTable> tables_;
};

struct Kinds {
  bool text = false;
  bool real = false;
  bool integer = false;
  bool flag = false;
};

Kinds kinds_of(const std::vector<Value>& values) {
  Kinds kinds;
  for (const Value& value : values) {
    kinds.text |= value.get<std::string>() != nullptr || value.get<Value::List>() != nullptr;
    kinds.real |= value.get<double>() != nullptr;
    kinds.integer |= value.get<int64_t>() != nullptr;
    kinds.flag |= value.get<bool>() != nullptr;
  }
  return kinds;
}

bool is_number(Unit unit) { return unit != Unit::kText && unit != Unit::kNone; }
bool is_whole(Unit unit) {
  return unit == Unit::kNanoseconds || unit == Unit::kCount || unit == Unit::kBytes ||
         unit == Unit::kNone;
}

CellType type_of(Unit unit, const Kinds& kinds) {
  if (kinds.text && !is_number(unit)) return CellType::kText;
  if (kinds.real) return CellType::kReal;
  if (kinds.integer) return is_whole(unit) ? CellType::kInteger : CellType::kReal;
  if (kinds.flag) return CellType::kBool;
  if (!is_number(unit)) return CellType::kText;
  return is_whole(unit) ? CellType::kInteger : CellType::kReal;
}

// The text as valid UTF-8, as databases require. Valid characters are kept.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append_utf8(point.value, valid);
    at += point.bytes;
  }
  return valid;
}

std::string text_of(const Value& value) {
  if (const auto* text = value.get<std::string>()) return valid_utf8(*text);
  if (const auto* integer = value.get<int64_t>()) return std::to_string(*integer);
  if (const auto* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* real = value.get<double>()) return std::to_string(*real);
  std::string text;
  if (const auto* list = value.get<Value::List>()) {
    for (const std::string& entry : *list) {
      if (&entry != list->data()) text += "; ";
      text += valid_utf8(entry);
    }
  }
  return text;
}

template <typename T>
std::optional<T> number_of(const Value& value) {
  if (const auto* integer = value.get<int64_t>()) return static_cast<T>(*integer);
  if (const auto* real = value.get<double>(); real != nullptr && std::isfinite(*real)) {
    return static_cast<T>(*real);
  }
  return std::nullopt;
}

template <typename T>
void store(std::vector<T>& into, std::vector<uint8_t>& missing, std::optional<T> value) {
  into.push_back(value.value_or(T{}));
  missing.push_back(!value);
}

// Cells that own their texts.
struct StoredColumn {
  Cells cells = {};
  std::vector<std::string> texts = {};
};

ReadCells stored_reader(std::shared_ptr<const StoredColumn> column) {
  return [column](size_t first, size_t count, Cells& out) {
    const auto copy = [first, count](const auto& from, auto& to) {
      if (from.empty()) return;
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first),
                from.begin() + static_cast<std::ptrdiff_t>(first + count));
    };
    copy(column->cells.integers, out.integers);
    copy(column->cells.reals, out.reals);
    copy(column->cells.bools, out.bools);
    copy(column->cells.missing, out.missing);
    copy(column->texts, out.texts);
  };
}

ReadCells store_column(const std::vector<Value>& values, CellType type) {
  auto column = std::make_shared<StoredColumn>();
  Cells& cells = column->cells;
  for (const Value& value : values) {
    if (type == CellType::kInteger) {
      store(cells.integers, cells.missing, number_of<int64_t>(value));
    } else if (type == CellType::kReal) {
      store(cells.reals, cells.missing, number_of<double>(value));
    } else if (type == CellType::kBool) {
      const bool* flag = value.get<bool>();
      store(cells.bools, cells.missing,
            flag != nullptr ? std::optional<uint8_t>(*flag) : std::nullopt);
    } else {
      column->texts.push_back(text_of(value));
      cells.missing.push_back(value.missing());
    }
  }
  return stored_reader(std::move(column));
}

// The words of a mixed column; numbers become missing values.
std::vector<Value> words_of(const std::vector<Value>& values) {
  std::vector<Value> words;
  for (const Value& value : values) {
    const bool word = value.get<std::string>() != nullptr || value.get<Value::List>() != nullptr;
    words.push_back(word ? value : Value());
  }
  return words;
}

Relation relation_of(const DataTable& table, int64_t rank) {
  Relation relation{table.name, table.title, {}, {{rank, table.rows, {}}}, table.facts};
  for (const DataColumn& column : table.columns) {
    const Kinds kinds = kinds_of(column.values);
    const CellType type = type_of(column.unit, kinds);
    relation.columns.push_back(
        {column.name, type, std::string(relation_unit(column.unit)), column.title});
    relation.parts[0].columns.push_back(store_column(column.values, type));
    if (kinds.text && type != CellType::kText) {
      relation.columns.push_back(
          {column.name + "_note", CellType::kText, "string", "words in place of a number"});
      relation.parts[0].columns.push_back(store_column(words_of(column.values), CellType::kText));
    }
  }
  return relation;
}

Catalog catalog_of(std::vector<DataTable> tables, int64_t rank, const Catalog& taken) {
  Catalog catalog;
  for (DataTable& table : tables) {
    if (table.columns.empty()) continue;
    if (taken.find(table.name) != nullptr) table.name = "report_" + table.name;
    catalog.relations.push_back(relation_of(table, rank));
  }
  return catalog;
}

// The number of each part: its rank if all parts have distinct ranks, else its position.
std::vector<int64_t> part_numbers(const std::vector<Part>& parts) {
  std::vector<int64_t> told;
  for (const Part& part : parts) {
    for (const Item& item : part.items) {
      const auto* rank = item.value.get<int64_t>();
      if (item.key == "rank" && rank != nullptr) told.push_back(*rank);
    }
  }
  const std::set<int64_t> distinct(told.begin(), told.end());
  if (told.size() == parts.size() && distinct.size() == told.size()) return told;
  std::vector<int64_t> places;
  places.reserve(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) places.push_back(static_cast<int64_t>(i));
  return places;
}

}  // namespace

std::string_view relation_unit(Unit unit) {
  switch (unit) {
    case Unit::kText:
    case Unit::kState:
      return "string";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kCount:
      return "count";
    case Unit::kShare:
      return "share";
    case Unit::kRatio:
      return "ratio";
    case Unit::kBytes:
      return "bytes";
    case Unit::kPerSecond:
      return "1/s";
    case Unit::kBytesPerSecond:
      return "B/s";
    case Unit::kWatts:
      return "W";
    case Unit::kJoules:
      return "J";
    case Unit::kNone:
      break;
  }
  return "";
}

Catalog part_catalog(const Part& part, int64_t rank, const Catalog& taken) {
  Collector collector;
  collector.input(part);
  collector.import_log(part.import_log);
  collector.lines("headline", part.verdict);
  collector.sections("", part.sections, {});
  return catalog_of(collector.take(), rank, taken);
}

Catalog document_catalog(const Document& document) {
  Collector collector;
  collector.import_log(document.import_log);
  collector.lines("headline", document.verdict);
  collector.sections("", document.sections, {});
  return catalog_of(collector.take(), 0, {});
}

Catalog parts_catalog(const Document& document) {
  const std::vector<int64_t> numbers = part_numbers(document.parts);
  Catalog catalog;
  for (size_t i = 0; i < document.parts.size(); ++i) {
    catalog.merge(part_catalog(document.parts[i], numbers[i], {}));
  }
  return catalog;
}

}  // namespace assay
