#pragma once

// What a word of Assay means: a cause or a kind of verdict, else a key, symbol or label of
// docs/metrics.md.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A word of the short answer, said plainly.
struct PlainWord {
  std::string_view key;    // what `assay explain` is given
  std::string_view name;   // what it is called
  std::string_view what;   // what it is
  std::string_view moves;  // what makes it large
  std::string_view todo;   // what to do about it
};
const std::vector<PlainWord>& plain_words();

// Symbols of the papers, said plainly; `key` is the one of docs/metrics.md that defines them, names
// are those that people type, with blanks between them.
const std::vector<PlainWord>& symbol_words();

// At most 20 lines of at most `width` columns. Empty where nothing of that name is known.
std::string explain(std::string_view word, size_t width);
// All plain words, by topic.
std::string explain_list(size_t width);
// Every word that explain() knows, for suggestions.
std::vector<std::string> explained_words();

}  // namespace assay
