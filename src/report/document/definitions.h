#pragma once

// docs/metrics.md as data: the meaning of each printed key, for the page's tooltips.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// One row of a table of definitions.
struct Definition {
  std::vector<std::string> keys;
  std::string room;     // the "## " heading above: "Launch", "Overhead", ...
  std::string heading;  // the nearest heading
  std::string text;     // plain text, without markup
  // The tables or objects that contain the keys, as "roof.unknown"; empty if not specified.
  std::vector<std::string> tables = {};
  std::string label = {};  // name on screen; empty if the table does not give one
};

// The rows of all tables of a Markdown text that define keys, in text order. Keys are in backticks
// in the first column or in a column named "keys".
std::vector<Definition> parse_definitions(std::string_view markdown);

// Looks up definitions by section, table and column. A key may mean different things in different
// places, so a lookup never returns the definition of another module.
class DefinitionsByPlace {
 public:
  explicit DefinitionsByPlace(std::vector<Definition> definitions);
  // `section` is its key in the document, empty for the top level. `table` is the key of a table or
  // of facts, and may be empty. `key` is that of a column or item. For "a.b" without a definition,
  // that of "b" is used. Returns null if the key is undefined or has several differing definitions.
  // The result is valid as long as this object.
  const Definition* find(std::string_view section, std::string_view table,
                         std::string_view key) const;

 private:
  const Definition* find_key(std::string_view section, std::string_view table,
                             std::string_view key) const;

  std::vector<Definition> definitions_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_key_;
};

// The contents of docs/metrics.md at build time.
std::string_view metrics_text();

}  // namespace assay
