#pragma once

// docs/metrics.md as data: what each printed key means, for the page's tooltips.

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

// docs/metrics.md as it was when the program was built.
std::string_view metrics_text();

}  // namespace assay
