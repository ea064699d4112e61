#include "report/document/definitions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The cells of "| a | b |"; "\|" does not separate cells.
std::vector<std::string_view> cells_of(std::string_view line) {
  line = trimmed(line);
  line.remove_prefix(1);
  std::vector<std::string_view> cells;
  size_t start = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '|' || (i > 0 && line[i - 1] == '\\')) continue;
    cells.push_back(trimmed(line.substr(start, i - start)));
    start = i + 1;
  }
  return cells;
}

void add_quoted(std::string_view cell, std::vector<std::string>& keys) {
  for (size_t open = cell.find('`'); open != std::string_view::npos;) {
    const size_t close = cell.find('`', open + 1);
    if (close == std::string_view::npos) return;
    keys.emplace_back(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
}

// "`causes[]`, `roof.unknown` (top)" gives "causes" and "roof.unknown"; words without backticks
// count too.
std::vector<std::string> tables_of(std::string_view cell) {
  std::vector<std::string> tables;
  add_quoted(cell, tables);
  if (tables.empty() && !cell.empty()) tables.emplace_back(cell);
  for (std::string& table : tables)
    table.resize(std::min(table.find_first_of("[ ("), table.size()));
  return tables;
}

// Markdown as plain text: without backticks and stars, and "[text](target)" as its text.
std::string plain(std::string_view cell) {
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] == '`' || cell[i] == '*') continue;
    if (cell[i] == '\\' && i + 1 < cell.size()) {
      text += cell[++i];
      continue;
    }
    if (cell[i] == '[') continue;
    if (cell[i] == ']' && i + 1 < cell.size() && cell[i + 1] == '(') {
      const size_t close = cell.find(')', i);
      if (close != std::string_view::npos) {
        i = close;
        continue;
      }
    }
    text += cell[i];
  }
  return text;
}

bool is_rule(std::string_view line) {
  return line.starts_with("|---") || line.starts_with("| ---");
}

// True for columns that identify a row or refer elsewhere and do not define a number.
bool says_nothing(std::string_view header) {
  constexpr std::array kNames = {"label", "unit", "test", "where", "keys"};
  return std::find(kNames.begin(), kNames.end(), header) != kNames.end();
}

// The defining columns, each preceded by its name if there are several.
std::string text_of(const std::vector<std::string_view>& header,
                    const std::vector<std::string_view>& cells) {
  std::vector<size_t> telling;
  for (size_t i = 1; i < cells.size(); ++i) {
    if (i < header.size() && !says_nothing(header[i]) && !cells[i].empty()) telling.push_back(i);
  }
  std::string text;
  for (const size_t i : telling) {
    if (i != telling.front()) text += ". " + plain(header[i]) + ": ";
    text += plain(cells[i]);
  }
  return text;
}

// ---- places ----

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

constexpr std::string_view kFloorHeading = "the launch floor";        // language: allow floor
constexpr std::string_view kSharedHeading = "keys of several rooms";  // language: allow room
constexpr std::string_view kOtherKeys = "other keys of ";

// Headings of docs/metrics.md that belong to a module in addition to that with its name.
struct ModuleHeading {
  std::string_view module;
  std::string_view heading;
};
constexpr std::array kModuleHeadings = {
    ModuleHeading{"launch", "launch"},
    ModuleHeading{"launch", kFloorHeading},
    ModuleHeading{"launch", "the call tree and the kernel list"},
    ModuleHeading{"fusion", "fusion"},
    ModuleHeading{"fusion", kFloorHeading},
    ModuleHeading{"overhead", "overhead"},
    ModuleHeading{"overhead", kFloorHeading},
    ModuleHeading{"breakdown", "breakdown"},
    ModuleHeading{"power", "power"},
    ModuleHeading{"throughput", "throughput"},
    ModuleHeading{"diff", "diff"},
};

// The module of a section, for sections named differently.
std::string module_of(std::string_view section) {
  if (section == "host_overhead") return "overhead";
  if (section == "roofline" || section == "memory") return "breakdown";
  return lower(section.substr(0, section.find('_')));
}

bool is_of_a_module(std::string_view heading) {
  return std::any_of(kModuleHeadings.begin(), kModuleHeadings.end(),
                     [&](const ModuleHeading& one) { return one.heading == heading; });
}

// True if the text under the heading belongs to the module; "" is the top level of a document.
bool belongs(const std::string& module, std::string_view heading) {
  if (module.empty()) return !is_of_a_module(heading) && heading != kSharedHeading;
  if (heading == module) return true;
  if (heading.starts_with(kOtherKeys)) return heading.find(module) != std::string_view::npos;
  return std::any_of(kModuleHeadings.begin(), kModuleHeadings.end(), [&](const ModuleHeading& one) {
    return one.module == module && one.heading == heading;
  });
}

bool names(const Definition& definition, std::string_view table) {
  return !table.empty() && std::find(definition.tables.begin(), definition.tables.end(), table) !=
                               definition.tables.end();
}

bool names_end(const Definition& definition, std::string_view table) {
  const std::string end = "." + std::string(table);
  return !table.empty() &&
         std::any_of(definition.tables.begin(), definition.tables.end(),
                     [&](const std::string& named) { return named.ends_with(end); });
}

// Distance of a definition from a place; smaller is closer. Definitions at the same distance all
// apply.
constexpr int kElsewhere = 9;
int distance(const Definition& definition, std::string_view section, std::string_view table) {
  const std::string module = module_of(section);
  const std::string heading = lower(definition.room);
  const bool own = belongs(module, heading);
  const std::string path = std::string(section) + "." + std::string(table);
  const bool named = names(definition, table);
  if (names(definition, path) || (own && (named || names_end(definition, table)))) return 0;
  if (named && !is_of_a_module(heading)) return 1;
  if (own && names(definition, section)) return 2;
  if (own) return (heading == module ? 3 : 5) + (definition.tables.empty() ? 0 : 1);
  if (names(definition, section) && !is_of_a_module(heading)) return 7;
  return heading == kSharedHeading ? 8 : kElsewhere;
}

}  // namespace

std::vector<Definition> parse_definitions(std::string_view markdown) {
  std::vector<Definition> found;
  std::vector<std::string_view> header;
  std::string room;
  std::string heading;
  std::vector<std::string> subject;  // tables named at the beginning of the text under the heading
  std::vector<std::string> tables;   // tables of the row, or of the last row above that names any
  std::string_view previous;
  while (!markdown.empty()) {
    const size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = trimmed(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.starts_with("## ")) room = heading = std::string(line.substr(3));
    if (line.starts_with("### ")) heading = std::string(line.substr(4));
    if (line.starts_with('#')) subject.clear();
    if (const size_t colon = line.find("`:"); line.starts_with('`') && colon != line.npos) {
      subject = tables_of(line.substr(0, colon + 1));
    }
    if (!line.starts_with('|')) {
      header.clear();
    } else if (is_rule(line)) {
      header = cells_of(previous);
      tables = subject;
    } else if (!header.empty()) {
      const std::vector<std::string_view> cells = cells_of(line);
      Definition row{.keys = {},
                     .room = room,
                     .heading = heading,
                     .text = text_of(header, cells),
                     .tables = tables};
      if (!cells.empty()) add_quoted(cells[0], row.keys);
      for (size_t i = 1; i < header.size() && i < cells.size(); ++i) {
        if (header[i] == "label") row.label = plain(cells[i].substr(0, cells[i].find(';')));
      }
      if (header.size() > 1 && cells.size() > 1 && header[1] == "keys") {
        if (!cells[0].empty()) tables = tables_of(cells[0]);
        row.tables = tables;
        add_quoted(cells[1], row.keys);
      }
      if (!row.keys.empty() && !row.text.empty()) found.push_back(std::move(row));
    }
    previous = line;
  }
  return found;
}

DefinitionsByPlace::DefinitionsByPlace(std::vector<Definition> definitions)
    : definitions_(std::move(definitions)) {
  for (size_t d = 0; d < definitions_.size(); ++d) {
    for (const std::string& key : definitions_[d].keys) by_key_[key].push_back(d);
  }
}

const Definition* DefinitionsByPlace::find(std::string_view section, std::string_view table,
                                           std::string_view key) const {
  const size_t dot = key.rfind('.');
  if (dot == std::string_view::npos || by_key_.contains(key)) return find_key(section, table, key);
  return find_key(section, table, key.substr(dot + 1));
}

const Definition* DefinitionsByPlace::find_key(std::string_view section, std::string_view table,
                                               std::string_view key) const {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return nullptr;
  int nearest = kElsewhere;
  for (const size_t place : known->second) {
    nearest = std::min(nearest, distance(definitions_[place], section, table));
  }
  if (nearest == kElsewhere) return nullptr;
  const Definition* found = nullptr;
  for (const size_t place : known->second) {
    const Definition& one = definitions_[place];
    if (distance(one, section, table) != nearest) continue;
    if (found != nullptr && found->text != one.text) return nullptr;
    if (found == nullptr) found = &one;
  }
  return found;
}

}  // namespace assay
