#pragma once

// docs/metrics.md as data: what each printed key means, for the page's tooltips.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// One row of a table of definitions.
struct Definition {
  std::vector<std::string> keys;
  std::string room;     // the "## " heading above it: "Launch", "Overhead", ...
  std::string heading;  // the nearest heading
  std::string text;     // plain text, without markup
  // The tables or objects with these keys, as "roof.unknown"; empty if the text does not name any.
  std::vector<std::string> tables = {};
  std::string label = {};  // what it is called on screen; empty where the table does not say
};

// The rows of all tables of a Markdown text that define keys: a key is in backticks in the first
// column, or in a column named "keys". In the order of the text.
std::vector<Definition> parse_definitions(std::string_view markdown);

// Definitions by their place: the module of a section, the table in it, the column. One key means
// something else in each, and no place has the definition of another module.
class DefinitionsByPlace {
 public:
  explicit DefinitionsByPlace(std::vector<Definition> definitions);
  // section: its key in the document, empty for the top. table: of a table or of facts, may be
  // empty. key: of a column or item. "a.b" has the text of b where no text has the whole.
  // Null where no text defines it, or several do in different words. It lives as long as this.
  const Definition* find(std::string_view section, std::string_view table,
                         std::string_view key) const;

 private:
  const Definition* find_key(std::string_view section, std::string_view table,
                             std::string_view key) const;

  std::vector<Definition> definitions_;
  std::map<std::string, std::vector<size_t>, std::less<>> by_key_;
};

// docs/metrics.md as it was when the program was built.
std::string_view metrics_text();

}  // namespace assay
