
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/json_tree.h"
#include "findings/actions.h"
#include "findings/causes.h"
#include "report/writers/grid.h"
#include "report/writers/writers.h"
#include "text/message.h"
#include "text/plain_text.h"

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

// The object under a key of `parent`, or `parent` itself if the key is empty.
Json& object_at(const std::string& key, Json& parent) {
  if (key.empty()) return parent;
  Json& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

// For "on.gpus": the object "on" of the parent, and the key "gpus".
struct KeyPlace {
  Json& object;
  std::string key;
};
KeyPlace place_of(const std::string& key, Json& parent) {
  const size_t dot = key.find('.');
  if (dot == std::string::npos) return {parent, key};
  return {object_at(key.substr(0, dot), parent), key.substr(dot + 1)};
}

void add_block(const Prose& prose, Json& parent) {
  if (!prose.key.empty()) parent[prose.key] = prose.paragraphs;
}

void add_block(const Facts& facts, Json& parent) {
  add_items(facts.items, object_at(facts.key, parent));
}

// Placeholder for rows, which are serialized later from the document. A JSON tree takes ten times
// the memory of its text, and a table may have 100,000 rows. Document values are never binary, so
// the placeholder is unambiguous.
template <typename Rows>
Json rows_later(const Rows& rows) {
  const Rows* const address = &rows;
  Json::binary_t::container_type bytes(sizeof(address));
  std::memcpy(bytes.data(), &address, sizeof(address));
  return Json::binary(std::move(bytes), std::is_same_v<Rows, Tree> ? 1 : 0);
}

template <typename Rows>
const Rows& rows_of(const Json& later) {
  const Rows* address = nullptr;
  std::memcpy(&address, later.get_binary().data(), sizeof(address));
  return *address;
}

void add_block(const Table& table, Json& parent) {
  if (table.key.empty()) return;
  const KeyPlace place = place_of(table.key, parent);
  place.object[place.key] = rows_later(table);
}

void add_block(const Tree& tree, Json& parent) {
  if (!tree.key.empty()) parent[tree.key] = rows_later(tree);
}

size_t row_count(const Table& table) { return table.rows.size(); }
size_t row_count(const Tree& tree) { return tree.nodes.size(); }

Json row_json(const Table& table, size_t row) {
  Json object = Json::object();
  add_cells(table.columns, table.rows[row], object);
  return object;
}

Json row_json(const Tree& tree, size_t row) {
  const TreeNode& node = tree.nodes[row];
  Json object = Json::object();
  object["depth"] = node.depth;
  object[tree.label_key] = node.label;
  add_cells(tree.columns, node.values, object);
  return object;
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

// The data of a chart is elsewhere in the document.
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
    entry["text"] = note.meaning;
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
        {{"cause", cause.key},
         {"ns", cause.ns},
         {"window_share", static_cast<double>(cause.ns) / static_cast<double>(answer.total_ns)}});
  }
  return causes;
}

Json actions_json(const ShortAnswer& answer) {
  Json levers = Json::array();
  for (const AnswerLever& lever : answer.levers) {
    const std::optional<Interval>& reach = lever.gain_reach;
    levers.push_back(
        {{"code", lever.key},
         {"text", lever.title},
         {"how", lever.code},
         {"edit", lever.edit},
         {"gain_ns", lever.gain_ns},
         {"gain_low_ns", reach ? Json(reach->start_ns) : Json()},
         {"gain_high_ns", reach ? Json(reach->end_ns) : Json()},
         {"basis", lever.between},
         {"share", lever.share},
         {"bound", lever.grade == findings::gain_grade(true) ? "simulated" : "upper_bound"}});
  }
  return levers;
}

// Times in ns and counts stay integers; unknown values are null.
Json finding_value(const Value& value) {
  return std::visit(
      [](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return Json();
        } else {
          return Json(one);
        }
      },
      value.storage());
}

Json finding_json(const findings::Finding& finding) {
  Json object = {{"code", findings::name(finding.code)},
                 {"role", findings::role_name(finding.role())},
                 {"text", text::message(finding)},
                 {"subjects", Json::array()},
                 {"values", Json::object()}};
  for (const findings::Subject& subject : finding.subjects) {
    object["subjects"].push_back(
        {{"kind", findings::subject_kind_name(subject.kind)}, {"name", subject.name}});
  }
  for (const findings::Quantity& quantity : finding.quantities) {
    object["values"][findings::value_key(quantity)] = finding_value(quantity.value);
  }
  const findings::FindingWindow& window = finding.window;
  object["window"] = {{"window_ns", window.window_ns},
                      {"total_ns", window.total_ns},
                      {"devices", window.devices}};
  for (const findings::Finding& part : finding.parts) {
    object["parts"].push_back(finding_json(part));
  }
  if (finding.role() != findings::Role::kHeadline) return object;
  object["evidence"] = {{"recorded", finding.evidence[0]},
                        {"inferred", finding.evidence[1]},
                        {"absent", finding.evidence[2]}};
  object["spans"] = Json::array();
  for (const Interval& span : finding.spans) {
    object["spans"].push_back({{"start_ns", span.start_ns}, {"end_ns", span.end_ns}});
  }
  return object;
}

Json summary_json(const ShortAnswer& answer) {
  Json object = {{"bottleneck", answer.kind},      {"headline", answer.verdict},
                 {"details", answer.more},         {"window_ns", answer.window_ns},
                 {"total_ns", answer.total_ns},    {"causes", parts_of_whole(answer)},
                 {"actions", actions_json(answer)}};
  object["findings"] = Json::array();
  for (const findings::Finding& finding : answer.findings) {
    object["findings"].push_back(finding_json(finding));
  }
  object["notes"] = Json::array();
  for (const AnswerNote& note : answer.notes) {
    object["notes"].push_back({{"head", note.head}, {"lines", note.lines}});
  }
  object["ranks"] = Json::array();
  for (const AnswerRank& rank : answer.ranks) {
    object["ranks"].push_back({{"name", rank.name}, {"remark", rank.remark}});
  }
  object["more_ranks"] = answer.more_ranks;
  object["confidence"] = {{"grade", findings::confidence_name(answer.confidence)},
                          {"text", answer.reason}};
  object["next"] = answer.next;
  object["highlights"] = Json::array();
  for (const Interval& span : answer.spans) {
    object["highlights"].push_back({{"start_ns", span.start_ns}, {"end_ns", span.end_ns}});
  }
  return object;
}

Json part_json(const Part& part) {
  Json object = Json::object();
  object["name"] = part.name;
  add_items(part.items, object);
  object["import_log"] = import_log_json(part.import_log);
  object["headline"] = part.verdict;
  if (part.answer) object["summary"] = summary_json(*part.answer);
  add_sections(part.sections, object);
  return object;
}

constexpr size_t kIndent = 2;

void append_line_start(size_t depth, std::string& out) {
  out += '\n';
  out.append(kIndent * depth, ' ');
}

// Appends `count` entries between brackets, one per line. append(i) writes the i-th.
template <typename Append>
void append_entries(const char* brackets, size_t count, size_t depth, std::string& out,
                    Append&& append) {
  out += brackets[0];
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    append_line_start(depth + 1, out);
    append(i);
  }
  if (count > 0) append_line_start(depth, out);
  out += brackets[1];
}

void append_json(const Json& value, size_t depth, std::string& out);

template <typename Rows>
void append_rows(const Rows& rows, size_t depth, std::string& out) {
  append_entries("[]", row_count(rows), depth, out,
                 [&](size_t row) { append_json(row_json(rows, row), depth + 1, out); });
}

void append_json(const Json& value, size_t depth, std::string& out) {
  if (value.is_binary()) {
    if (value.get_binary().subtype() == 1)
      append_rows(rows_of<Tree>(value), depth, out);
    else
      append_rows(rows_of<Table>(value), depth, out);
  } else if (value.is_object()) {
    auto member = value.begin();
    append_entries("{}", value.size(), depth, out, [&](size_t) {
      out += json_text(Json(member.key())) + ": ";
      append_json(*member++, depth + 1, out);
    });
  } else if (value.is_array()) {
    append_entries("[]", value.size(), depth, out,
                   [&](size_t i) { append_json(value[i], depth + 1, out); });
  } else {
    out += json_text(value);
  }
}

// Appends the parts as the last entry of the root's text, one by one, so that only one part at a
// time is a JSON tree.
void append_parts(const Document& document, std::string& root) {
  root.resize(root.size() - 2);  // "\n}"
  root += ',';
  append_line_start(1, root);
  root += json_text(Json(document.parts_key)) + ": ";
  append_entries("[]", document.parts.size(), 1, root,
                 [&](size_t i) { append_json(part_json(document.parts[i]), 2, root); });
  root += "\n}";
}

// Characters above ASCII are written raw, which leaves DEL, C1 and bidi controls. They occur only
// within strings, so an escape is always valid.
bool is_unsafe(const CodePoint& point) {
  return point.value != '\n' && (is_control(point.value) || is_invisible(point.value));
}

std::string escape_unsafe(std::string dumped) {
  size_t safe = 0;
  while (safe < dumped.size()) {
    const CodePoint point = decode_utf8(dumped, safe);
    if (is_unsafe(point)) break;
    safe += point.bytes;
  }
  if (safe == dumped.size()) return dumped;  // the common case; avoids a large copy
  std::string out = dumped.substr(0, safe);
  for (size_t i = safe; i < dumped.size();) {
    const CodePoint point = decode_utf8(dumped, i);
    if (!is_unsafe(point)) {
      out.append(dumped, i, point.bytes);
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
  root["headline"] = document.verdict;
  if (document.answer) root["summary"] = summary_json(*document.answer);
  add_sections(document.sections, root);
  if (!document.parts.empty()) root.erase(document.parts_key);
  std::string text;
  append_json(root, 0, text);
  if (!document.parts.empty()) append_parts(document, text);
  text = escape_unsafe(std::move(text));
  text += '\n';
  return text;
}

}  // namespace assay
