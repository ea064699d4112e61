
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/json_tree.h"
#include "report/document/text.h"
#include "report/writers/grid.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Value& value) {
  if (const auto* flag = value.get<bool>()) return *flag;
  if (const auto* integer = value.get<int64_t>()) return *integer;
  if (const auto* real = value.get<double>(); real != nullptr && std::isfinite(*real)) return *real;
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* list = value.get<Value::List>()) return *list;
  return nullptr;
}

void add_items(const std::vector<Item>& items, Json& object) {
  for (const Item& item : items) {
    if (for_data(item.show)) object[item.key] = to_json(item.value);
  }
}

void add_cells(const std::vector<Column>& columns, const Row& row, Json& object) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!for_data(columns[i].show)) continue;
    Json value = i < row.size() ? to_json(row[i]) : Json(nullptr);
    const std::string& key = columns[i].key;
    const size_t dot = key.find('.');
    if (dot == std::string::npos) {
      object[key] = std::move(value);
    } else {
      object[key.substr(0, dot)][key.substr(dot + 1)] = std::move(value);
    }
  }
}

// The object under a key of parent, or parent itself when the key is empty.
Json& object_at(const std::string& key, Json& parent) {
  if (key.empty()) return parent;
  Json& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

void add_block(const Prose& prose, Json& parent) {
  if (!prose.key.empty()) parent[prose.key] = prose.paragraphs;
}

void add_block(const Facts& facts, Json& parent) {
  add_items(facts.items, object_at(facts.key, parent));
}

void add_block(const Table& table, Json& parent) {
  if (table.key.empty()) return;
  Json rows = Json::array();
  for (const Row& row : table.rows) {
    Json object = Json::object();
    add_cells(table.columns, row, object);
    rows.push_back(std::move(object));
  }
  parent[table.key] = std::move(rows);
}

void add_block(const Tree& tree, Json& parent) {
  if (tree.key.empty()) return;
  Json nodes = Json::array();
  for (const TreeNode& node : tree.nodes) {
    Json object = Json::object();
    object["depth"] = node.depth;
    object[tree.label_key] = node.label;
    add_cells(tree.columns, node.values, object);
    nodes.push_back(std::move(object));
  }
  parent[tree.key] = std::move(nodes);
}

void add_sections(const std::vector<Section>& sections, Json& parent);

void add_block(const Elements& list, Json& parent) {
  if (list.key.empty()) return;
  Json array = Json::array();
  for (const std::vector<Section>& element : list.elements) {
    Json object = Json::object();
    add_sections(element, object);
    array.push_back(std::move(object));
  }
  parent[list.key] = std::move(array);
}

// A chart is a picture of data that is already there.
void add_block(const Chart&, Json&) {}

void add_sections(const std::vector<Section>& sections, Json& parent) {
  for (const Section& section : sections) {
    Json& object = object_at(section.key, parent);
    for (const Block& block : section.blocks) {
      std::visit(
          [&](const auto& content) {
            if (for_data(content.show)) add_block(content, object);
          },
          block);
    }
  }
}

Json import_log_json(const std::vector<ImportNote>& notes) {
  Json log = Json::array();
  for (const ImportNote& note : notes) {
    Json entry = Json::object();
    entry["code"] = note.code;
    entry["severity"] = note.severity;
    entry["count"] = note.count;
    entry["meaning"] = note.meaning;
    entry["first_offset"] = note.first_offset >= 0 ? Json(note.first_offset) : Json(nullptr);
    log.push_back(std::move(entry));
  }
  return log;
}

Json input_json(const Input& input) {
  if (input.items.empty()) return input.name;
  Json object = Json::object();
  object["name"] = input.name;
  add_items(input.items, object);
  return object;
}

Json parts_of_whole(const ShortAnswer& answer) {
  Json causes = Json::array();
  for (const AnswerCause& cause : answer.causes) {
    causes.push_back(
        {{"key", cause.key},
         {"ns", cause.ns},
         {"of_window", static_cast<double>(cause.ns) / static_cast<double>(answer.total_ns)}});
  }
  return causes;
}

Json answer_levers(const ShortAnswer& answer) {
  Json levers = Json::array();
  for (const AnswerLever& lever : answer.levers) {
    const std::optional<Interval>& reach = lever.gain_reach;
    levers.push_back({{"key", lever.key},
                      {"title", lever.title},
                      {"code", lever.code},
                      {"edit", lever.edit},
                      {"gain_ns", lever.gain_ns},
                      {"gain_low_ns", reach ? Json(reach->start_ns) : Json()},
                      {"gain_high_ns", reach ? Json(reach->end_ns) : Json()},
                      {"between", lever.between},
                      {"share", lever.share},
                      {"grade", lever.grade}});
  }
  return levers;
}

Json answer_json(const ShortAnswer& answer) {
  Json object = {{"kind", answer.kind},
                 {"verdict", answer.verdict},
                 {"more", answer.more},
                 {"window_ns", answer.window_ns},
                 {"total_ns", answer.total_ns},
                 {"causes", parts_of_whole(answer)},
                 {"levers", answer_levers(answer)}};
  object["notes"] = Json::array();
  for (const AnswerNote& note : answer.notes) {
    object["notes"].push_back({{"head", note.head}, {"lines", note.lines}});
  }
  object["ranks"] = Json::array();
  for (const AnswerRank& rank : answer.ranks) {
    object["ranks"].push_back({{"name", rank.name}, {"remark", rank.remark}});
  }
  object["more_ranks"] = answer.more_ranks;
  object["trust"] = trust_word(answer.trust);
  object["reason"] = answer.reason;
  object["next"] = answer.next;
  object["spans"] = Json::array();
  for (const Interval& span : answer.spans) {
    object["spans"].push_back({{"start_ns", span.start_ns}, {"end_ns", span.end_ns}});
  }
  return object;
}

Json part_json(const Part& part) {
  Json object = Json::object();
  object["name"] = part.name;
  add_items(part.items, object);
  object["import_log"] = import_log_json(part.import_log);
  object["verdict"] = part.verdict;
  if (part.answer) object["answer"] = answer_json(*part.answer);
  add_sections(part.sections, object);
  return object;
}

constexpr int kIndent = 2;

// The parts as the last entry of the root's text. One by one: of many ranks never more than one is
// a tree of values. Inside strings a line break is an escape, so that every line can be indented.
void append_parts(const Document& document, std::string& root) {
  root.resize(root.size() - 2);  // "\n}"
  root += fmt::format(",\n{:{}}{}: [", "", kIndent, json_text(Json(document.parts_key), kIndent));
  const std::string line_start = fmt::format("\n{:{}}", "", 2 * kIndent);
  for (const Part& part : document.parts) {
    if (&part != document.parts.data()) root += ',';
    root += line_start;
    for (const char c : json_text(part_json(part), kIndent)) {
      if (c == '\n') {
        root += line_start;
      } else {
        root += c;
      }
    }
  }
  root += fmt::format("\n{:{}}]\n}}", "", kIndent);
}

// Characters above ASCII are written raw, which leaves DEL, C1 and bidi controls; outside strings
// there are none, so an escape is always right.
std::string escape_unsafe(std::string_view dumped) {
  std::string out;
  out.reserve(dumped.size() + 1);
  for (size_t i = 0; i < dumped.size();) {
    const CodePoint point = decode_utf8(dumped, i);
    const bool layout = point.value == '\n';
    if (layout || (!is_control(point.value) && !is_invisible(point.value))) {
      out += dumped.substr(i, point.bytes);
    } else if (point.value < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(point.value));
    } else {
      const auto offset = static_cast<uint32_t>(point.value) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF));
    }
    i += point.bytes;
  }
  return out;
}

}  // namespace

std::string write_json(const Document& document) {
  Json root = Json::object();
  root["schema_version"] = document.schema_version;
  root["tool"] = Json::object();
  root["tool"]["name"] = document.tool.name;
  root["tool"]["version"] = document.tool.version;
  root["inputs"] = Json::array();
  for (const Input& input : document.inputs) root["inputs"].push_back(input_json(input));
  for (const Input& file : document.files) root["files"].push_back(input_json(file));
  root["import_log"] = import_log_json(document.import_log);
  root["verdict"] = document.verdict;
  if (document.answer) root["answer"] = answer_json(*document.answer);
  add_sections(document.sections, root);
  if (!document.parts.empty()) root.erase(document.parts_key);
  std::string text = json_text(root, kIndent);
  if (!document.parts.empty()) append_parts(document, text);
  return escape_unsafe(text) + "\n";
}

}  // namespace assay
